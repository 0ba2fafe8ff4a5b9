"""Chapter 10, exercise 10.6: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random
from collections.abc import Mapping

import numpy as np

from shardlab_course.ch10.shared import PLANE
from shardlab_course.shared.agreement import Arrays, agrees, wide
from shardlab_judge.cases import Case, Input, Observed, axes
from shardlens import Axes, Spec

MODEL_LINE = axes(model=8)

LIMIT = 12.0


def clipped_by(norm: float, arrays: Arrays) -> Arrays:
    """The arrays, made smaller where their norm is above the limit."""
    return tuple(a * min(1.0, LIMIT / norm) for a in arrays)


def clipped(*arrays: np.ndarray) -> Arrays:
    """The arrays clipped by the norm of all their elements together."""
    return clipped_by(np.sqrt(sum((a.ravel() ** 2).sum() for a in arrays)), arrays)


def clipped_apart(*arrays: np.ndarray) -> Arrays:
    """Each array clipped by its own norm."""
    return tuple(clipped(a)[0] for a in arrays)


def clipped_without_last(*arrays: np.ndarray) -> Arrays:
    """All arrays clipped by the norm of those that are cut."""
    return clipped_by(np.sqrt(sum((a**2).sum() for a in arrays[:-1])), arrays)


def clipped_by_square(*arrays: np.ndarray) -> Arrays:
    """All arrays clipped by the square of their norm."""
    return clipped_by(float(sum((a**2).sum() for a in arrays)), arrays)


def squares_averaged(o: Observed) -> bool:
    """Whether squares of the cut arrays are averaged over the devices."""
    arrays = wide(o)
    cut, whole = sum((a**2).sum() for a in arrays[:-1]), (arrays[-1] ** 2).sum()
    n = dict(o.case.axes)["model"]
    sums = cut / n + whole, (cut / n + whole) / n
    return not agrees(o, clipped(*arrays)) and any(agrees(o, clipped_by(np.sqrt(s), arrays)) for s in sums)


def always_scaled(*arrays: np.ndarray) -> Arrays:
    """The arrays scaled to the limit, larger ones and smaller ones."""
    norm = np.sqrt(sum((a**2).sum() for a in arrays))
    return tuple(a * LIMIT / norm for a in arrays)


def clipped_own(at: Mapping[str, int], *arrays: np.ndarray) -> Arrays:
    """One device's blocks, clipped by the norm of what this device holds."""
    return clipped(*arrays)


def copies_counted(o: Observed) -> bool:
    """Whether squares of what lies on several devices are counted several times."""
    arrays = tuple(a.astype(np.float64) for a in o.inputs)
    cut, whole = sum((a**2).sum() for a in arrays[:-1]), (arrays[-1] ** 2).sum()
    sizes = dict(o.case.axes)
    n, others = sizes["model"], sizes.get("data", 1)
    sums = (cut + n * whole, others * (cut + whole), others * (cut + n * whole))
    return not agrees(o, clipped(*arrays)) and any(agrees(o, clipped_by(np.sqrt(s), arrays)) for s in sums)


def norms_added(o: Observed) -> bool:
    """Whether the devices' norms are added instead of their squares."""
    arrays = tuple(a.astype(np.float64) for a in o.inputs)
    n = dict(o.case.axes)["model"]
    blocks = zip(np.split(arrays[0], n), np.split(arrays[1], n, axis=1))
    own = [((a**2).sum(), (b**2).sum()) for a, b in blocks]
    whole = (arrays[2] ** 2).sum()
    together = sum(np.sqrt(a + b) for a, b in own)
    each = sum(np.sqrt(a + b + whole) for a, b in own)
    norms = (np.sqrt(together**2 + whole), together + np.sqrt(whole), each, together)
    return not agrees(o, clipped(*arrays)) and any(agrees(o, clipped_by(norm, arrays)) for norm in norms)


def clipping(mesh: Axes, rows: int, width: int, height: int, wide: int, whole: int) -> Case:
    """Two gradients cut over model, by rows and by columns, and a whole one."""
    specs: tuple[Spec, ...] = (("model", None), (None, "model"), ())
    shapes = (rows, width), (height, wide), (whole,)
    return Case(mesh, tuple(Input(shape, spec) for shape, spec in zip(shapes, specs)), specs)


def draw_clipping(rng: random.Random) -> Case:
    """So many elements that the first array's norm alone is above the limit, and that of what one device holds.

    The first two together have so many more than the last that the limit is passed though its squares are subtracted.
    """
    mesh = rng.choice((MODEL_LINE, PLANE))
    return clipping(mesh, 32, rng.randint(10, 13), rng.randint(5, 8), 24, 8 * rng.randint(21, 24))
