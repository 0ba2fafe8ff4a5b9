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
    def placed(zeros, spec):
        return jax.lax.with_sharding_constraint(zeros, jax.NamedSharding(mesh, spec))

    return placed(jnp.zeros_like(w1), P("data", None)), placed(jnp.zeros_like(w2), P(None, "data"))


def mended_2(mesh, x, w):
    slices = x.reshape(-1, 4, x.shape[1]).swapaxes(0, 1)
    out = jax.lax.map(lambda part: jnp.tanh(part @ w), slices)
    return out.swapaxes(0, 1).reshape(len(x), -1)


def mended_3(mesh, labels):
    def body(labels):
        def step(total, now):
            return total + jnp.sum(now[:, None] == jnp.arange(100), axis=0), None

        none = jax.lax.pcast(jnp.zeros(100, jnp.int32), "data", to="varying")
        return jax.lax.psum(jax.lax.scan(step, none, labels)[0], "data")

    return jax.shard_map(body, mesh=mesh, in_specs=P(None, "data"), out_specs=P())(labels)


def loss(scale, x, y):
    normed = x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6)
    return jnp.sum((normed * scale - y) ** 2)


def mended_4(mesh, x, y, scale):
    def body(x, y, scale):
        return jax.lax.psum(jax.grad(loss)(scale, x, y), ("data", "model"))

    tokens = P("data", "model", None)
    return jax.shard_map(body, mesh=mesh, in_specs=(tokens, tokens, P()), out_specs=P(), check_vma=False)(x, y, scale)


def mended_5(mesh, table, ids):
    found = jnp.take(table, ids, axis=0)
    return jax.lax.with_sharding_constraint(found, jax.NamedSharding(mesh, P("data", None)))


def mended_6(mesh, x, q, s):
    q = jax.lax.with_sharding_constraint(q, jax.NamedSharding(mesh, P()))
    return x @ (q.astype(jnp.float32) * s)
