"""Chapter 1, exercise 1.4: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from typing import Any

from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question, WrongProgram, WrongValues

LEGAL: dict[str, Any] = {
    "a": [4, 3], "b": "IndivisibleError", "c": "IndivisibleError", "d": [1, 12], "e": "DuplicateSpecError",
    "f": "IndivisibleError", "g": [5, 3], "h": "ValueError", "i": "ValueError", "j": [8, 12],
    "k": "DuplicateSpecError", "l": [1, 6, 4],
}  # fmt: skip

REFUSALS = "DuplicateSpecError", "IndivisibleError", "ValueError"

QUESTION = Question(
    id="1.4",
    title="Legal or not",
    items=(
        ValueItem("outcome", {"P": 3.5}, key=LEGAL, predicted=True, words=REFUSALS, misconceptions=(
            WrongValues(
                "axis-used-twice", "A mesh axis cuts at most one dimension, and a spec may name it only once (e and k).", 2,
                like=lambda said: isinstance(said["e"], list) or isinstance(said["k"], list)),
            WrongValues(
                "ragged-shards", "All shards of a placed array have the same shape. JAX refuses sizes that do not divide "
                                 "(b, c, f).", 2,
                like=lambda said: any(isinstance(said[k], list) for k in "bcf")),
            WrongValues(
                "spec-too-long", "A spec may have fewer entries than the array has dimensions, and never more (h).", 1,
                like=lambda said: isinstance(said["h"], list)),
            WrongValues(
                "unknown-axis-ignored", "JAX does not ignore a name that the mesh does not have. It raises an error (i).", 1,
                like=lambda said: isinstance(said["i"], list)),
            WrongValues(
                "empty-spec-refused", "P() is legal: it cuts nothing, and every device holds the whole array (j).", 1,
                like=lambda said: isinstance(said["j"], str)),
            WrongValues(
                "global-for-local", "That is the global shape. The question asks for a shard's shape (a, d, g, l).", 1,
                like=lambda said: [8, 12] in (said["a"], said["d"]) or said["g"] == [10, 12] or said["l"] == [4, 6, 8]),
            WrongValues(
                "base-class-named", "An IndivisibleError is a ValueError, but the question asks for its own name (b, c, "
                                    "f).", 3,
                like=lambda said: "ValueError" in [said[k] for k in "bcf"]),
            WrongValues(
                "refusal-of-another-kind", "A name that the mesh does not have, or one entry too many, has no exception of "
                "its own. It is a plain ValueError (h, i).", 3,
                like=lambda said: any(said[k] in ("DuplicateSpecError", "IndivisibleError") for k in "hi")),
            WrongValues(
                "divides-before-twice", "When JAX reads the spec, it refuses an axis that is named twice, before it looks "
                "at any size (e, "
                "k).", 3, like=lambda said: any(said[k] in ("ValueError", "IndivisibleError") for k in "ek")),
            WrongProgram("class-for-name", "Write an error's name as text, in quotes.", 3, error="type is not a number"),
        )),
    ),  # fmt: skip
    difficulty=2,
    minutes=12,
    optional=True,
    hints=(
        "Ask three things about each spec. Does the mesh have every name? Is any name used twice? Does the spec have more "
        "entries than the array has dimensions?",
        "Then count the parts into which each dimension is cut; the sizes in a tuple multiply. JAX refuses a size that is "
        "not a multiple of its number of parts, even a size of 1.",
        "A name that is used twice gives DuplicateSpecError. A size that does not divide gives IndivisibleError. "
        "Everything else that is refused gives ValueError. Five of the twelve are legal.",
    ),
    explanation="The mesh and the spec must fit each other. A name that the mesh does not have is a ValueError. A name that "
    "occurs twice, in one entry or in two, is a DuplicateSpecError. JAX finds both when it makes the NamedSharding, "
    "before there is any array.\n\nThen the spec must fit the array. It has at most as many entries as the array has "
    "dimensions (otherwise ValueError), and each dimension is a multiple of its number of parts (otherwise "
    "IndivisibleError, which is a kind of ValueError). So 10 rows can be cut over 2 devices but not over 4, and a single "
    "row cannot be cut at all. If sizes do not fit, people pad the array or shard another dimension. Both choices are "
    "yours; device_put makes neither for you.",
)  # fmt: skip
