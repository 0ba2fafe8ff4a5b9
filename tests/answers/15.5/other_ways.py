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
    return w1 - w1, w2 - w2


def mended_2(mesh, x, w):
    return jnp.stack([jnp.tanh(x[k::4] @ w) for k in range(4)], axis=1).reshape(len(x), -1)


def mended_3(mesh, labels):
    own = jnp.zeros((labels.shape[1], 100), jnp.int32)
    own = jax.lax.with_sharding_constraint(own, jax.NamedSharding(mesh, P("data", None)))
    return jax.lax.scan(lambda total, now: (total + (now[:, None] == jnp.arange(100)), None), own, labels)[0].sum(axis=0)


def mended_4(mesh, x, y, scale):
    def body(x, y, scale):
        def loss(scale):
            normed = x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6)
            return jax.lax.psum(jnp.sum((normed * scale - y) ** 2), ("data", "model"))

        return jax.grad(loss)(scale)

    tokens = P("data", "model")
    return jax.shard_map(body, mesh=mesh, in_specs=(tokens, tokens, P()), out_specs=P())(x, y, scale)


def mended_5(mesh, table, ids):
    def body(table, ids):
        ids = jax.lax.all_gather(ids, "data", tiled=True)
        return jax.lax.all_to_all(jax.nn.one_hot(ids, len(table)) @ table, "data", 0, 1, tiled=True)

    return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "data"), P("data")), out_specs=P("data"))(table, ids)


def mended_6(mesh, x, q, s):
    q = jax.lax.with_sharding_constraint(q, jax.NamedSharding(mesh, P(None, None)))
    return jnp.einsum("bd,df,f->bf", x, q.astype(jnp.float32), s)
