"""The situations in which a program is judged, and what the judge saw of it there."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from shardlab_judge.costs import Cost
from shardlens import Axes, Placement, Spec

Values = Callable[[np.random.Generator, tuple[int, ...], Sequence[np.ndarray]], np.ndarray]


@dataclasses.dataclass(frozen=True)
class Input:
    """One array argument of a program: its global shape, dtype and spec on the case's mesh.

    `shift` is added to the drawn values. Where these are to be others, `values` draws them, from a random generator, the
    shape, and the values of the arguments before; it is a function with a name, so that a case drawn twice is the same.
    """

    shape: tuple[int, ...]
    spec: Spec = ()
    dtype: str = "float32"
    shift: float = 0.0
    values: Values | None = None


@dataclasses.dataclass(frozen=True)
class Case:
    """One situation in which a program is judged.

    Args:
        axes: mesh axis names and sizes, slowest first.
        inputs: the arguments after the mesh.
        outputs: the spec that each output must have; `None` where any placement is right.
        explicit: whether the mesh axes are Explicit instead of Auto.
        terms: for each output the mesh axes over which it must be left unreduced; nowhere unless given.
        lapack: whether programs may call LAPACK, as `jnp.linalg.solve` does: see `shardlens.export.lapack`.
        slow: the mesh axis whose wires are slow: what is sent along it has a budget of its own.
    """

    axes: Axes
    inputs: tuple[Input, ...]
    outputs: tuple[Spec | None, ...] = (None,)
    explicit: bool = False
    terms: tuple[tuple[str, ...], ...] = ()
    lapack: bool = False
    slow: str = ""

    def to_json(self) -> dict[str, Any]:
        """What the student's process needs to export a program; no values."""
        return {
            "axes": [list(axis) for axis in self.axes],
            "explicit": self.explicit,
            "inputs": [
                {"shape": list(i.shape), "spec": [list(e) if isinstance(e, tuple) else e for e in i.spec], "dtype": i.dtype}
                for i in self.inputs
            ],
        }

    @property
    def key(self) -> str:
        """Short hash of everything that determines the case."""
        text = json.dumps([self.to_json(), self.outputs, *([self.terms] if self.terms else [])], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def title(self) -> str:
        """The case in a few words, for messages."""
        mesh = ", ".join(f"{name}={size}" for name, size in self.axes)
        return f"mesh ({mesh}), inputs " + ", ".join(f"{i.dtype}{list(i.shape)}" for i in self.inputs)


def axes(**sizes: int) -> Axes:
    """Mesh axes by keyword, slowest first: `axes(x=2, y=4)`."""
    return tuple(sizes.items())


@dataclasses.dataclass(frozen=True)
class Observed:
    """What the judge saw of one program in one case.

    `shards` holds for each output the (device id, index, block) that each device has after the run;
    `terms` the mesh axes over which these blocks have yet to be summed;
    `operations` counts the exported program's StableHLO operations by name, before XLA, a loop's body once;
    `donated` are positions of arrays that the caller gives away;
    `memory` is that of arguments and outputs, where an output that takes a donated array's place does not count, and
    `reused` the bytes of such outputs;
    `collectives` are those of the compiled program, `shardlab.Collective`s, and `depth` says how many of them wait for one
    another.
    `flops` are those of all rounds of loops, `None` when values decide how many there are.
    `hlo` is the compiled program's text.
    `written` says what of the exported program stands in `jax.shard_map`, dead code aside.
    `rerun` runs it once more, with other whole numbers as inputs and the same floats, and `on` with any inputs.
    `replan` compiles it once more, with its barriers kept, and reads that as a `shardlens` program.
    """

    case: Case
    inputs: tuple[np.ndarray, ...] = ()
    shards: tuple[tuple[tuple[int, tuple[slice, ...], np.ndarray], ...], ...] = ()
    placements: tuple[Placement, ...] = ()
    terms: tuple[tuple[str, ...], ...] = ()
    operations: tuple[tuple[str, int], ...] = ()
    collectives: tuple[Any, ...] = ()
    flops: float | None = 0.0
    memory: int = 0
    reused: int = 0
    donated: frozenset[int] = frozenset()
    depth: int | None = 0
    hlo: str = ""
    written: Any = None
    rerun: Callable[[], Observed] | None = None
    on: Callable[[tuple[np.ndarray, ...]], Observed] | None = None
    replan: Callable[[], Any] | None = None

    @property
    def price(self) -> int:
        """Payload bytes per device that the program moves: see `shardlens.reading.collectives.price`."""
        from shardlens import price

        return price(self.collectives)

    @property
    def slow(self) -> int:
        """The part of the price that collectives have which cross the case's slow axis; 0 where no axis is slow."""
        from shardlens import crossing, price

        return price(crossing(self.collectives, self.case.axes, self.case.slow)) if self.case.slow else 0

    @property
    def cost(self) -> Cost:
        """What it costs."""
        return Cost(self.price, self.memory, self.flops, self.slow, lambda: self.collectives)

    @functools.cached_property
    def again(self) -> Observed | None:
        """The second run, if there was a first."""
        return None if self.rerun is None else self.rerun()

    @functools.cached_property
    def kept(self) -> Any:
        """The program compiled with its barriers kept: what `jax.checkpoint` computes again is computed, and sent, again."""
        return None if self.replan is None else self.replan()

    @property
    def held(self) -> int:
        """Bytes of temporary arrays on a device at one time, with the program's barriers kept."""
        return 0 if self.kept is None else self.kept.memory.temp

    @functools.cached_property
    def largest(self) -> int:
        """Bytes of the largest array that the compiled program makes, or is given, on a device."""
        from shardlens import largest_array as largest

        return largest(self.hlo)

    @functools.cached_property
    def beside(self) -> int | None:
        """FLOPs of matrix products that every collective has beside it, neither before nor after; `None`: nobody knows."""
        from shardlens import overlaps

        found = overlaps(self.hlo, {c.name for c in self.collectives}) if self.collectives else ()
        return None if found is None else min((o.beside for o in found), default=0)

    @property
    def values(self) -> tuple[tuple[tuple[int, tuple[slice, ...], np.ndarray], ...], ...]:
        """What to compare with the oracle: `shards`, and sums of them where the case wants terms."""
        if not any(self.case.terms):
            return self.shards
        return tuple(_summed(blocks, over, self.case.axes) for blocks, over in zip(self.shards, self.terms, strict=True))

    @functools.cached_property
    def manual(self) -> bool:
        """Whether the program is written with `jax.shard_map`, and neither a product nor what moves left to the compiler."""
        found = self.written
        if found is None or not found.regions or found.products:
            return False
        return not self.collectives or found.moves_all(self.hlo, {c.name: c.kind for c in self.collectives})

    @property
    def kinds(self) -> frozenset[str]:
        """Kinds of collectives in the compiled program."""
        return frozenset(c.kind for c in self.collectives)


def _summed(blocks: Any, over: tuple[str, ...], axes: Axes) -> Any:
    """Each device's block with those added that lie along these mesh axes."""
    sizes = tuple(size for _, size in axes)
    along = tuple(i for i, (name, _) in enumerate(axes) if name in over)
    stacked = np.stack([block for _, _, block in blocks])
    sums = stacked.reshape(*sizes, *stacked.shape[1:]).sum(axis=along, keepdims=True)
    sums = np.broadcast_to(sums, (*sizes, *stacked.shape[1:])).reshape(stacked.shape)
    return tuple((device, index, total) for (device, index, _), total in zip(blocks, sums))
