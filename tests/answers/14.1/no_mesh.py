# failed: own-devices-only
# points: 0
def feed(seed, rows, width):
    import jax
    import jax.numpy as jnp
    import numpy as np

    file = np.random.default_rng([seed, jax.process_index()])
    batch = jnp.asarray(file.standard_normal((rows, width)).astype("float32"))
    return {"batch": batch, "mean": batch.mean(0)}
