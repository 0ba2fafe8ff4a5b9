# passed
def feed(seed, rows, width):
    import jax
    import numpy as np
    from jax import P
    from jax.sharding import AxisType, NamedSharding

    file = np.random.default_rng([seed, jax.process_index()])
    mine = file.standard_normal((rows, width)).astype("float32")
    mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
    lies = NamedSharding(mesh, P("data"))
    parts = np.split(mine, 4)
    pieces = [jax.device_put(part, d) for part, d in zip(parts, jax.local_devices())]
    batch = jax.make_array_from_single_device_arrays((2 * rows, width), lies, pieces)
    return {"batch": batch, "mean": batch.mean(0)}
