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
    ("shapes-do-not-fit",
     r"^ValueError: (?:Incompatible shapes for broadcasting: shapes=\[([^\n]*)\]|operands could not be broadcast together "
     r"with shapes ([^\n]*))",
     r"The shapes \1\2 do not fit. Counted from the last dimension, two sizes have to be equal, or one of them 1. Inside "
     "jax.shard_map each device sees its own block, not the whole array."),
    ("letters-and-dimensions",
     r"^ValueError: Einstein sum subscript '(\w*)' does not contain the correct number of indices for operand (\d+)",
     r"In einsum, '\1' must have a letter for each dimension of operand \2 (the first is operand 0), and that operand has "
     "another number of dimensions."),
    ("no-digits",
     r"^ValueError: invalid literal for int\(\) with base 10: ''",
     "int('') raises: there are no digits here. Treat a number that is left out by itself."),
    ("axis-twice",
     r"(?<!\w)\([^()]*'(\w+)'[^()]*'\1'[^()]*\)[^`\n]* has duplicate entries for `\1`",
     r"One entry of a spec names the mesh axis '\1' twice, but an axis cuts a dimension only once. Name another axis there, "
     "or this one alone."),
    ("counted-from-the-end",
     r"'\w+\.\w+' op attribute '(\w+)' failed to satisfy constraint: [^\n]* non-negative",
     r"`\1` came out negative, but this operation counts dimensions only from 0. Write the number of the dimension from the "
     "front."),
    ("uneven-split",
     "^ValueError: array split does not result in an equal division",
     "split cuts into equal parts, and their number does not divide the dimension. Inside jax.shard_map that is the block's "
     "dimension, not the whole array's."),
    ("named-argument-missing",
     r"^TypeError: (?:\S*\.)?(\w+)\(\) missing \d+ required keyword-only arguments?: ([^\n]*)",
     r"A call of `\1` lacks \2, which must be given by name."),
    ("nothing-to-choose-from",
     r"^ValueError: (max|min)\(\) (?:arg is an empty|iterable argument is empty)",
     r"\1 got nothing to choose from: in this call, what it was given is empty. Look at where a range begins and ends, or "
     "give a default."),
    ("divided-by-zero",
     r"^ZeroDivisionError: (?:[^\n]*by zero|[^\n]*modulo|[^\n]*divmod\(\))",
     "A divisor is 0 here. Look at where its value comes from: perhaps a count begins with 0, a range is empty, or a size "
     "was rounded down."),
    ("place-of-another-shape",
     r"^ValueError: could not broadcast input array from shape (\([\d, ]*\)) into shape (\([\d, ]*\))",
     r"NumPy can't write an array of shape \1 into a place of shape \2. Print both shapes, and where the place begins and "
     "ends."),
    ("shapes-do-not-fit",
     r"cannot reshape array of (?:size (\d+)|shape [^\n]*\(size (\d+)\)) into shape (\([^)\n]*\))"
     r"(?!.*\bdevices\()",
     r"An array of \1\2 elements cannot get the shape \3: the sizes of a shape multiply to the number of elements."),
    ("dimensions-not-once-each",
     r"^TypeError: transpose permutation isn't a permutation of operand dimensions, got permutation (\([^)]*\))",
     r"\1 does not name each dimension of the array once. Count its dimensions from 0, and name every one."),
    ("negative-width",
     "^ValueError: index can't contain negative values",
     "An array is to be padded by fewer than 0 elements. Print the widths that are given to pad."),
    ("fraction-in-a-shape",
     r"^TypeError: Shapes must be [^\n]*got (\([^)\n]*\d\.\d[^)\n]*\))",
     r"The shape \1 has a number that is not an int. Where sizes are divided, // gives an int."),
    ("slice-too-large",
     r"^TypeError: (?:dynamic_)?slice slice_sizes must be less than or equal to operand shape, got slice_sizes "
     r"(\([^)\n]*\)) for operand shape (\([^)\n]*\))",
     r"A slice of \1 is cut from an array of only \2. Inside jax.shard_map that is the block, not the whole array."),
    ("update-of-another-rank",
     r"^TypeError: dynamic_update_slice update must have the same rank as operand, got update shape (\([^)\n]*\)) for "
     r"operand shape (\([^)\n]*\))",
     r"What is written has the shape \1, and the array \2: both need the same number of dimensions. Keep a dimension of "
     "size 1 where one block is written."),
    ("not-made-yet",
     r"^TypeError: (filter|map|zip|range|generator|reversed|enumerate|dict_\w+) is not a number, a string, a list",
     r"It returns a \1, which is no list yet. Give list(...) of it."),
    ("no-such-group",
     "^IndexError: no such group",
     "A match was asked for a group that its pattern does not have. Each pair of parentheses is a group, counted from 1; "
     "group 0 is the whole match."),
    ("nothing-returned",
     r"^TypeError: the function returned None\n",
     "It returns None: `return` is missing, in it or in the body that it maps, or what stands behind it is None."),
)  # fmt: skip
"""What is looked for before the lens is asked, most of it said by Shardlab where an answer is recorded: id, what is found in
the text, and the cause, with what is in the text's groups."""


def likely(text: str, line: str = "") -> Misconception | None:
    """What is known of an exception.

    Args:
        text: its type and its message, `"KeyError: 'x'"`.
        line: where it was raised, as `shardlens.exceptions` tells it.
    """
    for id, pattern, said in OWN:
        if found := re.search(pattern, f"{text}\nat {line}", re.DOTALL):
            return WrongProgram(id, found.expand(said), error=pattern)
    kind, _, said = text.partition(": ")
    known = recognise(kind.strip(), said, line)
    if not known:
        return None
    row = known[0].message
    return WrongProgram(row.name, f"{known[0].mistake} {row.cure}", error="|".join(row.words) or row.types[0])
