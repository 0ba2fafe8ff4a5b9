"""Chapter 2's misconceptions: known wrong answers, and what is said of each."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from shardlab_course.ch02 import oracles as of
from shardlab_judge.items.value import Believed, why
from shardlab_judge.question import Misconception

Formula = Callable[..., Any]


def gather(*, hops: Callable[[int, bool], float] | None = None, waits: Callable[[int, bool], float] | None = None,
           hop_bytes: Callable[[float, int, bool], float] | None = None,
           join: Callable[[float, float], float] = max) -> Formula:  # fmt: skip
    """The time of an all-gather with one part of it wrong: hops that carry bytes, hops that wait, bytes of one, joining."""
    hops = hops or of.gather_steps

    def time(nbytes: float, n: int, bandwidth: float, latency: float, both: bool) -> float:
        carried = hop_bytes(nbytes, n, both) if hop_bytes else nbytes / n
        return join((waits or hops)(n, both) * latency, hops(n, both) * carried / bandwidth)

    return time


def said_other(card: str, *right: str) -> Callable[[Mapping[str, Any]], bool]:
    """Whether a card is answered, with something else than these."""
    return lambda said: said[card] is not None and said[card] not in right


KINDS = (
    Misconception(
        "sum-forgotten", "{U} is a sum that nobody has added yet: to gather puts terms side by side, to do nothing leaves "
        "them unadded (b, c, i, j).", 1,
        like=lambda said: any(said[card] in ("none", "all-gather", "all-to-all", "collective-permute") for card in "bcij")),
    Misconception(
        "whole-sum-for-a-slice", "The target is cut again: a reduce-scatter gives each device the sum of its own part, at "
        "half the price of all of it (c, j).", 2, like=lambda said: "all-reduce" in (said["c"], said["j"])),
    Misconception(
        "slice-for-the-whole", "A reduce-scatter leaves the sum cut, and these targets want it whole (b, i).", 2,
        like=lambda said: "reduce-scatter" in (said["b"], said["i"])),
    Misconception(
        "slicing-moves", "Every device holds all of it already and takes its own part: nothing moves (e).", 1,
        like=said_other("e", "none")),
    Misconception(
        "axis-order-free", "Another order in the tuple is another holder for the same blocks: they change places (f).", 1,
        like=lambda said: said["f"] == "none"),
    Misconception(
        "subscript-moved-by-gather", "The subscript moves to the other dimension: every device has a part for every "
        "other, and keeps no more than before (d).", 2, like=said_other("d", "all-to-all")),
    Misconception(
        "block-for-block", "Every device ends with one block, and all of it comes from one device: blocks change their "
        "holders, a permute (f).", 2, like=said_other("f", "collective-permute")),
    Misconception(
        "subscript-gone", "A subscript that goes, with no other in its place, is gathered: a device ends with more than it "
        "had (a, g, h).", 1, like=lambda said: any(said_other(card, "all-gather")(said) for card in "agh")),
)  # fmt: skip

PRICES = (
    Misconception(
        "elements-for-bytes", "A price is in bytes, and an element of float32 has four of them.", 3,
        like=lambda said: said["f"] == 16 or (said["a"] == 128 and said["b"] == 256 and said["d"] == 32)),
    Misconception(
        "all-reduce-is-one", "An all-reduce is a reduce-scatter and then an all-gather: it pays twice (b, i).", 2,
        like=lambda said: said["b"] == 512 or said["i"] == 128),
    Misconception(
        "other-axis-forgotten", "The array is cut over the other axis too, and stays so: a device deals with its part "
        "only (g to j).", 2,
        like=lambda said: said["g"] == 512 or said["h"] == 512 or said["i"] in (512, 1024) or said["j"] == 512),
    Misconception(
        "own-part-left-out", "The price counts the larger array whole, the part that a device has already included.", 3,
        like=lambda said: any(said[card] == left for card, left in (("a", 384), ("b", 768), ("c", 384), ("d", 96)))),
    Misconception(
        "shard-for-array", "Of a gather the larger side is what comes out; of a reduce-scatter, what goes in (a, c, g, h, "
        "j).", 1, like=lambda said: 128 in (said["a"], said["c"]) or 64 in (said["g"], said["h"], said["j"])),
    Misconception(
        "shard-keeps-its-size", "In an all-to-all and in a permute a device sends a shard and gets a shard, never all of "
        "the array (d, f).", 1, like=lambda said: said["d"] == 512 or said["f"] == 512),
    Misconception(
        "whole-sum-for-a-slice", "The target is cut again: a reduce-scatter pays once, and an all-reduce twice (c, j).", 2,
        like=lambda said: said["c"] == 1024 or said["j"] == 256),
    Misconception(
        "slicing-moves", "Every device holds all of it already and takes its own part: nothing moves (e).", 1,
        like=lambda said: said["e"] not in (None, 0)),
    Misconception(
        "axis-order-free", "Another order in the tuple is another holder for the same blocks: they change places (f).", 1,
        like=lambda said: said["f"] == 0),
)  # fmt: skip

TIME = (
    Misconception(
        "time-grows-with-n", "A hop carries one shard, V/n, not all of V: the more devices, the more hops, and the "
        "smaller each.", 1, like=gather(hop_bytes=lambda v, n, both: v)),
    Misconception(
        "time-grows-with-n", "A hop carries one shard, V/n, not all of V: the more devices, the more hops, and the "
        "smaller each.", 1, like=gather(hops=lambda n, both: n // 2 if both else n, hop_bytes=lambda v, n, both: v)),
    Misconception(
        "own-shard-sent-too", "A device has its own shard already: the last of n hops would bring it home.", 1,
        like=gather(hops=lambda n, both: n / 2 if both else n)),
    Misconception(
        "own-shard-sent-too", "A device has its own shard already: the last of n hops would bring it home.", 1,
        like=gather(hops=lambda n, both: n / 2 if both else n, waits=of.gather_steps)),
    Misconception(
        "halves-exactly", "On an even ring the last shard is equally far both ways and takes a hop of its own: whole shards "
        "take n // 2 hops, not (n - 1) / 2.", 2, like=gather(hops=lambda n, both: (n - 1) / 2 if both else n - 1)),
    Misconception(
        "half-a-hop", "A hop is whole: an odd ring of n is done after (n - 1) / 2 hops, an even one after n / 2.", 2,
        like=gather(hops=lambda n, both: n / 2 if both else n - 1)),
    Misconception(
        "opposite-forgotten", "On an even ring one device lies opposite, n / 2 hops away: (n - 1) / 2, rounded down, "
        "does not reach it.", 2, like=gather(hops=lambda n, both: (n - 1) // 2 if both else n - 1)),
    Misconception(
        "hop-too-many", "On an odd ring both directions together reach everyone in (n - 1) / 2 hops.", 2,
        like=gather(hops=lambda n, both: (n + 1) // 2 if both else n - 1)),
    Misconception(
        "doubles-like-a-tree", "On a ring a device talks to its two neighbours only: after log2(n) hops a shard has come "
        "that far; on a ring of 16 that is not to everyone.", 1,
        like=gather(hops=lambda n, both: math.ceil(math.log2(n)))),
    Misconception(
        "waits-once", "Every hop waits for its latency: a shard cannot be passed on before it has come.", 3,
        like=gather(waits=lambda n, both: float(n > 1))),
    Misconception(
        "adds-latency", "Here the larger of the two counts, as in the Scaling Book's Part 3; this is their sum.", 3,
        like=gather(join=lambda wait, carry: wait + carry)),
    Misconception(
        "no-latency", "Small arrays do not take less and less time: each hop takes at least its latency.", 1,
        like=gather(join=lambda wait, carry: carry)),
    Misconception(
        "waits-the-long-way", "With both directions there are fewer hops to wait for, too.", 2,
        like=gather(waits=lambda n, both: n - 1)),
    Misconception(
        "second-direction-as-bandwidth", "A second direction makes no hop faster. It makes them fewer, n // 2, and there "
        "is less waiting, too.", 2,
        like=gather(hops=lambda n, both: n - 1, hop_bytes=lambda v, n, both: v / n / (2 if both else 1))),
    Misconception(
        "one-way-only", "`bidirectional` changes nothing here; both directions together need about half the hops.", 1,
        like=gather(hops=lambda n, both: n - 1)),
    Misconception(
        "directions-counted-twice", "Fewer hops are the whole gain: `bandwidth` is that of one link in one direction, and "
        "a hop is no faster.", 2,
        like=gather(hop_bytes=lambda v, n, both: v / n / (2 if both else 1))),
)  # fmt: skip

CHANGES = (
    Misconception(
        "slower-start-same-size", "A hop that takes longer to begin hides more carrying behind it: more bytes are "
        "needed.", 1, like=said_other("latency", "double")),
    Misconception(
        "faster-link-sooner-busy", "A faster link needs more bytes to be busy for the same latency, not fewer.", 1,
        like=said_other("bandwidth", "double")),
    Misconception(
        "direction-counts", "Both ways there are fewer hops, but each carries as much: the hops drop out.", 2,
        like=said_other("directions", "same")),
    Misconception(
        "hop-for-array", "A hop carries V/n: with twice the devices it takes twice the array to fill it.", 1,
        like=said_other("devices", "double")),
    Misconception(
        "twice-the-work-later", "An all-reduce makes every hop twice, waiting and carrying alike.", 2,
        like=said_other("all_reduce", "same")),
)  # fmt: skip

CROSSOVER = (
    Misconception(
        "hop-for-array", "That fills one hop. A hop carries a shard, and the array has n of them.", 1,
        like=lambda n, bandwidth, latency: bandwidth * latency),
    Misconception(
        "both-links-counted", "A hop is over one link in one direction; a second direction does not make it faster.", 2,
        like=lambda n, bandwidth, latency: 2 * n * bandwidth * latency),
    Misconception(
        "hops-for-shards", "The latencies of all hops together stand against the bytes of all hops; the hops drop out.", 2,
        like=lambda n, bandwidth, latency: (n // 2) * bandwidth * latency),
    Misconception(
        "hops-for-shards", "The latencies of all hops together stand against the bytes of all hops; the hops drop out.", 2,
        like=lambda n, bandwidth, latency: (n - 1) * bandwidth * latency),
    Misconception(
        "hops-for-shards", "The latencies of all hops together stand against the bytes of all hops; the hops drop out.", 2,
        like=lambda n, bandwidth, latency: 2 * (n // 2) * bandwidth * latency),
    Misconception(
        "array-below-a-hop", "A hop carries V / n, so V is n times what fills a hop, and not an n-th of it.", 1,
        like=lambda n, bandwidth, latency: bandwidth * latency / n),
)  # fmt: skip


def _rows(columns: int, itemsize: int, n: int, bandwidth: float, latency: float) -> float:
    return n * bandwidth * latency / columns / itemsize


ROWS = (
    Misconception(
        "rounded-down", "With so many rows a hop is still waiting; it takes one row more to fill it.", 3,
        like=lambda *given: int(_rows(*given))),
    Misconception(
        "always-one-more", "Where the rows fit exactly, they are enough: round up, instead of adding one.", 3,
        like=lambda *given: int(_rows(*given)) + 1),
    Misconception(
        "rounded-down", "Rounded to the nearest number, it is a row too few where it is rounded down.", 3,
        like=lambda *given: round(_rows(*given))),
    Misconception(
        "columns-of-a-shard", "`columns` are those of the gathered array. A device has an n-th of each row, and a hop "
        "carries that.", 2, like=lambda columns, itemsize, n, *link: math.ceil(n * _rows(columns, itemsize, n, *link))),
    Misconception("fraction-of-a-row", "Rows are whole: the first number of them that is enough.", 3, like=_rows),
    Misconception(
        "elements-for-bytes", "The links count bytes: an element has `itemsize` of them.", 2,
        like=lambda columns, itemsize, *ring: of.crossover_rows(columns, 1, *ring)),
    Misconception(
        "hop-for-array", "Those rows fill one hop; a hop carries the n-th part of each row.", 1,
        like=lambda columns, itemsize, n, *link: of.crossover_rows(columns, itemsize, 1, *link)),
)  # fmt: skip

SAME = "Everyone talks to everyone, but every block has one reader: it goes as far as its device, not all the way round."
SWITCH = (
    "A block passes over every link between its two devices, and is counted on each of them. Only on a switch does it cross "
    "once, and your number would be right."
)
UPSIDE = Misconception(
    "asked-the-other-way", "An all-to-all is the cheaper one: its bytes, divided by those of an all-gather.", 1,
    like=lambda said: said > 1)  # fmt: skip
ONE_WAY = (
    Misconception("same-as-gather", SAME, 1, like=1),
    Misconception("distance-forgotten", SWITCH, 2, like=1 / 16),
    UPSIDE,
    Misconception(
        "quarter-everywhere", "A quarter needs both directions; one way round a block goes half the ring on average.", 1,
        like=0.25),
)  # fmt: skip
BOTH_WAYS = (
    Misconception("same-as-gather", SAME, 1, like=1),
    Misconception("distance-forgotten", SWITCH, 2, like=1 / 16),
    UPSIDE,
    Misconception(
        "second-direction-halves-both", "The second direction helps an all-to-all twice: each block also takes the "
        "shorter way, which is about half as long.", 2, like=0.5),
    Misconception(
        "fraction-of-the-array", "An eighth is of the whole array; over that link an all-gather both ways moves half of "
        "the array.", 1, like=0.125),
)  # fmt: skip

EXCHANGE = (
    Misconception("same-as-gather", SAME, 1, like=lambda v, n, both: v / n * of.gather_steps(n, both)),
    Misconception("distance-forgotten", SWITCH, 2, like=lambda v, n, both: v * (n - 1) / n**2),
    Misconception(
        "distance-forgotten", "A block passes over every link between its two devices, and is counted on each of them; half "
        "of the blocks go each way.", 2, like=lambda v, n, both: v * (n - 1) / n**2 / (2 if both else 1)),
    Misconception(
        "one-way-only", "With both directions a block takes the shorter way round.", 1,
        like=lambda v, n, both: v * (n - 1) / n / 2),
    Misconception(
        "second-direction-halves", "Half of the blocks go each way, and their ways are shorter too: about a quarter, not "
        "a half.", 2, like=lambda v, n, both: v * (n - 1) / n / (4 if both else 2)),
    Misconception(
        "directions-added", "Those are the blocks of both directions; a link in one direction carries half of them.", 3,
        like=lambda v, n, both: v * (n**2 // 4) / n**2 if both else v * (n - 1) / n / 2),
    Misconception(
        "limit-of-large-rings", "V/2 is what large rings come near to. One way the distances add up to n(n - 1)/2, not "
        "n²/2.", 3, like=lambda v, n, both: v / 8 if both else v / 2),
    Misconception(
        "limit-of-large-rings", "V/2 is what large rings come near to. One way the distances add up to n(n - 1)/2, not "
        "n²/2.", 3, like=lambda v, n, both: of.all_to_all_link_bytes(v, n, True) if both else v / 2),
    Misconception(
        "limit-of-large-rings", "V/8 is right for even rings, and what large odd ones come near to; count the hops for "
        "n = 3.", 3, like=lambda v, n, both: v / 8 if both else v * (n - 1) / n / 2),
    Misconception(
        "tie-goes-one-way", "On an even ring the farthest block is equally far both ways: half of it goes each way.", 3,
        like=lambda v, n, both: v * (n // 2) * (n // 2 + 1) / 2 / n**2 if both else v * (n - 1) / n / 2),
    Misconception(
        "shard-for-array", "V is the whole array; a device's shard is V/n, and a block V/n².", 1,
        like=lambda v, n, both: n * of.all_to_all_link_bytes(v, n, both)),
)  # fmt: skip

FACTOR = (
    Misconception("same-as-gather", SAME, 1, like=lambda n, both: 1.0),
    Misconception("distance-forgotten", SWITCH, 2, like=lambda n, both: 1 / n),
    Misconception(
        "quarter-everywhere", "A quarter is right for even rings only; count the hops for n = 3.", 3,
        like=lambda n, both: 0.25 if both else 0.5),
    Misconception(
        "quarter-everywhere", "A quarter is right both ways and for even rings only; count the hops of one direction.", 1,
        like=lambda n, both: 0.25),
    Misconception(
        "second-direction-halves-both", "The second direction helps an all-to-all twice: each block also takes the "
        "shorter way, which is about half as long.", 2, like=lambda n, both: 0.5),
    Misconception(
        "fraction-of-the-array", "That is a fraction of V: divide by what the all-gather moves over a link, which is "
        "less.", 1, like=lambda n, both: of.all_to_all_link_bytes(1.0, n, both)),
    Misconception(
        "one-way-gather", "Both ways the all-gather has fewer hops, too: n // 2 of them, and not n - 1.", 3,
        like=lambda n, both: of.all_to_all_link_bytes(1.0, n, both) * n / (n - 1)),
    Misconception(
        "directions-added", "Those are the blocks of both directions; a link in one direction carries half of them.", 3,
        like=lambda n, both: of.all_to_all_factor(n, both) * (2 if both else 1)),
    Misconception(
        "asked-the-other-way", "An all-to-all is the cheaper one: its bytes, divided by those of an all-gather.", 1,
        like=lambda n, both: 1 / of.all_to_all_factor(n, both)),
)  # fmt: skip

BOUND = (
    Misconception(
        "waits-for-nothing", "No byte moves between chips in a and b, and for what does not move no chip waits.", 1,
        like=lambda said: "communication" in (said["a"], said["b"])),
    Misconception(
        "memory-for-many-rows", "The 1,024 rows of a chip are above the corner of memory, about 240 rows for a v5e (a).", 2,
        like=lambda said: said["a"] == "memory"),
    Misconception(
        "no-collective-no-wait", "Nothing moves between chips, but all of W comes from memory for 32 rows a chip (b).", 1,
        like=lambda said: said["b"] == "compute"),
    Misconception(
        "latency-forgotten", "Count the hops of f: 8 rows are few bytes, and each of the 16 hops takes a microsecond.", 3,
        like=lambda said: said["f"] in ("memory", "compute")),
    Misconception(
        "more-rows-help", "In an all-reduce of Y the bytes grow with the rows as the FLOPs do; B drops out (e).", 2,
        like=lambda said: said["e"] == "compute"),
    Misconception(
        "roof-of-memory", "1,024 rows a chip are enough for the memory's roof; the links' roof is about nine times as far "
        "out (c).", 2, like=lambda said: said["c"] in ("compute", "memory")),
    Misconception(
        "rows-do-not-help", "The bytes of W do not grow with the rows, and the FLOPs do: a gather can be outrun (d).", 2,
        like=lambda said: said["d"] == "communication"),
)  # fmt: skip


def layer(part: str, change: Callable[[Mapping[str, Any], Mapping[str, float]], float]) -> Formula:
    """The times of a layer with one of them wrong."""
    return lambda given, chip: {**of.layer_seconds(given, chip), part: change(given, chip)}


def _moved(given: Mapping[str, Any], chip: Mapping[str, float], **other: Any) -> float:
    return of.layer_seconds({**given, **other}, chip)["communication"]


LAYER = (
    Misconception(
        "work-not-divided", "All four layouts divide the multiplication: a chip does 2BDF / n FLOPs.", 1,
        like=layer("compute", lambda g, chip: 2 * g["B"] * g["D"] * g["F"] / chip["flops"])),
    Misconception(
        "multiplications-only", "A multiplication and an addition are two FLOPs.", 1,
        like=layer("compute", lambda g, chip: g["B"] * g["D"] * g["F"] / g["n"] / chip["flops"])),
    Misconception(
        "all-reduce-is-one", "An all-reduce is a reduce-scatter and then an all-gather: twice the time.", 2,
        like=layer("communication",
                   lambda g, chip: _moved(g, chip, moves="scatter" if g["moves"] == "reduce" else g["moves"]))),
    Misconception(
        "no-latency", "A hop takes at least the chip's `hop` seconds, however few the bytes.", 3,
        like=layer("communication", lambda g, chip: _moved(g, {**chip, "hop": 0.0}))),
    Misconception(
        "one-way-only", "The ring carries both ways: n // 2 hops instead of n - 1.", 2,
        like=layer("communication", lambda g, chip: _moved(g, chip) / (g["n"] // 2) * (g["n"] - 1))),
    Misconception(
        "gathered-weights-not-read", "What is multiplied is the gathered W, all of it, and it is read from memory.", 3,
        like=layer("memory", lambda g, chip: of.layer_seconds(g, chip)["memory"]
                   - (2 * g["D"] * g["F"] * (1 - 1 / g["n"]) / chip["hbm"] if g["moves"] == "gather" else 0))),
    Misconception(
        "elements-for-bytes", "An element of bfloat16 has two bytes.", 1,
        like=lambda g, chip: of.layer_seconds(g, {**chip, "hbm": 2 * chip["hbm"], "link": 2 * chip["link"]})),
    Misconception(
        "elements-for-bytes", "An element of bfloat16 has two bytes; count them in the memory, too.", 1,
        like=lambda g, chip: of.layer_seconds(g, {**chip, "hbm": 2 * chip["hbm"]})),
    Misconception(
        "moves-in-half-the-time", "What moves takes twice as long: an element of bfloat16 has two bytes, and a hop uses "
        "one link in one direction.", 1, like=lambda g, chip: of.layer_seconds(g, {**chip, "link": 2 * chip["link"]})),
    Misconception(
        "whole-arrays-in-memory", "A chip reads and writes the blocks that it multiplies; here X, W and Y are whole.", 2,
        like=layer("memory", lambda g, chip: 2 * (g["B"] * g["D"] + g["D"] * g["F"] + g["B"] * g["F"]) / chip["hbm"])),
    Misconception(
        "sum-cut-too-early", "What a chip multiplies gives terms for all of Y; only the reduce-scatter cuts it. The chip "
        "writes them all.", 3,
        like=layer("memory", lambda g, chip: of.layer_seconds(g, chip)["memory"]
                   - (2 * g["B"] * g["F"] * (1 - 1 / g["n"]) / chip["hbm"] if g["moves"] == "scatter" else 0))),
    Misconception(
        "adds-latency", "As in exercise 2.2 a hop takes the larger of the two, not their sum.", 3,
        like=layer("communication", lambda g, chip: _moved(g, {**chip, "hop": 0.0})
                   + {"nothing": 0, "reduce": 2}.get(g["moves"], 1) * (g["n"] // 2) * chip["hop"])),
    Misconception(
        "shard-for-array", "What an all-gather takes is counted from the gathered W: a hop carries D F / n elements, and a "
        "shard is that large.", 2, like=layer("communication", lambda g, chip: _moved(
            g, {**chip, "link": chip["link"] * (g["n"] if g["moves"] == "gather" else 1)}))),
    Misconception(
        "time-grows-with-n", "A hop carries the n-th part of the array, and not all of it.", 2,
        like=layer("communication", lambda g, chip: _moved(g, {**chip, "link": chip["link"] / g["n"]}))),
)  # fmt: skip

MECHANISM = why(
    "What sets the two apart, or makes them alike?",
    a="How many readers a block has, and how far it goes until the last of them has it.",
    b=Believed(
        "Who sends to whom: everyone to everyone, in both.", "everyone-alike",
        "The printed factors are below 1: a block of an all-to-all has one reader, a shard of an all-gather has all.",
    ),
    c=Believed(
        "How large the messages are: a block is 1/n of a shard, and goes straight to its reader.",
        "straight-to-its-reader",
        "Of larger rings more than 1/n is printed: a block passes over every link up to its reader, as the film shows.",
    ),
)  # fmt: skip
