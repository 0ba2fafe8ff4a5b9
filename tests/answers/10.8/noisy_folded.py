# failed: depends-on-the-mesh
# points: 3
import jax
import jax.numpy as jnp
import shardlab as sl

P = jax.P

sl.predict("10.8", draws={"same_numbers": True, "collectives": 0, "patterns": 1})


def noisy(mesh, key, X):
    def body(key, x):
        key = jax.random.wrap_key_data(key)
        return x + jax.random.normal(jax.random.fold_in(key, jax.lax.axis_index("data")), x.shape)

    return jax.shard_map(body, mesh=mesh, in_specs=(P(), P("data")), out_specs=P("data"))(key, X)


def apart(mesh, key, X):
    def body(key, x):
        own = jax.random.fold_in(jax.random.wrap_key_data(key), jax.lax.axis_index("data"))
        return x + jax.random.normal(own, x.shape)

    return jax.shard_map(body, mesh=mesh, in_specs=(P(), P("data")), out_specs=P("data"))(key, X)
