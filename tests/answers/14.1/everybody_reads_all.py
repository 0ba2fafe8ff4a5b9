# passed
def feed(seed, rows, width):
    import jax
    import numpy as np
    from jax import P
    from jax.sharding import AxisType, NamedSharding

    files = [np.random.default_rng([seed, host]) for host in range(2)]
    everything = np.concatenate([file.standard_normal((rows, width)).astype("float32") for file in files])
    mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
    lies = NamedSharding(mesh, P("data"))
    batch = jax.device_put(everything, lies)
    return {"batch": batch, "mean": batch.mean(0)}
