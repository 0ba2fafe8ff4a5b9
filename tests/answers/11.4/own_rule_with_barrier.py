# passed
import jax
import jax.numpy as jnp
import shardlab as sl
from jax import P

sl.predict("11.4", gathers={"exported": 8, "compiled": 4})


@jax.custom_vjp
def layer(x, w):
    return jnp.tanh(x @ jax.lax.all_gather(w, "data", tiled=True))


def forward(x, w):
    out = layer(x, w)
    return out, (x, w, out)


def backward(kept, slope):
    x, w, out = kept
    slope = slope * (1 - out**2)
    w, slope = jax.lax.optimization_barrier((w, slope))
    full = jax.lax.all_gather(w, "data", tiled=True)
    return slope @ full.T, jax.lax.psum_scatter(x.T @ slope, "data", tiled=True)


layer.defvjp(forward, backward)


def lean(mesh, X, Y, *weights):
    def body(X, Y, *slices):
        def loss(slices):
            out = X
            for w in slices:
                out = layer(out, w)
            return jax.lax.pmean(jnp.mean((out - Y) ** 2), "data")

        return jax.grad(loss)(slices)

    cut = P("data", None)
    return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)
