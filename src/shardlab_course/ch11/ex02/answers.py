import jax
import jax.numpy as jnp
from jax import P

from shardlab_course.answers import right, wrong


@right
def by_hand():
    def train(mesh, X, Y, E, W):
        rows = P("data", None)

        def body(X, Y, E, W):
            def loss(weights):
                E, W = weights
                return jnp.mean((jnp.tanh(X @ E @ W) @ E.T - Y) ** 2)

            n, place = jax.lax.axis_size("data"), jax.lax.axis_index("data")
            weights, state = [E, W], [None, None]
            for t in range(1, 6):
                own = jax.tree.map(lambda w: jax.lax.pcast(w, "data", to="varying"), weights)
                slopes = jax.grad(loss)(own)
                for i, (w, slope) in enumerate(zip(own, slopes)):
                    slope = jax.lax.psum_scatter(slope, "data", tiled=True) / n
                    m, v = state[i] or (0 * slope, 0 * slope)
                    m, v = 0.9 * m + 0.1 * slope, 0.999 * v + 0.001 * slope**2
                    change = m / (1 - 0.9**t) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-4)
                    some = jax.lax.dynamic_slice_in_dim(w, place * (w.shape[0] // n), w.shape[0] // n)
                    weights[i] = jax.lax.all_gather(some - 0.01 * change, "data", tiled=True, to="invarying")
                    state[i] = m, v
            return *weights, *state[0], *state[1]

        specs = dict(in_specs=(rows, rows, P(), P()), out_specs=(P(), P(), rows, rows, rows, rows))
        return jax.shard_map(body, mesh=mesh, **specs)(X, Y, E, W)


@wrong("gradients-summed", 0)
def by_hand_summed():
    def train(mesh, X, Y, E, W):
        rows = P("data", None)

        def body(X, Y, E, W):
            def loss(weights):
                E, W = weights
                return jnp.mean((jnp.tanh(X @ E @ W) @ E.T - Y) ** 2)

            n, place = jax.lax.axis_size("data"), jax.lax.axis_index("data")
            weights, state = [E, W], [None, None]
            for t in range(1, 6):
                own = jax.tree.map(lambda w: jax.lax.pcast(w, "data", to="varying"), weights)
                slopes = jax.grad(loss)(own)
                for i, (w, slope) in enumerate(zip(own, slopes)):
                    slope = jax.lax.psum_scatter(slope, "data", tiled=True)
                    m, v = state[i] or (0 * slope, 0 * slope)
                    m, v = 0.9 * m + 0.1 * slope, 0.999 * v + 0.001 * slope**2
                    change = m / (1 - 0.9**t) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-4)
                    some = jax.lax.dynamic_slice_in_dim(w, place * (w.shape[0] // n), w.shape[0] // n)
                    weights[i] = jax.lax.all_gather(some - 0.01 * change, "data", tiled=True, to="invarying")
                    state[i] = m, v
            return *weights, *state[0], *state[1]

        specs = dict(in_specs=(rows, rows, P(), P()), out_specs=(P(), P(), rows, rows, rows, rows))
        return jax.shard_map(body, mesh=mesh, **specs)(X, Y, E, W)


@wrong("state-by-columns", 12)
def columns():
    def train(mesh, X, Y, E, W):
        rows = P(None, "data")

        def lie(a, spec):
            return jax.lax.with_sharding_constraint(a, jax.NamedSharding(mesh, spec))

        def loss(weights):
            E, W = weights
            return jnp.mean((jnp.tanh(X @ E @ W) @ E.T - Y) ** 2)

        weights = [E, W]
        state = [(lie(jnp.zeros_like(w), rows),) * 2 for w in weights]
        for t in range(1, 6):
            slopes = jax.grad(loss)(weights)
            for i, slope in enumerate(slopes):
                m, v = state[i]
                m = lie(0.9 * m + 0.1 * slope, rows)
                v = lie(0.999 * v + 0.001 * slope**2, rows)
                change = m / (1 - 0.9**t) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-4)
                weights[i], state[i] = lie(weights[i] - 0.01 * lie(change, rows), P()), (m, v)
        (mE, vE), (mW, vW) = state
        return weights[0], weights[1], mE, vE, mW, vW


@wrong("cut-at-the-end", 15)
def cut_last():
    def train(mesh, X, Y, E, W):
        rows = P("data", None)

        def lie(a, spec):
            return jax.lax.with_sharding_constraint(a, jax.NamedSharding(mesh, spec))

        def loss(weights):
            E, W = weights
            return jnp.mean((jnp.tanh(X @ E @ W) @ E.T - Y) ** 2)

        weights = [E, W]
        state = [(lie(jnp.zeros_like(w), rows),) * 2 for w in weights]
        for t in range(1, 6):
            slopes = jax.grad(loss)(weights)
            for i, slope in enumerate(slopes):
                m, v = state[i]
                m = lie(0.9 * m + 0.1 * slope, P())
                v = lie(0.999 * v + 0.001 * slope**2, P())
                change = m / (1 - 0.9**t) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-4)
                weights[i], state[i] = lie(weights[i] - 0.01 * lie(change, P()), P()), (m, v)
        (mE, vE), (mW, vW) = state
        return weights[0], weights[1], *(lie(a, rows) for a in (mE, vE, mW, vW))


@wrong("first-use-only", 0)
def first_use():
    def train(mesh, X, Y, E, W):
        rows = P("data", None)

        def lie(a, spec):
            return jax.lax.with_sharding_constraint(a, jax.NamedSharding(mesh, spec))

        def loss(weights):
            E, W = weights
            return jnp.mean((jnp.tanh(X @ E @ W) @ jax.lax.stop_gradient(E).T - Y) ** 2)

        weights = [E, W]
        state = [(lie(jnp.zeros_like(w), rows),) * 2 for w in weights]
        for t in range(1, 6):
            slopes = jax.grad(loss)(weights)
            for i, slope in enumerate(slopes):
                m, v = state[i]
                m = lie(0.9 * m + 0.1 * slope, rows)
                v = lie(0.999 * v + 0.001 * slope**2, rows)
                change = m / (1 - 0.9**t) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-4)
                weights[i], state[i] = lie(weights[i] - 0.01 * lie(change, rows), P()), (m, v)
        (mE, vE), (mW, vW) = state
        return weights[0], weights[1], mE, vE, mW, vW


@wrong("state-forgotten", 0)
def forgets():
    def train(mesh, X, Y, E, W):
        rows = P("data", None)

        def lie(a, spec):
            return jax.lax.with_sharding_constraint(a, jax.NamedSharding(mesh, spec))

        def loss(weights):
            E, W = weights
            return jnp.mean((jnp.tanh(X @ E @ W) @ E.T - Y) ** 2)

        weights = [E, W]
        state = [(lie(jnp.zeros_like(w), rows),) * 2 for w in weights]
        for t in range(1, 6):
            slopes = jax.grad(loss)(weights)
            for i, slope in enumerate(slopes):
                m, v = (jnp.zeros_like(a) for a in state[i])
                m = lie(0.9 * m + 0.1 * slope, rows)
                v = lie(0.999 * v + 0.001 * slope**2, rows)
                change = m / (1 - 0.9**t) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-4)
                weights[i], state[i] = lie(weights[i] - 0.01 * lie(change, rows), P()), (m, v)
        (mE, vE), (mW, vW) = state
        return weights[0], weights[1], mE, vE, mW, vW


@wrong("step-zero", 0)
def from_zero():
    def train(mesh, X, Y, E, W):
        rows = P("data", None)

        def lie(a, spec):
            return jax.lax.with_sharding_constraint(a, jax.NamedSharding(mesh, spec))

        def loss(weights):
            E, W = weights
            return jnp.mean((jnp.tanh(X @ E @ W) @ E.T - Y) ** 2)

        weights = [E, W]
        state = [(lie(jnp.zeros_like(w), rows),) * 2 for w in weights]
        for t in range(5):
            slopes = jax.grad(loss)(weights)
            for i, slope in enumerate(slopes):
                m, v = state[i]
                m = lie(0.9 * m + 0.1 * slope, rows)
                v = lie(0.999 * v + 0.001 * slope**2, rows)
                change = m / (1 - 0.9**t) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-4)
                weights[i], state[i] = lie(weights[i] - 0.01 * lie(change, rows), P()), (m, v)
        (mE, vE), (mW, vW) = state
        return weights[0], weights[1], mE, vE, mW, vW


@right
def gathered_by_psum():
    def train(mesh, X, Y, E, W):
        rows = P("data", None)

        def body(X, Y, E, W):
            def loss(weights):
                E, W = weights
                return jnp.mean((jnp.tanh(X @ E @ W) @ E.T - Y) ** 2)

            n, place = jax.lax.axis_size("data"), jax.lax.axis_index("data")
            weights, state = [E, W], [None, None]
            for t in range(1, 6):
                own = jax.tree.map(lambda w: jax.lax.pcast(w, "data", to="varying"), weights)
                slopes = jax.grad(loss)(own)
                for i, (w, slope) in enumerate(zip(own, slopes)):
                    slope = jax.lax.psum_scatter(slope, "data", tiled=True) / n
                    m, v = state[i] or (0 * slope, 0 * slope)
                    m, v = 0.9 * m + 0.1 * slope, 0.999 * v + 0.001 * slope**2
                    change = m / (1 - 0.9**t) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-4)
                    some = jax.lax.dynamic_slice_in_dim(w, place * (w.shape[0] // n), w.shape[0] // n)
                    none = 0 * w
                    full = jax.lax.dynamic_update_slice_in_dim(none, some - 0.01 * change, place * (w.shape[0] // n), 0)
                    weights[i] = jax.lax.psum(full, "data")
                    state[i] = m, v
            return *weights, *state[0], *state[1]

        specs = dict(in_specs=(rows, rows, P(), P()), out_specs=(P(), P(), rows, rows, rows, rows))
        return jax.shard_map(body, mesh=mesh, **specs)(X, Y, E, W)


@wrong("one-step", 0)
def one_step():
    def train(mesh, X, Y, E, W):
        rows = P("data", None)

        def lie(a, spec):
            return jax.lax.with_sharding_constraint(a, jax.NamedSharding(mesh, spec))

        def loss(weights):
            E, W = weights
            return jnp.mean((jnp.tanh(X @ E @ W) @ E.T - Y) ** 2)

        weights = [E, W]
        state = [(lie(jnp.zeros_like(w), rows),) * 2 for w in weights]
        for t in range(1, 2):
            slopes = jax.grad(loss)(weights)
            for i, slope in enumerate(slopes):
                m, v = state[i]
                m = lie(0.9 * m + 0.1 * slope, rows)
                v = lie(0.999 * v + 0.001 * slope**2, rows)
                change = m / (1 - 0.9**t) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-4)
                weights[i], state[i] = lie(weights[i] - 0.01 * lie(change, rows), P()), (m, v)
        (mE, vE), (mW, vW) = state
        return weights[0], weights[1], mE, vE, mW, vW


@wrong("promise-not-proved", 0)
def promise():
    def train(mesh, X, Y, E, W):
        rows = P("data", None)

        def body(X, Y, E, W):
            def loss(weights):
                E, W = weights
                return jnp.mean((jnp.tanh(X @ E @ W) @ E.T - Y) ** 2)

            n, place = jax.lax.axis_size("data"), jax.lax.axis_index("data")
            weights, state = [E, W], [None, None]
            for t in range(1, 6):
                own = jax.tree.map(lambda w: jax.lax.pcast(w, "data", to="varying"), weights)
                slopes = jax.grad(loss)(own)
                for i, (w, slope) in enumerate(zip(own, slopes)):
                    slope = jax.lax.psum_scatter(slope, "data", tiled=True) / n
                    m, v = state[i] or (0 * slope, 0 * slope)
                    m, v = 0.9 * m + 0.1 * slope, 0.999 * v + 0.001 * slope**2
                    change = m / (1 - 0.9**t) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-4)
                    some = jax.lax.dynamic_slice_in_dim(w, place * (w.shape[0] // n), w.shape[0] // n)
                    weights[i] = jax.lax.all_gather(some - 0.01 * change, "data", tiled=True)
                    state[i] = m, v
            return *weights, *state[0], *state[1]

        specs = dict(in_specs=(rows, rows, P(), P()), out_specs=(P(), P(), rows, rows, rows, rows))
        return jax.shard_map(body, mesh=mesh, **specs)(X, Y, E, W)


@wrong("state-on-every-device", 6)
def replicated():
    def train(mesh, X, Y, E, W):
        rows = P("data", None)

        def lie(a, spec):
            return jax.lax.with_sharding_constraint(a, jax.NamedSharding(mesh, spec))

        def loss(weights):
            E, W = weights
            return jnp.mean((jnp.tanh(X @ E @ W) @ E.T - Y) ** 2)

        weights = [E, W]
        state = [(lie(jnp.zeros_like(w), rows),) * 2 for w in weights]
        for t in range(1, 6):
            slopes = jax.grad(loss)(weights)
            for i, slope in enumerate(slopes):
                m, v = state[i]
                m = lie(0.9 * m + 0.1 * slope, P())
                v = lie(0.999 * v + 0.001 * slope**2, P())
                change = m / (1 - 0.9**t) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-4)
                weights[i], state[i] = lie(weights[i] - 0.01 * lie(change, P()), P()), (m, v)
        (mE, vE), (mW, vW) = state
        return weights[0], weights[1], mE, vE, mW, vW


@wrong("second-use-only", 0)
def second_use():
    def train(mesh, X, Y, E, W):
        rows = P("data", None)

        def lie(a, spec):
            return jax.lax.with_sharding_constraint(a, jax.NamedSharding(mesh, spec))

        def loss(weights):
            E, W = weights
            return jnp.mean((jnp.tanh(X @ jax.lax.stop_gradient(E) @ W) @ E.T - Y) ** 2)

        weights = [E, W]
        state = [(lie(jnp.zeros_like(w), rows),) * 2 for w in weights]
        for t in range(1, 6):
            slopes = jax.grad(loss)(weights)
            for i, slope in enumerate(slopes):
                m, v = state[i]
                m = lie(0.9 * m + 0.1 * slope, rows)
                v = lie(0.999 * v + 0.001 * slope**2, rows)
                change = m / (1 - 0.9**t) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-4)
                weights[i], state[i] = lie(weights[i] - 0.01 * lie(change, rows), P()), (m, v)
        (mE, vE), (mW, vW) = state
        return weights[0], weights[1], mE, vE, mW, vW


@right
def sum_and_slice():
    def train(mesh, X, Y, E, W):
        rows = P("data", None)

        def body(X, Y, E, W):
            def loss(weights):
                E, W = weights
                return jax.lax.pmean(jnp.mean((jnp.tanh(X @ E @ W) @ E.T - Y) ** 2), "data")

            n, place = jax.lax.axis_size("data"), jax.lax.axis_index("data")

            def own_rows(a):
                return jax.lax.dynamic_slice_in_dim(a, place * (a.shape[0] // n), a.shape[0] // n)

            weights, state = [E, W], [None, None]
            for t in range(1, 6):
                for i, (w, slope) in enumerate(zip(weights, jax.grad(loss)(weights))):
                    slope = own_rows(slope)
                    m, v = state[i] or (0 * slope, 0 * slope)
                    m, v = 0.9 * m + 0.1 * slope, 0.999 * v + 0.001 * slope**2
                    change = m / (1 - 0.9**t) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-4)
                    some = own_rows(w)
                    weights[i] = jax.lax.all_gather(some - 0.01 * change, "data", tiled=True, to="invarying")
                    state[i] = m, v
            return *weights, *state[0], *state[1]

        specs = dict(in_specs=(rows, rows, P(), P()), out_specs=(P(), P(), rows, rows, rows, rows))
        return jax.shard_map(body, mesh=mesh, **specs)(X, Y, E, W)


@wrong("state-moved", 15)
def turned():
    def train(mesh, X, Y, E, W):
        rows = P(None, "data")

        def lie(a, spec):
            return jax.lax.with_sharding_constraint(a, jax.NamedSharding(mesh, spec))

        def loss(weights):
            E, W = weights
            return jnp.mean((jnp.tanh(X @ E @ W) @ E.T - Y) ** 2)

        weights = [E, W]
        state = [(lie(jnp.zeros_like(w), rows),) * 2 for w in weights]
        for t in range(1, 6):
            slopes = jax.grad(loss)(weights)
            for i, slope in enumerate(slopes):
                m, v = state[i]
                m = lie(0.9 * m + 0.1 * slope, rows)
                v = lie(0.999 * v + 0.001 * slope**2, rows)
                change = m / (1 - 0.9**t) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-4)
                weights[i], state[i] = lie(weights[i] - 0.01 * lie(change, rows), P()), (m, v)
        (mE, vE), (mW, vW) = state
        return weights[0], weights[1], *(lie(a, P("data", None)) for a in (mE, vE, mW, vW))


@wrong("without-correction", 0)
def uncorrected():
    def train(mesh, X, Y, E, W):
        rows = P("data", None)

        def lie(a, spec):
            return jax.lax.with_sharding_constraint(a, jax.NamedSharding(mesh, spec))

        def loss(weights):
            E, W = weights
            return jnp.mean((jnp.tanh(X @ E @ W) @ E.T - Y) ** 2)

        weights = [E, W]
        state = [(lie(jnp.zeros_like(w), rows),) * 2 for w in weights]
        for t in range(1, 6):
            slopes = jax.grad(loss)(weights)
            for i, slope in enumerate(slopes):
                m, v = state[i]
                m = lie(0.9 * m + 0.1 * slope, rows)
                v = lie(0.999 * v + 0.001 * slope**2, rows)
                change = m / (jnp.sqrt(v) + 1e-4)
                weights[i], state[i] = lie(weights[i] - 0.01 * lie(change, rows), P()), (m, v)
        (mE, vE), (mW, vW) = state
        return weights[0], weights[1], mE, vE, mW, vW


@wrong("weights-cut", 9)
def weights_cut():
    def train(mesh, X, Y, E, W):
        rows = P("data", None)

        def lie(a, spec):
            return jax.lax.with_sharding_constraint(a, jax.NamedSharding(mesh, spec))

        def loss(weights):
            E, W = weights
            return jnp.mean((jnp.tanh(X @ E @ W) @ E.T - Y) ** 2)

        weights = [E, W]
        state = [(lie(jnp.zeros_like(w), rows),) * 2 for w in weights]
        for t in range(1, 6):
            slopes = jax.grad(loss)(weights)
            for i, slope in enumerate(slopes):
                m, v = state[i]
                m = lie(0.9 * m + 0.1 * slope, rows)
                v = lie(0.999 * v + 0.001 * slope**2, rows)
                change = m / (1 - 0.9**t) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-4)
                weights[i], state[i] = lie(weights[i] - 0.01 * lie(change, rows), rows), (m, v)
        (mE, vE), (mW, vW) = state
        return weights[0], weights[1], mE, vE, mW, vW


@wrong("cut-at-the-end", 15)
def whole_by_hand():
    def train(mesh, X, Y, E, W):
        rows = P("data", None)

        def body(X, Y, E, W):
            def loss(weights):
                E, W = weights
                return jnp.mean((jnp.tanh(X @ E @ W) @ E.T - Y) ** 2)

            n, place = jax.lax.axis_size("data"), jax.lax.axis_index("data")
            weights, state = [E, W], [(jnp.zeros_like(E),) * 2, (jnp.zeros_like(W),) * 2]
            for t in range(1, 6):
                own = jax.tree.map(lambda w: jax.lax.pcast(w, "data", to="varying"), weights)
                slopes = jax.grad(loss)(own)
                for i, slope in enumerate(slopes):
                    slope = jax.lax.psum_scatter(slope, "data", tiled=True) / n
                    slope = jax.lax.all_gather(slope, "data", tiled=True, to="invarying")
                    m, v = state[i]
                    m, v = 0.9 * m + 0.1 * slope, 0.999 * v + 0.001 * slope**2
                    change = m / (1 - 0.9**t) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-4)
                    weights[i], state[i] = weights[i] - 0.01 * change, (m, v)

            def own_rows(a):
                return jax.lax.dynamic_slice_in_dim(a, place * (a.shape[0] // n), a.shape[0] // n)

            return *weights, *map(own_rows, (*state[0], *state[1]))

        specs = dict(in_specs=(rows, rows, P(), P()), out_specs=(P(), P(), rows, rows, rows, rows))
        return jax.shard_map(body, mesh=mesh, **specs)(X, Y, E, W)


@wrong("-", 0)
def without_second_moments():
    def train(mesh, X, Y, E, W):
        rows = P("data", None)

        def lie(a, spec):
            return jax.lax.with_sharding_constraint(a, jax.NamedSharding(mesh, spec))

        def loss(weights):
            E, W = weights
            return jnp.mean((jnp.tanh(X @ E @ W) @ E.T - Y) ** 2)

        weights = [E, W]
        state = [(lie(jnp.zeros_like(w), rows),) * 2 for w in weights]
        for t in range(1, 6):
            slopes = jax.grad(loss)(weights)
            for i, (slope, (m, v)) in enumerate(zip(slopes, state)):
                m = lie(0.9 * m + 0.1 * slope, rows)
                v = lie(0.999 * v + 0.001 * slope**2, rows)
                change = lie(0.01 * m / (1 - 0.9**t) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-4), rows)
                weights[i], state[i] = lie(weights[i] - change, P()), (m, v)
        return *weights, state[0][0], 0 * state[0][1], state[1][0], 0 * state[1][1]
