"""Chapter 13's questions: distributed FFT and linear solve."""

from __future__ import annotations

from shardlab_course.ch13 import cases
from shardlab_course.ch13 import misconceptions as wrong
from shardlab_course.ch13 import oracles as of
from shardlab_course.ch13.cases import LINE, TALL, WIDE
from shardlab_course.ch13.checks import too_wide
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Check, Question

TRANSFORM = "float32 transforms, whose sums are taken in another order"

BATCH = Question(
    "13.1", "Many signals, no messages", difficulty=2, minutes=25,
    items=(
        ValueItem("moved", {"P": 1.75}, predicted=True, misconceptions=wrong.MOVED,
                  key={"fft": 65536, "vmap": 65536, "explicit": 65536, "product": 0}),
        wrong.MECHANISM,
        ProgramItem("batch_fft", {"V": 1, "H": 1}, oracle=of.transformed(1),
                    misconceptions=wrong.BATCH, rtol=1e-4, atol=1e-3,
                    tolerance=TRANSFORM, cases=(cases.signals(LINE, 16, 12), cases.signals(WIDE, 24, 10)),
                    draw=cases.draw_signals),
    ),
    hints=(
        "Which rows does a row's transform need? And who may not use that?",
        "In shard_map the body sees a block of whole rows, and no partitioner looks at what you do with it.",
        "The rows are cut over all axes of the mesh: spec = P(mesh.axis_names). Body: jnp.fft.fft of the block, along its "
        "last dimension.",
    ),
    explanation="A batch of transforms needs no message. XLA for CPU, as in JAX 0.10.2, sends all of it nonetheless: it "
                "gathers the rows, transforms all of them on every device, and cuts the output again. XLA for TPU makes "
                "the same program without a message. vmap only makes the batch, and Explicit mode's type says "
                "complex64[64@x,128] of an output that was gathered and cut again.\n\nSo types are no ledger; the compiled "
                "program is. In shard_map each device transforms its block, and nothing is left to decide. As a product "
                "with the matrix of waves it would be cut as well, because XLA for CPU and for TPU both cut products, but "
                "n² multiplications a row are a high price for that when n log n are enough.",
)  # fmt: skip

SLAB = Question(
    "13.2", "A plane in slabs", difficulty=3, minutes=40,
    items=(
        ProgramItem("slab_fft", {"V": 1, "S": 1, "H": 1}, oracle=of.transformed(0, 1), misconceptions=wrong.SLAB, rtol=1e-4,
                    atol=1e-3, tolerance=TRANSFORM, cases=(cases.plane(LINE, 16, 24), cases.plane(WIDE, 20, 12)),
                    draw=cases.draw_plane),
    ),
    hints=(
        "Which of the two dimensions is whole on a device at the beginning? Which has to be at the end?",
        "Transform rows, exchange so that columns become whole, transform columns. The output is then cut where the input "
        "was not.",
        "Body: fft along 1; all_to_all with split_axis=1, concat_axis=0, tiled=True; fft along 0. Specs: P('x') in, "
        "P(None, 'x') out.",
    ),
    explanation="A transform in two dimensions is one along rows, then one along columns, and each needs its dimension "
                "whole. Between them lies a transposition of who holds what: one all-to-all of one block, where a gather "
                "would bring the whole plane, as many times more as there are devices. What comes out is cut into columns, "
                "and that is right: its type says so, nobody has to remember. To go back to rows costs a second exchange, "
                "and whoever multiplies by something in k-space and returns never needs it. Two shard_maps with specs "
                "P('x') and P(None, 'x') are right as well: XLA, for CPU and for TPU, gets from one to the other by an "
                "all-to-all.",
)  # fmt: skip

PENCIL = Question(
    "13.3", "A cube in pencils", difficulty=4, minutes=50, optional=True,
    items=(
        ValueItem("pencils", {"P": 2}, predicted=True, misconceptions=wrong.GROUPS,
                  key={"first": 2, "second": 4, "bytes": 8192, "slabs": 16, "pencils": 256}),
        ProgramItem("pencil_fft", {"V": 1, "S": 1, "H": 1.5}, oracle=of.transformed(0, 1, 2),
                    misconceptions=wrong.PENCIL, rtol=1e-4,
                    atol=2e-3, tolerance=TRANSFORM,
                    cases=(cases.cube(WIDE, 8, 12, 4), cases.cube(TALL, 4, 8, 12)), draw=cases.draw_cube),
    ),
    hints=(
        "P('x', 'y'): which dimension is whole? Which mesh axis cuts the next one, and who has the rest of it?",
        "An exchange over one mesh axis moves its cut from one dimension to another. First y from dimension 1 to 2, then x "
        "from 0 to 1.",
        "fft along 2; all_to_all over 'y', split 2, concat 1; fft along 1; all_to_all over 'x', split 1, concat 0; fft "
        "along 0.",
    ),
    explanation="Pencils cut two dimensions and leave one whole, so three transforms need two exchanges. Each goes along "
                "one mesh axis: groups of 2 along y, groups of 4 along x, four and two of them side by side. Each has a "
                "payload of one block, whatever the size of the groups. A slab needs only one exchange "
                "of the same size, but an n³ cube has n slabs and n² pencils: for more than n devices slabs are not "
                "enough. The order of exchanges decides where the transform lies. Some libraries choose orders in which "
                "dimensions come out transposed, so that each local transform runs along the last one; then the inverse "
                "undoes it.",
)  # fmt: skip

POISSON = Question(
    "13.4", "Poisson's equation in k-space", difficulty=4, minutes=55,
    items=(
        ProgramItem("poisson", {"V": 1.5, "S": 0.5, "H": 1}, oracle=of.potential,
                    misconceptions=wrong.POISSON, rtol=1e-3, atol=1e-3,
                    tolerance="float32 transforms there and back; the longest wave is divided by a small square",
                    slack=8, slack_reason="the density's mean, one number, may be taken off before or after",
                    cases=(cases.field(LINE, 16, 40), cases.field(WIDE, 12, 20), cases.field(LINE, 24, 48)),
                    draw=cases.draw_field),
    ),
    hints=(
        "In the middle a device holds all rows of some columns. Which columns, and which wavenumbers are theirs?",
        "Wavenumbers of dimension 0 are whole, those of dimension 1 cut like the columns. The spec P('x') on the array of "
        "all of them cuts them; axis_index with a slice does too.",
        "k0 = 2π fftfreq(n), k1 = 2π fftfreq(m); shard_map with in_specs (P('x'), P('x')) for density and k1. Where the "
        "square is zero, multiply by zero.",
    ),
    explanation="In k-space the Laplacian is a multiplication by -k², so the equation is solved by a division, entry by "
                "entry: nothing moves for it, wherever the spectrum lies. It lies in columns after one exchange, is "
                "divided there, and one exchange brings the field home.\n\nWhat must be known is which wavenumbers a device "
                "has. fftfreq of the block's width is as plausible as it is wrong: it gives every device the same few "
                "waves, as if its block were the whole spectrum. Cut the array of wavenumbers with the same spec as the "
                "columns, and the question does not arise. At k = 0 the equation says nothing but that the density's mean "
                "cannot be balanced; the field's mean is free, and is chosen to be zero.",
)  # fmt: skip

SOLVER = Question(
    "13.5", "Conjugate gradients on blocks of rows", difficulty=3, minutes=50,
    items=(
        ValueItem("loop", {"P": 1.5}, predicted=True,
                  misconceptions=wrong.LOOP, key={"gathered": 256, "runs": 19, "bytes": 1588}),
        ProgramItem("cg", {"V": 1, "S": 0.5, "H": 1.5}, oracle=of.conjugate_gradients,
                    misconceptions=wrong.SOLVER, rtol=1e-4,
                    atol=1e-5, tolerance="six rounds of float32 dot products, each in another order",
                    slack=264, slack_reason="one gather and one sum may come before the loop, for b or for a first product",
                    cases=(cases.system(LINE, 64), cases.system(WIDE, 40), cases.system(TALL, 48)), draw=cases.draw_system),
    ),
    hints=(
        "Write down each line of a round. Which of them needs numbers that other devices have, and how many?",
        "A times p needs all of p. Each of the two dot products needs one number from everybody. Everything else is entry "
        "by entry.",
        "In shard_map: dot = psum of the blocks' vdot; q = A @ all_gather(p, tiled=True); carry r·r along.",
    ),
    explanation="Most of a round is local: entry by entry, on blocks that lie alike. The product needs the "
                "whole direction, n numbers, and each dot product one number of everybody. The matrix, n² numbers, never "
                "moves: that is why iterative methods scale, as long as a round's n numbers are cheap beside its n²/p "
                "products. All this stands in a loop's body once, and runs in every round; a ledger that forgets the trip "
                "count is wrong by that factor.\n\nLeft to it, XLA for CPU does as well as you on eight devices in a "
                "line and on x=4, y=2. On x=2, y=4 it cuts the direction over y as well, permutes its pieces, and "
                "all-reduces each half of the product: a higher price than one gather. With a stopping test the number of "
                "rounds depends on values, and bytes can only be given per round.",
)  # fmt: skip

FACTOR = Question(
    "13.6", "A factor that nobody holds", difficulty=5, minutes=80, optional=True,
    items=(
        ProgramItem("cholesky", {"V": 1, "S": 0.5, "H": 1, "M": 1.5}, oracle=of.lower, misconceptions=wrong.FACTOR,
                    checks=(Check("M", too_wide),), rtol=1e-4, atol=1e-4,
                    tolerance="float32 elimination of a well-conditioned matrix",
                    cases=(cases.matrix(LINE, 32), cases.matrix(WIDE, 24)), draw=cases.draw_matrix),
        ProgramItem("solve_stack", {"V": 0.5, "H": 0.5}, oracle=of.systems, manual=True, misconceptions=wrong.STACK,
                    rtol=1e-4, atol=1e-4, tolerance="float32 elimination of well-conditioned systems",
                    cases=(cases.stack(LINE, 16, 5), cases.stack(WIDE, 12, 6)), draw=cases.draw_stack),
    ),
    hints=(
        "Round s makes the s-th column of blocks of the factor. What of the matrix does it need, and which device has it?",
        "Diagonal block to all; each device solves for its own block of the panel; the panel to all; each device updates "
        "its own rows. Devices above the panel contribute zeros.",
        "L = cholesky(psum of the block where axis_index is s, else 0); mine = solve_triangular(L, block.T, lower=True).T, "
        "zero where axis_index < s; panel = all_gather(mine); A -= mine @ panel.T.",
    ),
    explanation="Add it up: the panels of all rounds are n² numbers, as many as one gather of the matrix. Cut by rows, "
                "bytes are not what you save. Memory is: no array on a device is larger than its rows or one panel, 1/p of "
                "the matrix, and a matrix too large for one device can be factored at all. Arithmetic is the other: each "
                "device updates its own rows, where the gathered matrix is factored by everybody.\n\nNeither XLA for CPU "
                "nor XLA for TPU finds this: both gather the matrix for one factorization. With a stack of systems they "
                "differ: on CPU it stays, on TPU jnp.linalg.solve gathers all of it, so the control is in shard_map too. "
                "Rows in contiguous blocks leave the first devices idle as rounds go by; ScaLAPACK deals blocks out "
                "cyclically, for that reason, and over two mesh axes, which saves bytes as well.",
)  # fmt: skip

SUBSTITUTION = Question(
    "13.7", "Down and up again", difficulty=4, minutes=50, optional=True,
    items=(
        ProgramItem("substitute", {"V": 1, "S": 0.5, "H": 1, "M": 0.5}, oracle=of.substituted,
                    misconceptions=wrong.SUBSTITUTION, checks=(Check("M", too_wide),), rtol=1e-4, atol=1e-4,
                    tolerance="float32 substitution with a well-conditioned factor",
                    cases=(cases.factored(LINE, 32), cases.factored(WIDE, 24)), draw=cases.draw_factored),
    ),
    hints=(
        "Take the two sums of the page. On which devices do the terms of each lie?",
        "Down: device s solves, its block goes to all, devices below take off their term. Up: devices below make terms, "
        "their sum goes to device s, which solves.",
        "Down: y = psum(y if me == s else 0), below b -= column @ y. Up: x - psum(column.T @ x if me > s else 0), "
        "solved if me == s. column = L[:, s k:][:, :k].",
    ),
    explanation="One factor, cut one way, is used in both directions, and what moves is as much: a block of a vector "
                "a round, n numbers on the way down and n on the way up, where the factor has n². Down, a row's sum is at "
                "home and its operands are not, so they are sent out. Up, the operands are at home and the sum is not, so "
                "terms are sent in.\n\nIt is the same pair as in tensor parallelism: rows and columns of one matrix are "
                "transposes of each other, and so are a broadcast and a sum. What is not parallel here is the order: each "
                "round waits for the one before, and while device s solves, the others wait. With many right-hand sides at "
                "once the rounds stay as many, and each of them has more to do.",
)  # fmt: skip

QUESTIONS: tuple[Question, ...] = (BATCH, SLAB, PENCIL, POISSON, SOLVER, FACTOR, SUBSTITUTION)
