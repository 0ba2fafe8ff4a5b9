"""Chapter 6, exercise 6.4: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

import re

from shardlab_course.ch06.ex04 import oracle as of
from shardlab_course.shared.kinds import KINDS, compilers
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question, WrongValues

WRONG_KINDS = (
    WrongValues(
        "typed-sharded-so-quiet",
        "The type says where the result lies, not how it got there. It allows a program that gathers all rows, "
        "transforms them on every device and slices, and XLA for CPU of JAX 0.10 makes such a program.",
        1, like=lambda got: not got["fft"]),
    WrongValues(
        "all-suspected", "A sort along a dimension that is whole on each device needs no other device.", 1,
        like=lambda got: any("-" in kind for kind in got["sort"])),
    WrongValues(
        "softmax-stays-at-home", "A softmax divides by a sum over the whole row, and each row lies on several devices.",
        1, like=lambda got: not got["softmax"]),
)  # fmt: skip
AUDIT = (
    WrongValues(
        "trusts-the-type",
        "Types alone cannot tell: to rely on them is the mistake that the audit should catch. Look into the compiled "
        "text.",
        1, like=of.mistaken(types=True)),
    WrongValues(
        "counts-words",
        "The words also occur in names and in op_name, where they mean nothing. Look for the operation, just before its "
        "bracket.", 2, like=of.mistaken(words=True)),
    WrongValues(
        "compares-whole-types",
        "The dtype and the sizes may change without any resharding. Compare only what follows each @.",
        2, like=of.mistaken(text=True)),
    WrongValues(
        "knows-gathers-only", "An all-gather is one way of moving data. There are also reductions, exchanges and "
                              "permutes.",
        1, like=of.mistaken(gathers=True)),
    WrongValues(
        "start-forgotten", "An asynchronous collective has -start after its name, and moves the same bytes.",
        2, like=of.mistaken(found=lambda hlo: re.search(rf" ({of.KINDS})\(", hlo))),
    WrongValues(
        "tuples-have-blanks",
        "There may be blanks between the equals sign and the operation: an operation with several outputs has a tuple "
        "there.", 2, like=of.mistaken(found=lambda hlo: re.search(rf"= \S+ ({of.KINDS})(-start)?\(", hlo))),
    WrongValues(
        "dimensions-forgotten",
        "Both types name the same axes, but for different dimensions. From rows to columns is a resharding.",
        3, like=of.mistaken(anywhere=True)),
)  # fmt: skip

QUESTION = Question(
    "6.4", "The type is right, and everything moved", difficulty=4, minutes=40,
    items=(
        ValueItem("kinds", {"P": 3.5}, predicted=True, members=KINDS, misconceptions=WRONG_KINDS, key={
            "fft": frozenset({"all-gather"}), "softmax": frozenset({"all-reduce"}), "sort": frozenset(),
        }),
        compilers(0.5, "CPU", "GPU"),
        CallsItem("audit", {"V": 8}, oracle=of.audit, draw=of.draw_audit, drawn=40, misconceptions=AUDIT, calls=(
            ("float32[8@x,16]", "complex64[8@x,16]", of.FFT),
            ("float32[8@x,16]", "float32[8@x,16]", of.NAMED),
            ("float32[8@x,16]", "float32[16,8@x]", of.NAMED),
            ("float32[8@x,16]", "float32[8,16]", of.exchanged("all-gather", "f32[8,16]{1,0}")),
            ("float32[8@x,16]", "float32[8,16@x]", of.exchanged("all-to-all", "f32[8,8]{1,0}")),
            ("float32[8@x,16@y]", "float32[8@x,16@y]", of.exchanged("all-reduce", "f32[4,16]{1,0}")),
            ("float32[8@x,4@(y,z)]", "bfloat16[24@x,16@(y,z)]",
             of.exchanged("collective-permute-start", "(f32[4,16]{1,0}, f32[4,16]{1,0})")),
            ("float32[8,16@x]", "float32[8,16@x]", of.exchanged("all-reduce", "(f32[4,16]{1,0}, f32[8]{0})")),
            ("float32[8@(x,y),4]", "float32[8@(y,x),4]", of.exchanged("collective-permute", "f32[4,16]{1,0}")),
            ("float32[8@(x,y),4]", "float32[8@(x,z),4]", of.exchanged("collective-permute", "f32[4,16]{1,0}")),
            ("float32[4,8@(x,y)]", "float32[4,8@(x,z)]", of.exchanged("collective-permute", "f32[4,16]{1,0}")),
        )),
    ),
    hints=(
        "Look at the compiled text and at the types. Is there a collective in the text? Do the two types shard each "
        "dimension alike?",
        "In the text an operation stands between a blank and its bracket; names and op_name do not. In a type, the axes "
        "follow each @, up to the next comma that is not in brackets.",
        "One search finds the collectives: a blank, one of the kinds, perhaps -start, an opening bracket. Take dtype and "
        "sizes away from the types, and compare what remains.",
    ),
    explanation="A type is a promise about where the result lies. An FFT along a dimension that is whole on every device "
                "needs no other device, and its type is sharded like its input. Still, XLA for CPU, as it comes with JAX "
                "0.10, does not split a batch of FFTs, so it gathers all rows, transforms them all on every device, and "
                "slices. Values, placement and type are right. XLA for TPU splits the batch and moves nothing, with the "
                "same types.\n\nA softmax along a sharded dimension has to communicate, here by two small all-reduces, and "
                "its type does not show that either. Explicit mode raises an error where its rules end, and not wherever "
                "something moves: along a sharded dimension it refuses a sort, and lets an FFT pass. Only the compiled text "
                "shows whether something moves. An audit of ten lines in a test keeps such a surprise from coming back. "
                "Chapter 13 makes this FFT local, with shard_map.",
)  # fmt: skip
