"""Chapter 9, exercise 9.1: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch09.ex01 import oracle as of
from shardlab_course.ch09.shared import FOUR, INPUT_CUT, LINE, cut
from shardlab_course.shared.kinds import OR_NONE, compilers
from shardlab_judge.items.layout import LayoutItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question, WrongCost, WrongValues

COLLECTIVE = (
    WrongValues(
        "columns-taken-for-terms",
        "Columns of the hidden layer are finished, so nothing has to be added. But each column of W2 needs all hidden "
        "units.", 1,
        like="all-reduce"),
)  # fmt: skip
FACTOR = (
    WrongValues(
        "price-taken-for-payload", "That is the ratio of the prices, where an all-reduce counts twice. The question asks "
        "for payloads.", 1, like=2),
    WrongValues(
        "same-size", "The best pair moves Y, which has D columns. This pair moves the hidden layer, which has F.", 1,
        like=1),
    WrongValues(
        "counts-devices", "The size of the gathered array does not depend on the number of devices: it is whole in the "
        "end.", 1,
        like=lambda got: got in (8, 32)),
)  # fmt: skip

FIRST_BY_ROWS = WrongCost(
    "first-by-rows", "A first weight is cut along the dimension that is summed, so its product gives terms. What follows "
    "needs finished sums: either the terms are added up before it, or the weight itself is sent.", 1,
    letters="SHF", when=lambda o: any(cut(o, i, 0) for i in range(1, len(o.case.inputs) - 1)))  # fmt: skip
LAST_BY_COLUMNS = WrongCost(
    "last-by-columns", "Each column of the last weight needs every hidden unit, so every device receives or computes all "
    "of the hidden layer.", 1, letters="SHF", when=lambda o: cut(o, len(o.case.inputs) - 1, 1))  # fmt: skip
LAST_WHOLE = WrongCost(
    "last-left-whole", "A device needs only the rows of the last weight that belong to its hidden units. The whole weight "
    "takes n times the memory.", 2,
    letters="MF", when=of.last_whole)  # fmt: skip
FIRST_WHOLE = WrongCost(
    "first-left-whole", "A device needs only the columns of a first weight that belong to its hidden units. If that weight "
    "is left whole, it takes n times the memory.", 2, letters="MF", when=of.first_whole)  # fmt: skip
WEIGHTS_WHOLE = WrongCost(
    "weights-whole", "No weight is cut, so every device holds all of them, and computes everything if X is whole too.", 1,
    when=of.weights_whole)  # fmt: skip
DATA_PARALLEL = WrongCost(
    "tokens-cut-weights-whole", "Tokens are cut and the weights are whole. That is data parallelism: each device holds all "
    "weights, and Y is left in pieces.", 2, when=lambda o: cut(o, 0, 0) and of.weights_whole(o))  # fmt: skip
PLAIN = (FIRST_BY_ROWS, LAST_BY_COLUMNS, DATA_PARALLEL, INPUT_CUT, WEIGHTS_WHOLE, FIRST_WHOLE, LAST_WHOLE)
GATED = (
    FIRST_BY_ROWS, LAST_BY_COLUMNS, DATA_PARALLEL, INPUT_CUT, WEIGHTS_WHOLE,
    WrongCost(
        "gate-cut-otherwise", "Wg and Wu give two factors that are multiplied element by element, so a device needs the "
        "same columns of both. One of them is left whole, and takes n times the memory.",
        3, when=lambda o: of.whole(o, 1) != of.whole(o, 2)),
    FIRST_WHOLE, LAST_WHOLE,
)  # fmt: skip

ALL = {"S": 0.75, "H": 0.75, "M": 0.75, "F": 0.75}

QUESTION = Question(
    "9.1", "Choose the cuts", difficulty=2, minutes=25,
    known_as="Megatron-LM's column-parallel and row-parallel layers (Shoeybi and others, 2019)",
    items=(
        ValueItem("collective", {"P": 0.5}, predicted=True, key="all-gather", words=OR_NONE,
                  misconceptions=COLLECTIVE),
        ValueItem("factor", {"P": 0.25}, predicted=True, key=4, misconceptions=FACTOR),
        compilers(0.25, "CPU", "GPU"),
        LayoutItem("plain", ALL, function=of.plain_mlp, misconceptions=PLAIN, draw=of.draw_plain,
                   reference={"X": [], "W1": [None, "model"], "W2": ["model", None]},
                   cases=(of.plain_sizes(LINE, 16, 32, 128), of.plain_sizes(FOUR, 8, 32, 160))),
        LayoutItem("gated", ALL, function=of.gated_mlp, misconceptions=GATED, draw=of.draw_gated,
                   reference={"X": [], "Wg": [None, "model"], "Wu": [None, "model"], "Wd": ["model", None]},
                   cases=(of.gated_sizes(LINE, 16, 32, 128), of.gated_sizes(FOUR, 8, 32, 160))),
    ),
    hints=(
        "After the first weight each device must have finished numbers, or you cannot apply relu. Which cut of W1 gives "
        "finished numbers, and of which hidden units?",
        "A hidden unit is a column of W1 and a row of W2. Deal the hidden units out, and give each device both.",
        "W1 by columns, W2 by rows, X whole. In the gated block a hidden unit is a column of Wg, the same column of Wu, and "
        "a row of Wd.",
    ),
    explanation="Each hidden unit is independent of the others: it reads all of X through its column of W1, and it writes "
                "to all of Y through its row of W2. So you can deal hidden units out like cards, and nothing has to move "
                "before the last product. The same holds for a gated block. What remains is one sum of outputs, an "
                "all-reduce of T·D numbers.\n\nWith both weights by columns the hidden layer must be gathered, and it is "
                "F / D times as wide: 4 times the payload on CPU. XLA for TPU rounds the hidden layer to bfloat16 before "
                "it sends it, as its products do by default, so it gathers half as many bytes. While D is smaller than F, "
                "leaving W2 whole moves the same bytes on one axis, because a device may take its rows from a copy. But "
                "the copy takes more memory.",
)  # fmt: skip
