"""Causes of the exceptions that any question may meet: the lens's table of messages, and what the recording says."""

from __future__ import annotations

import re

from shardlab_judge.question import Misconception, WrongProgram
from shardlens import recognise

OWN = (
    ("host-callback",
     "host_callback",
     "It calls back into Python; a graded program must be JAX all the way. Remove the callback."),
    ("laboratory-called",
     "^LaboratoryCalled",
     "Shardlab already has this function; the exercise is to write it yourself with Python, NumPy and JAX."),
    ("a-call-for-a-function",
     r"^TypeError: .* is an? (\w+); it should be a function",
     "What was given is not a function. Give the function's name alone: a name with parentheses and arguments is a call, "
     "and gives the call's result."),
    ("other-entries",
     "^LookupError: no such entry in",
     "A key is not spelt as in the exercise."),
    ("spec-alone",
     r"^LensError: \[no-sharding\] (?:P|PartitionSpec) has no sharding\.",
     "A spec alone names no devices: jax.NamedSharding(mesh, spec) does."),
    ("no-sharding",
     r"^LensError: \[no-sharding\] (?!P |PartitionSpec )(\w+) has no sharding\.",
     r"A \1 has no place on any device. Give a jax.NamedSharding(mesh, jax.P(...)), or an array that jax.device_put "
     "placed with one."),
    ("nothing-returned",
     r"^TypeError: the function returned None\n",
     "It returns None: `return` is missing, in it or in the body that it maps."),
)  # fmt: skip
"""What Shardlab says itself where an answer is recorded: id, what is found in the text, and the cause, with what is in the
text's groups."""


def likely(text: str, line: str = "") -> Misconception | None:
    """What is known of an exception.

    Args:
        text: its type and its message, `"KeyError: 'x'"`.
        line: where it was raised, as `shardlens.exceptions` tells it.
    """
    for id, pattern, said in OWN:
        if found := re.search(pattern, text + "\n", re.DOTALL):
            return WrongProgram(id, found.expand(said), error=pattern)
    kind, _, said = text.partition(": ")
    known = recognise(kind.strip(), said, line)
    if not known:
        return None
    row = known[0].message
    return WrongProgram(row.name, f"{known[0].mistake} {row.cure}", error="|".join(row.words) or row.types[0])
