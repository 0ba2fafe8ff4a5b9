# passed
def resume(folder, shape, first, last, seed):
    import jax
    import numpy as np
    from jax import P
    from jax.experimental import multihost_utils
    from jax.sharding import AxisType, NamedSharding

    axes = "rows", "columns"
    mesh = jax.make_mesh(shape, axes, axis_types=(AxisType.Auto,) * 2)
    if first == 0:
        whole = np.random.default_rng(seed).standard_normal((16, 8)).astype("float32")
    else:
        whole = np.load(f"{folder}/step{first}.npy")
    for step in range(first, last):
        whole = np.float32(0.9) * whole + np.float32(step)
    W = jax.device_put(whole, NamedSharding(mesh, P(*axes)))
    everything = multihost_utils.process_allgather(W, tiled=True)
    if jax.process_index() == 0:
        np.save(f"{folder}/step{last}.npy", everything)
    multihost_utils.sync_global_devices(f"saved {last}")
    return W
