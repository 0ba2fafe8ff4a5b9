"""Programs whose collectives are known because they were put together from known ones: the reader finds just those."""

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import pytest
from hypothesis import given, settings

from shardlens.programs.inspection import inspect

MESHES = ({"x": 8}, {"x": 2, "y": 4}, {"a": 2, "b": 2, "c": 2})
KINDS = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute")
SIDE = 64


@dataclasses.dataclass(frozen=True)
class Part:
    """A collective over some axes, run `rounds` times in a loop of its own."""

    kind: str
    axes: tuple[str, ...]
    rounds: int

    def run(self, sizes: dict[str, int], a: jax.Array) -> jax.Array:
        """What a device does with its block of 64 by 64; a sine after it, so that the compiler merges nothing."""
        n, names = math.prod(sizes[axis] for axis in self.axes), self.axes

        def once(_: Any, b: jax.Array) -> jax.Array:
            if self.kind == "all-reduce":
                b = jax.lax.psum(b, names)
            elif self.kind == "all-gather":
                b = jax.lax.all_gather(b, names, tiled=True)[:SIDE] * 2.0
            elif self.kind == "reduce-scatter":
                b = jnp.tile(jax.lax.psum_scatter(b, names, tiled=True), (n, 1))
            elif self.kind == "all-to-all":
                b = jax.lax.all_to_all(b, names, 0, 1, tiled=True).reshape(SIDE, SIDE)
            else:
                b = jax.lax.ppermute(b, names, [(d, (d + 1) % n) for d in range(n)])
            return jnp.sin(b)

        return once(0, a) if self.rounds == 1 else jax.lax.fori_loop(0, self.rounds, once, a)

    def expected(self, sizes: dict[str, int]) -> tuple[object, ...]:
        """Kind, bytes of output and operand, axes, group size, executions."""
        n, block = math.prod(sizes[axis] for axis in self.axes), SIDE * SIDE * 4
        out = {"all-gather": block * n, "reduce-scatter": block // n}.get(self.kind, block)
        return self.kind, out, block, self.axes, n, self.rounds


@st.composite
def programs(draw: Callable[..., Any]) -> tuple[dict[str, int], list[Part]]:
    """A mesh and one to four collectives over its axes."""
    sizes = draw(st.sampled_from(MESHES))
    names = list(sizes)
    axes = st.sets(st.sampled_from(names), min_size=1).map(lambda chosen: tuple(n for n in names if n in chosen))
    part = st.builds(Part, st.sampled_from(KINDS), axes, st.sampled_from([1, 1, 2, 5]))
    return sizes, draw(st.lists(part, min_size=1, max_size=4))


@pytest.mark.thorough
@settings(max_examples=25, deadline=None, derandomize=True)
@given(programs())
def test_known_program(case: tuple[dict[str, int], list[Part]]) -> None:
    """Kinds, bytes, axes, groups and executions are those of the parts."""
    sizes, parts = case
    mesh = jax.make_mesh(tuple(sizes.values()), tuple(sizes), axis_types=(jax.sharding.AxisType.Auto,) * len(sizes))

    def chain(a: jax.Array) -> jax.Array:
        for part in parts:
            a = part.run(sizes, a)
        return a

    everywhere = jax.P(tuple(sizes))
    f = jax.shard_map(chain, mesh=mesh, in_specs=everywhere, out_specs=everywhere, check_vma=False)
    argument = jax.ShapeDtypeStruct((8 * SIDE, SIDE), "float32", sharding=jax.NamedSharding(mesh, everywhere))
    found = inspect(f, argument).collectives
    rows = [(c.kind, c.payload_bytes, c.operand_bytes, c.axes, c.group_size, c.executions) for c in found]
    assert sorted(rows) == sorted(part.expected(sizes) for part in parts)
