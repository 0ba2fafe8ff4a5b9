# passed
def resume(folder, shape, first, last, seed):
    import jax
    import numpy as np
    import orbax.checkpoint as ocp
    from jax import P
    from jax.sharding import AxisType, NamedSharding

    axes = "rows", "columns"
    mesh = jax.make_mesh(shape, axes, axis_types=(AxisType.Auto,) * 2)
    lies = NamedSharding(mesh, P(*axes))
    with ocp.StandardCheckpointer() as files:
        if first == 0:
            W = np.random.default_rng(seed).standard_normal((16, 8))
            W = jax.device_put(W.astype("float32"), lies)
        else:
            like = jax.ShapeDtypeStruct((16, 8), "float32", sharding=lies)
            W = files.restore(f"{folder}/{first}", {"W": like})["W"]
        for step in range(first, last):
            W = 0.9 * W + step
        files.save(f"{folder}/{last}", {"W": W})
    return W
