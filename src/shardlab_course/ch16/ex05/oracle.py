"""Chapter 16, exercise 16.5: its oracle, its cases, and recognisers of wrong answers."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from shardlab_course.ch16.shared import carries, devices, drawn_mesh, same
from shardlab_judge.cases import Case, Input, Observed
from shardlens import Axes


def top_four(logits: np.ndarray, sign: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """The largest four of each row and their numbers, after a full sort; with `sign` -1, the smallest."""
    ids = np.argsort(-sign * logits, axis=1, kind="stable")[:, :4].astype(np.int32)
    return np.take_along_axis(logits, ids, axis=1), ids


def with_ids(wrong: Callable[[np.ndarray, int], np.ndarray]) -> Callable[[Observed], bool]:
    """A recogniser: whether the logits are right and the numbers wrong in this way."""

    def recognises(o: Observed) -> bool:
        return same(o, [top_four(o.inputs[0])[0], wrong(o.inputs[0], devices(o))])

    return recognises


def in_part(logits: np.ndarray, n: int) -> np.ndarray:
    """Numbers that begin again in each part."""
    return np.asarray(top_four(logits)[1] % (logits.shape[1] // n))


def other_part_size(o: Observed) -> bool:
    """Whether each part's numbers begin at a multiple of something else than the size of a part."""
    values, ids = top_four(o.inputs[0])
    m = o.inputs[0].shape[1] // devices(o)
    return any(same(o, [values, ids % m + ids // m * size]) for size in range(1, 2 * m) if size != m)


def among_candidates(logits: np.ndarray, n: int) -> np.ndarray:
    """Places among the candidates of all parts, one part after the other."""
    return top_four(candidates(logits, n, 4))[1]


def candidates(logits: np.ndarray, n: int, each: int) -> np.ndarray:
    """The largest of each part, side by side."""
    return np.concatenate([-np.sort(-part, axis=1)[:, :each] for part in np.split(logits, n, axis=1)], axis=1)


def fewer(o: Observed) -> bool:
    """Whether the logits are the largest four of fewer candidates than four from each part, and not of all."""
    logits, n = o.inputs[0], devices(o)
    right = top_four(logits)[0]
    made = [top_four(candidates(logits, n, each))[0] for each in (1, 2, 3) if n * each >= 4]
    return o.placements[0].shape == right.shape and any(
        not np.array_equal(wrong, right) and all(np.array_equal(block, wrong[index]) for _, index, block in o.shards[0])
        for wrong in made
    )


def own_part(at: Mapping[str, int], part: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A device's own largest, with token numbers."""
    values, ids = top_four(part)
    return values, ids + np.int32(at["x"] * part.shape[1])


def logits_move(o: Observed) -> bool:
    """Whether a collective carries as many numbers as all logits."""
    return carries(o, o.inputs[0].size)


def case(mesh: Axes, batch: int, tokens: int) -> Case:
    """Logits with their tokens cut over x, and both outputs whole."""
    return Case(mesh, (Input((batch, tokens), (None, "x"), values=neighbours),), ((), ()))


def neighbours(rng: np.random.Generator, shape: tuple[int, ...], before: Sequence[np.ndarray]) -> np.ndarray:
    """Logits whose first row has its largest four side by side, on one device."""
    logits = rng.standard_normal(shape, "float32")
    start = shape[1] // 8 * int(rng.integers(8))
    logits[0, start : start + 4] += 8
    return logits


def draw(rng: random.Random) -> Case:
    """Another mesh and other sizes."""
    mesh, n = drawn_mesh(rng)
    return case(mesh, rng.randint(2, 6), n * rng.randint(12, 30))
