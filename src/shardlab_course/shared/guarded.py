"""Programs that guards are asked about: written here, right and wrong ones, and measured by `shardlab_authoring.guards`."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from shardlab_judge.question import Misconception, WrongValues
from shardlens import Axes, Spec


@dataclasses.dataclass(frozen=True)
class Situation:
    """Where programs are measured: mesh axes, the arrays' shapes, specs and dtypes, a TPU topology or none.

    `without` names programs that are not asked about there, because their label would be another one.
    """

    axes: Axes
    arrays: tuple[tuple[tuple[int, ...], Spec, str], ...]
    target: str | None = None
    without: tuple[str, ...] = ()

    def made(self) -> tuple[Any, tuple[Any, ...]]:
        """A mesh and arrays on it, of normal numbers."""
        import jax
        import jax.numpy as jnp

        names, sizes = zip(*self.axes)
        mesh = jax.make_mesh(sizes, names, axis_types=(jax.sharding.AxisType.Auto,) * len(names))
        rng = np.random.default_rng(math.prod(self.arrays[0][0]))
        drawn = [(jnp.asarray(rng.standard_normal(shape), dtype), spec) for shape, spec, dtype in self.arrays]
        return mesh, tuple(jax.device_put(x, jax.NamedSharding(mesh, jax.P(*spec))) for x, spec in drawn)


@dataclasses.dataclass(frozen=True)
class Program:
    """A program `f(mesh, *arrays)`: whether a guard should let it through, and in a clause what it does.

    A `public` one is asked about in notebooks, in the first situation.
    """

    name: str
    good: bool
    why: str
    f: Callable[..., Any]
    public: bool = False


@dataclasses.dataclass(frozen=True)
class Guarded:
    """What a guard is for: programs, where they are measured, the values that are right, and what `fair` says of facts.

    `fair` is the guard of the exercise's solution: every label agrees with it, or the programs are not measured.
    """

    programs: tuple[Program, ...]
    situations: tuple[Situation, ...]
    right: Callable[..., Any]
    fair: Callable[[Mapping[str, Any]], bool]


def mapped(mesh: Any, body: Callable[..., Any], given: Any, out: Any, *, check: bool = True) -> Callable[..., Any]:
    """`jax.shard_map` with what stands in each program once."""
    import jax

    mapped: Callable[..., Any] = jax.shard_map(body, mesh=mesh, in_specs=given, out_specs=out, check_vma=check)
    return mapped


def constrained(mesh: Any, x: Any, *spec: Any) -> Any:
    """The array, asked to lie so."""
    import jax

    return jax.lax.with_sharding_constraint(x, jax.NamedSharding(mesh, jax.P(*spec)))


def lets_through(id: str, cause: str, wrong: str, *refused: str, hint: int = 2) -> Misconception:
    """Of a guard that lets the program `wrong` through, and refuses the others that are named."""
    return WrongValues(
        id, cause, hint, when=lambda through: through.get(wrong, 0) > 0 and not any(through.get(n, 0) for n in refused)
    )


def counts(plain: str, *several: str) -> Misconception:
    """Of a guard that knows the plain program, and refuses those that send the same in more collectives."""
    return WrongValues(
        "counts-collectives",
        "It refuses programs that send the same bytes in more collectives, or in others. How many there are, and of which "
        "kind, is the compiler's business: `price` adds up what they move.",
        1, when=lambda through: through.get(plain, 0) == 1 and any(through.get(name, 1) < 1 for name in several),
    )  # fmt: skip


def one_size(plain: str) -> Misconception:
    """Of a guard that knows the plain program in some situations, and not in all."""
    return WrongValues(
        "one-size",
        "It lets the plainest right program through on one mesh, and not on another: what it allows should follow from the "
        "shapes in `inputs` and `outputs`.",
        3, when=lambda through: 0 < through.get(plain, 0) < 1,
    )  # fmt: skip
