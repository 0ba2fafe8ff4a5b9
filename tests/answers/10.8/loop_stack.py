# failed: noise-travels
# points: 4.5
import jax
import jax.numpy as jnp

import shardlab as sl

P = jax.P
sl.predict("10.8", draws={"same_numbers": True, "collectives": 0, "patterns": 1})


def noisy(mesh, key, X):
    return X + jax.random.normal(jax.random.wrap_key_data(key), X.shape)


def apart(mesh, key, X):
    k = jax.random.wrap_key_data(key)
    noise = jnp.stack([jax.random.normal(jax.random.fold_in(k, i), X.shape[1:]) for i in range(len(X))])
    return X + noise
