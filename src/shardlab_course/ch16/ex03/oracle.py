"""Chapter 16, exercise 16.3: its oracle, its cases, and what a device holds after a wrong write."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from shardlab_course.ch16.shared import drawn_mesh, position
from shardlab_course.shared.rings import whole
from shardlab_judge.cases import Case, Input, Observed
from shardlab_judge.items.program import ProgramItem, unequal
from shardlab_judge.rights import rights
from shardlab_judge.verdict import Finding
from shardlens import Axes, Spec

POSITIONS: Spec = (None, "x")


def append(K: np.ndarray, new: np.ndarray, at: np.ndarray) -> np.ndarray:
    """The cache before the position, the new vectors, and the cache behind it."""
    before, behind = K[:, : int(at)], K[:, int(at) + 1 :]
    return np.concatenate([before, new[:, None], behind], axis=1)


def added(K: np.ndarray, new: np.ndarray, at: np.ndarray) -> np.ndarray:
    """The same with the old vectors in the sum."""
    return append(K, new + K[:, int(at)], at)


def writing(place: Callable[[int, int], int]) -> Callable[..., np.ndarray]:
    """What a device holds that writes at this place, a function of the place in its block and of the block's length."""

    def local(at: Mapping[str, int], k: np.ndarray, new: np.ndarray, where: np.ndarray) -> np.ndarray:
        block, m = k.copy(), k.shape[1]
        i = place(int(where) - at["x"] * m, m)
        if 0 <= i < m:
            block[:, i] = new
        return block

    return local


from_the_end = writing(lambda own, m: own + m if own < 0 else own)
modulo = writing(lambda own, m: own % m)


def as_it_is(at: Mapping[str, int], k: np.ndarray, new: np.ndarray, where: np.ndarray) -> np.ndarray:
    """Written at the global position, or at the block's end before it."""
    return writing(lambda own, m: min(own, m - 1))({"x": 0}, k, new, where)


def every_block_written(o: Observed) -> bool:
    """Whether each device has the new vectors at exactly one place, and its own at all others."""
    K, new, _ = o.inputs
    changed = [
        np.any(block != K[index], axis=(0, 2)) if block.shape == K[index].shape else np.zeros(1, bool)
        for _, index, block in o.shards[0]
    ]
    return all(
        places.sum() == 1 and np.array_equal(block[:, places][:, 0], new)
        for places, (_, _, block) in zip(changed, o.shards[0], strict=True)
    )


def at_edges(o: Observed) -> Iterator[Observed]:
    """The same where the position is the first or the last one of a block, or follows its last."""
    K, new, at = o.inputs
    m = K.shape[1] // dict(o.case.axes)["x"]
    for edge in (m, 2 * m - 1, 2 * m):
        assert o.on is not None
        yield o.on((K, new, np.asarray(edge % K.shape[1], at.dtype)))


def counted_from_the_end(o: Observed) -> bool:
    """Whether devices past the position wrote too, at a place counted from their block's end, and do so at edges."""
    return _as_from_the_end(o) and all(map(_as_from_the_end, at_edges(o)))


def _as_from_the_end(o: Observed) -> bool:
    K, new, at = o.inputs
    m = K.shape[1] // dict(o.case.axes)["x"]
    return all(
        block.shape == K[index].shape
        and np.allclose(block, from_the_end({"x": (index[1].start or 0) // m}, K[index], new, at), 1e-4, 1e-4)
        for _, index, block in o.shards[0]
    )


def wrong_at_an_edge(item: ProgramItem, o: Observed) -> Iterator[Finding]:
    """What is wrong there."""
    for seen in at_edges(o):
        yield from unequal(item, seen, *rights(item, seen))


def only_at_edges(o: Observed) -> bool:
    """Whether it is right at this position, and wrong at one of those."""
    return whole(o, append(*o.inputs)) and not all(whole(seen, append(*seen.inputs)) for seen in at_edges(o))


def case(mesh: Axes, batch: int, length: int, width: int) -> Case:
    """Keys with their positions cut over x, new ones on every device, and a position."""
    inputs = Input((batch, length, width), POSITIONS), Input((batch, width)), Input((), (), "int32", values=position)
    return Case(mesh, inputs, (POSITIONS,))


def draw(rng: random.Random) -> Case:
    """Another mesh and other sizes."""
    mesh, n = drawn_mesh(rng)
    return case(mesh, rng.randint(1, 4), n * rng.randint(6, 9), rng.randint(3, 8))
