"""Chapter 14, exercise 14.3: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping

import numpy as np

from shardlab_judge.cases import Case, Input, Observed, axes
from shardlens import Axes, Spec, crossing

WIRES, FEW_WIRES = axes(dcn=2, ici=4), axes(dcn=4, ici=2)
EACH: Spec = (("dcn", "ici"), None)


def summed(x: np.ndarray) -> np.ndarray:
    """The devices' rows added up."""
    total = np.zeros_like(x[0])
    for row in x:
        total = total + row
    return total


def averaged(x: np.ndarray) -> np.ndarray:
    """The sum divided by the number of devices."""
    return summed(x) / len(x)


def own_host(at: Mapping[str, int], x: np.ndarray) -> np.ndarray:
    """A device's own row, as if nothing were added."""
    return x[0]


def one_axis(o: Observed, axis: str) -> bool:
    """Whether each device has the sum over one mesh axis alone."""
    sizes = dict(o.case.axes)
    x = o.inputs[0].reshape(*sizes.values(), -1).astype(np.float64)
    along = list(sizes).index(axis)
    parts = x.sum(along)
    other = next(name for name in sizes if name != axis)
    inner = sizes[list(sizes)[1]]
    return all(
        np.allclose(block, parts[device // inner if other == "dcn" else device % inner], rtol=1e-4, atol=1e-4)
        for device, _, block in o.shards[0]
    )


def pieces(o: Observed, axis: str, sort: str) -> bool:
    """Whether some collective of this kind carries at least one device's part of a row along this axis alone."""
    part = whole_bytes(o) // math.prod(size for _, size in o.case.axes)
    return any(c.axes == (axis,) and c.kind == sort and c.payload_bytes >= part for c in o.collectives)


def whole_bytes(o: Observed) -> int:
    """Bytes of one device's whole row."""
    return int(o.inputs[0][0].nbytes)


def sends_whole(o: Observed) -> bool:
    """Whether all of a row goes along the slow axis alone, in one all-reduce."""
    reduced = (c for c in o.collectives if c.axes == (o.case.slow,) and c.kind == "all-reduce")
    return any(c.payload_bytes >= whole_bytes(o) for c in reduced)


def is_sum(o: Observed) -> bool:
    """Whether every device has the sum, wherever it lies."""
    right = summed(o.inputs[0].astype(np.float64))
    return all(
        block.shape == right[index].shape and np.allclose(block, right[index], rtol=1e-3, atol=1e-3)
        for _, index, block in o.shards[0]
    )


def scatters_whole(o: Observed) -> bool:
    """Whether a whole row goes into a reduce-scatter along the slow axis."""
    return any(
        c.axes == (o.case.slow,) and c.kind == "reduce-scatter" and c.operand_bytes >= whole_bytes(o) for c in o.collectives
    )


def scatters_over(o: Observed, axis: str) -> bool:
    """Whether some reduce-scatter runs along this axis, alone or with another one."""
    return any(c.kind == "reduce-scatter" and axis in c.axes for c in o.collectives)


def flat(o: Observed) -> bool:
    """Whether a whole row goes through collectives with groups of all devices, over both axes."""
    wide = (c for c in o.collectives if len(c.axes) == 2 and c.kind != "collective-permute")
    return sum(max(c.payload_bytes, c.operand_bytes) * (c.executions or 0) for c in wide) >= whole_bytes(o)


def cuts_after(o: Observed) -> bool:
    """Whether the fast axis sums whole rows everywhere before a part is taken."""
    return (
        any(c.axes == ("ici",) and c.kind == "all-reduce" and c.payload_bytes >= whole_bytes(o) for c in o.collectives)
        and not sends_whole(o)
        and o.slow < whole_bytes(o)
    )


def rounds(o: Observed) -> int:
    """How many permutes cross the slow axis."""
    slow = crossing(o.collectives, o.case.axes, o.case.slow)
    return sum((c.executions or 0) for c in slow if c.kind == "collective-permute")


def reduction(mesh: Axes, width: int) -> Case:
    """One row of terms on each device; their sum everywhere."""
    return Case(mesh, (Input((8, width), EACH),), ((),), slow="dcn")


def draw_reduction(rng: random.Random) -> Case:
    """Another width, on one of the two meshes."""
    return reduction(rng.choice((WIRES, FEW_WIRES)), 8 * rng.randint(5, 30))
