from shardlab_course.answers import right, wrong


@right
def folded():
    def start(seed, samples, rows):
        import jax
        import numpy as np
        from jax import P
        from jax.sharding import AxisType, NamedSharding

        host, hosts = jax.process_index(), jax.process_count()
        mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
        weights = jax.random.normal(jax.random.key(seed), (6, 4))
        order = np.random.default_rng(seed).permutation(samples)
        key = jax.random.fold_in(jax.random.key(seed), 1 + host)
        mine = np.asarray(jax.random.normal(key, (8, 4)))

        return {
            "weights": jax.device_put(weights, NamedSharding(mesh, P())),
            "rows": order[host::hosts][:rows].tolist(),
            "noise": jax.make_array_from_process_local_data(NamedSharding(mesh, P("data")), mine),
        }


@right
def halves():
    def start(seed, samples, rows):
        import jax
        import numpy as np
        from jax import P
        from jax.sharding import AxisType, NamedSharding

        host = jax.process_index()
        mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
        weights = jax.random.normal(jax.random.key(seed), (6, 4))
        order = np.random.default_rng(seed).permutation(samples)
        key = jax.random.fold_in(jax.random.key(seed), 1)

        def draw():
            return jax.random.normal(key, (16, 4))

        return {
            "weights": jax.device_put(weights, NamedSharding(mesh, P())),
            "rows": order[host * rows : (host + 1) * rows].tolist(),
            "noise": jax.jit(draw, out_shardings=NamedSharding(mesh, P("data")))(),
        }


@wrong("-", 0)
def no_noise():
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


@wrong("own-order-on-every-host", 0)
def own_order():
    def start(seed, samples, rows):
        import jax
        import numpy as np
        from jax import P
        from jax.sharding import AxisType, NamedSharding

        host = jax.process_index()
        mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
        weights = jax.random.normal(jax.random.key(seed), (6, 4))
        order = np.random.default_rng([seed, host]).permutation(samples)
        key = jax.random.fold_in(jax.random.key(seed), 1)

        def draw():
            return jax.random.normal(key, (16, 4))

        return {
            "weights": jax.device_put(weights, NamedSharding(mesh, P())),
            "rows": order[:rows].tolist(),
            "noise": jax.jit(draw, out_shardings=NamedSharding(mesh, P("data")))(),
        }


@wrong("own-order-on-every-host", 0)
def own_order_own_half():
    def start(seed, samples, rows):
        import jax
        import numpy as np
        from jax import P
        from jax.sharding import AxisType, NamedSharding

        host, hosts = jax.process_index(), jax.process_count()
        mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
        weights = jax.random.normal(jax.random.key(seed), (6, 4))
        order = np.random.default_rng([seed, host]).permutation(samples)
        key = jax.random.fold_in(jax.random.key(seed), 1)

        def draw():
            return jax.random.normal(key, (16, 4))

        return {
            "weights": jax.device_put(weights, NamedSharding(mesh, P())),
            "rows": order[host::hosts][:rows].tolist(),
            "noise": jax.jit(draw, out_shardings=NamedSharding(mesh, P("data")))(),
        }


@wrong("weights-by-host", 0)
def own_weights():
    def start(seed, samples, rows):
        import jax
        import numpy as np
        from jax import P
        from jax.sharding import AxisType, NamedSharding

        host, hosts = jax.process_index(), jax.process_count()
        mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
        weights = jax.random.normal(jax.random.key(seed + host), (6, 4))
        order = np.random.default_rng(seed).permutation(samples)
        key = jax.random.fold_in(jax.random.key(seed), 1)

        def draw():
            return jax.random.normal(key, (16, 4))

        return {
            "weights": jax.make_array_from_process_local_data(NamedSharding(mesh, P()), np.asarray(weights)),
            "rows": order[host::hosts][:rows].tolist(),
            "noise": jax.jit(draw, out_shardings=NamedSharding(mesh, P("data")))(),
        }


@wrong("hosts-must-agree", 0)
def own_weights_put():
    def start(seed, samples, rows):
        import jax
        import numpy as np
        from jax import P
        from jax.sharding import AxisType, NamedSharding

        host, hosts = jax.process_index(), jax.process_count()
        mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
        weights = jax.random.normal(jax.random.key(seed + host), (6, 4))
        order = np.random.default_rng(seed).permutation(samples)
        key = jax.random.fold_in(jax.random.key(seed), 1)

        def draw():
            return jax.random.normal(key, (16, 4))

        return {
            "weights": jax.device_put(weights, NamedSharding(mesh, P())),
            "rows": order[host::hosts][:rows].tolist(),
            "noise": jax.jit(draw, out_shardings=NamedSharding(mesh, P("data")))(),
        }


@wrong("same-noise-on-every-device", 0)
def same_noise_devices():
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


@wrong("same-noise-on-every-host", 0)
def same_noise_hosts():
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

        mine = np.asarray(jax.random.normal(key, (8, 4)))

        return {
            "weights": jax.device_put(weights, NamedSharding(mesh, P())),
            "rows": order[host::hosts][:rows].tolist(),
            "noise": jax.make_array_from_process_local_data(NamedSharding(mesh, P("data")), mine),
        }


@wrong("same-rows-on-every-host", 0)
def same_rows():
    def start(seed, samples, rows):
        import jax
        import numpy as np
        from jax import P
        from jax.sharding import AxisType, NamedSharding

        mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
        weights = jax.random.normal(jax.random.key(seed), (6, 4))
        order = np.random.default_rng(seed).permutation(samples)
        key = jax.random.fold_in(jax.random.key(seed), 1)

        def draw():
            return jax.random.normal(key, (16, 4))

        return {
            "weights": jax.device_put(weights, NamedSharding(mesh, P())),
            "rows": order[:rows].tolist(),
            "noise": jax.jit(draw, out_shardings=NamedSharding(mesh, P("data")))(),
        }


@wrong("no-normal-noise", 0)
def uniform_of_deviation_one():
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
            return jax.random.uniform(key, (16, 4), minval=-(3**0.5), maxval=3**0.5)

        return {
            "weights": jax.device_put(weights, NamedSharding(mesh, P())),
            "rows": order[host::hosts][:rows].tolist(),
            "noise": jax.jit(draw, out_shardings=NamedSharding(mesh, P("data")))(),
        }


@wrong("no-normal-noise", 0)
def uniform():
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
            return jax.random.uniform(key, (16, 4))

        return {
            "weights": jax.device_put(weights, NamedSharding(mesh, P())),
            "rows": order[host::hosts][:rows].tolist(),
            "noise": jax.jit(draw, out_shardings=NamedSharding(mesh, P("data")))(),
        }


@wrong("not-shuffled", 0)
def unshuffled():
    def start(seed, samples, rows):
        import jax
        from jax import P
        from jax.sharding import AxisType, NamedSharding

        host = jax.process_index()
        mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
        weights = jax.random.normal(jax.random.key(seed), (6, 4))
        key = jax.random.fold_in(jax.random.key(seed), 1)

        def draw():
            return jax.random.normal(key, (16, 4))

        return {
            "weights": jax.device_put(weights, NamedSharding(mesh, P())),
            "rows": list(range(host * rows, (host + 1) * rows)),
            "noise": jax.jit(draw, out_shardings=NamedSharding(mesh, P("data")))(),
        }


@right
def weights_by_jit():
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
            return jax.random.normal(key, (16, 4))

        return {
            "weights": jax.jit(lambda: weights, out_shardings=NamedSharding(mesh, P()))(),
            "rows": order[host::hosts][:rows].tolist(),
            "noise": jax.jit(draw, out_shardings=NamedSharding(mesh, P("data")))(),
        }


@right
def noise_first():
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
            return jax.random.normal(key, (16, 4))

        return {
            "rows": order[host::hosts][:rows].tolist(),
            "noise": jax.jit(draw, out_shardings=NamedSharding(mesh, P("data")))(),
            "weights": jax.device_put(weights, NamedSharding(mesh, P())),
        }


@wrong("no-normal-noise", 0)
def zeros_for_noise():
    def start(seed, samples, rows):
        import jax
        import jax.numpy as jnp
        import numpy as np
        from jax import P
        from jax.sharding import AxisType, NamedSharding

        host, hosts = jax.process_index(), jax.process_count()
        mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
        order = np.random.default_rng(seed).permutation(samples)
        return {
            "weights": jax.device_put(jax.random.normal(jax.random.key(seed), (6, 4)), NamedSharding(mesh, P())),
            "rows": order[host::hosts][:rows].tolist(),
            "noise": jnp.zeros((16, 4), device=NamedSharding(mesh, P("data"))),
        }


@wrong("order-of-no-seed", 0)
def one_order_for_all_seeds():
    def start(seed, samples, rows):
        import jax
        import numpy as np
        from jax import P
        from jax.sharding import AxisType, NamedSharding

        host, hosts = jax.process_index(), jax.process_count()
        mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
        weights = jax.random.normal(jax.random.key(seed), (6, 4))
        order = np.random.default_rng(0).permutation(samples)
        key = jax.random.fold_in(jax.random.key(seed), 1)

        def draw():
            return jax.random.normal(key, (16, 4))

        return {
            "weights": jax.device_put(weights, NamedSharding(mesh, P())),
            "rows": order[host::hosts][:rows].tolist(),
            "noise": jax.jit(draw, out_shardings=NamedSharding(mesh, P("data")))(),
        }


@wrong("not-shuffled", 0)
def last_sample_first():
    def start(seed, samples, rows):
        import jax
        import numpy as np
        from jax import P
        from jax.sharding import AxisType, NamedSharding

        host, hosts = jax.process_index(), jax.process_count()
        mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
        weights = jax.random.normal(jax.random.key(seed), (6, 4))
        order = np.arange(samples)[::-1]
        key = jax.random.fold_in(jax.random.key(seed), 1)

        def draw():
            return jax.random.normal(key, (16, 4))

        return {
            "weights": jax.device_put(weights, NamedSharding(mesh, P())),
            "rows": order[host::hosts][:rows].tolist(),
            "noise": jax.jit(draw, out_shardings=NamedSharding(mesh, P("data")))(),
        }


@wrong("no-normal-noise", 0)
def signs_for_noise():
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
            return jax.random.rademacher(key, (16, 4), float)

        return {
            "weights": jax.device_put(weights, NamedSharding(mesh, P())),
            "rows": order[host::hosts][:rows].tolist(),
            "noise": jax.jit(draw, out_shardings=NamedSharding(mesh, P("data")))(),
        }


@wrong("same-noise-on-every-device", 0)
def four_rows_again():
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
            return jax.numpy.tile(jax.random.normal(key, (4, 4)), (4, 1))

        return {
            "weights": jax.device_put(weights, NamedSharding(mesh, P())),
            "rows": order[host::hosts][:rows].tolist(),
            "noise": jax.jit(draw, out_shardings=NamedSharding(mesh, P("data")))(),
        }


@right
def shared_out_first():
    """Each process shuffles its own share of the samples."""

    def start(seed, samples, rows):
        import jax
        import numpy as np
        from jax import P
        from jax.sharding import AxisType, NamedSharding

        mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
        mine = np.arange(samples)[jax.process_index() :: jax.process_count()]
        np.random.default_rng(seed).shuffle(mine)
        weights = jax.random.normal(jax.random.key(seed), (6, 4))
        noise = jax.random.normal(jax.random.key(seed + 1), (16, 4))
        return {
            "weights": jax.device_put(weights, NamedSharding(mesh, P())),
            "rows": mine[:rows].tolist(),
            "noise": jax.device_put(noise, NamedSharding(mesh, P("data"))),
        }
