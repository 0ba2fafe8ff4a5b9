"""Chapter 11, exercise 11.5: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch11.ex05 import oracle as of
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question, WrongValues

RATIO = (
    WrongValues(
        "FSDP-3x",
        "That counts the all-reduce of data parallelism once. It is a reduce-scatter and an all-gather, twice the bytes.",
        1, like=lambda got: float(got) == 3),
    WrongValues(
        "as-much", "That is FSDP with its gathered weights kept. If it gives them up, it gathers each weight a second time.",
        1, like=lambda got: float(got) == 1),
    WrongValues(
        "scatter-as-all-reduce",
        "Two gathers and an all-reduce would be twice as much. But a gradient has to reach only the device that keeps it.",
        1, like=lambda got: float(got) == 2),
    WrongValues(
        "other-way-round", "That is data parallelism's traffic as a fraction of FSDP's. The question asks for the inverse.",
        1, like=lambda got: abs(float(got) - 2 / 3) < 0.01),
)  # fmt: skip

TRAFFIC = (
    WrongValues(
        "all-reduce-counted-once",
        "An all-reduce is a reduce-scatter and an all-gather: two passes around the ring. So FSDP moves half as much again, "
        "not three times as much.",
        1, like=of.cheap_all_reduce),
    WrongValues(
        "to-itself", "On a ring of n a device sends n - 1 of the n parts: the factor is (n - 1) / n.",
        1, like=of.without_ring),
    WrongValues(
        "everything-each-microbatch",
        "A device that holds whole gradients adds them up and communicates once. Whole weights need no gather for each "
        "microbatch.",
        2, like=of.every_microbatch),
    WrongValues(
        "zero-1-three-times",
        "ZeRO-1 needs a sum only where it is used: a reduce-scatter, and then one all-gather of weights.",
        1, like=of.traffic_with("zero-1", lambda k: 3)),
    WrongValues(
        "weights-each-microbatch", "ZeRO-2 keeps whole weights, so it gathers them once a step, after they have changed.",
        2, like=of.traffic_with("zero-2", lambda k: 2 * k)),
    WrongValues(
        "kept-over-microbatches",
        "In the plan with weights kept, nothing stays from one microbatch to the next. Each microbatch gathers once.",
        2, like=of.traffic_with("fsdp, weights kept", lambda k: 1 + k)),
    WrongValues(
        "microbatches-ignored", "What is not kept between microbatches is sent in each of them.",
        2, like=of.microbatches_ignored),
    WrongValues("of-all-devices", "That is what all devices send together.", 1, like=of.of_all_devices),
    WrongValues(
        "two-of-three-passes", "If gathered weights are discarded, a microbatch has three passes: a gather for forward, "
        "another for backward, and the scatter of the gradients. That counts two.",
        3, like=of.kept_always),
)  # fmt: skip

QUESTION = Question(
    "11.5", "What the memory costs", difficulty=3, minutes=35, optional=True,
    items=(
        ValueItem("ratio", {"P": 2}, predicted=True, key=1.5, misconceptions=RATIO),
        CallsItem("traffic", {"C": 8}, oracle=of.traffic, misconceptions=TRAFFIC, draw=of.draw_traffic, rtol=1e-6,
                  calls=tuple((3_000_000, n, plan, k) for plan in of.PLANS for n, k in ((8, 1), (4, 3)))),
    ),
    hints=(
        "Write every plan with two words only: all-gather and reduce-scatter. In each, a device sends V (n - 1) / n bytes.",
        "What happens once in each step, and what happens once in each microbatch? Ask what a device may keep in between.",
        "Gathers and scatters with k microbatches: 1 and 1 for data parallel and zero-1; 1 and k for zero-2; k and k for "
        "fsdp if weights are kept, else 2k and k.",
    ),
    explanation="An all-reduce is a reduce-scatter and an all-gather, so data parallelism sends 2V. ZeRO-1, which updates "
                "the weights between the two halves, sends the same. FSDP gathers twice and scatters once: 3V. That is half "
                "as much again, for an n-th of the memory. With microbatches the plans differ. A device adds whole "
                "gradients up and sends them once. Cut gradients must be scattered each time, and weights that are not kept "
                "are gathered each time. That is why FSDP likes one large batch, and why some programs keep gathered "
                "weights from forward to backward where memory allows it.",
)  # fmt: skip
