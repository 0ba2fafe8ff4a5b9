# passed
import jax
import jax.numpy as jnp
import shardlab as sl

P = jax.P

sl.predict("10.8", draws={"same_numbers": True, "collectives": 0, "patterns": 1})


def noisy(mesh, key, X):
    return X + jax.random.normal(jax.random.wrap_key_data(key), X.shape)


def apart(mesh, key, X):
    own = jax.random.split(jax.random.wrap_key_data(key), len(X))
    return X + jax.vmap(lambda k: jax.random.normal(k, X.shape[1:]))(own)
