"""Where a program's wrong values are, or how near: what is said of them where no relation to the right ones is known."""

from __future__ import annotations

from typing import Any

import numpy as np

from shardlab_judge.cases import Observed
from shardlab_judge.causes.blocks import Blocks, assembled, fits
from shardlab_judge.inputs import wide
from shardlab_judge.question import Misconception
from shardlab_judge.rights import bound, near

IDS = frozenset(
    {
        "another-length", "argument-unchanged", "floats-for-whole-numbers", "floats-for-complex-numbers", "nearly-right",
        "right-up-to", "some-lines-wrong", "chosen-from-an-argument", "some-outputs-wrong", "nothing-moves",
    }
)  # fmt: skip
"""What it names."""
MOST = 4
"""Lines that are named."""


def likely(item: Any, observed: Observed, rights: tuple[np.ndarray, ...], due: int = 0) -> Misconception | None:
    """What is known of the first wrong output, or which of several are wrong, or that nothing moves.

    Args:
        item: whose tolerances say what is wrong.
        due: bytes that a right program has to move.
    """
    found = _of_outputs(item, observed, rights)
    if found or observed.collectives or not due:
        return found
    told = "Nothing moves between devices, but the right values need data of other devices."
    return Misconception("nothing-moves", told)


def _of_outputs(item: Any, observed: Observed, rights: tuple[np.ndarray, ...]) -> Misconception | None:
    if len(rights) != len(observed.shards):
        return None
    masks = [_wrong(item, observed, list(shards), right) for shards, right in zip(observed.values, rights)]
    wrong = [n for n, mask in enumerate(masks) if mask.any()]
    if not wrong:
        return None
    blocks, right, mask = list(observed.values[wrong[0]]), rights[wrong[0]], masks[wrong[0]]
    if found := _of_another_kind(blocks, right) or _within(observed, blocks, right, mask):
        output = f"Output number {wrong[0] + 1} of {len(rights)}: " * (len(rights) > 1)
        return Misconception(found.id, output + found.cause)
    if len(wrong) == len(rights):
        return None
    numbers = f"number{'s' * (len(wrong) > 1)} {' and '.join(str(n + 1) for n in wrong)}"
    told = f"Of {len(rights)} outputs, only {numbers} {'have' if len(wrong) > 1 else 'has'} wrong values."
    return Misconception("some-outputs-wrong", told)


def _wrong(item: Any, observed: Observed, blocks: Blocks, right: np.ndarray) -> np.ndarray:
    """Where some device has another value; everywhere if the shape is another one."""
    wrong = np.full(right.shape, not fits(blocks, right))
    for _, index, block in blocks if not wrong.any() else ():
        wrong[index] |= ~near(block, right[index], item.rtol, bound(right, item.near(observed)))
    return wrong


def _of_another_kind(blocks: Blocks, right: np.ndarray) -> Misconception | None:
    """An output with floats for whole or for complex numbers, or with dimensions of another length."""
    whole = assembled(blocks)
    if whole.dtype.kind == "f" and right.dtype.kind == "c":
        told = "The output has no imaginary part: .real, abs, or a cast to a type that is not complex drops it."
        return Misconception("floats-for-complex-numbers", told)
    if whole.dtype.kind == "f" and right.dtype.kind in "iu":
        return Misconception(
            "floats-for-whole-numbers", "Whole numbers became floats: `/`, a mean or a root does that. `//` does not."
        )
    pairs = list(zip(whole.shape, right.shape)) if whole.ndim == right.ndim else []
    other = [(d, mine, due) for d, (mine, due) in enumerate(pairs) if mine != due]
    if not other:
        return None
    told = " and ".join(f"{mine} instead of {due} along dimension {d}" for d, mine, due in other)
    return Misconception("another-length", f"The length of the output is {told}.")


def _within(observed: Observed, blocks: Blocks, right: np.ndarray, wrong: np.ndarray) -> Misconception | None:
    if not fits(blocks, right) or right.dtype.kind not in "iuf":
        return None
    return _nearly(observed, blocks, right) or _along_a_dimension(wrong) or _chosen(observed, blocks)


def _nearly(observed: Observed, blocks: Blocks, right: np.ndarray) -> Misconception | None:
    """Floats whose errors are small beside the largest value, and beside the distance from any argument."""
    largest = np.abs(right).max()
    apart = max(np.abs(block - right[index]).max(initial=0) for _, index, block in blocks)
    given = min((np.abs(wide(x) - right).max() for x in observed.inputs if x.shape == right.shape), default=largest)
    if right.dtype.kind != "f" or not apart < 0.05 * min(largest, given):
        return None
    told = f"No value is wrong by more than {100 * apart / largest:.2g} % of the largest one"
    why = "Perhaps rounding is too coarse, a bound is slightly off, or what is wrong has little effect."
    return Misconception("nearly-right", f"{told}. {why}")


def _along_a_dimension(wrong: np.ndarray) -> Misconception | None:
    """The lines across a dimension that have wrong values: all from one on, or a few."""
    for dimension, length in enumerate(wrong.shape):
        at = [int(n) for n in np.nonzero(wrong.any(tuple(d for d in range(wrong.ndim) if d != dimension)))[0]]
        if 0 < at[0] < length - 1 and at == [*range(at[0], length)]:
            told = f"Along dimension {dimension} all is right before position {at[0]}. From there on every position has"
            look = "Perhaps something begins or changes there, or the mistake has no effect before it."
            return Misconception("right-up-to", f"{told} wrong values. {look}")
        if len(at) <= min(MOST, length // 2):
            named = ", ".join(map(str, at))
            told = f"Only position{'s' * (len(at) > 1)} {named} of {length} along dimension {dimension}"
            return Misconception("some-lines-wrong", f"{told} {'have' if len(at) > 1 else 'has'} wrong values.")
    return None


def _chosen(observed: Observed, blocks: Blocks) -> Misconception | None:
    """Values that an argument has, all of them, but others than were to be chosen."""
    whole = assembled(blocks)
    for number, x in enumerate(observed.inputs, 1):
        if x.dtype.kind == whole.dtype.kind == "f" and len(np.unique(whole)) > 2 and np.isin(whole, x).all():
            if np.array_equal(whole, x):
                return Misconception("argument-unchanged", f"It is argument number {number} after the mesh, unchanged.")
            told = f"Every value is one of argument number {number} after the mesh, but some are not the right ones"
            return Misconception(
                "chosen-from-an-argument", f"{told}: look at which are chosen, and in what order they stand."
            )
    return None
