"""Chapter 2's questions: what communication costs."""

from __future__ import annotations

from typing import Any

from shardlab_course.ch02 import misconceptions as wrong
from shardlab_course.ch02 import oracles as of
from shardlab_course.shared.kinds import OR_NONE
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question

KINDS = {
    "a": "all-gather", "b": "all-reduce", "c": "reduce-scatter", "d": "all-to-all", "e": "none",
    "f": "collective-permute", "g": "all-gather", "h": "all-gather", "i": "all-reduce", "j": "reduce-scatter",
}  # fmt: skip
PRICES = {"a": 512, "b": 1024, "c": 512, "d": 128, "e": 0, "f": 64, "g": 128, "h": 256, "i": 256, "j": 128}

CARDS = Question(
    "2.1", "Ten moves", difficulty=2, minutes=20,
    items=(
        ValueItem("kinds", {"P": 1}, key=KINDS, predicted=True, words=OR_NONE, misconceptions=wrong.KINDS),
        ValueItem("prices", {"P": 1}, key=PRICES, predicted=True, misconceptions=wrong.PRICES),
    ),
    hints=(
        "Compare the two sides of each card. Is a subscript gone, new, or moved? Is a {U} gone? Does any device end with "
        "something that it did not hold?",
        "Subscript gone: gather. {U} gone: all-reduce; {U} turned into a subscript: reduce-scatter. Only an all-reduce "
        "pays twice.",
        "A price starts from the larger side on one device: 512 bytes, divided by 4 where x cuts, by 2 where y cuts. What "
        "cuts both sides, cuts the price.",
    ),
    explanation="Read a collective off the two sides (a subscript in a tuple is the last one here). A subscript that goes "
                "is gathered; a {U} that goes is reduced; a {U} that becomes a subscript is reduced and scattered; a "
                "subscript that changes its dimension is an all-to-all; blocks that only change their holders are permuted. "
                "In e every device holds all rows and keeps its own, which costs nothing.\n\nThe price follows from the "
                "larger side: 512 bytes for the whole array, 128 where x cuts it on both sides, 256 where y does. An "
                "all-reduce is a reduce-scatter and an all-gather, so it pays twice. XLA for CPU makes c and j all-reduces "
                "and slices; written by hand they are reduce-scatters, at half the price.",
)  # fmt: skip

GATHER_CALLS: tuple[tuple[Any, ...], ...] = (
    (33554432, 4, 4.5e10, 1e-6, False), (33554432, 4, 4.5e10, 1e-6, True), (33554432, 5, 4.5e10, 1e-6, True),
    (33554432, 16, 4.5e10, 1e-6, False), (33554432, 16, 4.5e10, 1e-6, True), (8192, 16, 9e10, 2e-6, False),
    (8192, 16, 9e10, 2e-6, True), (256, 4, 4.5e10, 1e-6, True), (1e9, 2, 9e10, 1e-6, True), (100000, 7, 4.5e10, 1e-6, True),
    (1e6, 1, 4.5e10, 1e-6, False),
)  # fmt: skip

TIME = Question(
    "2.2", "How long does an all-gather take?", difficulty=2, minutes=25,
    items=(
        CallsItem("time_all_gather", {"C": 3}, oracle=of.time_all_gather, calls=GATHER_CALLS, draw=of.draw_gather, rtol=1e-6,
                  misconceptions=wrong.TIME),
    ),
    hints=(
        "How many hops until the last shard has reached the last device? How many bytes does a link carry in each?",
        "One way it takes n - 1 hops, and both ways n // 2. Either way each hop carries one shard, V / n bytes, over a "
        "link in one direction.",
        "All hops take the same time: the larger of the latency and V / n / bandwidth. Multiply by the number of hops. One "
        "device has no hops.",
    ),
    explanation="A hop carries one shard, V/n bytes, and takes at least its latency. One way round there are n - 1 hops, "
                "which makes V(n-1)/n bytes over every link, below V however many devices there are. Both ways there are "
                "n // 2 hops of the same size: half as many for odd n, 2 instead of 3 for n = 4, and "
                "for n = 2 one either way. (Cutting the last shard of an even ring in two halves would save half "
                "a hop; the Scaling Book and this course do not count so.) A small array is different: its hops wait for "
                "their latency, so the time is hops times latency and grows with n.",
)  # fmt: skip

CHANGES = {"bandwidth": "double", "latency": "double", "devices": "double", "directions": "same", "all_reduce": "same"}

CROSSOVER = Question(
    "2.3", "When does latency decide?", difficulty=3, minutes=30, optional=True,
    items=(
        ValueItem("changes", {"P": 1}, key=CHANGES, predicted=True, words=("half", "same", "double"),
                  misconceptions=wrong.CHANGES),
        CallsItem("crossover_bytes", {"C": 1}, oracle=of.crossover_bytes, draw=of.draw_crossover, rtol=1e-6,
                  misconceptions=wrong.CROSSOVER,
                  calls=((2, 4.5e10, 1e-6), (16, 4.5e10, 1e-6), (7, 9e10, 2e-6), (8, 9e10, 5e-7))),
        CallsItem("crossover_rows", {"C": 1}, oracle=of.crossover_rows, draw=of.draw_rows, misconceptions=wrong.ROWS, calls=(
            (8192, 2, 16, 4.5e10, 1e-6), (8192, 1, 16, 4.5e10, 1e-6), (5120, 2, 8, 9e10, 1e-6), (512, 4, 4, 9e10, 5e-7),
            (1024, 2, 8, 2.0**35, 2.0**-20),
        )),
    ),
    hints=(
        "At the crossover a hop's bytes take exactly as long as its latency. How many bytes is that for one hop? How many "
        "hops' worth is the array?",
        "bandwidth * latency fills one hop. A hop carries V / n. The number of hops stands on both sides, so it drops out.",
        "V is n * bandwidth * latency. A row has columns * itemsize bytes; divide, and round up with math.ceil.",
    ),
    explanation="A hop is filled by bandwidth times latency: 45,000 bytes on a v5e link. That is the Scaling Book's 45 kB, "
                "and it is the size of a hop, not of the array. The array is cut into n such shards, so it crosses over at "
                "n times as much: 720 kB on a ring of 16. The number of hops multiplies the waiting and the carrying "
                "alike, so both directions, or an all-reduce instead of a gather, change nothing. A faster link with the "
                "same latency moves the crossover up: it is harder to keep busy. For activations of 8,192 columns in "
                "bfloat16 the crossover is at 44 rows: with fewer users at once, one waits for hops.",
)  # fmt: skip

EXCHANGE_CALLS: tuple[tuple[Any, ...], ...] = (
    (4096, 4, False), (4096, 4, True), (4096, 16, False), (4096, 16, True), (900, 3, True), (900, 3, False),
    (4900, 7, True), (3600, 6, True), (1024, 2, True), (1024, 2, False),
)  # fmt: skip

EXCHANGE = Question(
    "2.4", "Everyone talks to everyone", difficulty=4, minutes=40,
    items=(
        ValueItem("one_way", {"P": 0.5}, key=0.5, predicted=True, rtol=1e-3, misconceptions=wrong.ONE_WAY),
        ValueItem("both_ways", {"P": 0.25}, key=0.25, predicted=True, rtol=1e-3, misconceptions=wrong.BOTH_WAYS),
        wrong.MECHANISM,
        CallsItem("all_to_all_link_bytes", {"C": 1.5}, oracle=of.all_to_all_link_bytes, calls=EXCHANGE_CALLS,
                  draw=of.draw_exchange, rtol=1e-6, misconceptions=wrong.EXCHANGE),
        CallsItem("all_to_all_factor", {"C": 1}, oracle=of.all_to_all_factor, draw=of.draw_ring, rtol=1e-6,
                  misconceptions=wrong.FACTOR, calls=(
                      (2, False), (2, True), (3, True), (4, True), (7, True), (8, False), (16, True), (17, True),
                  )),
    ),
    hints=(
        "Follow the blocks of device 0. How far does each one go? In an all-gather, how far does its shard go?",
        "One way: distances 1 to n - 1. Both ways: at most n // 2. A block is V / n². By symmetry a link carries as many "
        "block-hops as one device's blocks make.",
        "One way the distances add up to n(n-1)/2. Both ways they add up to n² // 4, shared by the two directions. For the "
        "factor divide by the all-gather's hops, (n-1) or n // 2, times V / n.",
    ),
    explanation="A shard of an all-gather has readers everywhere, so it goes all the way round. A block of an all-to-all "
                "has one reader and goes that far only. One way the distances are 1, 2, ... n-1, on average half the ring: "
                "factor 1/2, for every n. Both ways the distances shrink to n/2 at most, and the load is shared: the "
                "gather gains a factor of about 2 and the all-to-all one of about 4. So the factor is 1/4 for even rings, "
                "and (n+1)/(4n) for odd ones: 1/3 for n = 3. On a switch no device passes on what is not its own: every "
                "block takes one hop, and the factor is 1/n (Scaling Book, part 12).",
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

SIX = Question(
    "2.5", "Six layers: what do they wait for?", difficulty=4, minutes=50,
    items=(
        ValueItem("bound", {"P": 1.5}, key=BOUNDS, predicted=True, words=("compute", "memory", "communication"),
                  misconceptions=wrong.BOUND),
        CallsItem("layer_seconds", {"C": 2.5}, alone=False, oracle=of.layer_seconds,
                  calls=LAYERS, draw=of.draw_layer, rtol=1e-6,
                  misconceptions=wrong.LAYER),
    ),
    hints=(
        "Write down the blocks of X, W and Y that one chip multiplies. From them follow FLOPs and memory. What moves is W "
        "for a gather, Y for the others.",
        "Divide and compare: in 'gather' the F and D cancel and rows a chip remain. In 'reduce' the B and F cancel and D / "
        "n remains. Small layers wait for hops.",
        "Blocks: (B/n, D), (D, F), (B/n, F), or (B, D/n), (D/n, F), (B, F). A pass takes n // 2 * max(hop, bytes / n / "
        "link); 'reduce' makes two.",
    ),
    explanation="All four layouts do 2BDF/n FLOPs a chip. With nothing to move, rows a chip decide against the memory: "
                "1,024 are enough for v5e, 32 are not. A gather moves W, 2DF bytes, whatever the rows, and above about "
                "2,190 rows a chip (FLOPs a second, divided by bytes a second over both links) compute takes longer. An "
                "all-reduce moves Y, and its bytes grow with the rows as the FLOPs do: only a large D/n helps, more than "
                "4,378 on v5e, and here D/n is 512. With 8 rows nothing is large, and 16 hops of a microsecond are "
                "longest. So what grows with what decides five of the six, and counting hops the last.",
)  # fmt: skip

QUESTIONS: tuple[Question, ...] = (CARDS, TIME, CROSSOVER, EXCHANGE, SIX)
