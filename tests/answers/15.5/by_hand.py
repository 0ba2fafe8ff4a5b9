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
    specs = (P("data", None), P(None, "data"))
    return jax.shard_map(lambda a, b: (jnp.zeros_like(a), jnp.zeros_like(b)), mesh=mesh, in_specs=specs, out_specs=specs)(
        w1, w2
    )


def mended_2(mesh, x, w):
    def body(x, w):
        return jax.lax.map(lambda part: jnp.tanh(part @ w), x.reshape(4, -1, x.shape[1])).reshape(len(x), -1)

    return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P()), out_specs=P("data"))(x, w)


def mended_3(mesh, labels):
    def body(labels):
        return jax.lax.psum(jnp.zeros(100, jnp.int32).at[labels.ravel()].add(1), "data")

    return jax.shard_map(body, mesh=mesh, in_specs=P(None, "data"), out_specs=P())(labels)


def loss(scale, x, y):
    normed = x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6)
    return jnp.sum((normed * scale - y) ** 2)


def mended_4(mesh, x, y, scale):
    tokens = P("data", "model", None)
    return jax.shard_map(
        lambda x, y, scale: jax.grad(loss)(scale, x, y), mesh=mesh, in_specs=(tokens, tokens, P()), out_specs=P()
    )(x, y, scale)


def mended_5(mesh, table, ids):
    def body(table, ids):
        ids = jax.lax.all_gather(ids, "data", tiled=True)
        return jax.lax.all_to_all(table[ids], "data", 0, 1, tiled=True)

    return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "data"), P("data")), out_specs=P("data", None), check_vma=False)(
        table, ids
    )


def mended_6(mesh, x, q, s):
    def body(x, q, s):
        return x @ (jax.lax.all_gather(q, "data", tiled=True).astype(jnp.float32) * s)

    return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P("data"), P()), out_specs=P("data"))(x, q, s)
