"""Claims of chapter 7."""

from __future__ import annotations

import contextlib
import io

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import P
from jax.sharding import AxisType, NamedSharding

import shardlab as sl
from claims.claim import THREE, V5E, claim, tpu

MESH = jax.make_mesh((4, 2), ("x", "y"), (AxisType.Auto, AxisType.Auto))
RNG = np.random.default_rng(7)
V = RNG.normal(size=8).astype("float32")


X = P("x")


def over_x(body, out=X, **options):
    """`body` on blocks of a vector that is cut over x."""
    return jax.shard_map(body, mesh=MESH, in_specs=P("x"), out_specs=out, **options)


def printed(f, *args):
    """What a call prints."""
    with contextlib.redirect_stdout(io.StringIO()) as said:
        f(*args)
    return said.getvalue()


def shout(block):
    """A body that prints its block."""
    print(block)
    return 2 * block


@claim("One `print`, eight blocks.", "it does so at every call", "where in the mesh that device stands")
def eager():
    """Without jit a block prints all devices' values, each time."""
    f = over_x(shout)
    first, second = printed(f, V), printed(f, V)
    assert first == second
    assert first.count("at mesh coordinates") == 8
    assert "(3, 1)" in first


@claim("One line for two calls.", "a stand-in that has a type and no values")
def traced():
    """Under jit it prints a type, once."""
    f = jax.jit(over_x(shout))
    assert printed(f, V).strip() == "JitTracer(float32[2]{V:x})"
    assert printed(f, V) == ""


@claim("Without `jit`, as here, JAX has run the body by then", "Under `jit`, JAX refuses the function while it traces")
def refused():
    """A promise that types do not support: eagerly the body has its values, under jit it has none."""
    said = []

    def body(block):
        said.append(str(block))
        return block.sum(0)

    for f in (over_x(body, P()), jax.jit(over_x(body, P()))):
        with pytest.raises(ValueError, match="statically inferred"):
            f(V)
    assert "mesh coordinates" in said[0]
    assert said[1].startswith("JitTracer")


@claim("This `pcast` moves nothing; it only changes the type.", "Backward it does move something", targets=THREE)
def pcast(target):
    """Forward nothing, backward an all-reduce."""

    def body(w, block):
        return jax.lax.pcast(w, "x", to="varying") * block

    def backward(w, block):
        return jax.grad(lambda w: body(w, block).sum())(w)

    w = np.float32(1.5)
    there = jax.shard_map(body, mesh=MESH, in_specs=(P(), P("x")), out_specs=P("x"))
    back = jax.shard_map(backward, mesh=MESH, in_specs=(P(), P("x")), out_specs=P())
    assert sl.inspect(there, w, V, target=target).kinds == frozenset()
    assert sl.inspect(back, w, V, target=target).kinds == {"all-reduce"}


@claim("No line of the body sends anything", "The program has an all-reduce over `x`", targets=THREE)
def derivative(target):
    """jax.grad in the body by what all devices have."""

    def body(w, block):
        return jax.grad(lambda w: jnp.sum((w * block) ** 2))(w)

    f = jax.shard_map(body, mesh=MESH, in_specs=(P(), P("x")), out_specs=P())
    w = np.float32(3)
    (found,) = sl.inspect(f, w, V, target=target).collectives
    assert (found.kind, found.axes) == ("all-reduce", ("x",))
    np.testing.assert_allclose(f(w, V), 2 * w * (V**2).sum(), rtol=1e-5)


@claim("Then JAX first reshards the argument, silently", targets=THREE)
def border(target):
    """An argument that lies otherwise than in_specs say."""
    columns = jax.device_put(RNG.normal(size=(8, 4)).astype("float32"), NamedSharding(MESH, P(None, "x")))
    assert sl.inspect(over_x(lambda b: 2 * b), columns, target=target).kinds == {"all-to-all"}


@claim("it added the all-reduce over `y`, which no line of the body sends", targets=THREE)
def some_by_hand(target):
    """A sum over what lies on an axis that is not manual."""
    x = jax.device_put(RNG.normal(size=(8, 4)).astype("float32"), NamedSharding(MESH, P("x", "y")))
    f = over_x(lambda b: b.sum(1, keepdims=True), axis_names={"x"})
    (found,) = sl.inspect(f, x, target=target).collectives
    assert (found.kind, found.axes) == ("all-reduce", ("y",))


def smooth(rows):
    """The page's loop over rows."""
    return jax.lax.map(lambda row: (jnp.roll(row, 1) + row + jnp.roll(row, -1)) / 3, rows)


IMAGES = jax.device_put(RNG.normal(size=(16, 64)).astype("float32"), NamedSharding(MESH, P("x", None)))


@claim(
    "XLA for TPU and for GPU make something worse of the same program",
    "The gather is inside the loop",
    "as XLA for CPU, TPU and GPU all do for `smooth`",
    "Inside `shard_map` no compiler has anything to partition",
    targets=THREE,
)
def loop(target):
    """Once on CPU; sixteen times on TPU and GPU; never in shard_map."""
    manual = jax.shard_map(smooth, mesh=MESH, in_specs=P("x", None), out_specs=P("x", None))
    (found,) = sl.inspect(smooth, IMAGES, target=target).collectives
    assert (found.kind, found.executions, found.payload_bytes) == ("all-gather", 16 if target else 1, IMAGES.nbytes)
    assert not sl.inspect(manual, IMAGES, target=target).collectives


@claim("and gathers rows that are twice as long. XLA for CPU and for GPU gather both.",
       "XLA for TPU moves nothing where a row has 64 scores, and gathers rows of 96 or more",
       "XLA for TPU has a rule for the two best values of short rows", targets=THREE)  # fmt: skip
def best_two(target):
    """top_k of rows that are cut, many or few, short or long."""
    for shape in ((16, 64), (4096, 64), (16, 96), (16, 128), (512, 256)):
        scores = jax.ShapeDtypeStruct(shape, "float32", sharding=NamedSharding(MESH, X))
        found = sl.inspect(lambda rows: jax.lax.top_k(rows, 2), scores, target=target)
        assert found.price == (0 if tpu(target) and shape[1] == 64 else 4 * shape[0] * shape[1])


@claim(
    "For the best eight, XLA for TPU moves nothing where a row has 512 scores.",
    "For the best one, it gathers even short rows.",
    "(for eight values it moves nothing with longer rows either)",
    targets=(V5E,),
)
def best_of_more(target):
    """How long a row may be, by how many of it are wanted."""
    for most, width, price in ((8, 512, 0), (8, 1024, 4 * 16 * 1024), (1, 512, 4 * 16 * 512), (1, 16, 4 * 16 * 16)):
        scores = jax.ShapeDtypeStruct((16, width), "float32", sharding=NamedSharding(MESH, X))
        assert sl.inspect(lambda rows, most=most: jax.lax.top_k(rows, most), scores, target=target).price == price


@claim(
    "XLA for CPU makes a program that leaves the systems where they are (so does XLA for GPU), and XLA for TPU gathers the "
    "whole stack. With jax.lax.map all three gather everything. In shard_map nothing moves.",
    targets=THREE,
)
def systems(target):
    """Eight linear systems, by vmap, by a loop, by hand."""
    lie = NamedSharding(MESH, P(("x", "y")))
    A = jax.device_put(RNG.normal(size=(8, 16, 16)).astype("float32"), lie)
    b = jax.device_put(RNG.normal(size=(8, 16)).astype("float32"), lie)
    by_vmap = sl.inspect(jax.vmap(jnp.linalg.solve), A, b, target=target)
    by_loop = sl.inspect(lambda A, b: jax.lax.map(lambda pair: jnp.linalg.solve(*pair), (A, b)), A, b, target=target)
    one = jax.shard_map(
        lambda A, b: jnp.linalg.solve(A[0], b[0])[None], mesh=MESH, in_specs=(lie.spec, lie.spec), out_specs=lie.spec
    )
    assert by_vmap.kinds == ({"all-gather"} if tpu(target) else frozenset())
    assert by_loop.kinds == {"all-gather"}
    assert not sl.inspect(one, A, b, target=target).collectives


@claim("float32 overflows at exp(89), and exp(-88) is already zero on XLA for CPU.")
def exponentials():
    """The range of float32, and what lies below the normal numbers."""
    assert jnp.isinf(jnp.exp(jnp.float32(89)))
    assert not jnp.isinf(jnp.exp(jnp.float32(88)))
    assert jnp.exp(jnp.float32(-88)) == 0
    assert jnp.exp(jnp.float32(-87)) > 0


@claim("and leaves this sum out: each device returns its own derivative, and `P()` shows device 0's")
def without_the_sum():
    """The page's derivative, with the check and without it."""
    w, v = np.float32(3), jax.device_put(V, NamedSharding(MESH, X))

    def slopes(check):
        body = jax.grad(lambda w, block: jnp.sum((w * block) ** 2))
        return jax.shard_map(body, mesh=MESH, in_specs=(P(), X), out_specs=P(), check_vma=check)

    np.testing.assert_allclose(slopes(True)(w, v), 6 * (V**2).sum(), rtol=1e-5)
    wrong = slopes(False)(w, v)
    np.testing.assert_allclose(wrong, 6 * (V[:2] ** 2).sum(), rtol=1e-5)
    own = {float(s.data) for s in wrong.addressable_shards}
    np.testing.assert_allclose(sorted(own), sorted(6 * (V.reshape(4, 2) ** 2).sum(1)), rtol=1e-5)
    assert not sl.inspect(slopes(False), w, v).collectives
