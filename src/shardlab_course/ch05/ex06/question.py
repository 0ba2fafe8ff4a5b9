"""Chapter 5, exercise 5.6: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch05.ex06 import oracle as of
from shardlab_course.ch05.shared import (
    BY_COLUMNS,
    BY_ROWS,
    ONE_WEIGHT,
    TALL,
    WHOLE,
    WIDE,
    X_BY_COLUMNS,
    cut,
    draw_sizes,
    mlp,
    sizes,
    weights_cut,
)
from shardlab_judge.items.layout import LayoutItem
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question, WrongCost, WrongProgram, WrongValues

STARS = (
    WrongProgram(
        "copies-by-default", "Nothing on the right says how many devices there are. Write copies too, as a star.", 2,
        error="there is no number on the right"),
    WrongProgram(
        "number-of-devices-written", "A number is written in an expression, and the check uses several numbers of "
        "devices. A star alone fits them all.", 2, error="numbers-do-not|parts-do-not"),
)  # fmt: skip
DATA = (
    WrongCost(
        "input-by-columns", "X is cut along x. So a device has parts of rows instead of whole rows.", 1,
        when=lambda o: cut(o, 0, 1)),
    WrongCost(
        "weights-instead", "The weights are cut and the batch is not. In data parallelism it is the other way round.", 1,
        when=lambda o: not cut(o, 0, 0) and weights_cut(o)),
    WrongCost(
        "batch-not-cut", "Every device holds the whole batch, so every device does all the work. Cut b.", 1,
        when=lambda o: not cut(o, 0, 0)),
    WrongCost(
        "weights-cut", "In data parallelism every device has all weights. Here some are cut, so something has to move, or "
        "devices repeat each other's work.", 1, when=weights_cut),
    WrongCost(
        "batch-cut-too-little", "The batch is cut into fewer parts than there are devices, so some devices repeat the work "
        "of others.", 2,
        when=lambda o: cut(o, 0, 0)),
    *STARS,
)  # fmt: skip
TENSOR = (
    BY_ROWS,
    WrongCost(
        "batch-cut", "The batch is cut. In tensor parallelism every device has the whole batch and a part of the weights.",
        2, when=lambda o: cut(o, 0, 0)),
    X_BY_COLUMNS,
    WHOLE,
    BY_COLUMNS,
    *ONE_WEIGHT,
    *STARS,
)  # fmt: skip
INSIDE = (
    WrongValues(
        "relu-forgotten", "These are the values without the relu between the two products.", 1,
        like=lambda X, W1, W2: X @ W1 @ W2),
    WrongCost(
        "nothing-constrained", "The arguments come whole, and no constraint changes that. So every device computes "
        "everything.", 1,
        when=lambda o: not o.collectives and not of.cut_output(o)),
    WrongCost(
        "output-by-columns", "The output is cut along z. The question asks only for its batch over 'data'.", 2,
        when=lambda o: of.output_parts(o)[1] > 1),
    WrongCost(
        "batch-over-all", "The batch of the output is cut over both axes. The question asks for 'data' only: the devices "
        "along 'model' share the same rows, and cut the weights.",
        2, when=lambda o: of.output_parts(o)[0] > max(dict(o.case.axes).values())),
    WrongCost(
        "batch-over-model", "The batch is cut over 'model', and it belongs over 'data'. 'model' is for y, in the weights.",
        2, when=lambda o: of.output_parts(o)[0] not in (1, dict(o.case.axes)["data"])),
    WrongCost(
        "weights-not-cut", "The batch is cut and the weights are not. So the devices that share a part of the batch all do "
        "the same work.", 2, when=lambda o: not o.collectives and of.as_wide(o)),
    WrongCost(
        "second-weight-left-open", "The hidden layer is gathered, and all devices along 'model' compute the same second "
        "product. Perhaps W2 is not constrained: only where the output is narrower than the hidden layer, XLA for CPU takes "
        "rows of W2 anyway.", 2,
        when=of.second_left_open),
    WrongCost(
        "hidden-layer-moves", "The hidden layer moves. Cut y in both weights, and also in the hidden layer if you constrain "
        "it. Then only the output is summed.", 2, when=of.hidden_moves),
)  # fmt: skip

WEIGHTS = {"W1": "x y -> x y*", "W2": "y z -> y* z"}
COPIES = "... -> * ..."
SITUATIONS = (sizes(8, 128, 256, 64), sizes(8, 64, 160, 40, devices=4))
ALL = {"S": 1, "H": 1, "M": 1, "F": 1}

QUESTION = Question(
    "5.6", "One network, three ways", difficulty=3, minutes=40,
    items=(
        LayoutItem("data_parallel", ALL, function=mlp, cases=SITUATIONS, draw=draw_sizes,
                   reference={"X": "b x -> b* x", "W1": COPIES, "W2": COPIES}, misconceptions=DATA),
        LayoutItem("tensor_parallel", ALL, function=mlp, cases=SITUATIONS, draw=draw_sizes,
                   reference={"X": COPIES, **WEIGHTS}, misconceptions=TENSOR),
        ProgramItem("mlp_on", {"V": 1, "S": 1, "H": 1, "F": 1}, oracle=of.network, draw=of.draw_network,
                    cases=(of.network_case(TALL, 8, 64, 128, 24), of.network_case(WIDE, 16, 48, 64, 40),
                           of.network_case(TALL, 16, 48, 64, 80)), rtol=1e-4,
                    atol=1e-4, tolerance="float32 sums of up to 256 terms in another order", misconceptions=INSIDE),
    ),
    hints=(
        "For each way ask whether it cuts b, x, y and z. Data parallelism cuts one letter, tensor parallelism another, "
        "and both together cut two.",
        "Data parallel: cut b, and copy the weights. Tensor parallel: cut y, in W1 and in W2, and copy X. Use stars, "
        "because the number of devices changes.",
        "In `mlp_on` name axes: b@data in X, y@model in both weights. Constrain the three arguments, compute, and "
        "constrain the output to b@data.",
    ),
    explanation="Each of three letters has its own effect when it is cut. If b is cut, every device needs all weights, and "
                "nothing moves. If y is cut in both weights, each device has a slice of the hidden layer. Its product with "
                "W2 is a partial sum of the output, and one all-reduce of f32[8,64] adds these: 2,048 bytes of payload, "
                "4,096 by our price. If x is cut instead, the sum comes one layer too early, at f32[8,256]: four times as "
                "much.\n\nIf only W1 is cut, XLA, for CPU and for TPU, lets each device take its rows of a whole W2 at the "
                "sizes here, and compiles the same all-reduce. The memory differs, and that is why the check looks at "
                "memory. With both axes the all-reduce covers only the rows of one data shard: half of the bytes on data=2, "
                "model=4.",
)  # fmt: skip
