"""Chapter 0's misconceptions: known wrong answers, and what is said of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shardlab_course.ch00 import oracles as of
from shardlab_judge.cases import Observed
from shardlab_judge.items.value import Believed, why
from shardlab_judge.question import Misconception
from shardlens import place

OUTCOMES = (
    Misconception(
        "array-starts-nothing", "An array of JAX lies on a device, so the devices have to be there before it: making one "
        "is too early (b).", 1, like=lambda said: said["b"] == "8"),
    Misconception(
        "asking-starts-nothing", "To list the devices, JAX has to start them; looking is using (c).", 2,
        like=lambda said: said["c"] == "8"),
    Misconception(
        "numpy-starts-jax", "NumPy's arrays lie in ordinary memory and know no devices, so JAX sleeps on (d).", 1,
        like=lambda said: said["d"] == "RuntimeError"),
    Misconception(
        "names-start-jax", "A spec or a function that nobody has called computes nothing and needs no device (e, f).", 2,
        like=lambda said: "RuntimeError" in (said["e"], said["f"])),
    Misconception(
        "import-starts-jax", "`import jax` alone starts no device: else nobody could ask for eight (a).", 1,
        like=lambda said: said["a"] == "RuntimeError"),
)  # fmt: skip

ORDER = (
    Misconception(
        "used-before-made", "A line uses a name that a later line makes.", 1,
        like=lambda order: order.index("import") > 0 or order.index("print") < order.index("x")),
    Misconception(
        "asks-too-late", "The array is made before eight devices are asked for, so JAX has started with one, and refuses.",
        1, like=lambda order: order.index("x") < order.index("ask")),
)  # fmt: skip

WHY = (
    Misconception(
        "import-starts-the-devices", "The import had run in all six programs, and four of them got eight.", 2, like="p"),
    Misconception(
        "first-line-only", "In program f a whole function stood before the asking, and it came in time.", 2, like="r"),
    Misconception(
        "arrays-are-lost", "JAX does not delete your arrays: it refuses to change, so that they stay good.", 3, like="s"),
)  # fmt: skip

SHARE = (
    Misconception(
        "everything-is-divided", "B's spec names no axis, so every device has all of it: its share is 1, not 1/8.", 2,
        like=lambda said: said["B"] == 1 / 8),
    Misconception(
        "nothing-is-divided", "A is cut into rows, so each device has an eighth of A, and makes an eighth of C.", 1,
        like=lambda said: 1 in (said["A"], said["C"])),
    Misconception(
        "devices-counted", "A share is a part of the whole. An eighth of it is 1/8; 8 would be eight times as much.", 2,
        like=lambda said: 8 in said.values()),
    Misconception(
        "work-is-repeated", "A device multiplies the rows that it holds, and nobody else has them: an eighth of the FLOPs.",
        2, like=lambda said: said["flops"] == 1),
)  # fmt: skip

TIME = (
    Misconception(
        "device-count-is-speed", "Simulated devices are threads that share the cores of one machine; eight of them are not "
        "eight machines.", 3, like="8x faster"),
    Misconception(
        "simulation-is-slow", "The same FLOPs run on the same cores, only in eight portions; that costs little.", 3,
        like="8x slower"),
)  # fmt: skip


def moved(observed: Observed, kind: str) -> int:
    """Payload bytes of the collectives of this kind."""
    return sum(c.payload_bytes for c in observed.collectives if c.kind == kind)


def gathered(observed: Observed, argument: int) -> bool:
    """Whether as many bytes are gathered as this argument has; sizes are such that no other array has as many."""
    return moved(observed, "all-gather") == observed.inputs[argument].nbytes


def product_gathered(observed: Observed) -> bool:
    """Whether as many bytes are gathered as the product has."""
    a, b = observed.inputs
    return moved(observed, "all-gather") == a.itemsize * len(a) * b.shape[1]


def turned(observed: Observed) -> bool:
    """Whether the first argument goes from rows to columns."""
    devices = dict(observed.case.axes)["x"]
    return moved(observed, "all-to-all") * devices == observed.inputs[0].nbytes


def in_columns(observed: Observed) -> bool:
    """Whether the product lies in columns over x."""
    a, b = observed.inputs
    return observed.placements[0].same_as(place((len(a), b.shape[1]), observed.case.axes, (None, "x")))


def whole_work(observed: Observed) -> bool:
    """Whether every device does the FLOPs of the whole product."""
    a, b = observed.inputs
    return (observed.flops or 0) >= of.operations(a.shape[0], a.shape[1], b.shape[1])


PRODUCT = (
    Misconception(
        "cut-the-other-way", "C lies in columns over x, and rows were asked for: the first entry of a spec is for rows.", 3,
        when=in_columns),
    Misconception(
        "b-cut-and-gathered", "B lies whole on every device. It was cut, and brought together again.", 3,
        when=lambda o: gathered(o, 1)),
    Misconception(
        "a-turned-into-columns", "A lies in rows, which is what rows of C are made of. To cut it into columns sends most "
        "of it to other devices.", 3, when=turned),
    Misconception(
        "gathers-to-be-safe", "All rows are asked for on every device, so all rows of A are sent to everyone, and "
        "everyone does all the work.", 2, when=lambda o: gathered(o, 0) and whole_work(o)),
    Misconception(
        "gathers-and-cuts", "All rows of A are sent to everyone, and then each device uses only those that it had.", 3,
        when=lambda o: gathered(o, 0) and o.kinds == {"all-gather"}),
    Misconception(
        "product-gathered", "Each device makes its rows of C, and then all of them are sent to everyone: rows were asked "
        "for.", 3, when=product_gathered),
)  # fmt: skip

REPORT = (
    Misconception(
        "values-blamed", "What the report does not mention is right, and it says nothing of values.", 1,
        like=lambda said: said["values"] == "no"),
    Misconception(
        "expected-for-got", "That was asked for, and stands under `expected`. What happened stands under `got`, or "
        "under `yours`.", 1,
        like=lambda said: said["moved"] == 0 or said["copies"] == 1),
    Misconception(
        "flops-not-divided", "`times` compares two numbers of the report: the FLOPs that it got, divided by those "
                             "expected.",
        1, like=lambda said: said["times"] in (8192, 65536, 65536 - 8192)),
)  # fmt: skip


def without_two(m: int, k: int, n: int) -> int:
    """Multiplications only."""
    return of.operations(m, k, n) // 2


RATE = (
    Misconception(
        "additions-forgotten", "Each of the m·k·n multiplications comes with an addition: two FLOPs.", 1,
        like=lambda m, k, n, s: without_two(m, k, n) / s),
    Misconception(
        "last-addition", "A sum of k products takes k-1 additions, that is true. FLOPs are counted with k all the same, by "
        "XLA as well: see what sl.inspect says.", 3, like=lambda m, k, n, s: m * n * (2 * k - 1) / s),
    Misconception(
        "upside-down", "A rate is work divided by time; this is time divided by work.", 1,
        like=lambda m, k, n, s: s / of.operations(m, k, n)),
    Misconception(
        "output-elements", "Each of the m·n elements of C is a sum of k products.", 1,
        like=lambda m, k, n, s: 2 * m * n / s),
    Misconception(
        "rounded-to-whole-flops", "A rate need not be a whole number: // and int() drop what stands behind the point.", 3,
        like=lambda m, k, n, s: of.operations(m, k, n) // s),
)  # fmt: skip

BELIEVABLE = (
    Misconception(
        "wrong-way-round", "Slower than the peak can be believed; faster than the peak cannot.", 2,
        like=lambda *claim: not of.believable(*claim)),
    Misconception(
        "additions-forgotten", "Each of the m·k·n multiplications comes with an addition: two FLOPs.", 1,
        like=lambda m, k, n, s, peak: without_two(m, k, n) <= peak * s),
    Misconception(
        "peak-itself-refused", "A claim that is exactly at the peak is not above it.", 3,
        like=lambda m, k, n, s, peak: of.operations(m, k, n) < peak * s),
    Misconception(
        "rounded-to-whole-flops", "A rate need not be a whole number: // and int() drop what stands behind the point.", 2,
        like=lambda m, k, n, s, peak: of.operations(m, k, n) // s <= peak),
    Misconception(
        "last-addition", "A sum of k products takes k-1 additions, that is true. FLOPs are counted with k all the same.", 3,
        like=lambda m, k, n, s, peak: m * n * (2 * k - 1) <= peak * s),
    Misconception(
        "believes-everything", "Some of these claims are above the peak of the chip.", 2, like=lambda *claim: True),
)  # fmt: skip


def takes(card: str, *wrong: str) -> Any:
    """Whether a card is answered with one of these."""

    def is_said(said: Mapping[str, Any]) -> bool:
        return said[card] in wrong

    return is_said


CLOCKS = (
    Misconception(
        "microseconds-matmul", "A call returns when the work is handed over, not when it is done; without waiting for the "
        "product you time the handing over (a).", 1, like=takes("a", "product", "compiling")),
    Misconception(
        "waits-for-another", "The clock is stopped before the waiting begins: what comes after it is not timed (d).", 2,
        like=takes("d", "product", "compiling")),
    Misconception(
        "first-call-compiles", "`jax.jit` compiles in the first call; this program times that as well (c).", 2,
        like=takes("c", "product", "dispatch")),
    Misconception(
        "only-one-way-to-wait", "NumPy needs the numbers, so it waits until they are there, as block_until_ready does (e).",
        3, like=takes("e", "dispatch", "compiling")),
)  # fmt: skip

MECHANISM = why(
    "What decides that time?",
    a=Believed(
        "How many devices share the work: eight do eight times as much in a second.",
        "devices-are-hardware",
        "All eight sit in one process, on the cores of one machine: the cell below the check counts them.",
    ),
    b=Believed(
        "What it takes to hand out the pieces and to put them together again.",
        "overhead-decides",
        "Not a byte was sent, and the clock shows much the same with and without the cut: cutting costs little.",
    ),
    c="How many FLOPs there are in all, and on how many cores of the machine they run.",
)
