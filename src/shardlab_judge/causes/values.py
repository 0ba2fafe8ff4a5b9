"""Causes that any program may have: how its wrong values relate to the right ones, where that is plain on every device.

What is said is what was seen: each relation is computed from all blocks, and none of its sentences goes beyond it.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from shardlab_judge.cases import Observed
from shardlab_judge.causes import parts, sums
from shardlab_judge.causes.blocks import Blocks, assembled, but, close, fits, held
from shardlab_judge.question import Misconception

Relation = Callable[[Observed, Blocks, np.ndarray], Misconception | None]


def likely(observed: Observed, rights: tuple[np.ndarray, ...]) -> Misconception | None:
    """What explains every wrong output; nothing if there is none, or if each needs another explanation."""
    outputs = [(list(shards), right) for shards, right in zip(observed.values, rights)]
    wrong = [(shards, right) for shards, right in outputs if not held(shards, right)]
    if len(observed.shards) != len(rights) or not wrong:
        return None
    for relation in RELATIONS:
        found = [_related(relation, observed, blocks, right) for blocks, right in wrong]
        if found[0] is not None and all(one == found[0] for one in found):
            return found[0]
    return _each_by_itself(observed, outputs) if len(wrong) > 1 else None


def _each_by_itself(observed: Observed, outputs: list[tuple[Blocks, np.ndarray]]) -> Misconception | None:
    """What explains the first wrong output, where something explains each."""
    told = []
    for number, (blocks, right) in enumerate(outputs, 1):
        if not held(blocks, right):
            each = (_related(relation, observed, blocks, right) for relation in RELATIONS)
            told.append((number, next(filter(None, each), None)))
    number, first = told[0]
    if first is None or any(found is None for _, found in told):
        return None
    return Misconception(first.id, f"Output number {number} of {len(outputs)}: {first.cause}")


def _related(relation: Relation, observed: Observed, blocks: Blocks, right: np.ndarray) -> Misconception | None:
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            return relation(observed, blocks, right)
    except (TypeError, ValueError, ArithmeticError):  # truth values have no difference, and complex ones no order
        return None


def _transposed(observed: Observed, blocks: Blocks, right: np.ndarray) -> Misconception | None:
    if right.ndim != 2 or not held(blocks, right.T):
        return None
    return Misconception("output-transposed", "The output is transposed: rows are where columns should be.")


def _side_by_side(observed: Observed, blocks: Blocks, right: np.ndarray) -> Misconception | None:
    """Copies of the right output or of each of its blocks, or terms of them, one after another along a dimension."""
    whole = assembled(blocks)
    for dimension, (long, short) in enumerate(zip(whole.shape, right.shape) if whole.ndim == right.ndim else ()):
        over = _axes_of(observed, long / short) if short and long > short else ""
        if not over or but(whole.shape, dimension) != but(right.shape, dimension):
            continue
        many = long // short
        for of_what, pieces in _pieces(whole, blocks, dimension, many):
            if all(close(piece, right) for piece in pieces):
                whole_there = all(block.shape[dimension] == long for _, _, block in blocks)
                how = "what is whole already is gathered" if whole_there else "out_specs names an axis"
                how += f" over {over} again" if whole_there else f" along which all devices hold the same block ({over})"
                told = f"The output is {many} copies of {of_what}, side by side along dimension {dimension}"
                return Misconception("copies-side-by-side", f"{told}. This happens when {how}.")
            if close(np.sum(pieces, axis=0), right) and not all(close(piece, pieces[0]) for piece in pieces):
                told = f"{many} terms lie side by side along dimension {dimension}, but nobody added them up ({over})."
                return Misconception("terms-side-by-side", told)
    return None


def _pieces(whole: np.ndarray, blocks: Blocks, dimension: int, many: int) -> Iterator[tuple[str, list[np.ndarray]]]:
    """What stands side by side, and in words what each may be a copy of."""
    yield "the right one", np.split(whole, many, dimension)
    count = whole.shape[dimension] // blocks[0][2].shape[dimension]
    if count > many and count % many == 0:
        parts = np.split(whole, count, dimension)
        yield "each right block", [np.concatenate(parts[n::many], dimension) for n in range(many)]


def _in_proportion(observed: Observed, blocks: Blocks, right: np.ndarray) -> Misconception | None:
    """Every value as many times too large, or too small, as there are devices along an axis."""
    mine, wanted = _at_largest(blocks, right)
    ratio = float(np.real(mine / wanted)) if wanted else 0.0
    for factor, words in (
        (ratio, ("large", "added up over them once too often, or multiplied")),
        (1 / ratio if ratio else 0.0, ("small", "averaged over them once too often, or divided")),
    ):
        if (over := _axes_of(observed, factor)) and _times(blocks, ratio, right):
            return Misconception(
                f"times-too-{words[0]}",
                f"Every value is {factor:.3g} times too {words[0]}, and that factor is the number of devices along "
                f"{over}. This happens when something is {words[1]} by their number.",
            )
    return None


def _at_largest(blocks: Blocks, right: np.ndarray) -> tuple[Any, Any]:
    """What the first device has where its right value is largest, and this; 0 where none of them is more than rounding."""
    if not fits(blocks, right) or not np.abs(right).max(initial=0) > 1e-3:
        return 0, 0
    block, wanted = blocks[0][2], right[blocks[0][1]]
    at = np.unravel_index(np.argmax(np.abs(wanted)), wanted.shape) if wanted.size else None
    return (0, 0) if at is None else (block[at], wanted[at])


def _times(blocks: Blocks, factor: complex, right: np.ndarray) -> bool:
    """Whether every device has this factor times its part; compared after a division, for rounding grows with the factor."""
    return held([(device, index, block / factor) for device, index, block in blocks], right)


def _elsewhere(observed: Observed, blocks: Blocks, right: np.ndarray) -> Misconception | None:
    """Each device has what another one should have."""
    if not fits(blocks, right) or len({str(index) for _, index, _ in blocks}) < 2:
        return None
    owners = [[other for other, index, _ in blocks if close(block, right[index])] for _, _, block in blocks]
    if not all(owners):
        return None
    device, (owner, *_) = next((d, o) for (d, _, _), o in zip(blocks, owners) if d not in o)
    return Misconception(
        "blocks-on-other-devices",
        f"Every block is right, but some are on the wrong devices: device {device} has what device {owner} "
        "should have. Look at how the devices are counted: axis_index, the direction of a permutation, the order of axes.",
    )


def _unadded(observed: Observed, blocks: Blocks, right: np.ndarray) -> Misconception | None:
    """Each device has a term, and along some axes they add up to what each should have."""
    if not fits(blocks, right):
        return None
    names, sizes = zip(*observed.case.axes)
    for some in _runs([axis for axis in observed.case.axes if axis[1] > 1]):
        over = {name for name, _ in some}
        sums: dict[tuple[Any, ...], Any] = {}
        for device, index, block in blocks:
            at = tuple(c for name, c in zip(names, np.unravel_index(device, sizes)) if name not in over)
            sums[(at, str(index))] = (index, sums.get((at, str(index)), (index, 0))[1] + block)
        whole = len(blocks) == len(sums) * math.prod(size for _, size in some)
        if whole and all(close(total, right[index]) for index, total in sums.values()):
            words = " and ".join(over)
            return Misconception(
                "terms-not-added",
                f"Every device has a term of its own. Their sum over {words} would be right, but nobody added them up.",
            )
    return None


def _other_order(observed: Observed, blocks: Blocks, right: np.ndarray) -> Misconception | None:
    """The right slices along a dimension, each once, at other places."""
    whole = assembled(blocks)
    if not held(blocks, whole) or whole.shape != right.shape:
        return None
    for dimension, length in enumerate(right.shape):
        mine, wanted = (np.moveaxis(a, dimension, 0).reshape(length, -1) for a in (whole, right))
        if length < 2 or not np.isfinite(mine).all() or not mine.size:
            continue
        by, to = (np.lexsort(np.round(a, 3).T[::-1]) for a in (mine, wanted))
        if close(mine[by], wanted[to]):
            place = int(np.argmax(by[np.argsort(to)] != np.arange(length)))
            return Misconception(
                "other-order",
                f"Everything is there, but in another order along dimension {dimension}: what belongs at {place} "
                f"is at {int(by[np.argsort(to)][place])}.",
            )
    return None


def _shifted(observed: Observed, blocks: Blocks, right: np.ndarray) -> Misconception | None:
    """The right slices along a dimension, each one place too early or too late; what is at the end does not count."""
    whole = assembled(blocks)
    if not held(blocks, whole) or whole.shape != right.shape:
        return None
    for dimension, length in enumerate(right.shape):
        mine, wanted = (np.moveaxis(a, dimension, 0) for a in (whole, right))
        if length < 4 or close(wanted[1:], wanted[:-1]):
            continue
        for late, same in ((True, close(mine[1:], wanted[:-1])), (False, close(mine[:-1], wanted[1:]))):
            if same:
                told = f"Along dimension {dimension} everything is one place too {'late' if late else 'early'}."
                return Misconception("one-place-off", told)
    return None


def _rounded_down(observed: Observed, blocks: Blocks, right: np.ndarray) -> Misconception | None:
    """Every value without its fraction."""
    if right.dtype.kind != "f" or right.size < 2 or not held(blocks, np.floor(right)):
        return None
    return Misconception("rounded-down", "Every value is the right one rounded down to a whole number, as `//` does.")


def _by_a_constant(observed: Observed, blocks: Blocks, right: np.ndarray) -> Misconception | None:
    """Every value by one factor, or by one difference, from the right one."""
    mine, wanted = _at_largest(blocks, right)
    if right.size < 2 or wanted == 0 or not np.isfinite(blocks[0][2]).all():
        return None
    quotient, apart = complex(mine / wanted), mine - wanted
    ratio = quotient.real
    if ratio and abs(quotient.imag) < 1e-4 * abs(ratio) and _times(blocks, ratio, right):
        words = "has the opposite sign" if abs(ratio + 1) < 1e-3 else f"is {ratio:.4g} times the right one"
        return Misconception("constant-factor", f"Every value {words}: a factor is wrong or missing, or one too many.")
    if np.iscomplexobj(mine) and quotient and _times(blocks, quotient, right):
        told = f"Every value is {quotient:.3g} times the right one: a complex factor is wrong or missing, or one too many."
        return Misconception("constant-factor", told)
    if not np.iscomplexobj(mine) and held(blocks, right + apart):
        return Misconception(
            "constant-added",
            f"Every value is the right one plus {apart:.4g}: a constant is wrong or missing, or one too many.",
        )
    return None


def _rounded(observed: Observed, blocks: Blocks, right: np.ndarray) -> Misconception | None:
    """Right to the digits of a half-precision type that the program uses, and that no input has."""
    narrow = next((name for name in ("bf16", "f16") if f" {name}[" in observed.hlo or f"({name}[" in observed.hlo), "")
    given = any(x.dtype.itemsize < 4 and x.dtype.kind not in "iub" for x in observed.inputs)
    if not narrow or given or not fits(blocks, right):
        return None
    near = all(np.allclose(block, right[index], rtol=0.03, atol=0.03 * np.abs(right).max()) for _, index, block in blocks)
    what = f"Values are right to two or three digits: the program computes in {narrow}, but its arguments are wider."
    return Misconception("too-few-digits", what) if near else None


def _by_slice(observed: Observed, blocks: Blocks, right: np.ndarray) -> Misconception | None:
    """One factor, or one difference, for all values along a dimension, and another for each such line of values."""
    whole = assembled(blocks)
    if not held(blocks, whole) or whole.shape != right.shape or right.ndim < 2 or not np.isfinite(whole).all():
        return None
    for dimension, length in enumerate(right.shape):
        if length < 3 or not whole.any() or np.allclose(whole, whole.take([0], dimension)):
            continue
        largest = np.expand_dims(np.argmax(np.abs(right), dimension), dimension)
        mine, wanted = (np.take_along_axis(a, largest, dimension) for a in (whole, right))
        for what, by in (("factor", mine / wanted), ("difference", mine - wanted)):
            fitted = right * by if what == "factor" else right + by
            lines = np.abs(mine - wanted) > 1e-3 * np.abs(wanted)
            varied = not np.allclose(by, by.flat[0], rtol=1e-3)
            if (
                varied
                and 2 * lines.sum() > lines.size
                and np.allclose(whole, fitted, rtol=1e-3, atol=1e-5 * min(1, np.abs(whole).max()))
            ):
                return Misconception(
                    f"{what}-by-line",
                    f"Along dimension {dimension} all values are wrong by the same {what}, but each line of values "
                    f"has its own: something that belongs to a whole line, such as a bias, a sum, a mean or a maximum, is "
                    f"wrong or missing.",
                )
    return None


def _an_argument(observed: Observed, blocks: Blocks, right: np.ndarray) -> Misconception | None:
    """What it was given, unchanged."""
    whole = assembled(blocks)
    given = (n for n, x in enumerate(observed.inputs) if x.shape == whole.shape and close(whole, np.asarray(x)))
    number = next(given, None) if whole.size > 1 and held(blocks, whole) else None
    if number is None:
        return None
    return Misconception("argument-returned", f"The output is argument number {number + 1} after the mesh, unchanged.")


def _of_one_kind(observed: Observed, blocks: Blocks, right: np.ndarray) -> Misconception | None:
    """All wrong values are not finite, or all are 0."""
    if not fits(blocks, right):
        return None
    wrong = np.concatenate([block[~np.isclose(block, right[index], 1e-4, 1e-5)] for _, index, block in blocks])
    if wrong.size and not np.isfinite(wrong).any():
        return Misconception(
            "not-finite",
            "No wrong value is finite. Examples are 0 / 0 on a device that has nothing to add up, an exponential that is "
            "too large, a difference of infinities, and a root or logarithm of a negative number.",
        )
    if wrong.size and not wrong.any():
        return Misconception(
            "left-at-zero",
            "All wrong values are 0, as happens where nothing is written, everything is masked, or a relu sets values to 0.",
        )
    return None


def _at_edges(observed: Observed, blocks: Blocks, right: np.ndarray) -> Misconception | None:
    """Wrong at the first or the last position of every device's block alone."""
    if not fits(blocks, right):
        return None
    wrong = [~np.isclose(block, right[index], 1e-4, 1e-5) for _, index, block in blocks]
    for dimension, length in enumerate(blocks[0][2].shape):
        at = {int(n) for mask in wrong for n in np.nonzero(mask)[dimension]}
        if length > 2 and len({str(index[dimension]) for _, index, _ in blocks}) > 1 and at and at <= {0, length - 1}:
            ends = " and ".join({0: "first", length - 1: "last"}[n] for n in sorted(at))
            return Misconception(
                "wrong-at-block-edges",
                f"Values are wrong only at the {ends} position of a device's block along dimension {dimension}. Perhaps "
                f"what comes from a neighbour is wrong, or what is taken where there is none.",
            )
    return None


def _knows_its_place(observed: Observed) -> bool:
    """Whether there is an `axis_index`, which asks for the device's number."""
    return observed.written is None or "stablehlo.partition_id" in dict(observed.operations)


def _first_only(observed: Observed, blocks: Blocks, right: np.ndarray) -> Misconception | None:
    """Right on the devices with coordinate 0 along an axis, and there alone."""
    return _some_devices(observed, blocks, right, only=[0])


def _some_devices(
    observed: Observed, blocks: Blocks, right: np.ndarray, only: list[int] | None = None
) -> Misconception | None:
    """Which devices are right depends on one coordinate alone."""
    if not fits(blocks, right):
        return None
    sizes = [size for _, size in observed.case.axes]
    good = {device for device, index, block in blocks if close(block, right[index])}
    bad = [(index, block) for device, index, block in blocks if device not in good]
    masks = [~np.isclose(block, right[index], 1e-4, 1e-5) for index, block in bad]
    if only is None and any(mask.mean() <= 0.5 for mask in masks) and any((mask != masks[0]).any() for mask in masks):
        return None  # some values here and others there: it is these that matter, and not the devices
    far = max((float(np.abs(block - right[index]).max(initial=0)) for index, block in bad), default=0.0)
    if far < 100 * (1e-5 + 1e-4 * float(np.abs(right).max(initial=0))):
        return None  # by how much rounding goes wrong somewhere is an accident
    for place, (name, size) in enumerate(observed.case.axes):
        lines = sorted({int(np.unravel_index(d, sizes)[place]) for d in good})
        whole = len(good) == len(lines) * math.prod(sizes) // size
        if whole and 0 < len(lines) < size and only in (None, lines):
            others = [line for line in range(size) if line not in lines]
            few, are = (lines, "right") if len(lines) <= len(others) else (others, "wrong")
            told = f"Only the devices with coordinate {', '.join(map(str, few))} along {name} are {are}: look at "
            look = f"what axis_index('{name}') is there, at " * _knows_its_place(observed)
            return Misconception("right-on-some", f"{told}{look}what they hold, or at what they are sent.")
    return None


RELATIONS: tuple[Relation, ...] = (
    _side_by_side, _an_argument, parts.stacked, parts.another_shape, parts.too_short, _transposed, _elsewhere, _rounded,
    _first_only, _in_proportion, _unadded, _other_order, _shifted, parts.conjugated, _rounded_down, _by_a_constant,
    _of_one_kind, parts.parts_in_other_places, sums.change_of_an_argument, sums.other_weights, sums.neighbours,
    sums.other_terms, _by_slice, _at_edges, _some_devices,
)  # fmt: skip
"""Tried in this order: what says most of the program comes first."""


def _axes_of(observed: Observed, factor: float) -> str:
    """The mesh axes, in words, with so many devices along them together; empty if there are none."""
    axes = [axis for axis in observed.case.axes if axis[1] > 1]
    for some in _runs(axes):
        if abs(math.prod(size for _, size in some) - factor) < 1e-3 * factor:
            return " and ".join(name for name, _ in some)
    return ""


def _runs(axes: list[tuple[str, int]]) -> Iterator[list[tuple[str, int]]]:
    """One axis, then several."""
    yield from ([axis] for axis in axes)
    yield from (axes[i:j] for i in range(len(axes)) for j in range(i + 2, len(axes) + 1))
