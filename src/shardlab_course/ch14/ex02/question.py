"""Chapter 14, exercise 14.2: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from shardlab_judge.items.value import Believed, ValueItem, why
from shardlab_judge.question import Question, WrongValues

FATES = {"a": "fine", "b": "error", "c": "hangs", "d": "fine", "e": "fine", "f": "error", "g": "differ", "h": "hangs"}


def otherwise(launch: str) -> Callable[[Any], bool]:
    """Whether another one of the fates was predicted for a launch."""
    return lambda got: got[launch] in set(FATES.values()) - {FATES[launch]}


PREDICTED = (
    WrongValues(
        "one-process-is-enough",
        "A global array's sum is a program of all devices: if process 1 does not call it, process 0 waits for process 1's "
        "part.",
        1, like=otherwise("c")),
    WrongValues(
        "printing-is-computing",
        "In d and e, process 0 alone looks at data that it already has; no other process has to help.",
        2, like=lambda got: "hangs" in (got["d"], got["e"])),
    WrongValues(
        "nobody-is-asked",
        "device_put makes copies from what each process gives, and compares it first: if the processes disagree, it "
        "refuses in all of them.",
        2, like=otherwise("f")),
    WrongValues(
        "copies-are-compared",
        "make_array_from_process_local_data believes each process: it promises equal copies, and does not check.",
        3, like=otherwise("g")),
    WrongValues(
        "the-longer-loop-goes-on", "Process 1 asks for one more sum than process 0 takes part in, so it waits there.",
        1, like=otherwise("h")),
    WrongValues(
        "a-process-has-all-values",
        "A process can read the shards of its own devices; NumPy asks for all values, and JAX refuses.",
        2, like=otherwise("b")),
    WrongValues(
        "a-total-is-cut-too", "The sum is one number, and every device has a copy of it, so each process can read it.",
        2, like=otherwise("a")),
)  # fmt: skip

MECHANISM = why(
    "When does one process wait for another?",
    0.75,
    a="In a program in which devices of both exchange something. It waits until the other process runs that program too.",
    b=Believed(
        "Wherever it uses a global array: the array belongs to both.",
        "every-use-waits",
        "In d one process alone looks at its own part of a global array, and the launch ended.",
    ),
    c=Believed(
        "Where a number is read, by `print` or `float`: it is collected from all processes.",
        "reading-waits",
        "In e one process alone reads the total, and the launch ended: both processes had computed it, and each has a copy.",
    ),
)


def _spelt(said: str) -> str:
    """A line that waits for ever `hangs`, however a student says it."""
    letters = said.strip().casefold().removesuffix("s").removesuffix("ed")
    return "hangs" if letters in ("deadlock", "hung", "block", "wait", "wait forever", "stuck") else said


QUESTION = Question(
    "14.2", "What fails, what hangs, what lies", difficulty=3, minutes=20,
    items=(
        ValueItem("fates", {"P": 5.25}, predicted=True, key=FATES,
                  misconceptions=PREDICTED, words=("fine", "error", "hangs", "differ"), spelling=_spelt),
        MECHANISM,
    ),
    hints=(
        "For each line ask: is it a computation on a global array, or a look at what this process has? Who calls it?",
        "All processes must make the same computations in the same order. Looking concerns one process. And who "
        "checks that the two processes agree about their data?",
        "Two lines raise errors, two hang, one differs silently, and three are fine. In the silent one each process tells "
        "JAX something different, and JAX does not ask the other.",
    ),
    explanation="A jitted function of a global array is one program of all its devices, and each process starts its own "
                "part. If the parts exchange something, as a sum does, and one process never calls it (c), or calls it "
                "less often (h), the other waits: a process that never comes looks like one that is slow. Some libraries "
                "that carry the messages give up in the end. On CPUs Gloo does so after half a minute when processes meet "
                "for the first time; at a later meeting we have seen it wait for more than a minute.\n\nA look at what "
                "this process has needs no other: its own shards (d), or a number that every device has (a, e). "
                "np.asarray wants shards of the other process, and JAX refuses (b). The worst line is g: JAX believes "
                "each process, so copies that should be equal are not. device_put (f) compares first, which costs a "
                "message. The rule behind all lines: same program, same order, same shapes, and different data only where "
                "an array is cut.",
)  # fmt: skip
