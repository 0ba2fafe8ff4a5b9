"""Chapter 1, exercise 1.2: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from typing import Any

from shardlab_course.ch01.ex02 import oracle as of
from shardlab_course.ch01.shared import ENDS, LIST_AS_AXIS
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.question import Question, WrongValues

BYTES_CALLS: tuple[tuple[Any, ...], ...] = (
    ([8, 16], "float32", {"x": 2, "y": 4}, ["x", "y"]),
    ([8, 16], "float32", {"x": 2, "y": 4}, ["x"]),
    ([24, 10], "bfloat16", {"x": 2, "y": 3, "z": 2}, [None, "z"]),
    ([24, 10], "int8", {"x": 2, "y": 3, "z": 2}, [["y", "x"]]),
    ([16, 4, 6], "float32", {"data": 4, "model": 2}, [["data", "model"], None, None]),
    ([12], "int32", {"x": 4, "y": 2}, []),
    ([6, 4], "float16", {"x": 2, "y": 2}, ["y"]),
    ([10, 2, 3], "complex64", {"x": 5, "y": 1}, ["x"]),
    ([7, 8], "bool", {"x": 2, "y": 4}, [None, ["x", "y"]]),
    ([24, 5], "float32", {"x": 2, "y": 3, "z": 2}, [["x", "y", "z"]]),
    ([8, 6], "int32", {"x": 2, "y": 4}, [["x"]]),
)  # fmt: skip

QUESTION = Question(
    id="1.2",
    title="Bytes on a device, bytes on all of them",
    items=(
        CallsItem(
            "bytes_per_device", {"C": 2.25}, oracle=of.bytes_per_device, calls=BYTES_CALLS, draw=of.draw_bytes,
            misconceptions=(
                WrongValues(
                    "divides-by-every-axis", "Only the axes that the spec names cut the array. The others make copies.", 1,
                    like=of.divided_by_all),
                WrongValues(
                    "tuple-cuts-once", "Every axis of a tuple cuts. The number of parts is the product of their sizes.", 2,
                    like=of.first_of_tuple_bytes),
                WrongValues("first-and-last-of-tuple", ENDS, 2, like=of.ends_of_tuple_bytes),
                WrongValues(
                    "four-bytes-always", "Not every element takes four bytes. Ask the dtype: jnp.dtype(dtype).itemsize.", 3,
                    like=of.four_bytes),
                WrongValues(
                    "stops-at-spec", "A spec may be shorter than the shape. The dimensions after its end count too: they "
                                     "are whole.", 2,
                    like=of.short_of_shape),
                WrongValues(
                    "elements-for-bytes", "This counts elements, and an element of this dtype takes more than one byte.", 1,
                    like=of.elements),
                LIST_AS_AXIS,
            ),
        ),
        CallsItem(
            "bytes_total", {"C": 2.25}, oracle=of.bytes_total, calls=BYTES_CALLS, draw=of.draw_bytes,
            misconceptions=(
                WrongValues(
                    "forgets-replicas", "That counts the array once. Every mesh axis that the spec omits makes copies.", 1,
                    like=of.array_bytes),
                WrongValues(
                    "copies-everything", "Every device is counted with the whole array, but it holds only its shard.", 1,
                    like=of.copy_everywhere),
                WrongValues(
                    "stops-at-spec", "A spec may be shorter than the shape. The dimensions after its end count too: they "
                                     "are whole.", 2,
                    like=of.short_total),
                WrongValues(
                    "adds-copies", "Copies along two unmentioned axes multiply: 2 and 3 make 6, not 5.", 2,
                    like=of.added_copies),
            ),
        ),
    ),  # fmt: skip
    difficulty=2,
    minutes=15,
    hints=(
        "For each mesh axis, ask whether the spec names it. If it does, the axis cuts the array. If not, it makes copies. "
        "It never does both.",
        "One device holds the bytes of the whole array, divided by the sizes of all named axes. For all devices together, "
        "multiply by the number of devices.",
        "Collect the named axes first: skip None, take a name as it is, and go through a list. jnp.dtype(dtype).itemsize "
        "gives the bytes of an element.",
    ),
    explanation="A mesh axis does one of two things to an array here. If the spec names the axis, it cuts: the axis divides "
    "the shard by its size. If the spec omits the axis, it copies: all devices along it hold the same shard.\n\nSo one "
    "device holds the array's bytes divided by the product of the named axes, and all devices together hold the array's "
    "bytes times the product of the others. For float32[8, 16] on a 2 by 4 mesh with P('x') that is 256 bytes per device "
    "and 2,048 in all, four times the array. The order of axes in a tuple changes who holds what, never how much. "
    "array.nbytes tells none of this: it is the global size, 512, whatever the sharding.",
)  # fmt: skip
