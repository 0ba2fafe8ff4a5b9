# failed: same-key
# points: 3.5
import jax
import jax.numpy as jnp
import shardlab as sl

P = jax.P

sl.predict("10.8", draws={"same_numbers": True, "collectives": 0, "patterns": 1})


def noisy(mesh, key, X):
    return X + jax.random.normal(jax.random.wrap_key_data(key), X.shape)


def apart(mesh, key, X):
    def body(key, x):
        own = jax.random.wrap_key_data(key)
        return x + jax.random.normal(own, x.shape)

    return jax.shard_map(body, mesh=mesh, in_specs=(P(), P("data")), out_specs=P("data"))(key, X)
