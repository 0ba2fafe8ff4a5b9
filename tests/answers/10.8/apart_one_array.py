# failed: one-array-of-noise
# points: 3.5
import jax
import jax.numpy as jnp
import shardlab as sl

P = jax.P

sl.predict("10.8", draws={"same_numbers": True, "collectives": 0, "patterns": 1})


def noisy(mesh, key, X):
    return X + jax.random.normal(jax.random.wrap_key_data(key), X.shape)


def apart(mesh, key, X):
    return X + jax.random.normal(jax.random.wrap_key_data(key), X.shape)
