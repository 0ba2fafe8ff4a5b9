"""Programs that communicate, each at a known line: what `lens.why` is asked about. A mark `# <- name` stands at the line."""

from __future__ import annotations

import functools
import pathlib
from typing import Any

import jax
import jax.numpy as jnp

P = jax.P
AUTO, EXPLICIT = jax.sharding.AxisType.Auto, jax.sharding.AxisType.Explicit
LINES = pathlib.Path(__file__).read_text().splitlines()


def line(mark: str) -> int:
    """The number of the line that bears a mark."""
    (found,) = (n for n, text in enumerate(LINES, 1) if text.endswith(f"# <- {mark}"))
    return found


def mesh(*sizes: int, kind: Any = AUTO) -> jax.sharding.Mesh:
    """A mesh over the first devices, axes x and y."""
    return jax.make_mesh(sizes, ("x", "y")[: len(sizes)], axis_types=(kind,) * len(sizes))


def spec(over: Any, shape: tuple[int, ...], *entries: Any, dtype: str = "float32") -> jax.ShapeDtypeStruct:
    """An argument."""
    return jax.ShapeDtypeStruct(shape, dtype, sharding=jax.NamedSharding(over, P(*entries)))


def constrained(x: Any, over: Any, *entries: Any) -> Any:
    return jax.lax.with_sharding_constraint(x, jax.NamedSharding(over, P(*entries)))


def matmul():
    """Both operands are cut along x, one where it is contracted and one where it is not."""
    over = mesh(2, 4)

    def product(a, b):
        return a @ b  # <- matmul

    return product, (spec(over, (64, 256), None, "y"), spec(over, (256, 128), None, "y"))


def fsdp():
    """A weight lies in slices over the axis of the batch."""
    over = mesh(8)

    def layer(x, w):
        return jnp.tanh(x @ w)  # <- fsdp

    return layer, (spec(over, (1024, 64), "x", None), spec(over, (64, 128), "x", None))


def missing():
    """A tensor-parallel MLP whose second weight is cut along the wrong dimension."""
    over = mesh(2, 4)

    def mlp(x, up, down):
        hidden = jax.nn.relu(x @ up)
        return constrained(hidden @ down, over, "x", None)  # <- missing

    return mlp, (
        spec(over, (512, 64), "x", None),
        spec(over, (64, 1024), None, "y"),
        spec(over, (1024, 64), None, "y"),
    )


def layers():
    """A scan over layers, each weight cut along the axis of the batch."""
    over = mesh(8)

    def model(x, weights):
        def layer(x, w):
            return jnp.tanh(x @ w), None  # <- layers

        return jax.lax.scan(layer, x, weights)[0]

    return model, (spec(over, (1024, 64), "x", None), spec(over, (5, 64, 64), None, "x", None))


def gradient():
    """Data parallelism: each device has the gradient of its examples."""
    over = mesh(8)

    def loss(w, x, y):
        return jnp.mean((x @ w - y) ** 2)  # <- gradient

    return jax.grad(loss), (spec(over, (64, 32)), spec(over, (256, 64), "x"), spec(over, (256, 32), "x"))


def by_hand():
    """A shard_map that sums what its devices have."""
    over = mesh(2, 4)

    @functools.partial(jax.shard_map, mesh=over, in_specs=(P("x", "y"), P("y")), out_specs=P("x"))
    def product(a, b):
        return jax.lax.psum(a @ b, "y")  # <- by_hand

    return product, (spec(over, (64, 128), "x", "y"), spec(over, (128, 32), "y"))


def into_map():
    """An argument is cut otherwise than the shard_map's in_specs ask for."""
    over = mesh(8)
    doubled = jax.shard_map(lambda a: 2 * a, mesh=over, in_specs=P(None, "x"), out_specs=P(None, "x"))

    def program(a):
        return doubled(a)  # <- into_map

    return program, (spec(over, (64, 128), "x", None),)


def indexing():
    """An embedding whose table is cut by rows."""
    over = mesh(8)

    def look_up(table, ids):
        return table[ids]  # <- indexing

    return look_up, (spec(over, (512, 64), "x", None), spec(over, (256,), "x", dtype="int32"))


def reshape():
    """Five rows over four devices: the reshape does not divide."""
    over = mesh(4)

    def folded(x):
        return constrained(x.reshape(20, 24), over, "x", None)  # <- reshape

    return folded, (spec(over, (5, 4, 24), None, "x", None),)


def joined():
    """Two arrays are put one after the other along the dimension that is cut."""
    over = mesh(8)

    def both(a, b):
        return jnp.concatenate([a, b])  # <- joined

    return both, (spec(over, (64, 32), "x", None), spec(over, (64, 32), "x", None))


def turned():
    """The output is asked for along the other dimension."""
    over = mesh(8)

    def program(a):
        return jnp.sin(a)  # <- turned

    return jax.jit(program, out_shardings=jax.NamedSharding(over, P(None, "x"))), (spec(over, (64, 128), "x", None),)


def whole_output():
    """The output is asked for on every device."""
    over = mesh(2, 4)

    def program(a):
        return jnp.sin(a)  # <- whole_output

    return jax.jit(program, out_shardings=jax.NamedSharding(over, P())), (spec(over, (64, 128), "x", "y"),)


def two_outputs():
    """One of two outputs is asked for as it is not, and so is the operation before it."""
    over = mesh(2, 4)
    asked = {"twice": jax.NamedSharding(over, P("y", "x")), "sum": jax.NamedSharding(over, P())}

    def program(a):
        return {"twice": a * 2, "sum": a.sum(0)}  # <- two_outputs

    return jax.jit(program, out_shardings=asked), (spec(over, (64, 128), "x", "y"),)


def batched_map():
    """A shard_map under vmap, over arrays that are cut along vmap's dimension."""
    over = mesh(2, 4)
    inner = jax.shard_map(lambda a: a * 2, mesh=over, in_specs=P("x"), out_specs=P("x"))

    def program(many):
        return jax.vmap(inner)(many)  # <- batched_map

    return program, (spec(over, (4, 64, 8), "y", "x"),)


def named_batch():
    """The same, where vmap has the axis' name, and a sum is written inside."""
    over = mesh(2, 4)
    inner = jax.shard_map(lambda a: jax.lax.psum(a, "x"), mesh=over, in_specs=P("x"), out_specs=P())  # <- named_batch

    def program(many):
        return jax.vmap(inner, spmd_axis_name="y")(many)

    return program, (spec(over, (4, 64, 8), "y", "x"),)


def explicit():
    """Types say that the contracted dimension is cut, and the line says what it becomes."""
    over = mesh(2, 4, kind=EXPLICIT)

    def product(a, b):
        return jnp.einsum("ij,jk->ik", a, b, out_sharding=jax.NamedSharding(over, P("x", None)))  # <- explicit

    return product, (spec(over, (64, 256), "x", "y"), spec(over, (256, 128), "y", None))


def unused_donation():
    """A donated argument that no output can take the place of."""
    over = mesh(8)

    def program(a):
        return a.sum(0)  # <- unused_donation

    return jax.jit(program, donate_argnums=0), (spec(over, (64, 128), "x", None),)


PROGRAMS = (
    matmul, fsdp, missing, layers, gradient, by_hand, into_map, indexing, reshape, joined, turned, explicit, unused_donation,
)  # fmt: skip
