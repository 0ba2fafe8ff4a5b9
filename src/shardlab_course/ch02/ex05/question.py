"""Chapter 2, exercise 2.5: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from shardlab_course.ch02.ex05 import oracle as of
from shardlab_course.ch02.shared import Formula
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question, WrongValues

BOUND = (
    WrongValues(
        "waits-for-nothing", "No byte moves between chips in a and b, so no chip waits for one.", 1,
        like=lambda said: "communication" in (said["a"], said["b"])),
    WrongValues(
        "memory-for-many-rows", "A chip has 1,024 rows, which is above the corner of the memory roof, about 240 rows for a "
                                "v5e (a).", 2,
        like=lambda said: said["a"] == "memory"),
    WrongValues(
        "no-collective-no-wait", "Nothing moves between chips, but a chip reads all of W from memory for 32 rows (b).", 1,
        like=lambda said: said["b"] == "compute"),
    WrongValues(
        "latency-forgotten", "Count the hops of f. 8 rows are few bytes, and each of the 16 hops takes a microsecond.", 3,
        like=lambda said: said["f"] in ("memory", "compute")),
    WrongValues(
        "more-rows-help", "In an all-reduce of Y the bytes grow with the rows, and so do the FLOPs. B drops out (e).", 2,
        like=lambda said: said["e"] == "compute"),
    WrongValues(
        "roof-of-memory", "1,024 rows per chip are enough for the memory roof. The corner of the links' roof is about nine "
        "times as far out (c).", 2, like=lambda said: said["c"] in ("compute", "memory")),
    WrongValues(
        "rows-do-not-help", "The bytes of W do not grow with the rows, but the FLOPs do. With enough rows, the product "
                            "takes longer than the gather (d).", 2,
        like=lambda said: said["d"] == "communication"),
)  # fmt: skip


def layer(part: str, change: Callable[[Mapping[str, Any], Mapping[str, float]], float]) -> Formula:
    """The times of a layer with one of them wrong."""
    return lambda given, chip: {**of.layer_seconds(given, chip), part: change(given, chip)}


def _moved(given: Mapping[str, Any], chip: Mapping[str, float], **other: Any) -> float:
    return of.layer_seconds({**given, **other}, chip)["communication"]


LAYER = (
    WrongValues(
        "work-not-divided", "All four layouts divide the multiplication. A chip does 2BDF / n FLOPs.", 1,
        like=layer("compute", lambda g, chip: 2 * g["B"] * g["D"] * g["F"] / chip["flops"])),
    WrongValues(
        "multiplications-only", "A multiplication and an addition are two FLOPs.", 1,
        like=layer("compute", lambda g, chip: g["B"] * g["D"] * g["F"] / g["n"] / chip["flops"])),
    WrongValues(
        "all-reduce-is-one", "An all-reduce is a reduce-scatter and then an all-gather, and takes twice the time.", 2,
        like=layer("communication",
                   lambda g, chip: _moved(g, chip, moves="scatter" if g["moves"] == "reduce" else g["moves"]))),
    WrongValues(
        "no-latency", "A hop takes at least the chip's `hop` seconds, however few its bytes are.", 3,
        like=layer("communication", lambda g, chip: _moved(g, {**chip, "hop": 0.0}))),
    WrongValues(
        "one-way-only", "The ring carries data in both directions, so there are n // 2 hops instead of n - 1.", 2,
        like=layer("communication", lambda g, chip: _moved(g, chip) / (g["n"] // 2) * (g["n"] - 1))),
    WrongValues(
        "gathered-weights-not-read", "A chip multiplies the gathered W, all of it, and reads it from memory.", 3,
        like=layer("memory", lambda g, chip: of.layer_seconds(g, chip)["memory"]
                   - (2 * g["D"] * g["F"] * (1 - 1 / g["n"]) / chip["hbm"] if g["moves"] == "gather" else 0))),
    WrongValues(
        "elements-for-bytes", "An element of bfloat16 has two bytes.", 1,
        like=lambda g, chip: of.layer_seconds(g, {**chip, "hbm": 2 * chip["hbm"], "link": 2 * chip["link"]})),
    WrongValues(
        "elements-for-bytes", "An element of bfloat16 has two bytes. Count them in the memory, too.", 1,
        like=lambda g, chip: of.layer_seconds(g, {**chip, "hbm": 2 * chip["hbm"]})),
    WrongValues(
        "moves-in-half-the-time", "The communication takes up to twice as long. An element of bfloat16 has two bytes, and a "
        "hop uses one link in one direction.", 1,
        like=lambda g, chip: of.layer_seconds(g, {**chip, "link": 2 * chip["link"]})),
    WrongValues(
        "whole-arrays-in-memory", "A chip reads and writes the blocks that it multiplies. Here X, W and Y are whole.", 2,
        like=layer("memory", lambda g, chip: 2 * (g["B"] * g["D"] + g["D"] * g["F"] + g["B"] * g["F"]) / chip["hbm"])),
    WrongValues(
        "sum-cut-too-early", "The product on one chip gives terms for all of Y, and the chip writes them all. Only the "
        "reduce-scatter cuts Y.", 3,
        like=layer("memory", lambda g, chip: of.layer_seconds(g, chip)["memory"]
                   - (2 * g["B"] * g["F"] * (1 - 1 / g["n"]) / chip["hbm"] if g["moves"] == "scatter" else 0))),
    WrongValues(
        "adds-latency", "As in exercise 2.2, a hop takes the larger of the two times, not their sum.", 3,
        like=layer("communication", lambda g, chip: _moved(g, {**chip, "hop": 0.0})
                   + {"nothing": 0, "reduce": 2}.get(g["moves"], 1) * (g["n"] // 2) * chip["hop"])),
    WrongValues(
        "shard-for-array", "The time of an all-gather depends on the gathered W. A hop carries one shard of it, D F / n "
        "elements.", 2, like=layer("communication", lambda g, chip: _moved(
            g, {**chip, "link": chip["link"] * (g["n"] if g["moves"] == "gather" else 1)}))),
    WrongValues(
        "time-grows-with-n", "A hop carries the n-th part of the array, not all of it.", 2,
        like=layer("communication", lambda g, chip: _moved(g, {**chip, "link": chip["link"] / g["n"]}))),
)  # fmt: skip

BOUNDS = {"a": "compute", "b": "memory", "c": "communication", "d": "compute", "e": "communication", "f": "communication"}
V5E, V5P = of.CHIPS
LAYERS: tuple[tuple[Any, ...], ...] = (
    ({"moves": "nothing", "B": 16384, "D": 8192, "F": 32768, "n": 16}, V5E),
    ({"moves": "nothing", "B": 512, "D": 8192, "F": 32768, "n": 16}, V5E),
    ({"moves": "gather", "B": 16384, "D": 8192, "F": 32768, "n": 16}, V5E),
    ({"moves": "gather", "B": 65536, "D": 8192, "F": 32768, "n": 16}, V5E),
    ({"moves": "reduce", "B": 65536, "D": 8192, "F": 32768, "n": 16}, V5E),
    ({"moves": "reduce", "B": 8, "D": 8192, "F": 8192, "n": 16}, V5E),
    ({"moves": "scatter", "B": 4096, "D": 32768, "F": 4096, "n": 4}, V5P),
    ({"moves": "gather", "B": 32, "D": 1024, "F": 512, "n": 8}, V5P),
    ({"moves": "reduce", "B": 45, "D": 900, "F": 90, "n": 9}, V5P),
)

QUESTION = Question(
    "2.5", "Six layers: what do they wait for?", difficulty=4, minutes=50,
    items=(
        ValueItem("bound", {"P": 6}, key=BOUNDS, predicted=True, words=("compute", "memory", "communication"),
                  misconceptions=BOUND),
        CallsItem("layer_seconds", {"C": 10}, alone=False, oracle=of.layer_seconds,
                  calls=LAYERS, draw=of.draw_layer, rtol=1e-6,
                  misconceptions=LAYER),
    ),
    hints=(
        "Write down the blocks of X, W and Y that one chip multiplies. They give you its FLOPs and its memory. A gather "
        "moves W, and the others move Y.",
        "Divide and compare. In 'gather', F and D cancel, and the rows of a chip remain. In 'reduce', B and F cancel, and "
        "D / n remains. Small layers wait for hops.",
        "The blocks are (B/n, D), (D, F), (B/n, F), or (B, D/n), (D/n, F), (B, F). One pass takes n // 2 * max(hop, bytes "
        "/ n / link), and 'reduce' makes two passes.",
    ),
    explanation="All four layouts do 2BDF/n FLOPs a chip. If nothing moves, the rows of a chip decide between compute and "
                "memory: 1,024 are enough for v5e, and 32 are not. A gather moves W, 2DF bytes, however many rows there "
                "are. Above about 2,190 rows per chip (FLOPs per second divided by bytes per second of both links) compute "
                "takes longer.\n\nAn all-reduce moves Y, and its bytes grow with the rows as the FLOPs do. Only a large D/n "
                "helps: more than 4,378 on v5e, where these layers have 512. With 8 rows all three times are short, and 16 "
                "hops of a microsecond are the longest. So five of the six answers follow from which quantity grows with "
                "which, and the last one from counting hops.",
)  # fmt: skip
