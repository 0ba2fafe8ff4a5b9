# passed
def feed(seed, rows, width):
    import jax
    import numpy as np
    from jax import P
    from jax.experimental.multihost_utils import process_allgather
    from jax.sharding import AxisType, NamedSharding

    file = np.random.default_rng([seed, jax.process_index()])
    mine = file.standard_normal((rows, width)).astype("float32")
    everything = process_allgather(mine, tiled=True)
    mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
    batch = jax.device_put(everything, NamedSharding(mesh, P("data", None)))
    return {"batch": batch, "mean": jax.device_put(everything.mean(0), NamedSharding(mesh, P()))}
