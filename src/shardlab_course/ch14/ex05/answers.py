from shardlab_course.answers import right, wrong


@right
def gathered():
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


@wrong("not-continued", 0)
def not_continued():
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
            for step in range(first, last if first == 0 else first):
                W = 0.9 * W + step
            files.save(f"{folder}/{last}", {"W": W})
        return W


@wrong("all-values-in-one-process", 0)
def numpy_save():
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
            np.save(f"{folder}-{last}", np.asarray(W))
        return W


@wrong("lies-as-it-was-saved", 7)
def old_mesh():
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
                W = files.restore(f"{folder}/{first}")["W"]
            for step in range(first, last):
                W = 0.9 * W + step
            files.save(f"{folder}/{last}", {"W": W})
        return W


@wrong("one-process-saves", 0, alone=True)
def one_saves():
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
            if jax.process_index() == 0:
                files.save(f"{folder}/{last}", {"W": W})
        return W


@wrong("-", 7)
def other_spec():
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
                old = NamedSharding(mesh, P("rows"))
                like = jax.ShapeDtypeStruct((16, 8), "float32", sharding=old)
                W = files.restore(f"{folder}/{first}", {"W": like})["W"]
            for step in range(first, last):
                W = 0.9 * W + step
            files.save(f"{folder}/{last}", {"W": W})
        return W


@right
def restored_and_moved():
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
                old = jax.make_mesh((8,), ("all",), axis_types=(AxisType.Auto,))
                like = jax.ShapeDtypeStruct((16, 8), "float32", sharding=NamedSharding(old, P("all")))
                W = jax.device_put(files.restore(f"{folder}/{first}", {"W": like})["W"], lies)
            for step in range(first, last):
                W = 0.9 * W + step
            files.save(f"{folder}/{last}", {"W": W})
        return W


@right
def shards_by_hand():
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


@wrong("steps-from-zero-again", 0)
def steps_from_zero():
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
            for step in range(last - first):
                W = 0.9 * W + step
            files.save(f"{folder}/{last}", {"W": W})
        return W


@wrong("nothing-under-that-name", 0)
def wrong_name():
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
            files.save(f"{folder}/{last - 1}", {"W": W})
        return W


@wrong("never-restored", 0)
def zeros():
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
                W = jax.device_put(np.zeros((16, 8), "float32"), lies)
            for step in range(first, last):
                W = 0.9 * W + step
            files.save(f"{folder}/{last}", {"W": W})
        return W
