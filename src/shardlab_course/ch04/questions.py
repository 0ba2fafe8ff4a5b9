"""Chapter 4's questions: four cases of sharded matmul."""

from __future__ import annotations

import pathlib
from collections.abc import Callable

from shardlab_course.ch04 import misconceptions as wrong
from shardlab_course.ch04 import oracles as of
from shardlab_course.ch04.oracles import drawing, matmul_case
from shardlab_course.shared import products
from shardlab_course.shared.kinds import KINDS
from shardlab_judge.cases import axes
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.guard import GuardItem
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Misconception, Question
from shardlens import Axes, Spec

HERE = pathlib.Path(of.__file__).parent

WIDE, TALL, LINE = axes(x=4, y=2), axes(x=2, y=4), axes(x=8)
ROWS: Spec = ("x", None)
COLUMNS: Spec = (None, "x")
Y_COLUMNS: Spec = (None, "y")
WHOLE: Spec = ()

Situations = tuple[tuple[Axes, tuple[int, int, int]], ...]
PLANES: Situations = ((WIDE, (8, 12, 6)), (TALL, (6, 10, 16)))
SIDES: Situations = (
    (TALL, (8, 12, 24)), (LINE, (32, 24, 16)), (TALL, (16, 8, 24)), (TALL, (72, 40, 64)), (TALL, (48, 56, 56)),
)  # fmt: skip
"""One operand much smaller, and one a little."""
DEPTHS: Situations = (
    (WIDE, (8, 64, 12)), (WIDE, (12, 16, 48)), (WIDE, (8, 40, 16)),
    (LINE, (16, 80, 8)), (LINE, (8, 24, 40)), (LINE, (16, 24, 16)),
)  # fmt: skip
"""On either side of J = 2K, far from it and near."""
BLOCKS: Situations = ((WIDE, (16, 16, 16)), (TALL, (8, 24, 16)))


def program(name: str, left: Spec, right: Spec, out: Spec | None, situations: Situations,
            misconceptions: tuple[Misconception, ...], fits: Callable[[int, int, int], bool], *, v: float = 0.5,
            h: float = 0.5, drawn: int = 1, manual: bool = False) -> ProgramItem:  # fmt: skip
    """A product of A with spec `left` and B with spec `right`, in these meshes and sizes (I, J, K), and in drawn ones."""
    points = {"V": v, "S": v, "H": h} if out is not None else {"V": v, "H": h}
    meshes = tuple(dict(situations))
    cases = tuple(matmul_case(mesh, size, left, right, out) for mesh, size in situations)
    draw = drawing(left, right, out, fits, meshes)
    if manual:
        misconceptions = (wrong.LEFT, *misconceptions)
    oracle = products.product
    return ProgramItem(
        name, points, misconceptions=misconceptions, oracle=oracle, cases=cases, draw=draw, drawn=drawn, manual=manual
    )


CLASSIFY = Question(
    "4.1", "Which case is it?", difficulty=2, minutes=30,
    items=(
        CallsItem("classify", {"V": 2}, oracle=of.case_of, draw=of.draw_einsum, drawn=200, calls=(
            ("ij,jk->ik", ["x", None], [None, "y"]), ("ij,jk->ik", [None, "x"], [None, None]),
            ("ij,jk->ik", [None, "x"], ["x", None]), ("ij,jk->ik", ["x", None], [None, "x"]),
            ("ij,jk->ik", [None, "x"], ["y", None]), ("ij,jk->ik", ["x", "y"], ["y", "x"]),
            ("ij,jk->ik", ["x", None], ["x", None]), ("bij,bjk->bik", ["x", None, None], ["x", None, None]),
            ("ij,jk->ik", [["x", "y"], None], [None, "y"]), ("ij,jk->ik", [None, ["x", "y"]], [["y", "x"], None]),
            ("ijl,ljk->ki", [None, "x", "y"], ["y", "x", None]), ("ijl,ljk->ki", [None, "x", "y"], [None, "x", None]),
            ("ijl,ljk->ki", [None, "x", "y"], ["y", None, None]), ("i,k->ik", ["x"], ["x"]), ("i,i->", ["x"], ["x"]),
            ("bhqd,bhkd->bhqk", ["x", "y", None, None], ["x", "y", None, None]),
        ), misconceptions=wrong.CLASSIFY),
    ),
    hints=(
        "Sort the letters first. Which stand in both operands and not in the output? Which stand in one operand and stay?",
        "Three questions, in this order: do two kept letters share an axis (4)? Does a contracted letter differ between "
        "the specs (2)? Is a contracted letter sharded at all (3)?",
        "Build dict(zip(letters, spec)) for each operand. Turn an entry into a set of axes for the clash, but compare "
        "entries as they stand for the contracted letters: order counts.",
    ),
    explanation="Each case is an answer to one question: what can a device do with what it holds? If two kept "
                "dimensions share a mesh axis, the devices together reach only some blocks of the output: case 4. If "
                "somewhere the operands hold different indices of a contracted dimension, some device cannot "
                "multiply what it holds: case 2. If they hold the same indices but not all, each product is a "
                "partial sum: case 3. Otherwise every device finishes its own block: case 1.\n\nThe grader does not use "
                "these rules. It simulates two devices along each axis, writes down which indices each holds, and "
                "looks at which entries of the output are reached; the rules agree with it on every einsum it draws.",
)  # fmt: skip

FOUR = Question(
    "4.2", "You are the compiler", difficulty=3, minutes=45,
    items=(
        program("case_1", ROWS, Y_COLUMNS, ("x", "y"), PLANES, (wrong.NEEDLESS, wrong.PROMISE), lambda i, j, k: i != k,
                manual=True),
        program("case_2", COLUMNS, WHOLE, WHOLE, ((WIDE, (8, 48, 16)), (LINE, (16, 48, 24))),
                (wrong.BLOCKS, wrong.CUT_ROWS, wrong.SWAPPED, wrong.TWICE, wrong.FIRST_ROWS, wrong.UNTILED, wrong.STARTS,
                 wrong.PARTIAL, wrong.PROMISE, wrong.BOTH),
                lambda i, j, k: j >= 2 * k, manual=True),
        program("case_3", COLUMNS, ROWS, WHOLE, ((WIDE, (8, 48, 20)), (LINE, (16, 64, 24))),
                (wrong.SWAPPED, wrong.TWICE, wrong.PARTIAL, wrong.PROMISE, wrong.OVER_Y, wrong.MEAN, wrong.BOTH),
                lambda i, j, k: j >= 2 * max(i, k),
                manual=True),
        program("case_4", ROWS, COLUMNS, None, ((TALL, (16, 24, 16)), (LINE, (24, 40, 24))), wrong.CASE_4,
                lambda i, j, k: i == k, manual=True),
    ),
    hints=(
        "For each case look at the blocks that one device holds. Can it multiply them? Is what comes out final? Only then "
        "reach for a collective.",
        "The bodies need, in order: nothing; an all-gather of A's columns before; a psum after; an all-gather of one "
        "operand before. in_specs are the specs in the exercise.",
        "jax.lax.all_gather(block, 'x', axis=..., tiled=True) puts blocks side by side along that dimension. Where "
        "out_specs leaves x out, add to='invarying'. In case 4 name x once in out_specs.",
    ),
    explanation="Case 1 multiplies blocks and is done. Case 2 has two right answers: bring the columns of A together "
                "(I·J·4 bytes), or let each device take the rows of B that go with its columns, which costs nothing "
                "because it has all of B, and add the partial products up (2·I·K·4 bytes, an all-reduce counts "
                "twice). Case 3 is the second half of that.\n\nCase 4 must give one operand back its subscript-free "
                "form; in the check A and B are equally large, so either gather costs the same there. Each budget is "
                "the plain route's: to gather both operands is right, and too expensive.\n\nOf this program "
                "to='invarying' changes the type alone (its derivative would be another program): every device that "
                "gathered has the same block, and this says so, so that out_specs may promise equal copies. "
                "check_vma=False would silence the question instead of answering it.",
)  # fmt: skip

TOWARDS = Question(
    "4.3", "Case 4, and the side is given", difficulty=2, minutes=15, optional=True,
    items=(
        program("case_4_columns", ROWS, COLUMNS, COLUMNS, SIDES, wrong.TOWARDS_COLUMNS, lambda i, j, k: i != k, v=1, h=1),
    ),
    hints=(
        "A device with columns of B can compute the same columns of C, all of them, if it has all of A. What must move?",
        "The operand whose dimension stays sharded in C is left alone. The other one is gathered along its sharded "
        "dimension.",
        "all_gather the block of A with axis=0, tiled=True, multiply with the block of B, and name x in the second place "
        "of out_specs.",
    ),
    explanation="C[I, K_x] needs all of A on every device, I·J·4 bytes; C[I_x, K] would need all of B, J·K·4 bytes. "
                "Nothing that already lies right is moved. The work is divided all the same: what is gathered is "
                "whole, and the columns of C stay cut. Device i can compute block (i, i) of C from what it holds, "
                "and no device could compute any other block. P('x', 'x') would be just these blocks, and the others would "
                "lie nowhere: so it is no legal spec.\n\nWhen the operand that must move is much the larger one, there is a "
                "third way: gather the smaller one, so that C comes out on the wrong side, and turn C with an all-to-all, "
                "which moves only C's own shard. The check accepts that wherever it costs no more; in the page both are "
                "measured.",
)  # fmt: skip

CHEAPER = Question(
    "4.4", "Gather, then multiply; or multiply, then reduce", difficulty=4, minutes=45,
    items=(
        ValueItem("deep", {"P": 0.5}, predicted=True, key="all-reduce", words=KINDS, misconceptions=wrong.DEEP),
        ValueItem("wide", {"P": 0.5}, predicted=True, key="all-gather", words=KINDS, misconceptions=wrong.SHALLOW),
        CallsItem("costs", {"C": 1}, oracle=of.costs, draw=of.draw_sizes, rtol=1e-9, misconceptions=wrong.COSTS,
                  calls=((64, 4096, 64, 8), (64, 64, 4096, 8), (8, 48, 20, 4), (3, 10, 7, 2))),
        CallsItem("seconds", {"C": 1}, oracle=of.seconds, draw=of.draw_machine, rtol=1e-6,
                  misconceptions=wrong.SECONDS, calls=(
            (64, 4096, 64, 8, 2e14, 9e10), (64, 64, 4096, 8, 2e14, 9e10), (1024, 12288, 16384, 4, 2e14, 9e10),
            (8, 48, 20, 4, 1e9, 1e9),
        )),
        program("case_2_cheaper",
                COLUMNS, WHOLE, WHOLE, DEPTHS, wrong.CHEAPER, lambda i, j, k: j != 2 * k, h=1, drawn=3),
    ),
    hints=(
        "Which array does each way move, and how often? An all-reduce counts twice. Which way lets every device do all "
        "the work?",
        "Gathering moves A: 4·I·J bytes. Reducing moves C twice: 8·I·K bytes. So bytes alone compare J with 2K, whatever "
        "n is.",
        "Shapes are plain numbers while JAX traces: `if J > 2 * K` picks one of two shard_maps. To reduce, pass B with "
        "P('x', None), multiply blocks, psum over x.",
    ),
    explanation="Gathering moves I·J elements, and as B is whole too, every device then multiplies everything: "
                "2·I·J·K FLOPs, n times in all. Reducing moves I·K elements twice and each device does its n-th "
                "part. Bytes favour the reduction when J > 2K. On a chip that overlaps both, the gather is often "
                "bound by its repeated arithmetic, and the reduction wins earlier: that is the Scaling Book's "
                "question 4.\n\nOn one axis of 8 devices XLA chose the cheaper way for both sizes of the page, for CPU "
                "and for TPU. That is no law: with x as one of two mesh axes both gathered even the deep one. On a "
                "CPU that is 1048576 bytes against 32768. So case 2 names a situation, not a collective. And on a "
                "TPU a gather before a product of float32 moves bfloat16, half the bytes, because the product rounds "
                "its operands anyway.",
)  # fmt: skip

SCATTER = Question(
    "4.5", "Who asked for all of C?", difficulty=3, minutes=25,
    items=(
        ValueItem("kinds", {"P": 0.25}, predicted=True, key=frozenset({"all-reduce"}), members=(*KINDS, "slice"),
                  misconceptions=wrong.KINDS),
        wrong.MECHANISM,
        program("case_3_scattered", COLUMNS, ROWS, ROWS, ((WIDE, (16, 24, 12)), (LINE, (24, 64, 16))), wrong.SCATTERED,
                lambda i, j, k: j >= max(i, k), h=1),
    ),
    hints=(
        "A device keeps only its rows of C. It needs the sum of everyone's partial products in those rows, and nothing "
        "else.",
        "An all-reduce is a reduce-scatter and then an all-gather. Which half do you need?",
        "Multiply the blocks, then jax.lax.psum_scatter over x with scatter_dimension for rows and tiled=True; out_specs "
        "names x for the rows.",
    ),
    explanation="Partial products C[I, K]{U_x} are added and split in one step: every device receives the terms of "
                "its own rows only. That moves I·K·4 bytes; an all-reduce moves them twice, and the slice after it "
                "throws away what the second half brought.\n\nAsked for P('x', None), XLA for CPU still compiles an "
                "all-reduce and a slice, and XLA for TPU does so for arrays as small as the page's, with right "
                "values in the right places; only the collectives in the compiled program show the difference. A "
                "prediction from a textbook is not a measurement of a compiler. In shard_map you write the "
                "collective. XLA for CPU compiled what was written; XLA for TPU v5e makes an all-reduce even of "
                "a written psum_scatter where the array is small, or has few rows for each device. Over one axis of eight "
                "v5p chips (2 by 2 by 2) it did so for every array that was tried.",
)  # fmt: skip

STRATEGIES = Question(
    "4.6", "Rows, columns, blocks", difficulty=3, minutes=20, optional=True,
    items=(
        program("row_by_replicated", ROWS, WHOLE, ROWS, PLANES, (wrong.NEEDLESS, wrong.PROMISE), lambda i, j, k: i != k),
        program("replicated_by_column", WHOLE, Y_COLUMNS, Y_COLUMNS, PLANES, (wrong.NEEDLESS, wrong.PROMISE),
                lambda i, j, k: i != k),
        program("block_by_row", ("x", "y"), ("y", None), None, BLOCKS,
                (wrong.PARTIAL, wrong.PROMISE, wrong.BOTH, wrong.OVER_X), lambda i, j, k: j >= i, v=1, h=2),
    ),
    hints=(
        "Two of the three are case 1. For the third, ask which mesh axis shards the contracted dimension, and which one "
        "only rows.",
        "Without communication the body is a plain product of blocks; in_specs are where the operands lie and out_specs "
        "where their free dimensions go. The third sums over one axis.",
        "block_by_row: a device holds rows by x and columns by y of A, and rows by y of B. Multiply and psum over y, or "
        "psum_scatter over y for half the price.",
    ),
    explanation="Row by replicated and replicated by column are case 1, as row by column was in 4.2: each device "
                "finishes its block of C, so a matmul of sharded arrays need not communicate at all. A[I_x, "
                "J_y]·B[J_y, K] is case 3 along y: products are partial sums, C[I_x, K]{U_y}. An all-reduce over y "
                "leaves rows, P('x', None). A reduce-scatter leaves P('x', 'y') or P(('x', 'y'), None) for half the "
                "price. With I = J = K = 16 on a (4, 2) mesh that is 512 bytes against 256; gathering both operands "
                "over y takes 1280 and repeats work. All are right, and the last is too expensive.",
)  # fmt: skip

GUARD = Question(
    "4.7", "A guard for a product", difficulty=3, minutes=25, optional=True,
    items=(GuardItem("product_holds", {"G": 2}, kept=HERE / "guarded.json", misconceptions=wrong.GUARD),),
    hints=(
        "Three things can go wrong: the values, where the output lies, and what was sent. Which facts tell of each?",
        "What may be sent follows from the output: an all-reduce counts twice its bytes, and a number of float32 has four. "
        "`price` is already added up over all collectives and their rounds.",
        "out = facts['outputs'][0]; return facts['error'] < 1e-5 and out['shard'] == out['shape'] and facts['price'] is not "
        "None and facts['price'] <= 2 * 4 * math.prod(out['shape']).",
    ),
    explanation="Each fact alone can be had by a wrong program: right values for many times the bytes, few bytes for "
                "values that nobody added up, or both with the output left in pieces. Together they say what the "
                "product promises. What they leave open is as important: two all-reduces of half the output, a loop of "
                "four small ones, or a reduce-scatter and an all-gather cost the same, and XLA for CPU and for v5e "
                "choose differently. A guard that counts collectives breaks with the next version of a compiler, and "
                "nobody trusts it after that. What may be sent is computed from shapes, so that the guard holds on "
                "meshes that it has never seen.",
)  # fmt: skip

QUESTIONS: tuple[Question, ...] = (CLASSIFY, FOUR, TOWARDS, CHEAPER, SCATTER, STRATEGIES, GUARD)
