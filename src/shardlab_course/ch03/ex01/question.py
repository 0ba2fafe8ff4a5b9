"""Chapter 3, exercise 3.1: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from typing import Any

from shardlab_course.shared.kinds import OR_NONE
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Misconception, Question, WrongValues


def mistake(id: str, cause: str, hint: int = 1, **entries: Any) -> Misconception:
    """A line of 3.1 that was read with these entries."""
    return WrongValues(id, cause, hint, like=lambda got: all(got[key] == value for key, value in entries.items()))


IN_A_ROUND = mistake("loop-counted-once", "The line is in the body of a loop. The while says how often the body runs: "
                     "known_trip_count.", 2, times=1)  # fmt: skip
BY_OP_NAME = WrongValues(
    "believes-op-name", "op_name names the JAX operation that the line came from. The operation in the line says what it "
    "does. Here it is a fusion that takes a slice, which is local to the "
    "device.", 1, like=lambda got: got["kind"] == "all-to-all")  # fmt: skip
ONE_OF_FOUR = mistake("first-of-tuple", "The output is a tuple of four arrays of f32, with 4 bytes an element. All four "
                      "arrive.", 1, bytes=768)  # fmt: skip
ONE_OF_TWO = mistake("first-of-tuple", "XLA combined two all-reduces. The output is a tuple, and both arrays count.",
                     1, bytes=4608)  # fmt: skip
ELEMENTS = mistake("elements-not-bytes", "These are elements. An f32 has 4 bytes.", 1, bytes=128)
GROUPS = mistake("counts-groups", "That is the number of groups. The question is how many devices talk to each other in one "
                 "group.", 2,
                 group=2)  # fmt: skip
EVERYBODY = mistake("everybody-in-one-group", "8 devices run the program, but replica_groups divides them. It names only "
                    "axis_0, of size 4.", 2, group=8)  # fmt: skip
TAKEN_OUT = WrongValues(
    "counts-the-taking-out", "get-tuple-element only picks one array out of what the all-reduce returned. Its operand "
    "names the all-reduce. Its operation does not.", 1, like=lambda got: got["kind"] == "all-reduce")  # fmt: skip
INSIDE = WrongValues(
    "counts-the-fusions-inside", "This line describes what the fusion that calls it does. The TPU runs that fusion as one "
    "reduce-scatter. Count it at the line with calls=.", 3,
    like=lambda got: got["kind"] == "all-reduce")  # fmt: skip
IN_AND_OUT = WrongValues(
    "start-counts-in-and-out", "The tuple of a -start holds the operand, the output and two counters. Only the output "
    "arrives.", 2, like=lambda got: got["bytes"] in (1024, 1032))  # fmt: skip
FUSION = WrongValues(
    "fusion-overlooked", "calls=%all-reduce-scatter is one way in which XLA for TPU writes a reduce-scatter.", 3,
    like=lambda got: got == "none")  # fmt: skip
WHOLE = WrongValues(
    "counts-what-goes-in", "That is what goes in. What comes out is this device's part of the sum, f32[64,512].", 2,
    like=lambda got: got["bytes"] == 524288)  # fmt: skip
TWICE = WrongValues(
    "done-counted-again", "The -done waits for the -start that is its operand. Together they are one collective.", 2,
    like=lambda got: got["kind"] == "collective-permute")  # fmt: skip

COLLECTIVE = {"kind": "all-gather", "bytes": 4096, "group": 4, "times": 1}


def line(letter: str, *misconceptions: Any, kind: str = "none", bytes: int = 0, group: int = 0, times: int = 1) -> ValueItem:
    """A line of the listings: a collective, or none."""
    key = "none" if kind == "none" else {"kind": kind, "bytes": bytes, "group": group, "times": times}
    points = {"V": 0.75 if key == "none" else 1}
    return ValueItem(letter, points, key=key, also=("none", COLLECTIVE), words=OR_NONE, misconceptions=misconceptions)


QUESTION = Question(
    "3.1", "Read what the compiler wrote", difficulty=2, minutes=30, variable="reading",
    items=(
        line("A", IN_A_ROUND, ELEMENTS, GROUPS, EVERYBODY,
             kind="all-reduce", bytes=512, group=4, times=10),
        line("B", BY_OP_NAME),
        line("C", ONE_OF_FOUR, GROUPS, kind="all-to-all", bytes=3072, group=4),
        line("D", ONE_OF_TWO, EVERYBODY, kind="all-reduce", bytes=5376, group=4),
        line("E", TAKEN_OUT),
        line("F", INSIDE),
        line("G", IN_AND_OUT, kind="collective-permute", bytes=512, group=8),
        line("H", FUSION, WHOLE, kind="reduce-scatter", bytes=131072, group=4),
        line("I", TWICE),
    ),
    hints=(
        "The operation is the word before the bracket that holds the operands. Names on the left, operands and op_name "
        "may say anything.",
        "Look at what is around a line: a body that a while runs many times, a computation that a fusion calls, or the "
        "other half of a pair. A group is as large as the named axes.",
        "Five of the nine are collectives: A, C, D, G, H. Multiply out every array of an output tuple, at 4 bytes an "
        "element. In the tuple of a -start only the second array counts.",
    ),
    explanation="A carries f32[32,4], 512 bytes, in each of 10 rounds. C is one instruction with four outputs of 768 bytes, "
                "one from each member of its group. D is two gradients that XLA put into one all-reduce, 4,608 and 768 "
                "bytes. G and I are one permute of 512 bytes: the -start names operand, output and two counters. XLA for "
                "TPU writes a reduce-scatter in two ways, and H is one of them: a fusion that calls a computation named "
                "all-reduce-scatter. In that computation, F says what the fusion does. A quarter of the bytes that go into "
                "H comes out. (The other way is an operation named reduce-scatter.)\n\nB and E only look like collectives: "
                "their operations are a fusion and a get-tuple-element. If you only search for words, you find these two, "
                "and F and I too.",
)  # fmt: skip
