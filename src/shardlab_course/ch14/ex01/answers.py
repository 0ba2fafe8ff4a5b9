from shardlab_course.answers import right, wrong


@right
def by_callback():
    def feed(seed, rows, width):
        import jax
        import numpy as np
        from jax import P
        from jax.sharding import AxisType, NamedSharding

        file = np.random.default_rng([seed, jax.process_index()])
        mine = file.standard_normal((rows, width)).astype("float32")
        mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
        lies = NamedSharding(mesh, P("data"))
        first = jax.process_index() * rows

        def piece(index):
            return mine[index[0].start - first : index[0].stop - first]

        batch = jax.make_array_from_callback((2 * rows, width), lies, piece)
        return {"batch": batch, "mean": batch.mean(0)}


@wrong("copies-within-a-host", 3.5)
def copies():
    def feed(seed, rows, width):
        import jax
        import numpy as np
        from jax import P
        from jax.sharding import AxisType, NamedSharding

        file = np.random.default_rng([seed, jax.process_index()])
        mine = file.standard_normal((rows, width)).astype("float32")
        mesh = jax.make_mesh((2, 4), ("data", "local"), axis_types=(AxisType.Auto,) * 2)
        lies = NamedSharding(mesh, P("data"))
        batch = jax.make_array_from_process_local_data(lies, mine)
        return {"batch": batch, "mean": batch.mean(0)}


@right
def everybody_reads_all():
    def feed(seed, rows, width):
        import jax
        import numpy as np
        from jax import P
        from jax.sharding import AxisType, NamedSharding

        files = [np.random.default_rng([seed, host]) for host in range(2)]
        everything = np.concatenate([file.standard_normal((rows, width)).astype("float32") for file in files])
        mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
        lies = NamedSharding(mesh, P("data"))
        batch = jax.device_put(everything, lies)
        return {"batch": batch, "mean": batch.mean(0)}


@right
def explicit():
    def feed(seed, rows, width):
        import jax
        import numpy as np
        from jax import P
        from jax.sharding import AxisType, NamedSharding

        file = np.random.default_rng([seed, jax.process_index()])
        mine = file.standard_normal((rows, width)).astype("float32")
        mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Explicit,))
        lies = NamedSharding(mesh, P("data"))
        batch = jax.make_array_from_process_local_data(lies, mine)
        return {"batch": batch, "mean": batch.mean(0)}


@right
def gathered():
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


@wrong("promised-copies", 0)
def local_by_hosts():
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


@wrong("own-devices-only", 0)
def local_mesh():
    def feed(seed, rows, width):
        import jax
        import numpy as np
        from jax import P
        from jax.sharding import AxisType, NamedSharding

        file = np.random.default_rng([seed, jax.process_index()])
        mine = file.standard_normal((rows, width)).astype("float32")
        mesh = jax.make_mesh((4,), ("data",), axis_types=(AxisType.Auto,), devices=jax.local_devices())
        lies = NamedSharding(mesh, P("data"))
        batch = jax.make_array_from_process_local_data(lies, mine)
        return {"batch": batch, "mean": batch.mean(0)}


@wrong("own-devices-only", 0)
def no_mesh():
    def feed(seed, rows, width):
        import jax
        import jax.numpy as jnp
        import numpy as np

        file = np.random.default_rng([seed, jax.process_index()])
        batch = jnp.asarray(file.standard_normal((rows, width)).astype("float32"))
        return {"batch": batch, "mean": batch.mean(0)}


@wrong("values-from-elsewhere", 0)
def numpy_mean():
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


@wrong("mean-of-own-rows", 0)
def own_mean():
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
        return {"batch": batch, "mean": jax.numpy.asarray(mine.mean(0))}


@wrong("promised-copies", 0)
def promise():
    def feed(seed, rows, width):
        import jax
        import numpy as np
        from jax import P
        from jax.sharding import AxisType, NamedSharding

        file = np.random.default_rng([seed, jax.process_index()])
        mine = file.standard_normal((rows, width)).astype("float32")
        mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
        lies = NamedSharding(mesh, P())
        batch = jax.make_array_from_process_local_data(lies, mine)
        return {"batch": batch, "mean": batch.mean(0)}


@wrong("every-host-the-same-rows", 0)
def same_file():
    def feed(seed, rows, width):
        import jax
        import numpy as np
        from jax import P
        from jax.sharding import AxisType, NamedSharding

        file = np.random.default_rng([seed, 0])
        mine = file.standard_normal((rows, width)).astype("float32")
        mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
        lies = NamedSharding(mesh, P("data"))
        batch = jax.make_array_from_process_local_data(lies, mine)
        return {"batch": batch, "mean": batch.mean(0)}


@right
def shard_by_shard():
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


@wrong("hosts-swapped", 0)
def swapped():
    def feed(seed, rows, width):
        import jax
        import numpy as np
        from jax import P
        from jax.sharding import AxisType, NamedSharding

        file = np.random.default_rng([seed, 1 - jax.process_index()])
        mine = file.standard_normal((rows, width)).astype("float32")
        mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
        lies = NamedSharding(mesh, P("data"))
        batch = jax.make_array_from_process_local_data(lies, mine)
        return {"batch": batch, "mean": batch.mean(0)}


@right
def two_axes():
    def feed(seed, rows, width):
        import jax
        import numpy as np
        from jax import P
        from jax.sharding import AxisType, NamedSharding

        file = np.random.default_rng([seed, jax.process_index()])
        mine = file.standard_normal((rows, width)).astype("float32")
        mesh = jax.make_mesh((2, 4), ("host", "local"), axis_types=(AxisType.Auto,) * 2)
        lies = NamedSharding(mesh, P(("host", "local")))
        batch = jax.make_array_from_process_local_data(lies, mine)
        return {"batch": batch, "mean": batch.mean(0)}


@right
def with_its_shape():
    def feed(seed, rows, width):
        import jax
        import numpy as np
        from jax import P
        from jax.sharding import AxisType, NamedSharding

        file = np.random.default_rng([seed, jax.process_index()])
        mine = file.standard_normal((rows, width)).astype("float32")
        mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
        lies = NamedSharding(mesh, P("data"))
        batch = jax.make_array_from_process_local_data(lies, mine, (2 * rows, width))
        return {"batch": batch, "mean": batch.mean(0)}


@right
def mean_first():
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
        return {"mean": batch.mean(0), "batch": batch}
