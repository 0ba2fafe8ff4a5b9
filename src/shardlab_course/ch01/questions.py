"""Chapter 1's questions: meshes, shardings, shards."""

from __future__ import annotations

from typing import Any

from shardlab_course.ch01 import misconceptions as wrong
from shardlab_course.ch01 import oracles as oracle
from shardlab_course.ch01.pictures import PICTURES
from shardlab_judge.cases import axes
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.placement import PlacementItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Misconception, Question
from shardlens import place

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
)  # fmt: skip
LIST_AS_AXIS = Misconception(
    "list-as-axis", "An entry may be a list of axes, and a list is no key of the mesh.", 2, error="unhashable type: 'list'"
)  # fmt: skip

BYTES = Question(
    id="1.2",
    title="Bytes on a device, bytes on all of them",
    items=(
        CallsItem(
            "bytes_per_device", {"C": 1.5}, oracle=oracle.bytes_per_device, calls=BYTES_CALLS, draw=oracle.draw_bytes,
            misconceptions=(
                Misconception(
                    "divides-by-every-axis", "Only the axes that the spec names cut the array; the others make copies.", 1,
                    like=oracle.divided_by_all),
                Misconception(
                    "tuple-cuts-once", "Every axis of a tuple cuts: the parts are the product of their sizes.", 2,
                    like=oracle.first_of_tuple_bytes),
                Misconception(
                    "four-bytes-always", "Not every element takes four bytes: ask the dtype, jnp.dtype(dtype).itemsize.", 3,
                    like=oracle.four_bytes),
                Misconception(
                    "stops-at-spec", "A spec may be shorter than the shape; dimensions behind its end count too, whole.", 2,
                    like=oracle.short_of_shape),
                Misconception(
                    "elements-for-bytes", "These are elements; an element of this dtype takes more than one byte.", 1,
                    like=oracle.elements),
                LIST_AS_AXIS,
            ),
        ),
        CallsItem(
            "bytes_total", {"C": 1.5}, oracle=oracle.bytes_total, calls=BYTES_CALLS, draw=oracle.draw_bytes,
            misconceptions=(
                Misconception(
                    "forgets-replicas", "That is the array once; every mesh axis that the spec leaves out makes copies.", 1,
                    like=oracle.array_bytes),
                Misconception(
                    "copies-everything", "Every device is counted with the whole array; a device holds its shard only.", 1,
                    like=oracle.copy_everywhere),
                Misconception(
                    "stops-at-spec", "A spec may be shorter than the shape; dimensions behind its end count too, whole.", 2,
                    like=oracle.short_total),
                Misconception(
                    "adds-copies", "Copies along two unmentioned axes multiply: 2 and 3 make 6, not 5.", 2,
                    like=oracle.added_copies),
            ),
        ),
    ),  # fmt: skip
    difficulty=2,
    minutes=15,
    hints=(
        "Ask of each mesh axis: is it in the spec? Then it cuts the array. Is it not? Then it makes copies. It never does "
        "both.",
        "One device holds the whole array's bytes divided by the sizes of all named axes. All devices together: that, "
        "times how many devices there are.",
        "Collect the named axes first: skip None, take a name as it is, and go through a list. jnp.dtype(dtype).itemsize "
        "gives the bytes of an element.",
    ),
    explanation="A mesh axis does one of two things to an array here. Named in the spec, it cuts: the shard is smaller by "
    "its size. Left out, it copies: the same shard lies on that many devices. So one device holds the array's bytes "
    "divided by the product of the named axes, and all devices together hold the array's bytes times the product of the "
    "others. For float32[8, 16] on a 2 by 4 mesh with P('x') that is 256 bytes a device and 2,048 in all, four times the "
    "array. The order of axes in a tuple changes who holds what, never how much. And array.nbytes knows nothing of this: "
    "it is the global size, 512, whatever the sharding.",
)  # fmt: skip

HOSTS = axes(host=2, chip=4)
SAME = "The two specs cut the same blocks, but deal them out in another order: the first axis of a tuple is the slowest."
STOP = "Two rows lie in a block, and a stop is the first row that is not held any more, as in range."

ORDER = Question(
    id="1.3",
    title="P(('x', 'y')) or P(('y', 'x'))",
    items=(
        ValueItem("rows_xy", {"P": 0.5}, key=[2, 4], length=2, predicted=True, misconceptions=(
            Misconception("last-axis-slowest", SAME, 2, like=[8, 10]),
            Misconception(
                "one-axis-for-tuple", "Both axes cut: eight blocks of two rows each.", 1,
                like=lambda rows: rows[1] - rows[0] in (4, 8)),
            Misconception("stop-included", STOP, 1, like=[2, 3]),
        )),
        ValueItem("rows_yx", {"P": 0.5}, key=[8, 10], length=2, predicted=True, misconceptions=(
            Misconception("order-does-not-matter", SAME, 2, like=[2, 4]),
            Misconception(
                "wrong-size-first", "With y slowest, a step along y skips as many blocks as x has devices: 4, not 2.", 3,
                like=[4, 6]),
            Misconception("stop-included", STOP, 1, like=[8, 9]),
        )),
        ValueItem("moved", {"P": 0.25}, key=6, predicted=True, misconceptions=(
            Misconception("order-does-not-matter", SAME, 2, like=0),
            Misconception(
                "nobody-stays", "Where both coordinates are zero, or both at their end, the order makes no difference.", 3,
                like=lambda count: count in (7, 8)),
        )),
        wrong.MECHANISM,
        PlacementItem("alternating", {"S": 1.5}, target=place((16, 4), HOSTS, (("chip", "host"),)), misconceptions=(
            Misconception(
                "order-does-not-matter", "With 'host' first the hosts are the slow axis: host 0 gets the first eight rows, "
                "host 1 the rest.", 2, like=place((16, 4), HOSTS, (("host", "chip"),))),
            Misconception(
                "tuple-unpacked", "Two entries cut two dimensions; a row stays whole when both axes stand in one tuple.", 2,
                like=place((16, 4), HOSTS, ("chip", "host"))),
            Misconception(
                "spec-without-mesh", "A spec has no devices: put it on the mesh, NamedSharding(mesh, spec).", 1,
                error="P has no sharding"),
            Misconception(
                "axis-forgotten", "'host' is not in the spec, so both hosts hold the same rows.", 1,
                like=place((16, 4), HOSTS, ("chip",))),
        )),
    ),  # fmt: skip
    difficulty=2,
    minutes=18,
    hints=(
        "Write the block numbers 0 to 7 beside the devices. Which mesh coordinate changes when you go from block 0 to "
        "block 1?",
        "A tuple is read like a number with several digits: the first axis is the leading digit, the last axis changes "
        "fastest.",
        "Block number for (a, b): the coordinate on a, times the size of b, plus the coordinate on b. To alternate "
        "between hosts, 'host' must be the fastest axis.",
    ),
    explanation="A tuple of axes is a number with mixed digits. On the 4 by 2 mesh, P(('x', 'y')) gives a device the block "
    "2x + y, and P(('y', 'x')) the block 4y + x. Device 1 sits at x=0, y=1, so it holds block 1 (rows 2:4) under the first "
    "and block 4 (rows 8:10) under the second. Both agree only where 2x + y = 4y + x, that is x = 3y: devices 0 and 7. To "
    "go from one to the other, the other six must receive rows, and that takes a collective. Neither order is better by "
    "itself: data that must meet should lie on devices near each other, in one order.",
)  # fmt: skip

LEGAL: dict[str, Any] = {
    "a": [4, 3], "b": "IndivisibleError", "c": "IndivisibleError", "d": [1, 12], "e": "DuplicateSpecError",
    "f": "IndivisibleError", "g": [5, 3], "h": "ValueError", "i": "ValueError", "j": [8, 12],
    "k": "DuplicateSpecError", "l": [1, 6, 4],
}  # fmt: skip

REFUSALS = "DuplicateSpecError", "IndivisibleError", "ValueError"

LEGAL_OR_NOT = Question(
    id="1.4",
    title="Legal or not",
    items=(
        ValueItem("outcome", {"P": 3}, key=LEGAL, predicted=True, words=REFUSALS, misconceptions=(
            Misconception(
                "axis-used-twice", "A mesh axis cuts at most one dimension, and once: after that it is spent (e and k).", 2,
                like=lambda said: isinstance(said["e"], list) or isinstance(said["k"], list)),
            Misconception(
                "ragged-shards", "A placed array has equal shards; sizes that do not divide are refused (b, c, f).", 2,
                like=lambda said: any(isinstance(said[k], list) for k in "bcf")),
            Misconception(
                "spec-too-long", "A spec may have fewer entries than the array has dimensions, never more (h).", 1,
                like=lambda said: isinstance(said["h"], list)),
            Misconception(
                "unknown-axis-ignored", "A name that the mesh does not have is refused, not ignored (i).", 1,
                like=lambda said: isinstance(said["i"], list)),
            Misconception(
                "empty-spec-refused", "P() is legal: it cuts nothing, and every device holds the whole array (j).", 1,
                like=lambda said: isinstance(said["j"], str)),
            Misconception(
                "global-for-local", "That is the global shape; asked is the shape of one shard (a, d, g, l).", 1,
                like=lambda said: [8, 12] in (said["a"], said["d"]) or said["g"] == [10, 12] or said["l"] == [4, 6, 8]),
            Misconception(
                "base-class-named", "An IndivisibleError is a ValueError; asked is its own name (b, c, f).", 3,
                like=lambda said: "ValueError" in [said[k] for k in "bcf"]),
            Misconception(
                "refusal-of-another-kind", "A name that the mesh does not have, or an entry too many, is nothing of its "
                "own: a plain ValueError (h, i).", 3,
                like=lambda said: any(said[k] in ("DuplicateSpecError", "IndivisibleError") for k in "hi")),
            Misconception(
                "divides-before-twice", "That an axis is named twice is found in the spec, before any size is looked at (e, "
                "k).", 3, like=lambda said: any(said[k] in ("ValueError", "IndivisibleError") for k in "ek")),
            Misconception("class-for-name", "Write an error's name as a text, in quotes.", 3, error="type is not a number"),
        )),
    ),  # fmt: skip
    difficulty=2,
    minutes=12,
    optional=True,
    hints=(
        "Three questions for each spec: does the mesh have every name? Is any name used twice? Does the spec have more "
        "entries than the array has dimensions?",
        "Then count: into how many parts is each dimension cut (a tuple multiplies)? A size that is no multiple of its "
        "parts is refused, even a size of 1.",
        "Name used twice: DuplicateSpecError. Size not divisible: IndivisibleError. Everything else that is refused: "
        "ValueError. Five of the twelve are legal.",
    ),
    explanation="The mesh and the spec must fit each other: every name exists (else ValueError), and no name occurs "
    "twice, in one entry or in two (else DuplicateSpecError). Both are found when the NamedSharding is made, before there "
    "is any array. Then the spec must fit the array: not more entries than dimensions (ValueError), and each dimension a "
    "multiple of its number of parts (IndivisibleError, which is a kind of ValueError). So 10 rows can be cut over 2 "
    "devices but not over 4, and a single row not at all. Where sizes do not fit, people pad the array or shard another "
    "dimension. Both choices are yours; device_put makes neither for you.",
)  # fmt: skip

SLICE_CALLS: tuple[tuple[Any, ...], ...] = (
    ({"x": 1, "y": 2}, {"x": 2, "y": 4}, [8, 16], ["x", "y"]),
    ({"x": 1, "y": 2}, {"x": 2, "y": 4}, [8, 16], ["y"]),
    ({"x": 1, "y": 2}, {"x": 2, "y": 4}, [24, 5], [["x", "y"], None]),
    ({"x": 1, "y": 2}, {"x": 2, "y": 4}, [24, 5], [["y", "x"]]),
    ({"x": 3, "y": 0}, {"x": 4, "y": 2}, [6, 12], [None, "x"]),
    ({"x": 0, "y": 1, "z": 1}, {"x": 2, "y": 2, "z": 2}, [6, 20, 7], ["z", ["y", "x"], None]),
    ({"x": 1, "y": 1}, {"x": 2, "y": 3}, [9], []),
)  # fmt: skip

SLICE = Question(
    id="1.5",
    title="Which slice is mine?",
    items=(
        CallsItem(
            "local_slice", {"V": 3}, oracle=oracle.local_slice, calls=SLICE_CALLS, draw=oracle.draw_slice,
            misconceptions=(
                Misconception(
                    "tuple-order", "The first axis of a tuple is the slowest: the leading digit of the block's number.", 2,
                    like=oracle.last_axis_slowest),
                Misconception(
                    "stops-at-spec", "A spec may be shorter than the shape; dimensions behind its end are whole.", 1,
                    like=oracle.as_long_as_spec),
                Misconception(
                    "parts-for-block", "The start is the block's number times a block's size, not times the parts.", 2,
                    like=oracle.parts_for_block),
                Misconception(
                    "tuple-cuts-once", "Every axis of a tuple cuts: the parts are the product of their sizes.", 2,
                    like=oracle.first_of_tuple),
                Misconception(
                    "length-for-stop", "The second number is where the block ends, start + size, not how long it is.", 1,
                    like=oracle.lengths),
                Misconception(
                    "device-number-for-block", "A dimension asks for the coordinates on its own axes only, not for the "
                    "device's place in the mesh.", 1, like=oracle.by_device_number),
                Misconception(
                    "none-for-whole", "A dimension that no axis cuts is held whole: [0, size].", 1,
                    like=oracle.none_when_whole),
                Misconception(
                    "stop-included", "A stop is the first position that is not held any more, as in range.", 1,
                    like=oracle.last_included),
                Misconception(
                    "slice-objects", "Return two numbers for each dimension, [start, stop], instead of a slice object.", 1,
                    error="slice is not a number"),
                LIST_AS_AXIS,
            ),
        ),
    ),  # fmt: skip
    difficulty=3,
    minutes=20,
    optional=True,
    hints=(
        "Treat each dimension alone: into how many parts is it cut, and which of these parts is yours? Start with a "
        "dimension that no axis cuts: one part, number 0.",
        "With several axes, build the number digit by digit: for each axis of the tuple, number becomes number times the "
        "axis's size plus your coordinate.",
        "Make every entry a list of axes, [] for None, and add [] until there is one for each dimension. Then number and "
        "parts from the same loop; block = size // parts.",
    ),
    explanation="Each dimension is cut on its own. Its axes form a number with mixed digits, the first axis leading: "
    "going through them, number = number * size + coordinate, while parts multiplies up. The block is size // parts long "
    "and starts at number * block. A dimension without an axis has no digits: number 0 of 1 part, so the whole of it. "
    "Axes that no entry names never enter the loop, so devices that differ only there get the same slice; that is all "
    "that replication is.\n\nThis little function is all that says who holds which slice, and inside shard_map (chapter 7) "
    "you will need it again: there a device knows its coordinates and sees only its block.",
)  # fmt: skip

QUESTIONS: tuple[Question, ...] = (
    Question(
        id="1.1",
        title="Ten pictures",
        items=PICTURES,
        variable="pictures",
        difficulty=3,
        minutes=30,
        hints=(
            "Before you write, read three things off the picture: which devices take part, into how many parts each "
            "dimension is cut, how many devices share a block.",
            "Follow the numbers. Where they go up by 1 runs the last mesh axis; beside it, a step of 4 is the first axis of "
            "2 by 4. With steps of 2 there are three axes, or other devices.",
            "D names no axis. E and F: both axes of a 2 by 4 mesh in one tuple. G: a mesh of 2 by 2 by 2. H and I need "
            "mesh_of with a list, J is easiest with one.",
        ),
        explanation="A picture fixes which device holds which slice, and nothing else, so many answers are right. A can "
        "be cut over one axis of 8, or over ('x', 'y') of a 2 by 4 mesh. J is usually drawn with devices in the order 0, "
        "4, 1, 5, 2, 6, 3, 7; but a plain 2 by 2 by 2 mesh with P(('z', 'x'), 'y') gives the same slices, because the "
        "order of axes in a tuple can do the shuffling. The check compares the index maps, device by device.\n\nIt does "
        "not use ==, which calls both pairs different, nor is_equivalent_to, which calls the two of J different. Something "
        "does differ there: JAX refuses to add two arrays that were placed on meshes of another order.",
    ),
    BYTES,
    ORDER,
    LEGAL_OR_NOT,
    SLICE,
)  # fmt: skip
