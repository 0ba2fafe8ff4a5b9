"""Chapter 9, exercise 9.5: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from shardlab_judge.cases import Case, Input, Observed
from shardlab_judge.items.program import ProgramItem, unequal
from shardlab_judge.verdict import Finding
from shardlens import Axes, Spec

KEEP = 0.75
BLOCK = (16, 32)
MASK = 0.1
"""How far a mask's share of kept elements may lie from `KEEP`; a block has 512 elements, so that is five deviations."""
POOLED, RATE = 32768, 0.0125
"""So many elements, of all slices and of several seeds, keep a share that lies so near to `KEEP`: 5.2 deviations.
The nearest wrong program seen keeps normal numbers below 0.75, a share of 0.773, and lies 4.7 of its deviations outside."""
STEPS = (1, 2, 10, 100, 1000)
"""By so much larger are other seeds with which a program runs again: where a device adds its place to the seed, or a round
number times its place, one seed's mask is another device's with another seed."""
ALIKE = 0.135
"""Masks that agree on so many more elements than independent ones have elements in common. Independent ones agree on 0.625
where 0.75 is kept, give or take 0.02, the nearest of some 20,000 pairs of moved masks on about 0.72. Where two neighbours
have one number, a mask and itself moved on by one agree on 0.81."""


def dropout_case(mesh: Axes, spec: Spec) -> Case:
    """A seed, and an array with blocks of 16 x 32 under this spec."""
    sizes, entries = dict(mesh), [*spec, None, None][:2]
    t, f = (n * sizes.get(str(entry), 1) for n, entry in zip(BLOCK, entries))
    return Case(mesh, (Input((), (), "int32"), Input((t, f), spec)), (spec,))


def assembled(o: Observed) -> np.ndarray:
    """The output, each slice as the first of its holders has it."""
    whole = np.full(o.inputs[1].shape, np.nan)
    for _, index, part in reversed(o.shards[0]):
        whole[index] = part
    return whole


def masks(o: Observed) -> list[np.ndarray]:
    """Which elements are kept, for each distinct slice of the output."""
    whole = assembled(o)
    kept = {str(index): whole[index] != 0 for _, index, _ in o.shards[0]}
    return list(kept.values())


def dropped(o: Observed) -> np.ndarray:
    """The right output nearest to the observed one: its own mask, if every slice has one of its own, of the right share.

    And if no part of it is another part, moved on, nor any part for another seed. Else a mask that no program has.
    """
    array = o.inputs[1].astype(np.float64) / KEEP
    if len(o.shards) != 1 or o.placements[0].shape != array.shape:
        return array
    found = masks(o)
    fair = all(abs(mask.mean() - KEEP) < MASK for mask in found)
    if fair and not patterned(o) and not seed_ignored(o) and not seeds_alike(o).any() and not other_share(o):
        return np.where(assembled(o) != 0, array, 0)
    return np.where(np.random.default_rng(9).random(array.shape) < KEEP, array, 0)


def not_dropped(item: ProgramItem, o: Observed) -> Iterator[Finding]:
    """Where the output is none that is right."""
    yield from unequal(item, o, dropped(o))


def distinct(o: Observed) -> int:
    """How many different masks there are."""
    return len({mask.tobytes() for mask in masks(o)})


def agreement(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The share of elements on which a mask agrees with another one, for each way of rolling that one round."""
    signs = [np.fft.rfft2(np.where(mask, 1.0, -1.0)) for mask in (a, b)]
    together: np.ndarray = np.fft.irfft2(signs[0] * signs[1].conj(), a.shape) / a.size
    return (1 + together) / 2


def alike(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """For each way of rolling a mask, whether it agrees with another one on more than independent masks do."""
    p, q = a.mean(), b.mean()
    return np.asarray(agreement(a, b) - (p * q + (1 - p) * (1 - q)) > ALIKE)


def patterned(o: Observed) -> bool:
    """Whether half of some slice's mask is another one's, or its own, rolled round: not every element has its own number."""
    return periodic(o) or any(alike(a, b).any() for a, b in itertools.combinations(masks(o), 2))


def periodic(o: Observed) -> bool:
    """Whether half of some slice's mask is its own, rolled round."""
    return any(alike(mask, mask).ravel()[1:].any() for mask in masks(o))


def counted(o: Observed) -> bool:
    """Whether masks are one another's or another seed's only when rolled round, or their own."""
    moved = (not repeats(o) and patterned(o)) or (not same_for_another_seed(o) and seed_ignored(o))
    return is_mask(o) and (periodic(o) or moved)


def runs(o: Observed) -> dict[int, Observed]:
    """By the seed the same program with this one and others, so many that all slices have at least `POOLED` elements."""
    seed, *others = o.inputs
    found = {int(seed): o}
    if o.on is not None:
        found |= {int(seed) + step: o.on((np.asarray(seed + step, seed.dtype), *others)) for step in STEPS}
    run = o
    while 0 < len(found) * others[0].size < POOLED and run.again is not None:
        run = run.again
        found.setdefault(int(run.inputs[0]), run)
    return found


def seeds_alike(o: Observed) -> np.ndarray:
    """For each pair of slices whether their masks are alike for some two seeds."""
    found = np.array([masks(run) for run in runs(o).values()])
    seeds, slices = found.shape[:2]
    signs = np.where(found, 1.0, -1.0).reshape(seeds * slices, -1)
    together, mean = signs @ signs.T / signs.shape[1], signs.mean(1)
    # Of numbers 1 and -1: half of it is by how much more masks agree than independent ones do.
    pairs = ((together - np.outer(mean, mean)) / 2 > ALIKE).reshape(seeds, slices, seeds, slices)
    pairs[np.arange(seeds), :, np.arange(seeds)] = False
    return np.asarray(pairs.any(axis=(0, 2)))


def same_for_another_seed(o: Observed) -> bool:
    """Whether a slice has the same mask for another seed."""
    return is_mask(o) and bool(seeds_alike(o).diagonal().any())


def elsewhere_for_another_seed(o: Observed) -> bool:
    """Whether a slice has a mask that another slice has for another seed."""
    found = seeds_alike(o)
    return is_mask(o) and bool(found.any() and not found.diagonal().any())


def seed_ignored(o: Observed) -> bool:
    """Whether a slice has the same mask for another seed, if need be rolled round."""
    if o.again is None:
        return False
    return any(alike(a, b).any() for a, b in zip(masks(o), masks(o.again), strict=True))


def undrawn(o: Observed) -> bool:
    """Whether some slice keeps all its elements, or none."""
    return is_mask(o) and any(mask.all() or not mask.any() for mask in masks(o))


def lines_alike(o: Observed) -> bool:
    """Whether in each slice all rows are dropped alike, or all columns."""
    found = masks(o)
    return is_mask(o) and any(
        all(np.array_equal(m, np.broadcast_to(m.take([0], axis), m.shape)) for m in found) for axis in (0, 1)
    )


def repeats(o: Observed) -> bool:
    """Whether slices share a mask."""
    return is_mask(o) and distinct(o) < len(masks(o))


def is_mask(o: Observed) -> bool:
    """Whether every element is dropped, or some number times what it was, the same for all: else zeros tell of no mask."""
    ratios = (assembled(o) / o.inputs[1])[assembled(o) != 0]
    return not ratios.size or bool(np.allclose(ratios, ratios[0], rtol=1e-4))


def copies_differ(o: Observed) -> bool:
    """Whether two holders of the same slice hold different values."""
    whole = assembled(o)
    return any(not np.array_equal(part, whole[index]) for _, index, part in o.shards[0])


def kept_share(o: Observed, share: float) -> bool:
    """Whether about this share of all elements is kept."""
    return is_mask(o) and abs(float(np.mean(assembled(o) != 0)) - share) < MASK / 2


def pooled(o: Observed) -> np.ndarray:
    """Which elements are kept, of all slices, and of as many further seeds as make `POOLED` elements."""
    return np.concatenate([mask.ravel() for run in runs(o).values() for mask in masks(run)])


def other_share(o: Observed) -> bool:
    """Whether the share that is kept of the elements of many masks is not `KEEP`."""
    kept = pooled(o)
    return is_mask(o) and kept.size >= POOLED and abs(float(kept.mean()) - KEEP) >= RATE


def scaled_otherwise(o: Observed) -> bool:
    """Whether all kept elements are the old values times some number, and another one than 1 / KEEP."""
    whole = assembled(o)
    ratios = (whole / o.inputs[1])[whole != 0]
    return bool(np.allclose(ratios, ratios[0], rtol=1e-4) and not np.isclose(ratios[0], 1 / KEEP, rtol=1e-4))


TOKENS: Spec = ("data", None)
