# failed: -
# points: 0
def start(seed, samples, rows):
    import jax
    import numpy as np
    from jax import P
    from jax.sharding import AxisType, NamedSharding

    mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
    weights = jax.random.normal(jax.random.key(seed), (6, 4))
    order = np.random.default_rng(seed).permutation(samples)
    return {
        "weights": jax.device_put(weights, NamedSharding(mesh, P())),
        "rows": order[jax.process_index() :: 2][:rows].tolist(),
    }
