"""Chapter 5, exercise 5.7: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

import re
from typing import Any

from shardlab_course.ch05.ex07 import oracle as of
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.question import Question, WrongValues

MEASURED = (
    WrongValues(
        "last-match-decides", "The first rule whose pattern is found decides. Here the last one does.", 1,
        like=of.measuring(last=True)),
    WrongValues(
        "found-at-the-beginning", "A pattern may be found anywhere in the path. re.match looks only at its beginning.", 2,
        like=of.measuring(found=re.match)),
    WrongValues(
        "pattern-is-the-path", "A pattern may be found anywhere in the path. Here it has to be the whole path.", 2,
        like=of.measuring(found=re.fullmatch)),
    WrongValues(
        "unruled-leaf-is-whole", "No rule matches this leaf, so nothing says that it is whole. Report None, and do not "
        "count it.", 1, like=of.measuring(whole=True)),
    WrongValues(
        "unruled-leaf-counts", "A leaf that no rule finds has no shard, so its bytes do not count.", 1,
        like=of.measuring(loose=True)),
    WrongValues(
        "one-axis-of-several", "An entry with two axes cuts its dimension over both.", 3,
        like=of.measuring(one_axis=True)),
    WrongValues(
        "bytes-of-all-devices", "The bytes are those of one device. Here they are multiplied by the number of devices.", 2,
        like=of.measuring(all_devices=True)),
    WrongValues(
        "numbers-for-bytes", "Each number has 4 bytes.", 1, like=of.measuring(itemsize=1)),
    WrongValues(
        "found-is-used", "A rule decides nothing if earlier rules have decided every leaf that it finds. Report it as "
        "unused, too.", 2, like=of.measuring(matched=True)),
)  # fmt: skip

TREE = of.tree(2, 32, 8, 4, 128, 64)
PLAIN = [[pattern, spec] for pattern, spec in of.POOL[:6]]
ON = {"data": 2, "model": 4}
CALLS: tuple[tuple[Any, ...], ...] = (
    (PLAIN, TREE, ON),
    (PLAIN, TREE, {"data": 8, "model": 1}),
    (PLAIN[1:], TREE, ON),
    ([["", []], *PLAIN], TREE, ON),
    (
        [["norm", []], ["down", [["data", "model"], None]], ["o$", ["model"]], ["o", ["model"]], ["bias", ["model"]]],
        TREE,
        ON,
    ),
    ([["layers/1/", []], *PLAIN, ["up", ["data"]]], TREE, {"data": 2, "model": 2}),
)

QUESTION = Question(
    "5.7", "A dry run in plain JAX", difficulty=3, minutes=20, optional=True,
    items=(
        CallsItem("plain_run", {"V": 6}, oracle=of.measured, calls=CALLS, draw=of.draw_table, misconceptions=MEASURED),
    ),
    hints=(
        "Go through the leaves, and for each leaf through the rules. Stop at the first rule that fits, and remember that "
        "this rule has decided something.",
        "AbstractMesh(sizes, names, axis_types=...) is a mesh without devices. A NamedSharding on it has shard_shape, which "
        "gives the shape that one device holds.",
        "NamedSharding(on, P(*spec)).shard_shape(tuple(shape)) is a leaf's shard. The bytes are 4 times the sum of "
        "math.prod(shard) over all shards.",
    ),
    explanation="A sharding is a mesh and a spec, and neither needs a device: `AbstractMesh` has only names and sizes. So "
                "JAX can say what a device would hold before you have any devices, for a mesh of any size. The two faults "
                "that you report are those that nobody notices otherwise. At best, a leaf without a rule stops the program. "
                "At worst, a default leaves it whole on every device. A rule that decides nothing is harmless only until "
                "somebody relies on it.\n\nAn unused rule need not be misspelt. If an earlier, more general rule has "
                "taken all of its leaves, its pattern is found, but the rule decides nothing. So ask which rules have "
                "decided, and not which patterns are found.",
)  # fmt: skip
