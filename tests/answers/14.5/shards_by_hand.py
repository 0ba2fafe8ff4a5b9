# passed
def resume(folder, shape, first, last, seed):
    import jax
    import jax.experimental.multihost_utils
    import numpy as np
    from jax import P
    from jax.sharding import AxisType, NamedSharding

    axes = "rows", "columns"
    mesh = jax.make_mesh(shape, axes, axis_types=(AxisType.Auto,) * 2)
    lies = NamedSharding(mesh, P(*axes))
    if first == 0:
        whole = np.random.default_rng(seed).standard_normal((16, 8)).astype("float32")
    else:
        whole = np.zeros((16, 8), "float32")
        for process in range(jax.process_count()):
            for place in np.load(f"{folder}-{first}-{process}.npy", allow_pickle=True):
                whole[place["index"]] = place["values"]
    W = jax.make_array_from_callback((16, 8), lies, lambda index: whole[index])
    for step in range(first, last):
        W = 0.9 * W + step
    held = [{"index": s.index, "values": np.asarray(s.data)} for s in W.addressable_shards]
    np.save(f"{folder}-{last}-{jax.process_index()}.npy", np.array(held, dtype=object))
    jax.experimental.multihost_utils.sync_global_devices("saved")
    return W
