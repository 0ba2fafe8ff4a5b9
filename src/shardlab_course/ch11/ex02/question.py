"""Chapter 11, exercise 11.2: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch11.ex02 import oracle as of
from shardlab_course.ch11.shared import LINE, PLANE, agrees
from shardlab_course.shared.sent import sends_a_part
from shardlab_judge.cases import Observed
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question, WrongCost, WrongProgram, WrongValues
from shardlab_judge.rights import returned

TRAIN = (
    WrongProgram(
        "promise-not-proved",
        "Something that out_specs=P() promises whole still varies over data, for example a weight. Perhaps its rows were "
        "not gathered, a sum or mean over data is missing, or all_gather lacks to='invarying'.",
        3, error="can't be statically inferred|Unsupported pcast from=varying"),
    WrongValues(
        "first-use-only", "E is used twice, and its gradient is the sum over both uses. This is the gradient of the first "
                          "use alone.",
        1, like=of.trained(uses=(1, 0))),
    WrongValues(
        "second-use-only", "E is used twice, and its gradient is the sum of both uses. This is the gradient of the second "
                           "use alone.",
        1, like=of.trained(uses=(0, 1))),
    WrongValues(
        "without-correction",
        "The state begins at zero, so early averages are too small. Adam divides by 1 - beta**t to correct that.",
        1, like=of.trained(corrected=False)),
    WrongValues(
        "step-zero", "The outputs hold NaN. Perhaps steps are counted from 0, and the correction divides by zero, or a root "
        "is taken of a negative number.",
        1, when=lambda o: any((block != block).any() for shards in o.shards for _, _, block in shards)),
    WrongValues(
        "state-forgotten", "The state starts again from zero in every step. Keep it from one step to the next.",
        2, when=lambda o: agrees(o, returned(of.trained(memory=False), o), 1e-3)),
    WrongValues("one-step", "This is one step of five.", 1, like=of.trained(steps=1)),
    WrongValues(
        "gradients-summed",
        "Each gradient is n times that of the mean, as if gradients of the devices' own means were added. Adam hides nearly "
        "all of it from the weights. m and v show it.",
        3, when=lambda o: _scaled(o, dict(o.case.axes)["data"])),
    WrongCost(
        "weights-cut",
        "The weights end in slices: after the update their rows have to be gathered. In ZeRO-1 weights are whole.",
        3, when=of.weights_cut),
    WrongCost(
        "state-by-columns", "The state is cut by columns. P('data', None) cuts rows.", 1, when=of.state_by_columns),
    WrongCost(
        "state-moved",
        "An all-to-all turns columns into rows, or rows into columns. Cut the state, and what is computed for it, as "
        "P('data', None) from the first step on.",
        2, when=lambda o: sends_a_part(o, "all-to-all", number=3)),
    WrongCost(
        "state-on-every-device",
        "Some of the optimizer's state, or all of it, lies whole on each device. ZeRO-1 gives a device only the rows that "
        "it updates, an n-th.",
        1, when=of.state_whole),
    WrongProgram(
        "cut-at-the-end",
        "In some step every device updates all of a weight, with all of its state. Perhaps the state is cut only after "
        "training.",
        2, when=lambda o: of.only_gradients_moved(o) or of.updated_whole(o), barred=True),
)  # fmt: skip


def _scaled(o: Observed, factor: float) -> bool:
    return agrees(o, returned(of.trained(factor=factor), o), 1e-3)


QUESTION = Question(
    "11.2", "ZeRO-1, with tied weights", difficulty=4, minutes=55,
    known_as="stage 1 of ZeRO (Rajbhandari and others, 2020)",
    items=(
        ProgramItem("train", {"V": 6, "S": 6, "H": 3, "M": 3}, oracle=of.trained(), names=of.named,
                    misconceptions=TRAIN, rtol=1e-3,
                    atol=3e-4, tolerance="five steps of Adam, which divides small numbers by small numbers",
                    cases=(of.training(LINE, 32, 24, 16), of.training(PLANE, 24, 20, 12)), draw=of.draw_training),
    ),
    hints=(
        "Write it for one device first. What do m and v of some rows need from other rows?",
        "Nothing. So a device updates its rows of the state and of the weight, and then every device needs all rows of "
        "the weight. Say in every step how each of the three is cut.",
        "After jax.grad, constrain m and v with with_sharding_constraint(..., P('data', None)), and also the step that is "
        "computed from them. Constrain the new weight to P().",
    ),
    explanation="Adam works element by element, so its state can be cut in any way, and the device that holds a part of the "
                "state updates that part of the weight. The rest is communication: gradients come as sums, of which a "
                "device needs its rows, and all devices need the new weights. That is a reduce-scatter and an all-gather, "
                "the two halves of the all-reduce that plain data parallelism makes, so ZeRO-1 need not move more "
                "bytes.\n\nIn automatic mode on CPU the first half is a whole all-reduce and a slice, and the two uses of "
                "the tied weight are summed separately. In the exercise's first case that moves about twice as much; "
                "shard_map with psum_scatter avoids this. The tied weight is one array used twice. Its gradient is one sum "
                "over both uses, and it has one state. If you treat it as two weights, training takes another course, "
                "without any error.",
)  # fmt: skip
