"""What a guard is told of a program: data alone, so that the same guard can be asked about any program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from shardlab.programs.program import inspect
from shardlab.programs.reading.hlo import parse
from shardlab.testing import lock

WRONG = 1e9
"""The error of what cannot be compared at all, and the largest that is told: JSON has no infinity."""


def facts(f: Callable[..., Any], *args: Any, right: Any = None, target: str | None = None) -> dict[str, Any]:
    """What a program is given, gives, moves and holds, as plain JSON.

    `mesh` has the mesh axes and their sizes; `inputs` of each array `shape`, `dtype` and `spec`, with an entry for each
    dimension; `outputs` of each array `shape`, `dtype`, and `shard`, the shape of what one device has of it. `error` is the
    largest difference from `right`, over the largest value of it, and null without `right`. `price` is what one device
    moves in bytes, as `Program.price`, and null where the rounds of a loop are not known; `collectives` lists of each sort
    `kind`, `axes`, `dtype`, `shape`, `bytes` of the output, `times` that each runs (or null) and `count`. `flops` are those
    of one device, all rounds of loops, and null where nobody knows; `memory` has the bytes on a device: `argument`,
    `output`, `temp`, `alias`, `peak`. `instructions` counts those of the compiled program. `made_with` and `schema` are as
    in a lock file.

    Args:
        f: a function of arrays.
        args: arrays on one mesh.
        right: the values that it should return, computed otherwise; an array, or several as `f` returns them.
        target: a TPU topology to compile for, `"v5e:2x4"`; `error` is of a run on the devices here.
    Raises:
        ShardlabError: `f` cannot be compiled, or libtpu is missing for a target.
    Example:
        >>> import jax, jax.numpy as jnp
        >>> facts(lambda x: 2 * x, jnp.arange(3.0), right=[0, 2, 4])["error"]
        0.0
    """
    program = inspect(f, *args, target=target)
    given = jax.tree.leaves(args)
    meshes = [x.sharding.mesh for x in given if isinstance(x.sharding, jax.NamedSharding)]
    return {
        **lock.facts(program, target),
        "mesh": dict(meshes[0].shape) if meshes else {},
        "inputs": [{"shape": [*x.shape], "dtype": str(x.dtype), "spec": _spec(x)} for x in given],
        "outputs": [
            {"shape": [*p.shape], "dtype": p.dtype, "shard": [*p.shard_shape]} for p in program.output_placements
        ],
        "error": None if right is None else _error(jax.jit(f)(*args), right),
        "flops": program.flops,
        "instructions": sum(map(len, parse(program.hlo).computations.values())),
    }  # fmt: skip


def _spec(x: Any) -> list[Any]:
    entries = [*x.sharding.spec] if isinstance(x.sharding, jax.NamedSharding) else []
    named = [list(e) if isinstance(e, tuple) else e for e in entries]
    return named + [None] * (x.ndim - len(named))


def _error(found: Any, right: Any) -> float:
    """`WRONG` where values are not finite, and where there is another number of arrays, or of other shapes."""
    pairs = list(zip(jax.tree.leaves(found), jax.tree.leaves(right) if not isinstance(right, list) else [right]))
    if len(pairs) != len(jax.tree.leaves(found)):
        return WRONG
    return max(_apart(np.asarray(a, np.float64), np.asarray(b, np.float64)) for a, b in pairs)


def _apart(found: np.ndarray, right: np.ndarray) -> float:
    if found.shape != right.shape or not np.isfinite(found).all():
        return WRONG
    return min(WRONG, float(np.abs(found - right).max(initial=0) / (np.abs(right).max(initial=0) or 1)))
