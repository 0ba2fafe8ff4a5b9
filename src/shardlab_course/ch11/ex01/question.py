"""Chapter 11, exercise 11.1: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch11.ex01 import oracle as of
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.question import Question, WrongValues

LEDGER = (
    WrongValues(
        "stages-are-not-cumulative",
        "Each stage cuts what the one before it cut, and one more part. Here stage 3 cuts the weights alone.",
        2, like=of.ledger_of_one),
    WrongValues(
        "gradients-cut-in-stage-1", "ZeRO-1 cuts only the optimizer's state. The gradients are cut from stage 2 on.",
        2, like=of.ledger_by((3, 1, 1))),
    WrongValues("weights-cut-in-stage-2", "Weights are cut in stage 3 only.", 2, like=of.ledger_by((2, 2, 1))),
    WrongValues(
        "wrong-order", "The stages cut the largest part first: optimizer, then gradients, then weights.",
        2, like=of.ledger_by((1, 2, 3))),
    WrongValues(
        "cut-in-every-stage", "That divides everything by the number of devices. Stage 0 cuts nothing.",
        1, like=of.ledger_by((0, 0, 0))),
    WrongValues(
        "never-cut", "These are the bytes of a device that holds everything, whatever the stage.",
        1, like=of.ledger_by((4, 4, 4))),
    WrongValues(
        "float32-copy-forgotten",
        "In mixed precision the optimizer also keeps a float32 copy of the weights: 12 bytes for each parameter, not 8.",
        1, like=lambda p, n, stage, mixed: of.ledger(p, n, stage, mixed, (2, 2, 8) if mixed else None)),
    WrongValues(
        "gradients-in-float32", "In mixed precision gradients are kept in 16 bits, as the weights are.",
        1, like=lambda p, n, stage, mixed: of.ledger(p, n, stage, mixed, (2, 4, 12) if mixed else None)),
    WrongValues(
        "another-books-ledger",
        "That is the Scaling Book's ledger, without gradients and without a precise copy. This one counts both.",
        1, like=lambda p, n, stage, mixed: of.ledger(p, n, stage, mixed, (2, 0, 8) if mixed else None)),
    WrongValues(
        "precisions-swapped", "You swapped the ledger of mixed precision and the ledger where everything is float32.",
        1, like=lambda p, n, stage, mixed: of.ledger(p, n, stage, not mixed)),
    WrongValues(
        "of-all-devices", "These are the bytes on all devices together. The question asks for those on one device.", 2,
        like=lambda p, n, stage, mixed: {k: n * v for k, v in of.ledger(p, n, stage, mixed).items()}),
)  # fmt: skip

LARGEST = (
    WrongValues(
        "memory-is-shared",
        "That treats all memories as one. Only what is cut is divided, and every device holds the rest.",
        3, like=lambda memory, n, stage, mixed: memory * n // 16),
    WrongValues(
        "stage-ignored", "That is the largest model of stage 0.", 1, like=lambda memory, n, stage, mixed: memory // 16),
    WrongValues(
        "rounded-too-early",
        "A device's share of one parameter is not a whole number of bytes. If you round it down, it looks smaller than it "
        "is.",
        3, like=of.largest_rounded),
)  # fmt: skip

QUESTION = Question(
    "11.1", "Keep the ledger", difficulty=2, minutes=25,
    items=(
        CallsItem("ledger", {"C": 4.5}, oracle=of.ledger, misconceptions=LEDGER, draw=of.draw_ledger,
                  calls=tuple((7_500_000_000, 60, stage, mixed) for stage in range(4) for mixed in (True, False))),
        CallsItem("largest", {"C": 2.5}, oracle=of.largest, misconceptions=LARGEST, draw=of.draw_largest, rtol=1e-6,
                  calls=tuple((16_000_000_000, n, stage, mixed)
                              for n in (8, 256) for stage in range(4) for mixed in (True, False))),
    ),
    hints=(
        "Write down the bytes of one parameter: weight, gradient, optimizer. In float32 these are 4, 4 and 8.",
        "Stage 1 divides the optimizer's bytes by the number of devices, stage 2 also those of the gradients, stage 3 "
        "also those of the weights.",
        "largest: the three sizes, added up for one parameter, are what a device holds of it. Divide the memory by that "
        "sum. Multiply first and divide last, so that the number is exact.",
    ),
    explanation="Everything that training keeps is as large as the model, several times over: 16 bytes for each parameter "
                "with either precision, 2 + 2 + 12 in mixed precision. Data parallelism keeps all of it n times. The stages "
                "of ZeRO remove copies, the largest part first. Only the device that updates a weight needs its optimizer "
                "state, so each device keeps the state of what it updates. In mixed precision and with many devices stage 1 "
                "approaches 4 bytes for each parameter, stage 2 approaches 2, and only stage 3 approaches zero. The ledger "
                "does not contain activations, which grow with the batch, nor what a step needs temporarily, such as a "
                "layer's gathered weights.",
)  # fmt: skip
