"""Chapter 4's misconceptions: known wrong answers, and what is said of each."""

from __future__ import annotations

import functools

from shardlab_course.ch04 import oracles as of
from shardlab_course.shared import products
from shardlab_course.shared.guarded import counts, lets_through, one_size
from shardlab_judge.items.value import Believed, why
from shardlab_judge.question import Misconception

PROMISE = Misconception(
    "promise-not-proved", "out_specs promises equal copies over an axis over which the type still varies: name that axis, "
    "gather with to='invarying', or reduce the partial sums.", 2, error="can't be statically inferred")  # fmt: skip
PARTIAL = Misconception(
    "partial-sum-returned",
    "Each device returns the product of the columns and rows that it holds, one term of the sum; nothing adds "
    "the terms up. Only check_vma=True makes JAX look, and only where out_specs promises copies.", 1,
    local=of.partial)  # fmt: skip
DIAGONAL = Misconception(
    "diagonal-blocks", "Device i multiplied its rows of A with its columns of B: that is block (i, i) of C, and no device "
    "computed the others.", 1, when=of.diagonal)  # fmt: skip
ONE_AXIS = Misconception(
    "axis-for-both-dimensions", "out_specs names x for both dimensions: that would be the blocks (i, i) alone, and the "
    "others would lie nowhere.", 1, error="DuplicateSpecError")  # fmt: skip
LEFT = Misconception(
    "left-to-the-compiler",
    "`A @ B` alone, constraints, and in_specs other than where the operands lie let XLA choose what moves. Here you "
    "are the compiler.", 1,
    when=lambda o: not o.manual)  # fmt: skip
NEEDLESS = Misconception(
    "communicates-for-nothing", "Every device already holds all it needs for its block of C, so no byte has to move.",
    1, when=lambda o: bool(o.collectives))  # fmt: skip
BOTH = Misconception(
    "gathers-both", "Parts of both operands are gathered, and each is paid; the product can be made with less.", 2,
    when=of.gathers_both)  # fmt: skip
TWICE = Misconception(
    "reduces-whole-products",
    "What was summed over an axis was the same on its n devices, so the product came out n times too large.",
    2, when=lambda o: of.times(o, lambda n: n))  # fmt: skip
BLOCKS = Misconception(
    "blocks-do-not-fit",
    "The block of A has too few columns for all rows of B: gather A's columns first (axis=1, and tiled=True, "
    "else blocks are stacked in a new dimension), or take fewer rows of B.", 1,
    error=products.misfit("short"))  # fmt: skip
CUT_ROWS = Misconception(
    "rows-do-not-fit",
    "The block of B has too few rows for all columns of A: take as many columns of A (P(None, 'x')), or gather B's rows "
    "first (axis=0, and tiled=True).", 1, error=products.misfit("cut"))  # fmt: skip
SWAPPED = Misconception(
    "operands-swapped", "That is B times A: the rows of the first operand meet the columns of the second, A @ B.", 1,
    error=products.misfit("swapped"))  # fmt: skip
UNTILED = Misconception(
    "gathered-then-reshaped", "Gathered without tiled=True, the blocks lie in a new first dimension; a reshape reads it "
    "row by row, and mixes columns. tiled=True puts them side by side.", 3, when=of.stacked_gather)  # fmt: skip
STARTS = Misconception(
    "index-for-start", "Device d began at row d of B. Its rows begin at d times the number of its columns of A.", 2,
    when=of.short_starts)  # fmt: skip
FIRST_ROWS = Misconception(
    "same-rows-everywhere",
    "Every device multiplied with the first rows of B; device d needs the rows that go with its columns of "
    "A.", 2, local=lambda at, a, b: a @ b[: a.shape[1]], when=of.first_rows)  # fmt: skip
OVER_Y = Misconception(
    "reduces-over-another-axis", "The partial sums differ along x; summed over y, each is only counted several times.",
    1, when=lambda o: not of.right(o) and of.summed_over(o) == {"y"})  # fmt: skip
OVER_X = Misconception(
    "reduces-over-rows", "The partial sums of one block of rows lie along y; along x lie other rows of C.",
    1, when=lambda o: o.manual and not of.right(o) and of.summed_over(o) == {"x"})  # fmt: skip
MEAN = Misconception(
    "mean-instead-of-sum",
    "pmean divides the sum by the number of devices; the terms of a matrix product are added, not averaged.",
    1, when=lambda o: of.times(o, lambda n: 1 / n))  # fmt: skip

CLASSIFY = (
    Misconception(
        "clash-asked-last",
        "Where two kept dimensions use one axis, the blocks that fit make only a diagonal of the output. Whatever "
        "the contracted dimension does, one operand has to give up that axis: ask for the clash first.",
        2, like=of.mistaken(first="contraction")),
    Misconception(
        "batch-letters-contracted",
        "A letter that stands in both operands and in the output is a batch dimension: nothing is summed over it.",
        1, like=of.mistaken(batch=True)),
    Misconception(
        "axes-not-compared",
        "Sharded on both sides is not enough for case 3: over different axes, or in another order, the devices hold "
        "different indices.", 2, like=of.mistaken(named=False)),
    Misconception(
        "axes-in-any-order",
        "Of an entry with two axes the order counts: ('x', 'y') and ('y', 'x') give a device different indices.", 3,
        like=of.mistaken(ordered=False)),
    *(Misconception(
        "one-contracted-letter", "More letters than one may be contracted: look at each of them.", 2,
        like=of.mistaken(letters=one)) for one in (slice(1), slice(-1, None))),
    Misconception(
        "any-shared-axis-clashes",
        "An axis may stand in both specs; it clashes only where it shards two dimensions that both stay in the output.",
        1, like=of.mistaken(clash="any")),
    Misconception(
        "pairs-compared-whole", "An entry may name two axes; it clashes with another entry if they share one of them.",
        3, like=of.mistaken(clash="whole")),
)  # fmt: skip

DETOUR = Misconception(
    "compiler-detour",
    "Left to itself XLA for CPU moved blocks between devices first and then gathered over y; it chooses by rules of "
    "thumb. One gather over x is enough: write it in shard_map.",
    2, when=lambda o: not o.manual and "collective-permute" in o.kinds)  # fmt: skip
CASE_4 = (DIAGONAL, ONE_AXIS, BOTH, SWAPPED)

WRONG_WAY = Misconception(
    "gathered-along-the-other-dimension",
    "The blocks were put together along the dimension that is summed over; gather along the one that x cuts: "
    "columns of B are axis=1, rows of A axis=0.", 3, error=products.misfit("long"))  # fmt: skip

TOWARDS_COLUMNS = (
    DIAGONAL, ONE_AXIS, DETOUR, BOTH, WRONG_WAY, SWAPPED,
    Misconception(
        "other-side-scattered", "C lies in rows, because B was gathered and A stayed; for columns, gather A.",
        1, when=lambda o: of.scattered(o, 0) and of.gathers(o, 1)),
    Misconception(
        "gathers-what-should-stay",
        "B has the columns already that C should have; gathered, C comes out in rows and has to be turned. A is what "
        "must move.", 2, when=lambda o: of.gathers_only(o, 1) and of.left_is_cheaper(o)),
)  # fmt: skip

DEEP = (Misconception(
    "case-2-always-gathers",
    "B is whole on every device, so XLA may slice it for nothing and reduce C, which here is 64 times smaller "
    "than A.", 2, like="all-gather"),)  # fmt: skip
SHALLOW = (Misconception(
    "always-reduces",
    "Here C is 64 times as large as A, so gathering A moves far less than reducing C.", 2, like="all-reduce"),)  # fmt: skip
COSTS = (
    Misconception("elements-not-bytes", "Elements are counted; a float32 has 4 bytes.", 1, like=of.costs_with(bytes=1)),
    Misconception(
        "all-reduce-counted-once", "An all-reduce is a reduce-scatter and an all-gather: it moves its array twice.",
        1, like=of.costs_with(reductions=1)),
    Misconception(
        "counts-all-devices", "Payload bytes are counted for one device, as FLOPs are.", 1,
        like=of.costs_with(devices=True)),
    Misconception(
        "multiplications-only", "Each element of C takes J multiplications and J additions: 2·I·J·K FLOPs.", 1,
        like=of.costs_with(flops=1)),
    Misconception(
        "gather-divides-the-work", "After the gather every device holds all of A and all of B: each does the whole product.",
        2, like=of.costs_with(split=True)),
    Misconception(
        "counts-the-shard",
        "The shard is what one device sends; what arrives on every device is all of A.", 2, like=of.costs_with(shard=True)),
)  # fmt: skip
SECONDS = (Misconception(
    "adds-the-times", "Here multiplying and moving go on at the same time: the longer one decides, not the sum.",
    2, like=functools.partial(of.seconds, join=sum)),)  # fmt: skip
CHEAPER = (
    BLOCKS, CUT_ROWS, SWAPPED, TWICE, PROMISE, PARTIAL, FIRST_ROWS, UNTILED, STARTS,
    Misconception(
        "always-gathers",
        "Where J is larger than 2K, A is more expensive to gather than C to reduce; XLA's own A @ B gathers here too "
        "when x is one of two axes.", 2, when=lambda o: of.right(o) and of.gathers(o, 0) and of.deep(o)),
    Misconception(
        "always-reduces", "Where J is smaller than 2K, C is more expensive to reduce than A to gather.",
        2, when=lambda o: of.right(o) and o.kinds == {"all-reduce"} and not of.deep(o)),
)  # fmt: skip

KINDS = (
    Misconception(
        "compiler-emits-reduce-scatter",
        "That would be the cheaper program. XLA for TPU builds it, for many arrays; XLA for CPU reduces "
        "all of C and then slices.",
        1, like=lambda got: "reduce-scatter" in str(got)),
    Misconception(
        "slice-is-no-collective",
        "The slice is local: it moves nothing between devices.", 1, like=lambda got: "slice" in got),
)  # fmt: skip
SCATTERED = (
    Misconception(
        "reduces-then-slices",
        "An all-reduce gives every device all of C, and each needs only its own rows: twice the price.",
        2, when=lambda o: of.right(o) and "all-reduce" in o.kinds),
    Misconception(
        "gathers-operands", "Operands are moved before the product. The partial products cost less: a device pays for one "
        "C, and not for A or B whole.",
        2, when=lambda o: of.right(o) and (of.gathers(o, 0) or of.gathers(o, 1))),
    Misconception(
        "scattered-the-other-way",
        "The sum is split by columns; scatter_dimension=0 splits rows.", 1, when=lambda o: of.scattered(o, 1)),
    Misconception(
        "partial-sums-stacked", "Each device returned its whole partial product, and out_specs put them one below another.",
        1, when=of.stacked),
    Misconception(
        "scatter-not-tiled",
        "Without tiled=True the scattered dimension must be as long as the axis has devices, and it disappears.",
        2, error="must match shard count"),
)  # fmt: skip

GUARD = (
    lets_through("values-alone", "It lets right values through that cost many times the bytes: what may be sent follows "
    "from the output.",
                 "gathered", "unsummed", hint=1),
    lets_through("bytes-alone", "It looks at what is sent, and a program that adds nothing up sends nothing: see `error`.",
                 "unsummed", "gathered", hint=1),
    lets_through("place-forgotten", "It lets a program through whose output is left in pieces: `shard` is not `shape`.",
                 "left-cut", "gathered", "unsummed"),
    one_size("summed"),
    counts("summed", "halves", "in-two-steps", "in-a-loop"),
    lets_through("rounds-forgotten",
                 "A collective in a loop stands once in the list and runs `times` times; `price` counts them all.",
                 "each-round", "gathered", "unsummed"),
)  # fmt: skip

MECHANISM = why(
    "What decides that?",
    a=Believed(
        "The request: of all programs with such an output XLA for CPU takes the cheapest.",
        "cheapest-is-taken",
        "The same compiler makes that output at half the price if you write the collective: it did not "
        "look for the cheapest.",
    ),
    b="The product: its terms lie along x already, so it is finished as without the request, and what comes out is then "
    "cut along x.",
    c=Believed(
        "The machine: a collective that CPUs lack is made of others.",
        "cpu-lacks-it",
        "They lack none of those in the tables: of your `psum_scatter` the same compiler makes a reduce-scatter.",
    ),
)
