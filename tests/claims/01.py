"""Claims of chapter 1."""

from __future__ import annotations

import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, Mesh, NamedSharding

import shardlab as sl
from claims.claim import THREE, claim

P = jax.P
AUTO = (AxisType.Auto, AxisType.Auto)
MESH = jax.make_mesh((2, 4), ("x", "y"), AUTO)
ENTRIES = (None, "x", "y", ("x", "y"), ("y", "x"))


def axes(entry):
    """The axes of an entry of a spec."""
    return () if entry is None else (entry,) if isinstance(entry, str) else entry


LEGAL = [(r, c) for r, c in itertools.product(ENTRIES, ENTRIES) if not {*axes(r)} & {*axes(c)}]


def drawn(*shape):
    """Random numbers that nobody has placed yet."""
    return np.random.default_rng(1).normal(size=shape).astype("float32")


@claim("An axis that is **named** cuts. An axis that is **left out** copies.")
def cut_or_copied():
    """Sizes of shards and numbers of copies, for every way to place a matrix."""
    for rows, columns in LEGAL:
        held = jax.device_put(drawn(8, 16), NamedSharding(MESH, P(rows, columns)))
        parts = [math.prod(MESH.shape[axis] for axis in axes(entry)) for entry in (rows, columns)]
        assert held.sharding.shard_shape(held.shape) == (8 // parts[0], 16 // parts[1])
        copies = max(shard.replica_id for shard in held.addressable_shards) + 1
        assert copies == 8 // math.prod(parts)


@claim("nine ways.", "That makes two more ways.")
def eleven():
    """All pairs of entries that JAX accepts, and the placements that they make."""
    assert len(LEGAL) == 9 + 2
    assert len({str(NamedSharding(MESH, P(*spec)).devices_indices_map((8, 16))) for spec in LEGAL}) == 11
    for spec in itertools.product(ENTRIES, ENTRIES):
        if spec not in LEGAL:
            with pytest.raises(Exception, match="duplicate"):
                NamedSharding(MESH, P(*spec))


@claim('`P("x")` and `P("x", None)` place a matrix in the same way', "`==` compares mesh and spec, entry by entry")
def short_and_long():
    """Two spellings of one placement."""
    short, long = NamedSharding(MESH, P("x")), NamedSharding(MESH, P("x", None))
    assert short != long and short.is_equivalent_to(long, 2)
    assert short.devices_indices_map((8, 16)) == long.devices_indices_map((8, 16))


@claim("If one computation takes several arrays that you have placed, they must agree on that order",
       "An array that you place with `device_put`", "and so is everything that is computed from it",
       "moves it to wherever the other arrays are", "unless `in_shardings` names one order for all",
       "The exception is a `jit` with `in_shardings` whose arguments are already cut as `in_shardings` says")  # fmt: skip
def committed():
    """An array that was placed stays; one that was not follows."""
    placed = jax.device_put(drawn(8, 16), NamedSharding(MESH, P("x", "y")))
    shuffled = Mesh(np.array(jax.devices())[[3, 1, 2, 0, 7, 5, 6, 4]].reshape(2, 4), ("x", "y"), axis_types=AUTO)
    free, here = jnp.asarray(drawn(8, 16)), jax.device_put(drawn(8, 16), jax.devices()[0])
    assert (placed.committed, free.committed, here.committed, (placed + free).committed) == (True, False, True, True)
    assert (placed + free).sharding.is_equivalent_to(placed.sharding, 2)
    for other in (here, jax.device_put(free, NamedSharding(shuffled, P("x", "y")))):
        with pytest.raises(ValueError, match="incompatible devices"):
            placed + other
    with pytest.raises(ValueError, match="Sharding passed to jit does not match"):
        jax.jit(jnp.add, in_shardings=placed.sharding)(placed, here)
    told = jax.jit(jnp.add, in_shardings=placed.sharding)(placed, jax.device_put(free, other.sharding))
    four = [NamedSharding(Mesh(np.array(jax.devices()[i : i + 4]), ("x",), axis_types=AUTO[:1]), P("x")) for i in (0, 4)]
    near, far = (jax.device_put(drawn(8, 16), sharding) for sharding in four)
    assert jax.jit(jnp.add, in_shardings=four[0])(near, far).sharding.is_equivalent_to(four[0], 2)
    assert told.sharding.is_equivalent_to(placed.sharding, 2) and np.array_equal(told, np.asarray(placed) + np.asarray(free))


@claim(
    "Swapping two axes that are both longer than 1 changes who holds what",
    "and going from one order to the other takes communication.",
    targets=THREE,
)
def other_order(target):
    """Blocks change their holders: a permute, and nothing else."""
    tall = jax.make_mesh((4, 2), ("x", "y"), AUTO)
    before, after = (NamedSharding(tall, P(order)) for order in (("x", "y"), ("y", "x")))
    program = sl.inspect(jax.jit(lambda s: s, out_shardings=after), jax.device_put(drawn(16, 4), before), target=target)
    assert program.kinds == {"collective-permute"}


@claim("an array can be placed only if its sizes divide evenly", "device_put makes neither for you")
def uneven():
    """Ten rows over four."""
    with pytest.raises(ValueError, match="evenly divide"):
        jax.device_put(drawn(10, 12), NamedSharding(MESH, P("y")))


@claim("`jnp` does copy each new array to all devices of the mesh, and the array counts as placed")
def made_under_a_mesh():
    """What `jnp` makes with a mesh set, and without."""
    without = jnp.ones((8, 16))
    with jax.set_mesh(MESH):
        made = jnp.ones((8, 16)), jnp.arange(8.0), jnp.asarray(drawn(8, 16))
    assert len(without.sharding.device_set) == 1 and not without.committed
    for array in made:
        assert array.committed and len(array.sharding.device_set) == 8 and array.is_fully_replicated
