# failed: same-noise-on-every-device
# points: 0
def start(seed, samples, rows):
    import jax
    import numpy as np
    from jax import P
    from jax.sharding import AxisType, NamedSharding

    host, hosts = jax.process_index(), jax.process_count()
    mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
    weights = jax.random.normal(jax.random.key(seed), (6, 4))
    order = np.random.default_rng(seed).permutation(samples)
    key = jax.random.fold_in(jax.random.key(seed), 1)

    def draw():
        def body():
            same = jax.random.normal(key, (2, 4))
            return jax.lax.pcast(same, "data", to="varying")

        return jax.shard_map(body, mesh=mesh, in_specs=(), out_specs=P("data"))()

    return {
        "weights": jax.device_put(weights, NamedSharding(mesh, P())),
        "rows": order[host::hosts][:rows].tolist(),
        "noise": jax.jit(draw, out_shardings=NamedSharding(mesh, P("data")))(),
    }
