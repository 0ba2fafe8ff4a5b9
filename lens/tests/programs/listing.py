"""Programs in the manner of public ones, by name: how each is built over a mesh, and where it is compiled."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax

P = jax.P
TARGETS = ("cpu", "v5e:2x4", "v5p:2x2x2", "v6e:2x4", "h100:8")
Built = tuple[Callable[..., Any], tuple[Any, ...]]


@dataclasses.dataclass(frozen=True)
class Listed:
    """A program: names and sizes of its mesh axes, and what makes a function and its arguments from a mesh.

    `rounds` are the lengths that the source gives its loops, the loops of one nest multiplied; `None` where data decides.
    """

    axes: dict[str, int]
    build: Callable[[Any], Built]
    targets: tuple[str, ...]
    rounds: tuple[int | None, ...]


LISTED: dict[str, Listed] = {}


def program(
    *, targets: tuple[str, ...] = TARGETS, rounds: tuple[int | None, ...] = (), **axes: int
) -> Callable[[Callable[[Any], Built]], Callable[[Any], Built]]:
    """Lists a function under its name."""

    def listed(build: Callable[[Any], Built]) -> Callable[[Any], Built]:
        LISTED[build.__name__] = Listed(axes, build, targets, rounds)
        return build

    return listed


def array(mesh: Any, shape: tuple[int, ...], *spec: Any, dtype: str = "bfloat16") -> jax.ShapeDtypeStruct:
    """An argument."""
    return jax.ShapeDtypeStruct(shape, dtype, sharding=jax.NamedSharding(mesh, P(*spec)))


def held(mesh: Any, x: jax.Array, *spec: Any) -> jax.Array:
    """`x`, told where to lie."""
    return jax.lax.with_sharding_constraint(x, jax.NamedSharding(mesh, P(*spec)))


def mapped(f: Callable[..., Any], mesh: Any, ins: Any, outs: Any) -> Callable[..., Any]:
    """`f` on each device's blocks."""
    return jax.jit(jax.shard_map(f, mesh=mesh, in_specs=ins, out_specs=outs, check_vma=False))


def compiled(name: str, target: str) -> Any:
    """A program compiled for the devices here ("cpu"), or for others: for GPUs by the lens's own process.

    Compiled in the tests' own process, a program for GPUs that calls cuSOLVER is refused (JAX 0.10.2).
    """
    from shardlens.compilers.targets import compile_for
    from shardlens.compilers.topology import parse_target, target_mesh

    listed = LISTED[name]
    auto = (jax.sharding.AxisType.Auto,) * len(listed.axes)
    gpu = target != "cpu" and parse_target(target).platform == "gpu"
    sizes, names = tuple(listed.axes.values()), tuple(listed.axes)
    here = gpu or target == "cpu"
    mesh = jax.make_mesh(sizes, names, axis_types=auto) if here else target_mesh(target, listed.axes)
    # optax adds Python's numbers to arrays of whole numbers, which the suite's strict promotion refuses.
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        f, args = listed.build(mesh)
        return compile_for(f, args, target)[0] if gpu else f.lower(*args).compile()
