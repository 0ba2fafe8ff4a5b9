"""Chapter 0, exercise 0.2: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_judge.items.value import Believed, ValueItem, why
from shardlab_judge.question import Question, WrongValues

SHARE = (
    WrongValues(
        "everything-is-divided", "B's spec names no axis, so every device has all of B. Its share is 1, not 1/8.", 2,
        like=lambda said: said["B"] == 1 / 8),
    WrongValues(
        "nothing-is-divided", "A is cut into rows, so each device has an eighth of A and makes an eighth of C.", 1,
        like=lambda said: 1 in (said["A"], said["C"])),
    WrongValues(
        "devices-counted", "A share is a part of the whole. An eighth is 1/8; 8 would be eight times the whole.", 2,
        like=lambda said: 8 in said.values()),
    WrongValues(
        "work-is-repeated", "A device multiplies only the rows that it holds, and no other device holds them. That is an "
                            "eighth of the FLOPs.",
        2, like=lambda said: said["flops"] == 1),
)  # fmt: skip

TIME = (
    WrongValues(
        "device-count-is-speed", "Simulated devices are threads that share the cores of one machine. Eight of them are not "
        "eight machines.", 3, like="8x faster"),
    WrongValues(
        "simulation-is-slow", "The same FLOPs run on the same cores, only in eight portions, and the division costs "
                              "little.", 3,
        like="8x slower"),
)  # fmt: skip

MECHANISM = why(
    "What decides that time?",
    0.25,
    a=Believed(
        "How many devices share the work: eight do eight times as much in a second.",
        "devices-are-hardware",
        "All eight are in one process, on the cores of one machine. The cell below the check counts them.",
    ),
    b=Believed(
        "How long it takes to hand out the pieces and to put them together again.",
        "overhead-decides",
        "Not a byte was sent, and the times with and without the cut are similar. So the cut costs little.",
    ),
    c="How many FLOPs there are in all, and how many cores of the machine run them.",
)

QUESTION = Question(
    "0.2", "One product on eight devices", difficulty=1, minutes=5,
    items=(
        ValueItem("share", {"P": 0.75}, predicted=True, rtol=1e-3, misconceptions=SHARE,
                  key={"A": 1 / 8, "B": 1, "C": 1 / 8, "flops": 1 / 8}),
        ValueItem("time", {"P": 0.5}, predicted=True, key="same", words=("8x faster", "same", "8x slower"),
                  misconceptions=TIME),
        MECHANISM,
    ),
    hints=(
        "Look at the picture of A. How many of its rows does device 0 hold? For how many rows of C is that enough?",
        "What is cut in eight has a share of 1/8, in bytes and in work. What is copied has a share of 1.",
        "Your machine has as many cores as before, and eight simulated devices share them.",
    ),
    explanation="A is cut into rows, so each device holds an eighth of it, makes an eighth of C, and does an eighth of the "
                "FLOPs. Every row of C needs all of B, and B's spec names no axis, so every device has a copy. These "
                "shares are the same on eight real chips. The time is not. Simulated devices are threads on the cores of "
                "one machine, and a product on a single device can use all of them, so the same FLOPs take about the same "
                "time. This is why the course counts bytes and FLOPs, and never grades a clock.",
)  # fmt: skip
