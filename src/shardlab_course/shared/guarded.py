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

    `without` names programs that are not asked about there, because their label would be another one. `shown` names those
    that a notebook asks about there, in addition to the public ones of the first situation. Programs that are the `only`
    ones somewhere are asked about nowhere else.
    """

    axes: Axes
    arrays: tuple[tuple[tuple[int, ...], Spec, str], ...]
    target: str | None = None
    without: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    only: tuple[str, ...] = ()

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
    """What a guard is for: programs, where they are measured, the values that are right, and the rules of facts.

    A letter's rule says whether its values are right (V), where they lie (S), or what they cost (H). Every label agrees with
    the rules, or the programs are not measured.
    """

    programs: tuple[Program, ...]
    situations: tuple[Situation, ...]
    right: Callable[..., Any]
    rules: Mapping[str, Callable[[Mapping[str, Any]], bool]]

    def fair(self, facts: Mapping[str, Any]) -> bool:
        """The guard of the exercise's solution."""
        return not self.breaks(facts)

    def breaks(self, facts: Mapping[str, Any]) -> str:
        """The letters of the rules that facts break."""
        return "".join(letter for letter, rule in self.rules.items() if not rule(facts))

    def asked(self, situation: Situation) -> tuple[Program, ...]:
        """The programs that are asked about in a situation."""
        apart = {name for one in self.situations for name in one.only}
        names = situation.only or {p.name for p in self.programs} - apart - {*situation.without}
        return tuple(program for program in self.programs if program.name in names)


def whole(facts: Mapping[str, Any]) -> bool:
    """Whether every device has all of every output."""
    return all(out["shard"] == out["shape"] for out in facts["outputs"])


def mapped(mesh: Any, body: Callable[..., Any], given: Any, out: Any, *, check: bool = True) -> Callable[..., Any]:
    """`jax.shard_map` with what stands in each program once."""
    import jax

    mapped: Callable[..., Any] = jax.shard_map(body, mesh=mesh, in_specs=given, out_specs=out, check_vma=check)
    return mapped


def constrained(mesh: Any, x: Any, *spec: Any) -> Any:
    """The array, asked to lie so."""
    import jax

    return jax.lax.with_sharding_constraint(x, jax.NamedSharding(mesh, jax.P(*spec)))


def partly_exchanged(term: Any, axis: str) -> Any:
    """The sum over an axis of two devices: terms of the last row change places, which costs half of their sum."""
    import jax

    last = term[-1:] + jax.lax.ppermute(term[-1:], axis, [(0, 1), (1, 0)])
    return jax.numpy.concatenate([jax.lax.psum(term[:-1], axis), last])


def settled(mesh_sum: Callable[[Any], Any], value: Any) -> Any:
    """`value` replaced by `mesh_sum(value)` until that changes it by less than a tenth of its largest number.

    Nobody can tell from the program how many rounds that takes, and so what it sends.
    """
    import jax
    import jax.numpy as jnp

    def again(state: Any) -> Any:
        before, _ = state
        now = mesh_sum(before)
        apart = [jnp.abs(n - b).max() / jnp.abs(n).max() for n, b in zip(jax.tree.leaves(now), jax.tree.leaves(before))]
        return now, jnp.stack(apart).max().astype("float32")

    return jax.lax.while_loop(lambda state: state[1] > 0.1, again, (value, jnp.float32(1)))[0]


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


LESS = "part-exchanged", "on-one"
"""Right programs that send a little less than is owed, and nothing."""


def limit_refused(plain: str, *wrong: str) -> Misconception:
    """Of a guard that refuses all that sends exactly what is owed, and the wrong programs named, but not what sends less."""
    return WrongValues(
        "limit-itself-refused",
        "It refuses an exact fit: right programs that send exactly the bytes that are owed. The limit itself has to pass: "
        "compare with <=.",
        2, when=lambda through: through.get(plain, 1) == 0 < min(through.get(name, 0) for name in LESS)
        and not any(through.get(name, 0) for name in wrong),
    )  # fmt: skip


def limit_too_small(plain: str) -> Misconception:
    """Of a guard that refuses all that sends bytes, even a little less than is owed, and lets through what sends none."""
    part, free = LESS
    return WrongValues(
        "limit-too-small",
        "It refuses a right program that sends less than one all-reduce of all that is owed. Perhaps the limit is too "
        "small: `price` counts the bytes of an all-reduce twice, on every mesh.",
        2, when=lambda through: through.get(plain, 1) == through.get(part, 1) == 0 < through.get(free, 0),
    )  # fmt: skip


def less_refused(*owed: str) -> Misconception:
    """Of a guard that lets through what sends exactly what is owed, and not what sends less along an axis of one device."""
    return WrongValues(
        "less-refused",
        "It refuses a right program that sends less than one all-reduce: along a mesh axis of one device nothing moves. "
        "What is owed is an upper limit.",
        2, when=lambda through: through.get("on-one", 1) == 0 and all(through.get(name, 1) == 1 for name in owed),
    )  # fmt: skip


def price_unknown(wrong: str, *refused: str) -> Misconception:
    """Of a guard that lets a program through of which nobody can tell what it sends."""
    return lets_through(
        "unknown-price-accepted",
        "A loop that runs until its values say so sends nobody knows how much. Its `price` is None, which is not 0.",
        wrong, *refused,
    )  # fmt: skip


def one_size(plain: str) -> Misconception:
    """Of a guard that knows the plain program in some situations, and not in all."""
    return WrongValues(
        "one-size",
        "It lets the plainest right program through for some meshes and shapes, and not for others: what it allows should "
        "follow from the shapes in `inputs` and `outputs`.",
        3, when=lambda through: 0 < through.get(plain, 0) < 1,
    )  # fmt: skip


def one_dtype(*dtypes: str) -> Misconception:
    """Of a guard that knows what sends exactly as much as is owed with numbers of one of two dtypes, and not the other."""
    return WrongValues(
        "one-dtype",
        "It lets right programs of one dtype through, and refuses those of the other. Numbers of bfloat16 have half the "
        "bytes of float32, and their sums are less exact: the limit of `error` leaves room for that.",
        2, when=lambda through: {through.get(dtype) for dtype in dtypes} == {0, 1},
    )  # fmt: skip
