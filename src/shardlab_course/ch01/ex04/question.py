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
        ValueItem("outcome", {"P": 3}, key=LEGAL, predicted=True, words=REFUSALS, misconceptions=(
            WrongValues(
                "axis-used-twice", "A mesh axis cuts at most one dimension, and once: after that it is spent (e and k).", 2,
                like=lambda said: isinstance(said["e"], list) or isinstance(said["k"], list)),
            WrongValues(
                "ragged-shards", "A placed array has equal shards; sizes that do not divide are refused (b, c, f).", 2,
                like=lambda said: any(isinstance(said[k], list) for k in "bcf")),
            WrongValues(
                "spec-too-long", "A spec may have fewer entries than the array has dimensions, never more (h).", 1,
                like=lambda said: isinstance(said["h"], list)),
            WrongValues(
                "unknown-axis-ignored", "A name that the mesh does not have is refused, not ignored (i).", 1,
                like=lambda said: isinstance(said["i"], list)),
            WrongValues(
                "empty-spec-refused", "P() is legal: it cuts nothing, and every device holds the whole array (j).", 1,
                like=lambda said: isinstance(said["j"], str)),
            WrongValues(
                "global-for-local", "That is the global shape; asked is the shape of one shard (a, d, g, l).", 1,
                like=lambda said: [8, 12] in (said["a"], said["d"]) or said["g"] == [10, 12] or said["l"] == [4, 6, 8]),
            WrongValues(
                "base-class-named", "An IndivisibleError is a ValueError; asked is its own name (b, c, f).", 3,
                like=lambda said: "ValueError" in [said[k] for k in "bcf"]),
            WrongValues(
                "refusal-of-another-kind", "A name that the mesh does not have, or an entry too many, is nothing of its "
                "own: a plain ValueError (h, i).", 3,
                like=lambda said: any(said[k] in ("DuplicateSpecError", "IndivisibleError") for k in "hi")),
            WrongValues(
                "divides-before-twice", "That an axis is named twice is found in the spec, before any size is looked at (e, "
                "k).", 3, like=lambda said: any(said[k] in ("ValueError", "IndivisibleError") for k in "ek")),
            WrongProgram("class-for-name", "Write an error's name as a text, in quotes.", 3, error="type is not a number"),
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
