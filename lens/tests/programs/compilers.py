"""Programs left to the compiler: operations that it takes apart itself, and meshes with Explicit axes."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from programs.listing import Built, P, array, held, program


def explicit(mesh: Any) -> Any:
    """The same mesh, its axes Explicit."""
    return jax.sharding.Mesh(mesh.devices, mesh.axis_names, axis_types=(jax.sharding.AxisType.Explicit,) * mesh.devices.ndim)


@program(data=2, model=4)
def explicit_types(mesh: Any) -> Built:
    """A network whose shardings are types: each product says what its output is, and gradients follow."""
    mesh = explicit(mesh)

    def loss(weights: Any, x: jax.Array) -> jax.Array:
        up, down = weights
        hidden = jax.nn.gelu(jnp.einsum("bd,df->bf", x, up, out_sharding=jax.NamedSharding(mesh, P("data", "model"))))
        out = jnp.einsum("bf,fd->bd", hidden, down, out_sharding=jax.NamedSharding(mesh, P("data", None)))
        return jnp.mean(jax.reshard(out, jax.NamedSharding(mesh, P(None, "model"))).astype(jnp.float32) ** 2)

    weights = array(mesh, (512, 2048), None, "model"), array(mesh, (2048, 512), "model", None)
    return jax.jit(jax.value_and_grad(loss)), (weights, array(mesh, (64, 512), "data", None))


@program(data=2, model=4)
def vocabulary(mesh: Any) -> Built:
    """A table of words cut by rows: looked up, multiplied, and the loss over words that no device has all of."""

    def loss(table: jax.Array, tokens: jax.Array) -> jax.Array:
        logits = held(mesh, table[tokens[:, :-1]] @ table.T, "data", None, "model").astype(jnp.float32)
        right = jnp.take_along_axis(logits, tokens[:, 1:, None], axis=-1)[..., 0]
        return jnp.mean(jax.nn.logsumexp(logits, axis=-1) - right)

    table, tokens = array(mesh, (4096, 256), "model"), array(mesh, (8, 129), "data", dtype="int32")
    return jax.jit(jax.value_and_grad(loss), out_shardings=(None, table.sharding)), (table, tokens)


@program(x=8)
def sorted_and_chosen(mesh: Any) -> Built:
    """A sort along a cut dimension, and the largest of each row along another."""

    def f(a: jax.Array) -> Any:
        return jnp.sort(a, axis=0), jax.lax.top_k(a.T, 4)

    return jax.jit(f), (array(mesh, (512, 64), "x", dtype="float32"),)


@program(x=8)
def sums_and_shifts(mesh: Any) -> Built:
    """Running sums, a roll, and a flip of a dimension that is cut."""

    def f(a: jax.Array) -> Any:
        return jnp.cumsum(a, axis=0), jnp.roll(a, 3, axis=0), jnp.flip(a, axis=0), jnp.diff(a, axis=0)

    return jax.jit(f), (array(mesh, (512, 64), "x", dtype="float32"),)


@program(rows=8)
def neighbours(mesh: Any) -> Built:
    """A convolution whose image is cut along one of its sides, and its gradients."""

    def loss(kernel: jax.Array, x: jax.Array) -> jax.Array:
        y = jax.lax.conv_general_dilated(x, kernel, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return jnp.mean(jax.nn.relu(y) ** 2)

    args = array(mesh, (5, 5, 16, 32), dtype="float32"), array(mesh, (4, 128, 64, 16), None, "rows", dtype="float32")
    return jax.jit(jax.grad(loss, argnums=(0, 1)), out_shardings=tuple(a.sharding for a in args)), args


@program(x=8)
def curvature(mesh: Any) -> Built:
    """A Hessian by forward over reverse mode, and a product with it."""

    def loss(w: jax.Array, x: jax.Array) -> jax.Array:
        return jnp.sum(jnp.tanh(x @ w) ** 2)

    def f(w: jax.Array, v: jax.Array, x: jax.Array) -> Any:
        return jax.hessian(loss)(w, x), jax.jvp(lambda w: jax.grad(loss)(w, x), (w,), (v,))[1]

    w = array(mesh, (24,), dtype="float32")
    return jax.jit(f), (w, w, array(mesh, (256, 24), "x", dtype="float32"))


@program(stage=2, data=2, model=2)
def three_axes(mesh: Any) -> Built:
    """A product whose weight is cut by two axes in one dimension, and whose output lies over all three."""

    def f(x: jax.Array, w: jax.Array) -> jax.Array:
        return held(mesh, jnp.einsum("bsd,df->bsf", x, w), "data", "stage", "model")

    return jax.jit(f), (array(mesh, (8, 64, 256), "data", "stage", "model"), array(mesh, (256, 512), ("stage", "model")))


@program(batch=8, rounds=(5,))
def mapped_batches(mesh: Any) -> Built:
    """One product after the other by `lax.map`, each summed over a cut dimension."""

    def f(x: jax.Array, w: jax.Array) -> jax.Array:
        return jax.lax.map(lambda each: held(mesh, jnp.tanh(each @ w), "batch") @ w.T, x)

    return jax.jit(f), (array(mesh, (5, 128, 512), None, None, "batch"), array(mesh, (512, 256), "batch"))


@program(data=4, model=2)
def partly_manual(mesh: Any) -> Built:
    """A shard_map over one axis, inside of which the compiler cuts along the other, and the gradient of it."""

    def loss(w: jax.Array, x: jax.Array) -> jax.Array:
        def body(w: jax.Array, x: jax.Array) -> jax.Array:
            y = jnp.tanh(x @ jax.lax.all_gather(w, "data", tiled=True))
            return jax.lax.pmean(jnp.mean(y.astype(jnp.float32) ** 2), "data")

        return jax.shard_map(body, mesh=mesh, axis_names={"data"}, in_specs=(P("data"), P("data")), out_specs=P())(w, x)

    # XLA for CPU ends its process at such a program's sums of bfloat16.
    w, x = array(mesh, (512, 256), "data", "model", dtype="float32"), array(mesh, (64, 512), "data", dtype="float32")
    return jax.jit(jax.grad(loss), out_shardings=w.sharding), (w, x)


@program(x=8)
def decompositions(mesh: Any) -> Built:
    """A QR and a Cholesky decomposition of arrays that are cut, which the compiler gathers."""

    def f(a: jax.Array) -> Any:
        q, r = jnp.linalg.qr(a)
        return q @ r, jnp.linalg.cholesky(a.T @ a + jnp.eye(a.shape[1], dtype=a.dtype))

    return jax.jit(f), (array(mesh, (128, 64), "x", dtype="float32"),)
