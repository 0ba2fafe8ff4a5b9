"""Chapter 8's questions: collectives from ppermute."""

from __future__ import annotations

from typing import Any

from shardlab_course.ch08 import misconceptions as wrong
from shardlab_course.ch08 import oracles as of
from shardlab_judge.cases import axes
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Misconception, Question
from shardlens import Axes, Spec

LINE, WIDE, FIVE = axes(x=8), axes(x=4, y=2), axes(x=5)
ROWS: Spec = ("x",)
WHOLE: Spec = ()
Shapes = tuple[tuple[Axes, tuple[int, ...]], ...]


def program(name: str, points: dict[str, float], oracle: Any, shapes: Shapes, given: Spec, out: Spec, drawn: Any,
            misconceptions: tuple[Misconception, ...], **options: Any) -> ProgramItem:  # fmt: skip
    """A program of one array with spec `given`, written with shard_map, on these meshes and shapes and on drawn ones."""
    cases = tuple(of.case(mesh, shape, given, out) for mesh, shape in shapes)
    draw = of.drawing(tuple(dict(shapes)), drawn, given, out)
    return ProgramItem(
        name, points, oracle=oracle, cases=cases, draw=draw, misconceptions=misconceptions, manual=True, **options
    )


BLOCKS: Shapes = ((LINE, (32, 6)), (WIDE, (24, 10)))
TERMS: Shapes = ((LINE, (8, 24, 5)), (WIDE, (4, 12, 10)))
CUBES: Shapes = ((LINE, (16, 16, 3)), (WIDE, (12, 8, 5)))

GATHER = Question(
    "8.1", "A ring all-gather", difficulty=2, minutes=35,
    items=(
        program("ring_all_gather", {"V": 1, "S": 0.5, "H": 1.5}, of.unchanged, BLOCKS, ROWS, WHOLE, of.rows, wrong.GATHER),
    ),
    hints=(
        "In every round each device passes on the block that came last. Keep what arrives, and ask each time: on which "
        "device did this block begin?",
        "After i hops to the next device, device d holds the block that began on (d - i) % n. Its place in the output is "
        "that number times the rows of a block.",
        "Make zeros for the whole, put your own block at row d times r, with r rows in a block. Then n - 1 times: "
        "ppermute, and dynamic_update_slice_in_dim at row ((d - i) % n) times r. out_specs=P() needs check_vma=False.",
    ),
    explanation="n blocks, n - 1 hops, and in each hop every device sends one block to its neighbour and gets one: (n - "
                "1) / n of the gathered array a device. The index algebra is all there is to get wrong. Chunks come in "
                "the order d, d - 1, d - 2, ..., another one on every device, and whoever lays them down as they come "
                "ends up with n different arrays, each of the right shape.\n\nAll-ones would not show it, and with a ring "
                "that runs the other way device 0's copy is right by chance; hence the random values, and the comparison of "
                "every device's copy. A Python loop and a fori_loop are the same program to the judge, who counts how often "
                "each permute runs.",
)  # fmt: skip

SCATTER = Question(
    "8.2", "A ring reduce-scatter", difficulty=3, minutes=40,
    items=(
        program("ring_reduce_scatter", {"V": 1, "S": 0.5, "H": 1.5}, of.summed, TERMS, ROWS, ROWS, of.terms, wrong.SCATTER),
    ),
    hints=(
        "Now sums travel, and terms stay where they are. Follow the sum of one chunk backwards from the device where it "
        "has to end.",
        "The sum of chunk c ends on device c, so it begins on device c + 1 and visits everyone. In round i, device d adds "
        "its own chunk number (d - 1 - i) % n.",
        "Start with your chunk (d - 1) % n. Then n - 1 times: ppermute the sum to the next device and add your own chunk, "
        "one number lower each time. The last is chunk d.",
    ),
    explanation="An all-gather run backwards: where a block was copied, a term is added. The sum of chunk c starts one "
                "device past its goal, walks all the way round and collects a term at each stop, so that n sums are "
                "under way at once, and no device ever adds to a sum that another one is adding to. Each hop carries one "
                "chunk, V / n bytes, and n - 1 of them suffice. Letting whole terms travel and adding them as they pass "
                "gives the same sum, up to rounding, for n times the bytes. Each chunk's terms are added in another order, "
                "and the order changes the last digits, which is why the tolerance is not zero.",
)  # fmt: skip

REDUCE = Question(
    "8.3", "A ring all-reduce", difficulty=3, minutes=35,
    items=(
        program("ring_all_reduce", {"V": 1, "S": 0.5, "H": 2.5}, of.summed, TERMS, ROWS, WHOLE, of.terms, wrong.REDUCE),
    ),
    hints=(
        "You have both halves already. What does each device hold after the first, and is it what the second starts from?",
        "Reduce-scatter leaves chunk d on device d; gather it as in 8.1. Together 2 (n - 1) permutes, each of one chunk.",
        "Call the bodies of 8.2 and 8.1, in this order, inside one shard_map: sum the block's chunks round the ring, "
        "then pass the finished chunk round. check_vma=False.",
    ),
    explanation="2 (n - 1) permutes of V / n bytes: whatever n is, less than 2 V a device. That is why an all-reduce is "
                "counted twice in this course. The tempting version keeps a running total and lets each device's whole "
                "term travel past everyone. Its n - 1 hops look like half the work, and allclose finds its values right;"
                " it moves n / 2 times the bytes: 7 permutes of 4,096 bytes in place of 14 of 512. And each device adds "
                "in its own order, so the copies differ in their last digits, and out_specs=P() is a promise that is not"
                " kept. With travelling sums each chunk is added up once, and then copied.",
)  # fmt: skip

BOTH_WAYS = Question(
    "8.4", "Both ways round", difficulty=4, minutes=45,
    items=(
        program("gather_both_ways", {"V": 1, "S": 0.5, "H": 2}, of.unchanged, (*BLOCKS, (FIVE, (20, 7))), ROWS, WHOLE,
                of.rows, wrong.BOTH_WAYS, deepest=lambda case: dict(case.axes)["x"] // 2),
    ),
    hints=(
        "Two blocks can travel at once, one each way, without waiting for each other. How far does a block have to go if "
        "it may choose its side?",
        "One stream needs n // 2 hops, the other (n - 1) // 2: together n - 1, so no byte is sent that was not sent "
        "before.",
        "For i up to n // 2, permute right by +1, place it at d - i. For i up to (n - 1) // 2, permute left by -1, place it "
        "at d + i. All modulo n.",
    ),
    explanation="Bytes and steps are two different numbers. Both rings send n - 1 blocks a device; in the first each hop "
                "waits for the one before, in the second two chains run beside each other, and the longer one has n // 2 "
                "hops. Program.depth reads that from the compiled program: it follows each value from the inputs on and "
                "counts the collectives that it waits for.\n\nOn links that carry both directions at once, half the steps "
                "is about half the time, bound by latency or by bandwidth. Half blocks sent all the way round both ways use "
                "both directions too, and save nothing when latency rules: n - 1 hops in a row remain. With an even n the "
                "block from opposite must not come twice.",
)  # fmt: skip

HALO = Question(
    "8.5", "One row from each neighbour", difficulty=3, minutes=35,
    items=(
        program("stencil", {"V": 1.5, "S": 0.5, "H": 1}, of.stencil, BLOCKS, ROWS, ROWS, of.rows, wrong.HALO),
    ),
    hints=(
        "A device has nearly all that it needs. Which rows of other devices does its first row need, and which its last?",
        "Two permutes: last rows go to the next device, first rows to the one before. No pair leads from the last device "
        "to the first, so ppermute leaves zeros there.",
        "above = ppermute(x[-1:], [(i, i + 1), ...]), below = ppermute(x[:1], [(i + 1, i), ...]); concatenate above, x, "
        "below, and combine three slices of it that are shifted by one.",
    ),
    explanation="The exchange of edges, or halos, is the collective of grids, images and convolutions: what moves is the "
                "surface of a block, not the block, so it stays cheap however large the blocks grow. The permutation is "
                "the boundary condition. Closed, the array is a circle; open, it is a line, and since ppermute gives "
                "zeros to whoever is nobody's target, the zeros beyond the ends cost nothing. A closed ring and a mask "
                "afterwards is right too. The two permutes do not wait for each other, and the inner rows wait for "
                "neither: a compiler may compute them meanwhile.",
)  # fmt: skip

TREES = Question(
    "8.6", "A tree or a ring?", difficulty=3, minutes=30, optional=True,
    items=(
        CallsItem("steps", {"C": 1}, oracle=of.steps, draw=of.draw_devices, calls=((2,), (4,), (8,), (5,), (64,), (100,)),
                  misconceptions=wrong.STEPS),
        CallsItem("seconds", {"C": 1}, oracle=of.seconds, draw=of.draw_ring, rtol=1e-6, misconceptions=wrong.SECONDS, calls=(
            (4096.0, 8, 4.5e10, 1e-6), (2.0**20, 8, 4.5e10, 1e-6), (2.0**26, 64, 9e10, 5e-7), (100.0, 5, 4.5e11, 5e-6),
        )),
        CallsItem("crossover", {"C": 1}, oracle=of.crossover, draw=of.draw_link, rtol=1e-6,
                  misconceptions=wrong.CROSSOVER, calls=(
            (8, 4.5e10, 1e-6), (64, 4.5e10, 1e-6), (5, 9e10, 5e-7), (4, 4.5e11, 5e-6),
        )),
    ),
    hints=(
        "Count hops that wait for one another first, then ask what one hop carries. The tree sends the whole array in "
        "each, the ring a chunk.",
        "Ring: 2 (n - 1) hops of V / n bytes. Tree: 2 ceil(log2 n) hops of V bytes. Each takes max(latency, bytes / "
        "bandwidth).",
        "At the crossing the ring's hops are still bound by latency and the tree's by bytes: (n - 1) latency = ceil(log2 "
        "n) V / bandwidth. Solve for V.",
    ),
    explanation="A tree is shallow and heavy, a ring deep and light. For small arrays only the number of dependent hops "
                "counts, and from n = 4 on 2 log2(n) beats 2 (n - 1); for large ones only bytes count, and V / n beats V. "
                "The crossing lies at (n - 1) / ceil(log2(n)) times latency times bandwidth: for 8 devices about 105 kB at "
                "1 microsecond and 45 GB/s.\n\nSo libraries keep both and choose by size. The tree here may use any pair of "
                "devices, as a switch allows; on a ring of chips its long hops would cross several links. Recursive halving "
                "and doubling has the depth of the tree and the bytes of the ring, where n is a power of two and all "
                "devices can talk to each other.",
)  # fmt: skip

SHAPES: dict[str, Any] = {
    "a": [4, 2, 3], "b": [8, 3], "c": [2, 4, 3], "d": [2, 12], "e": [6], "f": [1, 6], "g": "error", "h": [2, 16],
    "i": [2, 6],
}  # fmt: skip
TILED = Question(
    "8.7", "Tiled or not", difficulty=2, minutes=15, optional=True,
    items=(
        ValueItem("shapes", {"P": 2}, key=SHAPES, predicted=True, words=("error",), misconceptions=wrong.SHAPES),
        wrong.MECHANISM,
    ),
    hints=(
        "Without tiled=True devices become a dimension of their own: it appears when blocks come together, and disappears "
        "when something is handed out.",
        "Untiled, a gather adds a dimension as long as the axis, and a scatter takes one away that has to be as long as "
        "the axis. Tiled, sizes are multiplied and divided.",
        "a to d: 4 in front, 2 times 4, 4 in the middle, 3 times 4. e: the 4 is gone. f: 4 over 4. g: 8 is not 4. h: 8 "
        "over 4, and 4 times 4.",
    ),
    explanation="Both defaults have their use. Untiled, the devices are a dimension: all_gather stacks one block a device, "
                "psum_scatter gives each device one entry of the sum over devices. The two are each other's transposes, not "
                "inverses: a gather and then a scatter gives n times the block. Tiled, blocks are parts of a "
                "dimension that is there already: all_gather multiplies it by n, psum_scatter divides it, as shardings do. "
                "shard_map keeps the rank, so tiled=True is what you want nearly always. Forgotten on psum_scatter it is "
                "an error, unless that dimension happens to be as long as the axis; forgotten on all_gather it is one "
                "dimension more, which broadcasting may hide for a while.",
)  # fmt: skip

COMPOSE = Question(
    "8.8", "An all-reduce in two halves", difficulty=2, minutes=15, optional=True,
    items=(
        program("two_halves", {"V": 1, "S": 0.5, "H": 1.5}, of.summed, TERMS, ROWS, WHOLE, of.terms, wrong.COMPOSE),
    ),
    hints=(
        "What is finished after a reduce-scatter, and what is missing? Which collective brings that?",
        "psum_scatter leaves each device with its rows of the sum; all_gather along the same dimension puts the rows back "
        "together. Both tiled.",
        "part = psum_scatter(term, 'x', scatter_dimension=0, tiled=True); then all_gather(part, 'x', axis=0, tiled=True, "
        "to='invarying'), and out_specs=P() needs no promise.",
    ),
    explanation="{U_x} becomes a subscript, and then the subscript goes: V bytes in the reduce-scatter and V in the "
                "all-gather, the 2 V of an all-reduce (where the compiler leaves the reduce-scatter one). That is more than "
                "an identity. Between the halves every device holds a finished n-th of the sum, and whatever is done to it "
                "there is done once instead of n times: the optimizer's step in ZeRO, a normalization in sequence "
                "parallelism. And if nobody needs the whole, the second half is left out. to='invarying' says that all have "
                "gathered the same; with ppermute nothing could say so, here JAX knows it.",
)  # fmt: skip

EXCHANGE = Question(
    "8.9", "Who holds what, transposed", difficulty=3, minutes=25,
    items=(
        program("to_heads", {"V": 1, "S": 0.5, "H": 0.75}, of.unchanged, CUBES, ROWS, (None, "x"), of.cube, wrong.EXCHANGE),
        program("to_tokens", {"V": 1, "S": 0.5, "H": 0.75}, of.unchanged, CUBES, (None, "x"), ROWS, of.cube, wrong.EXCHANGE),
    ),
    hints=(
        "The global array does not change at all: not a value, not an index. Only who holds which part of it does.",
        "Each device cuts its block along the dimension that was whole, and puts what it gets together along the one that "
        "was cut.",
        "all_to_all(block, 'x', split_axis=1, concat_axis=0, tiled=True) turns tokens into heads, with out_specs=P(None, "
        "'x'). The way back has the two numbers exchanged.",
    ),
    explanation="A grid of blocks, one row for each sender and one column for each receiver, is transposed: device i "
                "gives its block j to device j and gets block i of everyone. Between these two specs values stay where "
                "they are in the global array, and the subscript moves from one dimension to the other. It costs one "
                "shard, an n-th of what gathering costs, and undoes itself with the two axes exchanged. DeepSpeed "
                "Ulysses uses it in both directions: tokens are shared out for the projections, heads for the attention "
                "itself. A change between the two specs under jit compiles to the same collective, for CPU and for TPU.",
)  # fmt: skip

QUESTIONS: tuple[Question, ...] = (GATHER, SCATTER, REDUCE, BOTH_WAYS, HALO, TREES, TILED, COMPOSE, EXCHANGE)
