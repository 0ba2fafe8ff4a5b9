"""Chapter 13's misconceptions: known wrong answers, and what is said of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from shardlab_course.ch13 import oracles as of
from shardlab_course.ch13.checks import share
from shardlab_judge.cases import Observed
from shardlab_judge.items.value import Believed, why
from shardlab_judge.question import Misconception


def _says(name: str, wrong: Any) -> Any:
    """A predicate: the answer to one part is this wrong one."""
    return lambda got: isinstance(got, Mapping) and got.get(name) == wrong


def _if_right(oracle: Callable[..., np.ndarray], when: Callable[[Observed], bool]) -> Callable[[Observed], bool]:
    """The predicate, for programs with right values: what a wrong one moves is not what makes it wrong."""
    return lambda o: when(o) and of.right(o, oracle)


MOVED = (
    Misconception(
        "types-are-not-traffic",
        "The type says where the output lies, and nothing of how it gets there: the whole array was brought to every "
        "device, transformed everywhere, and each kept its own rows.", 1, like=_says("explicit", 0)),
    Misconception(
        "trusts-the-compiler",
        "No two rows mix, and yet XLA for CPU of JAX 0.10.2 does not cut an FFT along its batch: it gathers all of them.",
        1, like=lambda got: got.get("fft") == 0 or got.get("vmap") == 0),
    Misconception(
        "products-are-cut",
        "A transform written as a matrix product is one that XLA knows how to cut: case 1, nothing moves.",
        2, like=lambda got: (got.get("product") or 0) > 0),
    Misconception(
        "bytes-of-the-block",
        "Payload is what comes out of a collective: after an all-gather the whole batch, a device's own part included.",
        2, like=lambda got: {got.get("fft"), got.get("vmap"), got.get("explicit")} & {8192, 57344}),
)  # fmt: skip
INVERSE = Misconception(
    "inverse-transform",
    "The transform went backwards: its waves have the other sign, and it is divided by the number of points.",
    1, like=of.inverse)  # fmt: skip
BATCH = (
    Misconception(
        "trusts-the-compiler",
        "All signals were brought to every device, and no row needs another. XLA for CPU of JAX 0.10.2 does that to an FFT "
        "of a whole array; so do an all_gather, and in_specs that ask for all rows. Cut, each device has its own.", 1,
        when=_if_right(of.transformed(1), of.gathers)),
    Misconception(
        "some-axes-only",
        "Rows were gathered along a mesh axis that the specs leave out. They are cut over all axes of the mesh, "
        "mesh.axis_names.", 3,
        when=_if_right(of.transformed(1), lambda o: 0 < of.largest(o, "all-gather") < o.inputs[0].nbytes)),
    Misconception(
        "along-the-batch", "Columns were transformed, across signals; asked for is each row.", 1, like=of.transformed(0),
        local=of.own_transform(0)),
    Misconception(
        "along-both-dimensions",
        "fft2 and fftn transform every dimension that they see, the batch as well; each row is a signal of its own.",
        1, like=of.transformed(0, 1), local=of.own_transform(0, 1)),
    Misconception(
        "inverse-transform",
        "The transform went backwards: its waves have the other sign, and it is divided by the number of points.",
        1, local=lambda at, block: np.fft.ifft(block)),
)  # fmt: skip


def _all_of_it(oracle: Callable[..., np.ndarray]) -> Misconception:
    return Misconception(
        "gathers-everything",
        "The whole array was brought to every device. One all-to-all lets each device change only what it holds, "
        "and moves one block.",
        1,
        when=_if_right(oracle, of.gathers),
    )


PLANE, CUBE = of.transformed(0, 1), of.transformed(0, 1, 2)
SWAPPED = Misconception(
    "split-and-concat-swapped",
    "split_axis is the dimension that you give up: whole so far, cut afterwards. concat_axis is the one that "
    "you get whole.", 2, error="all_to_all split_axis .* has to be divisible")  # fmt: skip
CUT = Misconception(
    "cut-dimension-transformed", "A dimension was transformed while it was cut: the device took its piece for the whole.", 1,
    when=of.cut_transform)  # fmt: skip
UNTILED = Misconception(
    "not-tiled",
    "Without tiled=True the dimension split_axis must have one entry for each device, and it disappears. With it "
    "that dimension is cut into pieces.", 2, error="all_to_all requires the size of the mapped axis")  # fmt: skip
SLAB = (
    _all_of_it(PLANE), SWAPPED, UNTILED,
    Misconception(
        "output-is-transposed",
        "After the exchange a device holds whole columns, and out_specs=P('x') set these blocks one below another. The "
        "output is cut along the other dimension: P(None, 'x').", 2, when=of.piled),
    Misconception(
        "no-exchange",
        "Each device transformed the columns of its own block, as if they were whole; they are spread over all devices.",
        1, local=of.own_transform(0, 1)),
    Misconception(
        "one-dimension-left-out",
        "One dimension is transformed and the other is not; each needs its turn, when it is whole.",
        1, like=of.transformed(1)),
    Misconception(
        "one-dimension-left-out",
        "One dimension is transformed and the other is not; each needs its turn, when it is whole.",
        1, like=of.transformed(0)),
    Misconception(
        "one-dimension-twice", "The same dimension is transformed twice; after the exchange it is the other one's turn.",
        1, like=of.transformed(1, 1)),
    Misconception(
        "rows-again",
        "After the exchange the last dimension was transformed again. It is cut now: whole are columns, axis=0.",
        2, when=of.rows_again),
    CUT,
    Misconception(
        "goes-home",
        "A second all-to-all brings the transform back into rows, for twice the bytes. Whoever goes on can do so with "
        "columns.",
        2, when=_if_right(PLANE, lambda o: of.count(o, "all-to-all") > 1 and of.lies(o, "x"))),
    INVERSE,
)  # fmt: skip

GROUPS = (
    Misconception(
        "counts-the-mesh",
        "Each exchange happens within one mesh axis: only the devices that share a dimension's pieces need to talk.",
        1, like=lambda got: 8 in (got.get("first"), got.get("second"))),
    Misconception(
        "first-and-second-swapped",
        "Which dimension becomes whole first? The one that lies over y, two devices; x comes second.",
        1, like=lambda got: (got.get("first"), got.get("second")) == (4, 2)),
    Misconception(
        "slab-is-one-dimension",
        "A slab is at least one plane thick, so there are at most as many slabs as planes; pencils can be as many as a "
        "plane has points.", 2, like=lambda got: got.get("slabs") != 16 or got.get("pencils") != 256),
    Misconception(
        "bytes-of-the-cube", "An all-to-all gives back as many bytes as it takes: a device's block, and not the cube.",
        2, like=lambda got: got.get("bytes") in (32768, 65536)),
    Misconception(
        "one-exchange", "These are the bytes of one exchange; asked for are both together.", 1, like=_says("bytes", 4096)),
    Misconception(
        "own-part-left-out",
        "The part of its block that a device keeps is counted as well: payload is all that comes out of a collective.",
        2, like=_says("bytes", 5120)),
)  # fmt: skip
PENCIL = (
    _all_of_it(CUBE), SWAPPED, UNTILED,
    Misconception(
        "across-the-whole-mesh",
        "An exchange joins all devices at once; each dimension is cut over one mesh axis, and only devices along that one "
        "have its pieces.", 1, when=of.across_the_mesh, barred=True),
    *(Misconception(
        "one-dimension-left-out",
        f"Dimension {left} is not transformed; each of the three needs its turn, when it is whole.",
        1, like=of.transformed(*kept)) for left, kept in enumerate(((1, 2), (0, 2), (0, 1)))),
    CUT,
    Misconception(
        "specs-of-the-input",
        "The dimensions are in another order, or the blocks do not lie as out_specs puts them together. After both "
        "exchanges dimension 0 is whole, 1 is cut over x and 2 over y.", 2, when=of.put_together_otherwise),
    Misconception(
        "another-route",
        "The transform lies as P('y', None, 'x'), as after an exchange over x first; asked for is P(None, 'x', 'y'), for "
        "the same bytes.", 2, when=_if_right(CUBE, lambda o: of.lies(o, "y", None, "x"))),
    Misconception(
        "goes-home",
        "More than two exchanges: the transform was brought back to where the cube lay. Whoever goes on can start from "
        "there.", 2, when=_if_right(CUBE, lambda o: of.count(o, "all-to-all") > 2 and of.lies(o, "x", "y"))),
    INVERSE,
)  # fmt: skip

RFFT = Misconception(
    "half-the-waves",
    "rfft leaves n // 2 + 1 waves of n points, and the mesh axis does not divide these. Use fft, or pad the waves "
    "before the exchange.", 2, error=r"split_axis \((11|17|21)\) has to be divisible")  # fmt: skip
POISSON = (
    _all_of_it(of.potential), RFFT, SWAPPED, UNTILED,
    Misconception(
        "local-index-as-global",
        "Each device numbered the columns of its block from zero. In k-space device d's columns begin at d times their "
        "number, and so do its wavenumbers.", 1, when=of.numbered_locally),
    Misconception(
        "zeroed-on-every-device",
        "Each device zeroed entry [0, 0] of its own block. That is wavenumber zero on the first device alone; zero where "
        "k² is.", 1, when=of.zeroed_everywhere),
    Misconception(
        "no-negative-waves", "Wavenumbers were counted up to the last. The second half of them are negative: see fftfreq.",
        1, like=of.without_negative),
    Misconception(
        "divides-by-zero",
        "At wavenumber zero the square is zero, and the quotient is not finite; the inverse transform spreads it over the "
        "whole field. Set that one entry to zero.", 2,
        when=lambda o: not all(np.isfinite(block).all() for _, _, block in o.shards[0])),
    Misconception(
        "mean-kept",
        "The field has a mean: the entry of wavenumber zero was divided by something else, and not set to zero.",
        2, when=of.another_mean),
    Misconception(
        "imaginary-part-kept", "The field is complex, and its imaginary part is rounding: return .real.", 1,
        when=of.is_complex),
    Misconception(
        "sign-of-the-laplacian", "Two derivatives of exp(ikx) bring (ik)² = -k²; the minus is missing.", 1, like=of.flipped),
    Misconception(
        "frequency-is-no-wavenumber",
        "fftfreq counts waves per point; the derivative needs radians, 2π times as much.", 1, like=of.without_pi),
    Misconception(
        "stencil-wavenumbers",
        "These are the eigenvalues of the five-point stencil; asked for is the Laplacian itself, -k².", 1,
        like=of.by_differences),
    Misconception(
        "left-in-columns",
        "The field lies in columns. The way back through k-space ends where it began if its exchange is the reverse of the "
        "first.", 2, when=_if_right(of.potential, lambda o: of.lies(o, None, "x"))),
    Misconception(
        "goes-home-in-between",
        "The spectrum was brought home and sent out again. Multiply by -1/k² where it lies, in columns: two exchanges are "
        "enough.", 1, when=_if_right(of.potential, lambda o: of.count(o, "all-to-all") > 2)),
)  # fmt: skip

LOOP = (
    Misconception(
        "loop-counted-once", "What stands in a loop's body once runs in every round: multiply by the trip count.",
        1, like=lambda got: got.get("bytes") in (264, 268) or got.get("runs") in (3, 4)),
    Misconception(
        "first-dot-forgotten",
        "One sum runs before the loop, the first r·r: one collective and 4 bytes more than six rounds have.",
        1, like=lambda got: got.get("bytes") == 1584 or got.get("runs") == 18),
    Misconception(
        "sums-counted-twice",
        "An all-reduce has twice its bytes in the price. Payload is what comes out: a sum of one number is 4 bytes.",
        2, like=_says("bytes", 1640)),
    Misconception(
        "bytes-of-the-matrix",
        "The matrix stays where it is. What each row block needs of the others is the vector: n numbers.",
        1, like=lambda got: got.get("gathered") in (2048, 16384)),
    Misconception(
        "bytes-of-the-block",
        "Payload is what comes out: after an all-gather the whole vector, 64 numbers, on every device.",
        2, like=lambda got: got.get("gathered") in (32, 224)),
)  # fmt: skip
SOLVER = (
    Misconception(
        "gathers-the-matrix",
        "The matrix was brought together. It is the vector that should move: n numbers a round instead of n².",
        1, when=_if_right(of.conjugate_gradients, of.gathers)),
    Misconception(
        "rounds-unknown",
        "How often the loop runs depends on values, so nobody can say before the run what it moves. Here it makes a fixed "
        "number of rounds: fori_loop or scan.", 2, when=lambda o: any(c.executions is None for c in o.collectives)),
    Misconception(
        "local-dot-products",
        "Each device summed over its own entries only, so each had steps of its own lengths; dot products are over the "
        "whole vector.", 1, when=of.lonely_sums),
    Misconception(
        "own-columns-only",
        "A row of A times p needs all of p. Each device used its own entries of p, and so a block diagonal matrix.",
        1, when=of.lonely_products),
    Misconception(
        "steepest-descent",
        "Every step went along the residual. The next direction is the new residual plus a multiple of the last direction.",
        2, like=of.iterated(steepest=True)),
    Misconception(
        "converged", "This is the solution; asked for is the approximation after six rounds, on the way to it.", 1,
        when=lambda o: of.rounds(o) > 12),
    Misconception(
        "other-rounds", "This is the approximation after another number of rounds than six.", 1,
        when=lambda o: of.rounds(o) not in (0, of.STEPS)),
    Misconception(
        "left-to-the-compiler",
        "The sums here are XLA's to place. On x=2, y=4 XLA for CPU cuts the product over y as well, and then pays more "
        "than one gather of p. In shard_map you say what moves.", 2,
        when=_if_right(of.conjugate_gradients, lambda o: not o.manual)),
    Misconception(
        "residual-made-anew",
        "Two vectors travel in every round; one is enough, for the product with p. The residual b - Ax needs no product of "
        "its own: it is r - alpha A p. A dot product needs a sum of numbers, and no vector.", 2,
        when=_if_right(of.conjugate_gradients,
                       lambda o: of.count(o, "all-gather") + of.count(o, "reduce-scatter") >= 2 * of.loops(o))),
    Misconception(
        "sums-whole-vectors",
        "A whole vector is all-reduced, for the price of a gather and a scatter. Gather p before the product, or "
        "scatter the sum after it.", 2,
        when=_if_right(of.conjugate_gradients, lambda o: of.largest(o, "all-reduce") >= o.inputs[1].nbytes)),
    Misconception(
        "third-dot-product",
        "More than two numbers are summed in a round, or more than two outside of the rounds. A dot product is one number, "
        "and r·r of the last round is known: carry it along.", 3,
        when=_if_right(of.conjugate_gradients, lambda o: of.numbers_summed(o) > 2 * of.loops(o) + 2), barred=True),
)  # fmt: skip

FACTOR = (
    Misconception(
        "gathers-the-matrix",
        "The whole matrix comes to every device, into memory for n² numbers. Let one panel travel at a time.",
        1, when=_if_right(of.lower, of.gathers)),
    Misconception(
        "as-large-as-the-matrix",
        "A device makes an array as large as the whole matrix. Its own rows and one panel are enough: of panel times panel "
        "transposed too it needs its own rows alone.",
        1, when=_if_right(of.lower, lambda o: o.largest >= o.inputs[0].nbytes)),
    Misconception(
        "left-to-the-compiler",
        "Slices of a matrix that is cut lie on some devices and not on others, so XLA moves pieces about in each "
        "round. In shard_map you say what moves.", 2, when=_if_right(of.lower, lambda o: not o.manual)),
    Misconception("upper-factor", "This is the upper factor, the transpose of the one asked for.", 1, like=of.upper),
    Misconception(
        "diagonal-blocks-only",
        "Each device factored its own diagonal block, as if nothing stood beside it.", 1, local=of.own_factor),
    Misconception(
        "trailing-matrix-not-updated",
        "Every panel was made from the given matrix. After each one the rest of the matrix loses panel times panel "
        "transposed.",
        1, when=of.not_updated),
    Misconception(
        "upper-triangle-kept",
        "On and below the diagonal the factor is right; above it stands what was there before. Zero it.",
        2, when=of.upper_kept),
    Misconception(
        "panels-by-sum",
        "As much as a panel is sent as a sum with zeros: an all-reduce, twice the bytes of a gather. Take a panel off the "
        "rest in each round: all devices hold a part of it, so gather the parts.",
        2, when=_if_right(of.lower, lambda o: of.largest(o, "all-reduce") >= share(o.case) // 2)),
    Misconception(
        "gathers-panels-twice",
        "Each round runs two gathers of a panel's size. One device's block needs no gather of all: a sum with zeros sends "
        "it. Or gather the column of blocks before the triangular solve, and not again.", 3,
        when=_if_right(of.lower, of.gathers_panels_twice)),
)  # fmt: skip
STACK = (
    Misconception(
        "brought-together",
        "All matrices were brought to every device. A stack of systems is solved where it lies; cut it over the stack, "
        "and let nothing ask for more.", 1, when=_if_right(of.systems, of.gathers)),
    Misconception(
        "one-by-one",
        "Parts of the stack are sent from device to device. Taking out one system, A[i], does that; solve the whole "
        "stack at once.", 1, when=_if_right(of.systems, lambda o: bool(o.collectives) and not o.manual)),
    Misconception(
        "left-to-the-compiler",
        "XLA for CPU leaves a stack of systems where it lies, and XLA for TPU gathers it. Inside shard_map neither has "
        "anything to decide.", 1, when=_if_right(of.systems, lambda o: not o.manual)),
    Misconception(
        "damped-everywhere", "16 was added to every entry, and not to the diagonal alone: 16 I is 16 times the identity.",
        1, when=of.damped_everywhere),
    Misconception("undamped", "The 16 on the diagonal is missing.", 1, like=of.undamped),
)  # fmt: skip
SUBSTITUTION = (
    Misconception(
        "gathers-the-matrix",
        "The whole factor comes to every device. Its rows stay where they are: what moves is one block of a vector a round.",
        1, when=_if_right(of.substituted, of.gathers)),
    Misconception(
        "turns-the-factor",
        "The factor was turned around between the devices. Device i has L_is as it is, and makes its term of the sum, "
        "L_is transposed times x_i, at home.", 2,
        when=_if_right(of.substituted, lambda o: of.largest(o, "all-to-all") >= share(o.case) // 2)),
    Misconception(
        "left-to-the-compiler",
        "Slices of what is cut lie on some devices and not on others, so XLA moves pieces about in each round. In shard_map "
        "you say what moves.", 2, when=_if_right(of.substituted, lambda o: not o.manual)),
    Misconception(
        "whole-vector-each-round",
        "As much as a whole vector, or more, comes in each round, where a block is enough: on the way down the one that is "
        "solved, on the way up the sum for the one that is due.",
        2, when=_if_right(of.substituted, of.whole_vectors)),
    Misconception(
        "half-way", "This is y, the solution of L y = b. The way up is missing: L transposed times x is y.", 1,
        like=of.solved_down),
    Misconception(
        "half-way", "This solves L transposed times x = b, the way up alone. First comes L y = b.", 1, like=of.solved_up),
    Misconception(
        "down-twice", "Both systems were solved with L. The second one has its transpose, and goes from the bottom up.", 1,
        like=of.down_twice),
    Misconception(
        "diagonal-blocks-only", "Each device solved with its own diagonal block, as if nothing stood beside it.", 1,
        local=of.own_blocks),
    Misconception(
        "own-term-summed",
        "On the way up the sum is over the devices below s. Device s added a term of its own, from its block of y.", 3,
        when=of.own_term_summed),
)  # fmt: skip

MECHANISM = why(
    "What decides whether XLA for CPU moves the batch?",
    a=Believed(
        "Whether rows mix: where each is transformed for itself, nothing moves.", "mathematics-decides",
        "Rows mix in none of the four, and the ledger shows what moved: a compiler has rules for operations, and does not "
        "know what you know."),
    b="Whether it knows how to cut the operation: what it cannot cut, it makes whole and computes on every device.",
    c=Believed(
        "Whether it is told that rows are independent, by `vmap` or by a type.", "saying-it-helps",
        "The ledger shows the same bytes with and without `vmap`: the operation is the same, and so is the rule for it."),
)  # fmt: skip
