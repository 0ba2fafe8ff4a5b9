# failed: promised-copies
# points: 0
def feed(seed, rows, width):
    import jax
    import numpy as np
    from jax import P
    from jax.sharding import AxisType, NamedSharding

    file = np.random.default_rng([seed, jax.process_index()])
    mine = file.standard_normal((rows, width)).astype("float32")
    mesh = jax.make_mesh((4, 2), ("local", "global"), axis_types=(AxisType.Auto,) * 2)
    batch = jax.make_array_from_process_local_data(NamedSharding(mesh, P("global")), mine)
    return {"batch": batch, "mean": batch.mean(0)}
