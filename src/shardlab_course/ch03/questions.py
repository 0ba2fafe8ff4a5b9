"""Chapter 3's questions: let the compiler."""

from __future__ import annotations

import random
from typing import Any

from shardlab import listings
from shardlab_course.ch03 import misconceptions as wrong
from shardlab_course.ch03 import oracles as of
from shardlab_course.ch03.oracles import LINE, WIDE
from shardlab_course.shared import programs
from shardlab_course.shared.kinds import ERRORS, KINDS, OR_NONE
from shardlab_judge.cases import axes
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.layout import LayoutItem
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question

TALL = axes(x=2, y=4)
MODELS = axes(data=2, model=4), axes(data=4, model=2)
TEXTS = ("gather", "none", "combined", "loop", "nested", "exchange", "scatter", "largest", "half_tpu", "roll_tpu")


COLLECTIVE = {"kind": "all-gather", "bytes": 4096, "group": 4, "times": 1}


def line(letter: str, *misconceptions: Any, kind: str = "none", bytes: int = 0, group: int = 0, times: int = 1) -> ValueItem:
    """A line of the listings: a collective, or none."""
    key = "none" if kind == "none" else {"kind": kind, "bytes": bytes, "group": group, "times": times}
    points = {"V": 0.5 if key == "none" else 1}
    return ValueItem(letter, points, key=key, also=("none", COLLECTIVE), words=OR_NONE, misconceptions=misconceptions)


READING = Question(
    "3.1", "Read what the compiler wrote", difficulty=2, minutes=30, variable="reading",
    items=(
        line("A", wrong.IN_A_ROUND, wrong.ELEMENTS, wrong.GROUPS, wrong.EVERYBODY,
             kind="all-reduce", bytes=512, group=4, times=10),
        line("B", wrong.BY_OP_NAME),
        line("C", wrong.ONE_OF_FOUR, wrong.GROUPS, kind="all-to-all", bytes=3072, group=4),
        line("D", wrong.ONE_OF_TWO, wrong.EVERYBODY, kind="all-reduce", bytes=5376, group=4),
        line("E", wrong.TAKEN_OUT),
        line("F", wrong.INSIDE),
        line("G", wrong.IN_AND_OUT, kind="collective-permute", bytes=512, group=8),
        line("H", wrong.FUSION, wrong.WHOLE, kind="reduce-scatter", bytes=131072, group=4),
        line("I", wrong.TWICE),
    ),
    hints=(
        "The operation is the word before the bracket that holds the operands. Names on the left, operands and op_name may "
        "say anything.",
        "Look at what is around a line: a body that a while runs many times; a computation that a fusion calls; the other "
        "half of a pair. Groups of a mesh are as large as the named axes.",
        "Five of the nine are collectives: A, C, D, G, H. Multiply out every array of an output tuple, 4 bytes an "
        "element; of a -start only the second.",
    ),
    explanation="A carries f32[32,4], 512 bytes, in each of 10 rounds. C is one instruction with four outputs of 768 "
                "bytes, one from each member of its group. D is two gradients that XLA put into one all-reduce, 4608 and "
                "768 bytes. G and I are one permute of 512 bytes: the -start names operand, output and two counters. H "
                "is one of two ways in which XLA for TPU writes a reduce-scatter (the other is that word): a fusion that "
                "calls a computation named all-reduce-scatter, in which F tells what it does as a whole. A fourth of "
                "what goes in comes out.\n\nB and E only look like collectives: their operations are a fusion and a "
                "get-tuple-element. Whoever counts words finds both, and F and I too.",
)  # fmt: skip

COUNTING = Question(
    "3.2", "Count bytes, not operations", difficulty=3, minutes=35, optional=True,
    items=(
        CallsItem("collective_bytes", {"V": 3}, oracle=of.bytes_by_kind, draw=programs.draw_text,
                  misconceptions=wrong.COUNTS,
                  calls=(*((listings.hlo(name),) for name in TEXTS), programs.draw_text(random.Random(0)))),
    ),
    hints=(
        "Begin with ENTRY, and go through its instructions. Three things can happen: it is a collective, it is a while, or "
        "it does not matter.",
        "An operation counts if it is one of KINDS, or one of them with -done; skip -start. Its bytes: for every pair of "
        "arrays(output), the size of the type times all dimensions.",
        "A function that takes a computation's name and a number of rounds, and goes through its instructions; at a `while` "
        "it calls itself with the body's name and the product of rounds. Begin with ENTRY.",
    ),
    explanation="The text is regular enough for a few patterns, and full of traps. An output may be a tuple: XLA joins "
                "what it can, so eight gradients leave in one all-reduce, and a count of operations cannot tell a bias "
                "from a model. Long tuples carry comments that contain an equals sign (`computations` takes them out). A "
                "loop's body is printed once and runs known_trip_count times, and loops nest. A -start may name what goes "
                "in as well; its -done has only the output, so counting the -done is the simplest right way. And a "
                "function that is called all_gather leaves its name everywhere without moving a byte. The grader's own "
                "reader also knows conditionals and the fusions of 3.1.",
)  # fmt: skip

CONSTRAINT = Question(
    "3.3", "A constraint too many", difficulty=3, minutes=30,
    items=(
        ProgramItem("block", {"V": 0.5, "S": 0.5, "H": 1}, oracle=of.block, draw=of.draw_block, drawn=2,
                    misconceptions=wrong.BLOCK,
                    cases=(of.block_case(MODELS[0], 16, 32, 64), of.block_case(MODELS[1], 32, 48, 96)),
                    atol=1e-3, tolerance="float32 sums of up to 192 products of products, in another order"),
    ),
    hints=(
        "Look at what is gathered, and at its shape. Which array has this shape? Who needs it whole, and why?",
        "W1 cuts the hidden dimension over model. What does that make of H, if nobody says anything? Compare it with what "
        "the constraint asks for.",
        "Either leave H alone, or ask for what it is anyway: rows over data, hidden units over model. None would ask for "
        "whole rows.",
    ),
    explanation="X @ W1 leaves H with rows over data and hidden units over model, and H @ W2 sums over model: one "
                "all-reduce of this device's rows of the output. The given constraint wants rows over both axes. Then "
                "each device needs all hidden units of its rows, so both weights are gathered, and more. With P('data', "
                "None) in its place, H itself is gathered: None means whole, not open. For open there is "
                "P.UNCONSTRAINED. P('data', 'model') is right, and so is no constraint at all. On the page XLA for CPU "
                "moves more than 2 million bytes against 65536. XLA for TPU gathers the same arrays, in bfloat16. "
                "Neither asked here whether the constraint was wise.",
)  # fmt: skip

MOVES = Question(
    "3.4", "Is it free?", difficulty=3, minutes=50,
    items=(
        ValueItem("kinds", {"P": 1.25}, predicted=True, members=KINDS, misconceptions=wrong.KINDS, key={
            "transpose": frozenset(), "roll": frozenset({"collective-permute"}), "cumsum": frozenset({"all-gather"}),
            "cumsum_columns": frozenset(), "softmax": frozenset({"all-reduce"}),
            "ravel_transposed": frozenset({"all-gather"}),
        }),
        ValueItem("roll_bytes", {"P": 0.5}, predicted=True, key=512, misconceptions=wrong.ROLLED),
        wrong.MECHANISM,
        ProgramItem("running_total", {"V": 0.5, "S": 0.5, "H": 1}, oracle=of.running_total, misconceptions=wrong.TOTALS,
                    cases=(of.rows_case(LINE, 64, 24), of.rows_case(WIDE, 24, 40)), draw=of.drawing_rows(("x", None)),
                    atol=1e-4, tolerance="float32 sums of up to 64 rows, in another order"),
    ),
    hints=(
        "For each operation ask one device: which rows do you need for your part of the output, and which of them do you "
        "not have?",
        "To continue the running total of the shards before, a device needs one row from each: their totals. The rest it "
        "can do alone.",
        "x.reshape(n, -1, columns) puts one shard in each place of the first dimension, and moves nothing. cumsum along "
        "axis 1, take [:, -1], cumsum those, subtract themselves, add.",
    ),
    explanation="A transposition changes which dimension an axis cuts, and nothing else. A roll by one row sends the last "
                "row of each shard to the neighbour: 512 bytes, not the shard. Along an uncut dimension a running total is "
                "local. A softmax needs a maximum and a sum for each column, two small all-reduces.\n\nA running total "
                "could be as cheap, but XLA for CPU does not know the trick: it gathers everything, and each device "
                "repeats much of the work. So does XLA for TPU with rows as few as these; of 1,024 it gathers totals. You "
                "can say it yourself: sums within shards, and offsets from their totals, n rows in place of all of them. "
                "On the page 4096 bytes in place of 32768, and a seventh of the FLOPs.",
)  # fmt: skip

FREE_SPECS = {"A": [["x", "y"], None], "B": [None, None], "C": [None, None], "D": [None, None]}
ONE_SPECS = {"A": [None, None], "B": [None, ["x", "y"]], "C": [["x", "y"], None], "D": [None, ["x", "y"]]}
CHAINS = (of.chain_sizes(WIDE, 16, 32, 64, 16), of.chain_sizes(TALL, 24, 16, 48, 32))

CHAIN = Question(
    "3.5", "Four matrices, no collective; then one", difficulty=4, minutes=55,
    items=(
        LayoutItem("free", {"H": 0.5, "F": 1}, function=of.chain, reference=FREE_SPECS, cases=CHAINS,
                   misconceptions=wrong.FREE),
        LayoutItem("one", {"H": 1, "M": 1}, function=of.chain, reference=ONE_SPECS, cases=CHAINS, misconceptions=wrong.ONE),
    ),
    hints=(
        "A dimension that is summed over must be whole, or somebody has to add. Which two dimensions of the chain are never "
        "summed over?",
        "free: only rows of A and columns of D can be cut for nothing; the order of the products decides which cut divides "
        "more work. one: where is a sum over 8 devices unavoidable, if B and C are cut?",
        "one: columns of B and rows of C over both axes give A·B in columns and terms of A·B·C, with A whole. After the "
        "all-reduce everything is whole, and D can be cut by columns.",
    ),
    explanation="Nothing moves only if B and C are whole, and A's columns and D's rows: all that is summed over. Of 6561 "
                "combinations of specs, compiled once with XLA for CPU, nine move nothing. All four whole is one of them, "
                "with eight times the work.\n\nOf the nine, A's rows over both axes divides all three products by 8. It is "
                "paid for in memory: every device holds B and C. Cut those 8-way, and there is a sum over 8 devices: one "
                "all-reduce of A·B·C. A must be whole for it. D need not be: its columns can be cut, which divides the "
                "last product and the output. Megatron-LM's two layers (chapter 9) are this B and C.",
)  # fmt: skip

STEPPING = Question(
    "3.6", "A collective in every second step", difficulty=4, minutes=40, optional=True,
    items=(
        ProgramItem("steps", {"V": 0.5, "S": 0.5, "H": 1.5}, oracle=of.steps, draw=of.draw_steps, most=of.STEPS // 2,
                    cases=(of.steps_case(LINE, 32, 4), of.steps_case(WIDE, 24, 6)), misconceptions=wrong.STEPS,
                    atol=1e-4, tolerance="six float32 products one after another"),
    ),
    hints=(
        "Two layouts of W are two kinds of step. For each write down: how does it want x, and how does it leave it?",
        "Columns take x as it arrives and leave terms, which are summed: then x is whole. Who can take a whole x for "
        "nothing?",
        "Three rounds of: columns @ x, then rows @ that, each divided by the root of N. A Python loop or lax.fori_loop with "
        "fixed bounds are both fine; constraints are not needed.",
    ),
    explanation="Columns of W take x cut and leave terms, W[I, J_x]·x[J_x]: an all-reduce makes them whole. Rows of W take "
                "x whole and leave it cut, W[I_x, J]·x[J]: nothing moves. In turn they need three collectives in six steps "
                "instead of six. The bytes do not become fewer: an all-reduce is priced as two gathers. What is halved is "
                "how often all devices must meet. Against columns alone, six all-reduces by XLA for CPU, the price is "
                "halved too. You pay by holding W twice. Two layers of a network are two different matrices, so there the "
                "pattern is free: that is tensor parallelism (chapter 9). Begun with rows, the loop needs a gather more, "
                "or one in every round.",
)  # fmt: skip

OUTCOMES: dict[str, Any] = {
    "a": frozenset(), "b": frozenset({"all-to-all"}), "c": frozenset({"all-gather"}), "d": frozenset(), "e": "ValueError",
    "f": frozenset(),
}  # fmt: skip

BOUNDARY = Question(
    "3.7", "What jit promises at its border", difficulty=3, minutes=35,
    items=(
        ValueItem("outcome", {"P": 1.5}, predicted=True, key=OUTCOMES, members=KINDS, pattern=ERRORS,
                  misconceptions=wrong.OUTCOME),
        ProgramItem("shares", {"V": 0.5, "S": 0.5, "H": 1}, oracle=of.softmax_rows, misconceptions=wrong.SHARES,
                    cases=(of.rows_case(LINE, 64, 24, (None, "x")), of.rows_case(WIDE, 24, 40, (None, "x"))),
                    draw=of.drawing_rows((None, "x"))),
    ),
    hints=(
        "For each request: does every device already hold what it is to have in the end? If not, what brings it there?",
        "shares: count what has to cross devices if you sum columns first, and if you turn first. After the turn, what does "
        "a device know of its columns?",
        "Ask for columns before the softmax, with with_sharding_constraint. Inside jit, on an Auto mesh, device_put "
        "constrains nothing (for a TPU, unless it names another memory).",
    ),
    explanation="out_shardings is part of the program, and the program pays for it: some work is done at once where the "
                "output is to lie, for other work collectives are added. in_shardings is a promise about how committed "
                "arguments, those that somebody placed, are cut, and a broken promise is a ValueError. For the others, "
                "NumPy arrays and arrays that JAX placed itself, it is a plan: they are put there before the program "
                "starts, without a word.\n\nAsked for columns at the end, XLA still took the softmax over cut columns, "
                "with two all-reduces, and turned what came out. Turned first, each device has its columns whole: one "
                "all-to-all and nothing else. A constraint in the middle is how you say that.",
)  # fmt: skip

QUESTIONS: tuple[Question, ...] = (READING, COUNTING, CONSTRAINT, MOVES, CHAIN, STEPPING, BOUNDARY)
