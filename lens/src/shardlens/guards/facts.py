"""What a guard is told of a program: data alone, so that the same guard can be asked about any program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from shardlens.compilers.topology import in_slices
from shardlens.errors import LensError
from shardlens.programs.figures import facts as lock_facts
from shardlens.programs.inspection import inspect
from shardlens.reading.hlo import parse_hlo

WRONG = 1e9
"""The error of what cannot be compared at all, and the largest that is told: JSON has no infinity."""


def facts(
    f: Callable[..., Any],
    *args: Any,
    right: Any = None,
    target: str | None = None,
    axes: Mapping[str, int] | None = None,
    num_slices: int = 1,
    **kwargs: Any,
) -> dict[str, Any]:
    """What a program is given, gives, moves and holds, as plain JSON.

    `mesh` has the mesh axes and their sizes; `inputs` of each array or number, static ones too, `shape`, `dtype` and `spec`,
    with an entry for each dimension (a mesh or a function is no input); `outputs` of each array `shape`, `dtype`, and
    `shard`, the shape of what one device has of it. `error` is the largest difference from `right`, over the largest value
    of it, and null without `right`. `price` is what one device moves in bytes, as `Program.price`, and null where the rounds
    of a loop are not known; `collectives` lists of each sort `kind`, `axes`, `dtype`, `shape`, `bytes` of the output,
    `times` that each runs (or null) and `count`. `flops` are those of one device, all rounds of loops, and null where nobody
    knows; `memory` has the bytes on a device: `argument`, `output`, `temp`, `alias`, `peak`, and `host`, if its host has
    some. `instructions` counts those of the compiled program. `made_with` and `schema` are as in a lock file.

    Args:
        f, args, target, axes, num_slices, kwargs: as for `inspect`; `error` is of a run on the devices here.
        right: the values that it should return, computed otherwise; an array, or several as `f` returns them.
    Raises:
        LensError: `f` cannot be compiled, or libtpu is missing for a target; values are asked of what has none.
    Example:
        >>> import jax, jax.numpy as jnp
        >>> facts(lambda x: 2 * x, jnp.arange(3.0), right=[0, 2, 4])["error"]
        0.0
    """
    target = in_slices(target, num_slices)
    program = inspect(f, *args, target=target, axes=axes, **kwargs)
    given = [x for x in jax.tree.leaves((args, kwargs)) if _is_array(x)]
    meshes = [x.sharding.mesh.shape for x in given if isinstance(getattr(x, "sharding", None), jax.NamedSharding)]
    meshes += [p.axes for p in program.output_placements]
    return {
        **lock_facts(program, target),
        "mesh": {**next((dict(found) for found in meshes if found), {}), **(axes or {})},
        "inputs": [{"shape": [*np.shape(x)], "dtype": _dtype(x), "spec": _spec(x)} for x in given],
        "outputs": [
            {"shape": [*p.shape], "dtype": p.dtype, "shard": [*p.shard_shape]} for p in program.output_placements
        ],
        "error": None if right is None else _error(_values(f, args, kwargs), right),
        "flops": program.flops,
        "instructions": sum(map(len, parse_hlo(program.hlo).computations.values())),
    }  # fmt: skip


def _is_array(x: Any) -> bool:
    return isinstance(x, (bool, int, float, complex)) or (hasattr(x, "shape") and hasattr(x, "dtype"))


def _dtype(x: Any) -> str:
    return str(x.dtype if hasattr(x, "dtype") else jax.numpy.result_type(x))


def _spec(x: Any) -> list[Any]:
    sharding = getattr(x, "sharding", None)
    entries = [*sharding.spec] if isinstance(sharding, jax.NamedSharding) else []
    named = [list(e) if isinstance(e, tuple) else e for e in entries]
    return named + [None] * (np.ndim(x) - len(named))


def _values(f: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """What `f` returns. Its own `jit` is called inside of another one, where it cannot donate the caller's arrays."""
    leaves, tree = jax.tree.flatten((args, kwargs))
    if any(isinstance(leaf, jax.ShapeDtypeStruct) for leaf in leaves):
        what = "right= compares values, but an argument is a description without values."
        raise LensError("no-values", what, where="facts(f, *args, right=...)", mend="give arrays, or leave out right=.")
    places = [i for i, leaf in enumerate(leaves) if hasattr(leaf, "shape") and hasattr(leaf, "dtype")]

    def call(arrays: list[Any]) -> Any:
        given = list(leaves)
        for place, array in zip(places, arrays):
            given[place] = array
        args, kwargs = jax.tree.unflatten(tree, given)
        return f(*args, **kwargs)

    return jax.jit(call)([leaves[i] for i in places])


def _error(found: Any, right: Any) -> float:
    """`WRONG` where values are not finite, and where there is another number of arrays, or of other shapes."""
    pairs = list(zip(jax.tree.leaves(found), jax.tree.leaves(right) if not isinstance(right, list) else [right]))
    if len(pairs) != len(jax.tree.leaves(found)):
        return WRONG
    return max((_apart(_wide(a), _wide(b)) for a, b in pairs), default=0.0)


def _wide(x: Any) -> np.ndarray:
    if isinstance(x, jax.Array) and jax.numpy.issubdtype(x.dtype, jax.dtypes.prng_key):
        x = jax.random.key_data(x)
    try:
        held = np.asarray(x)
    except ValueError:  # rows of different lengths
        held = np.asarray(None)
    if held.dtype.kind in "OUS":
        what = f"right= compares values, but it holds a {type(x).__name__}."
        raise LensError(
            "no-values", what, where="facts(f, *args, right=...)", mend="give numbers or arrays, or leave out right=."
        )
    return held.astype(np.complex128 if held.dtype.kind == "c" else np.float64)


def _apart(found: np.ndarray, right: np.ndarray) -> float:
    if found.shape != right.shape or not np.isfinite(found).all():
        return WRONG
    return min(WRONG, float(np.abs(found - right).max(initial=0) / (np.abs(right).max(initial=0) or 1)))
