# passed
import jax
import jax.numpy as jnp

P = jax.P

case_1 = {"cause": "unplaced-state", "number": 172032}
case_2 = {"cause": "cut-goes-to-loop", "number": 15360}
case_3 = {"cause": "sum-in-loop", "number": 9200}
case_4 = {"cause": "too-few-summed", "number": 2}
case_5 = {"cause": "table-gathered", "number": 1024}
case_6 = {"cause": "widened-first", "number": 15360}


def mended_1(mesh, w1, w2):
    return w1 * 0, w2 * 0


def mended_2(mesh, x, w):
    return jnp.tanh(x @ w)


def mended_3(mesh, labels):
    return jnp.sum(labels[..., None] == jnp.arange(100), axis=(0, 1))


def loss(scale, x, y):
    normed = x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6)
    return jnp.sum((normed * scale - y) ** 2)


def mended_4(mesh, x, y, scale):
    return jax.grad(loss)(scale, x, y)


def mended_5(mesh, table, ids):
    found = jax.vmap(lambda i: jax.lax.dynamic_index_in_dim(table, i, keepdims=False))(ids)
    return jax.lax.with_sharding_constraint(found, jax.NamedSharding(mesh, P("data", None)))


def mended_6(mesh, x, q, s):
    q = jax.lax.with_sharding_constraint(q, jax.NamedSharding(mesh, P()))
    return (x @ q.astype(jnp.float32)) * s
