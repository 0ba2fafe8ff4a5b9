# passed
import jax
import jax.numpy as jnp

import shardlab as sl

P = jax.P
sl.predict("10.8", draws={"same_numbers": True, "collectives": 0, "patterns": 1})


def noisy(mesh, key, X):
    return X + jax.random.normal(jax.random.wrap_key_data(key), X.shape)


def apart(mesh, key, X):
    keys = jax.vmap(jax.random.fold_in, (None, 0))(jax.random.wrap_key_data(key), jnp.arange(mesh.shape["data"]))

    def body(keys, x):
        return x + jax.random.normal(keys[0], x.shape[1:])

    return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P("data")), out_specs=P("data"))(keys, X)
