# failed: values-from-elsewhere
# points: 0
def feed(seed, rows, width):
    import jax
    import numpy as np
    from jax import P
    from jax.sharding import AxisType, NamedSharding

    file = np.random.default_rng([seed, jax.process_index()])
    mine = file.standard_normal((rows, width)).astype("float32")
    mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
    lies = NamedSharding(mesh, P("data"))
    batch = jax.make_array_from_process_local_data(lies, mine)
    return {"batch": batch, "mean": np.asarray(batch).mean(0)}
