import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding

from shardlab_course.answers import right, wrong

P = jax.P


@wrong("averaged-again", 3.5)
def averaged_twice():
    def gradients(mesh, X, Y, W1, W2):
        def reduce(slope):
            slope = jax.lax.psum_scatter(slope, "local", tiled=True)
            slope = jax.lax.psum(slope, "host")
            return jax.lax.all_gather(slope, "local", tiled=True, to="invarying") / 64

        def body(X, Y, *weights):
            weights = [jax.lax.pcast(w, ("host", "local"), to="varying") for w in weights]

            def loss(weights):
                return jnp.mean((jax.nn.relu(X @ weights[0]) @ weights[1] - Y) ** 2)

            return tuple(map(reduce, jax.grad(loss)(weights)))

        rows = P(("host", "local"), None)
        return jax.shard_map(body, mesh=mesh, in_specs=(rows, rows, P(), P()), out_specs=(P(), P()))(X, Y, W1, W2)


@right
def backward_by_hand():
    from jax import P

    def grid(process_of):
        hosts = max(process_of) + 1
        return [[d for d in range(len(process_of)) if process_of[d] == h] for h in range(hosts)]

    def gradients(mesh, X, Y, W1, W2):
        def lie(array, *spec):
            return jax.lax.with_sharding_constraint(array, NamedSharding(mesh, P(*spec)))

        X, Y, A, B = lie(X, "host"), lie(Y, "host"), lie(W1, None, "local"), lie(W2, "local")
        Z = lie(X @ A, "host", "local")
        H = jnp.maximum(Z, 0)
        E = lie(2 * (H @ B - Y) / Y.size, "host")
        g2 = lie(lie(H.T @ E, "local"))
        g1 = lie(lie(X.T @ ((E @ B.T) * (Z > 0)), None, "local"))
        return g1, g2


@wrong("whole-gradients-cross", 7)
def batch_over_hosts_only():
    def gradients(mesh, X, Y, W1, W2):
        def lie(array, *spec):
            return jax.lax.with_sharding_constraint(array, NamedSharding(mesh, P(*spec)))

        X, Y = lie(X, "host"), lie(Y, "host")

        def loss(weights):
            W1, W2 = weights
            hidden = jax.nn.relu(X @ lie(W1))
            return jnp.mean((hidden @ lie(W2) - Y) ** 2)

        return jax.tree.map(lie, jax.grad(loss)((W1, W2)))


@right
def by_numpy():
    import numpy as np

    def grid(process_of):
        hosts = len(set(process_of))
        return np.argsort(process_of, kind="stable").reshape(hosts, -1).tolist()


@wrong("hosts-as-columns", 10.5)
def columns():
    import numpy as np

    def grid(process_of):
        hosts = len(set(process_of))
        return np.argsort(process_of, kind="stable").reshape(hosts, -1).T.tolist()


@right
def cut_within_host_only():
    def gradients(mesh, X, Y, W1, W2):
        def lie(array, *spec):
            return jax.lax.with_sharding_constraint(array, NamedSharding(mesh, P(*spec)))

        def loss(weights):
            hidden = lie(jax.nn.relu(lie(X, "host") @ weights[0]), "host", "local")
            return jnp.mean((lie(hidden @ weights[1], "host") - Y) ** 2)

        slopes = jax.grad(loss)((W1, W2))
        return lie(slopes[0]), lie(slopes[1])


@wrong("flat-data-parallel", 7)
def data_parallel():
    def gradients(mesh, X, Y, W1, W2):
        def loss(weights):
            return jnp.mean((jax.nn.relu(X @ weights[0]) @ weights[1] - Y) ** 2)

        return jax.grad(loss)((W1, W2))


@wrong("first-come", 10.5)
def first_come():
    def grid(process_of):
        rows = {}
        for device, process in enumerate(process_of):
            rows.setdefault(process, []).append(device)
        return list(rows.values())


@wrong("averaged-again", 3.5)
def half_loss():
    from jax import P

    def grid(process_of):
        return [[d for d, q in enumerate(process_of) if q == p] for p in sorted(set(process_of))]

    def gradients(mesh, X, Y, W1, W2):
        def lie(array, *spec):
            return jax.lax.with_sharding_constraint(array, NamedSharding(mesh, P(*spec)))

        X, Y = lie(X, "host"), lie(Y, "host")

        def loss(W1, W2):
            hidden = jax.nn.relu(X @ lie(W1, None, "local"))
            return 0.5 * jnp.mean((hidden @ lie(W2, "local", None) - Y) ** 2)

        return tuple(lie(g) for g in jax.grad(loss, (0, 1))(W1, W2))


@wrong("sum-over-outputs", 3.5)
def mean_over_samples():
    def gradients(mesh, X, Y, W1, W2):
        def lie(array, *spec):
            return jax.lax.with_sharding_constraint(array, NamedSharding(mesh, P(*spec)))

        X, Y = lie(X, "host"), lie(Y, "host")

        def loss(weights):
            W1, W2 = weights
            hidden = jax.nn.relu(X @ lie(W1, None, "local"))
            return jnp.mean(jnp.sum((hidden @ lie(W2, "local", None) - Y) ** 2, axis=1))

        return jax.tree.map(lie, jax.grad(loss)((W1, W2)))


@wrong("activations-cross-hosts", 7)
def model_over_hosts():
    def gradients(mesh, X, Y, W1, W2):
        def lie(array, *spec):
            return jax.lax.with_sharding_constraint(array, NamedSharding(mesh, P(*spec)))

        X, Y = lie(X, "local"), lie(Y, "local")

        def loss(weights):
            W1, W2 = weights
            hidden = jax.nn.relu(X @ lie(W1, None, "host"))
            return jnp.mean((hidden @ lie(W2, "host", None) - Y) ** 2)

        return jax.tree.map(lie, jax.grad(loss)((W1, W2)))


@wrong("in-numbered-order", 10.5)
def numbered():
    import numpy as np

    def grid(process_of):
        return np.arange(len(process_of)).reshape(len(set(process_of)), -1).tolist()


@wrong("left-in-pieces", 12.25)
def pieces():
    def gradients(mesh, X, Y, W1, W2):
        def lie(array, *spec):
            return jax.lax.with_sharding_constraint(array, NamedSharding(mesh, P(*spec)))

        X, Y = lie(X, "host"), lie(Y, "host")

        def loss(weights):
            W1, W2 = weights
            hidden = jax.nn.relu(X @ lie(W1, None, "local"))
            return jnp.mean((hidden @ lie(W2, "local", None) - Y) ** 2)

        slopes = jax.grad(loss)((W1, W2))
        return lie(slopes[0], None, "local"), lie(slopes[1], "local", None)


@wrong("whole-gradients-cross", 7)
def rows_alone():
    from jax import P

    def grid(process_of):
        return [[d for d, q in enumerate(process_of) if q == p] for p in sorted(set(process_of))]

    def gradients(mesh, X, Y, W1, W2):
        X, Y = (jax.lax.with_sharding_constraint(a, NamedSharding(mesh, P("host"))) for a in (X, Y))

        def loss(W1, W2):
            return jnp.mean((jax.nn.relu(X @ W1) @ W2 - Y) ** 2)

        return jax.grad(loss, (0, 1))(W1, W2)


@right
def scattered_by_hand():
    def gradients(mesh, X, Y, W1, W2):
        def reduce(slope):
            slope = jax.lax.psum_scatter(slope, "local", tiled=True)
            slope = jax.lax.psum(slope, "host")
            return jax.lax.all_gather(slope, "local", tiled=True, to="invarying") / 8

        def body(X, Y, *weights):
            weights = [jax.lax.pcast(w, ("host", "local"), to="varying") for w in weights]

            def loss(weights):
                return jnp.mean((jax.nn.relu(X @ weights[0]) @ weights[1] - Y) ** 2)

            return tuple(map(reduce, jax.grad(loss)(weights)))

        rows = P(("host", "local"), None)
        return jax.shard_map(body, mesh=mesh, in_specs=(rows, rows, P(), P()), out_specs=(P(), P()))(X, Y, W1, W2)


@wrong("local-by-hosts", 10.5)
def seed_mesh():
    import numpy as np

    def grid(process_of):
        return np.arange(len(process_of)).reshape(-1, len(set(process_of))).tolist()


@wrong("sum-instead-of-mean", 3.5)
def sum():
    def gradients(mesh, X, Y, W1, W2):
        def lie(array, *spec):
            return jax.lax.with_sharding_constraint(array, NamedSharding(mesh, P(*spec)))

        X, Y = lie(X, "host"), lie(Y, "host")

        def loss(weights):
            W1, W2 = weights
            hidden = jax.nn.relu(X @ lie(W1, None, "local"))
            return jnp.sum((hidden @ lie(W2, "local", None) - Y) ** 2)

        return jax.tree.map(lie, jax.grad(loss)((W1, W2)))


@wrong("summed-again", 3.5)
def summed_by_hand_twice():
    def gradients(mesh, X, Y, W1, W2):
        def reduce(slope):
            slope = jax.lax.psum_scatter(slope, "local", tiled=True)
            slope = jax.lax.psum(slope, "host")
            return jax.lax.all_gather(slope, "local", tiled=True, to="invarying")

        def body(X, Y, *weights):
            weights = [jax.lax.pcast(w, ("host", "local"), to="varying") for w in weights]

            def loss(weights):
                return jnp.mean((jax.nn.relu(X @ weights[0]) @ weights[1] - Y) ** 2)

            return tuple(map(reduce, jax.grad(loss)(weights)))

        rows = P(("host", "local"), None)
        return jax.shard_map(body, mesh=mesh, in_specs=(rows, rows, P(), P()), out_specs=(P(), P()))(X, Y, W1, W2)


@wrong("promise-not-proved", 3.5)
def unproved():
    def gradients(mesh, X, Y, W1, W2):
        def reduce(slope):
            slope = jax.lax.psum_scatter(slope, "local", tiled=True)
            slope = jax.lax.psum(slope, "host")
            return jax.lax.all_gather(slope, "local", tiled=True) / 8

        def body(X, Y, *weights):
            weights = [jax.lax.pcast(w, ("host", "local"), to="varying") for w in weights]

            def loss(weights):
                return jnp.mean((jax.nn.relu(X @ weights[0]) @ weights[1] - Y) ** 2)

            return tuple(map(reduce, jax.grad(loss)(weights)))

        rows = P(("host", "local"), None)
        return jax.shard_map(body, mesh=mesh, in_specs=(rows, rows, P(), P()), out_specs=(P(), P()))(X, Y, W1, W2)


@wrong("whole-gradients-cross", 7)
def one_of_two_flat():
    def gradients(mesh, X, Y, W1, W2):
        every = ("host", "local")

        def body(X, Y, *weights):
            weights = [jax.lax.pcast(w, every, to="varying") for w in weights]

            def loss(weights):
                W1, W2 = weights
                return jnp.sum((jax.nn.relu(X @ W1) @ W2 - Y) ** 2) / (8 * Y.size)

            first, second = jax.grad(loss)(weights)
            part = jax.lax.psum(jax.lax.psum_scatter(second, "local", tiled=True), "host")
            return jax.lax.psum(first, every), jax.lax.all_gather(part, "local", tiled=True, to="invarying")

        return jax.shard_map(body, mesh=mesh, in_specs=(P(every), P(every), P(), P()), out_specs=P())(X, Y, W1, W2)


@wrong("activations-cross-hosts", 7)
def tensor_parallel_over_all():
    def gradients(mesh, X, Y, W1, W2):
        def lie(array, *spec):
            return jax.lax.with_sharding_constraint(array, NamedSharding(mesh, P(*spec)))

        def loss(weights):
            W1, W2 = weights
            hidden = jax.nn.relu(lie(X) @ lie(W1, None, ("host", "local")))
            return jnp.mean((hidden @ lie(W2, ("host", "local"), None) - lie(Y)) ** 2)

        return jax.tree.map(lie, jax.grad(loss)((W1, W2)))
