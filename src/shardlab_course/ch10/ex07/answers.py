import jax
import jax.numpy as jnp
from flax import nnx

from shardlab_course.answers import right, wrong

P = jax.P

SPECS = P(None, "model"), P("model"), P("model", None), P()


def loss(model, X, Y):
    return jnp.mean((model(X) - Y) ** 2)


@right
def another_way():
    class Network(nnx.Module):
        def __init__(self, mesh, *weights):
            params = (nnx.Param(w, out_sharding=tuple(s), mesh=mesh) for w, s in zip(weights, SPECS))
            self.W1, self.b1, self.W2, self.b2 = params

        def __call__(self, x):
            return nnx.relu(x @ self.W1 + self.b1) @ self.W2 + self.b2

    def train(mesh, X, Y, *weights):
        model = Network(mesh, *weights)
        for _ in range(5):
            slopes = nnx.grad(loss)(model, X, Y)
            nnx.update(model, jax.tree.map(lambda w, g: w - 0.1 * g, nnx.state(model), slopes))
        return tuple(p[...] for p in (model.W1, model.b1, model.W2, model.b2))


@wrong("annotation-is-not-placement", 5, of="another_way")
def bare():
    class Network(nnx.Module):
        def __init__(self, mesh, *weights):
            params = (nnx.Param(w) for w, s in zip(weights, SPECS))
            self.W1, self.b1, self.W2, self.b2 = params

        def __call__(self, x):
            return nnx.relu(x @ self.W1 + self.b1) @ self.W2 + self.b2


@right(of="another_way")
def bias_cut_late():
    SPECS = P(None, "model"), P(), P("model", None), P()


@wrong("bias-left-whole", 5)
def bias_whole():
    SPECS = P(None, "model"), P(), P("model", None), P()

    class Network(nnx.Module):
        def __init__(self, mesh, *weights):
            params = (nnx.Param(w) for w, s in zip(weights, SPECS))
            self.W1, self.b1, self.W2, self.b2 = params

        def __call__(self, x):
            return nnx.relu(x @ self.W1 + self.b1) @ self.W2 + self.b2

    def placed(mesh, weights, specs=SPECS):
        return tuple(jax.lax.with_sharding_constraint(w, jax.NamedSharding(mesh, s)) for w, s in zip(weights, specs))

    def train(mesh, X, Y, *weights):
        model = Network(mesh, *weights)
        for _ in range(5):
            slopes = nnx.grad(loss)(model, X, Y)
            nnx.update(model, jax.tree.map(lambda w, g: w - 0.1 * g, nnx.state(model), slopes))
        return placed(mesh, tuple(p[...] for p in (model.W1, model.b1, model.W2, model.b2)))


@right(of="another_way")
def by_optax():
    import optax

    def train(mesh, X, Y, *weights):
        model = Network(mesh, *weights)
        optimizer = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)
        for _ in range(5):
            optimizer.update(model, nnx.grad(loss)(model, X, Y))
        return tuple(p[...] for p in (model.W1, model.b1, model.W2, model.b2))


@right
def constrained():
    class Network(nnx.Module):
        def __init__(self, mesh, *weights):
            params = (nnx.Param(w) for w, s in zip(weights, SPECS))
            self.W1, self.b1, self.W2, self.b2 = params

        def __call__(self, x):
            return nnx.relu(x @ self.W1 + self.b1) @ self.W2 + self.b2

    def placed(mesh, weights, specs=SPECS):
        return tuple(jax.lax.with_sharding_constraint(w, jax.NamedSharding(mesh, s)) for w, s in zip(weights, specs))

    def train(mesh, X, Y, *weights):
        model = Network(mesh, *placed(mesh, weights))
        for _ in range(5):
            slopes = nnx.grad(loss)(model, X, Y)
            nnx.update(model, jax.tree.map(lambda w, g: w - 0.1 * g, nnx.state(model), slopes))
        return tuple(p[...] for p in (model.W1, model.b1, model.W2, model.b2))


@right
def constrained_at_the_end():
    class Network(nnx.Module):
        def __init__(self, mesh, *weights):
            params = (nnx.Param(w) for w, s in zip(weights, SPECS))
            self.W1, self.b1, self.W2, self.b2 = params

        def __call__(self, x):
            return nnx.relu(x @ self.W1 + self.b1) @ self.W2 + self.b2

    def placed(mesh, weights, specs=SPECS):
        return tuple(jax.lax.with_sharding_constraint(w, jax.NamedSharding(mesh, s)) for w, s in zip(weights, specs))

    def train(mesh, X, Y, *weights):
        model = Network(mesh, *weights)
        for _ in range(5):
            slopes = nnx.grad(loss)(model, X, Y)
            nnx.update(model, jax.tree.map(lambda w, g: w - 0.1 * g, nnx.state(model), slopes))
        return placed(mesh, tuple(p[...] for p in (model.W1, model.b1, model.W2, model.b2)))


@right
def fori_split():
    class Network(nnx.Module):
        def __init__(self, mesh, *weights):
            specs = (None, "model"), ("model",), ("model", None), ()
            self.W1, self.b1, self.W2, self.b2 = (nnx.Param(w, out_sharding=s, mesh=mesh) for w, s in zip(weights, specs))

        def __call__(self, x):
            return nnx.relu(x @ self.W1 + self.b1) @ self.W2 + self.b2

    def train(mesh, X, Y, *weights):
        graph, state = nnx.split(Network(mesh, *weights))

        def error(state):
            return jnp.mean((nnx.merge(graph, state)(X) - Y) ** 2)

        def one(_, state):
            return jax.tree.map(lambda w, g: w - 0.1 * g, state, jax.grad(error)(state))

        state = jax.lax.fori_loop(0, 5, one, state)
        m = nnx.merge(graph, state)
        return tuple(p[...] for p in (m.W1, m.b1, m.W2, m.b2))


@right(of="another_way")
def functional():
    def train(mesh, X, Y, *weights):
        structure, state = nnx.split(Network(mesh, *weights))

        def loss(state):
            return jnp.mean((nnx.merge(structure, state)(X) - Y) ** 2)

        def step(state, _):
            return jax.tree.map(lambda w, g: w - 0.1 * g, state, jax.grad(loss)(state)), None

        state, _ = jax.lax.scan(step, state, length=5)
        model = nnx.merge(structure, state)
        return tuple(p[...] for p in (model.W1, model.b1, model.W2, model.b2))


@wrong("hidden-units-gathered", 10, of="another_way")
def hidden_whole():
    class Network(nnx.Module):
        def __init__(self, mesh, *weights):
            self.whole = jax.NamedSharding(mesh, P("data", None))
            params = (nnx.Param(w, out_sharding=tuple(s), mesh=mesh) for w, s in zip(weights, SPECS))
            self.W1, self.b1, self.W2, self.b2 = params

        def __call__(self, x):
            hidden = jax.lax.with_sharding_constraint(nnx.relu(x @ self.W1 + self.b1), self.whole)
            return hidden @ self.W2 + self.b2


@right
def linear_layers():
    class Network(nnx.Module):
        def __init__(self, mesh, W1, b1, W2, b2):
            def param(w, *spec):
                return nnx.Param(w, out_sharding=spec, mesh=mesh)

            rngs = nnx.Rngs(0)
            self.up = nnx.Linear(*W1.shape, rngs=rngs)
            self.down = nnx.Linear(*W2.shape, rngs=rngs)
            self.up.kernel, self.up.bias = param(W1, None, "model"), param(b1, "model")
            self.down.kernel, self.down.bias = param(W2, "model", None), param(b2)

        def __call__(self, x):
            return self.down(nnx.relu(self.up(x)))

    @nnx.jit
    def step(model, X, Y):
        value, slopes = nnx.value_and_grad(lambda model: jnp.mean((model(X) - Y) ** 2))(model)
        nnx.update(model, jax.tree.map(lambda w, g: w - 0.1 * g, nnx.state(model, nnx.Param), slopes))
        return value

    def train(mesh, X, Y, *weights):
        model = Network(mesh, *weights)
        for _ in range(5):
            step(model, X, Y)
        return tuple(p[...] for p in (model.up.kernel, model.up.bias, model.down.kernel, model.down.bias))


@wrong("mesh-set-inside", 0)
def mesh_set_inside():
    SPECS = (None, "model"), ("model",), ("model", None), ()

    class Network(nnx.Module):
        def __init__(self, *weights):
            params = (nnx.Param(w, out_sharding=s) for w, s in zip(weights, SPECS))
            self.W1, self.b1, self.W2, self.b2 = params

        def __call__(self, x):
            return nnx.relu(x @ self.W1 + self.b1) @ self.W2 + self.b2

    def train(mesh, X, Y, *weights):
        with jax.set_mesh(mesh):
            model = Network(*weights)
        for _ in range(5):
            slopes = nnx.grad(lambda model: jnp.mean((model(X) - Y) ** 2))(model)
            nnx.update(model, jax.tree.map(lambda w, g: w - 0.1 * g, nnx.state(model), slopes))
        return tuple(p[...] for p in (model.W1, model.b1, model.W2, model.b2))


@right
def nnx_jit_step():
    class Network(nnx.Module):
        def __init__(self, mesh, *weights):
            specs = (None, "model"), ("model",), ("model", None), ()
            self.W1, self.b1, self.W2, self.b2 = (nnx.Param(w, out_sharding=s, mesh=mesh) for w, s in zip(weights, specs))

        def __call__(self, x):
            return nnx.relu(x @ self.W1 + self.b1) @ self.W2 + self.b2

    @nnx.jit
    def one(model, X, Y):
        loss, g = nnx.value_and_grad(lambda m: ((m(X) - Y) ** 2).mean())(model)
        for name in ("W1", "b1", "W2", "b2"):
            p = getattr(model, name)
            p[...] = p[...] - 0.1 * getattr(g, name)[...]

    def train(mesh, X, Y, *weights):
        model = Network(mesh, *weights)
        for _ in range(5):
            one(model, X, Y)
        return model.W1[...], model.b1[...], model.W2[...], model.b2[...]


@wrong("one-step", 0, of="another_way")
def one_step():
    def train(mesh, X, Y, *weights):
        model = Network(mesh, *weights)
        for _ in range(1):
            slopes = nnx.grad(loss)(model, X, Y)
            nnx.update(model, jax.tree.map(lambda w, g: w - 0.1 * g, nnx.state(model), slopes))
        return tuple(p[...] for p in (model.W1, model.b1, model.W2, model.b2))


@wrong("annotation-is-not-placement", 5, of="another_way")
def only_annotated():
    class Network(nnx.Module):
        def __init__(self, mesh, *weights):
            params = (nnx.Param(w, out_sharding=tuple(s), mesh=mesh, eager_sharding=False) for w, s in zip(weights, SPECS))
            self.W1, self.b1, self.W2, self.b2 = params

        def __call__(self, x):
            return nnx.relu(x @ self.W1 + self.b1) @ self.W2 + self.b2


@wrong("another-number-of-steps", 0, of="another_way")
def six_steps():
    def train(mesh, X, Y, *weights):
        model = Network(mesh, *weights)
        for _ in range(6):
            slopes = nnx.grad(loss)(model, X, Y)
            nnx.update(model, jax.tree.map(lambda w, g: w - 0.1 * g, nnx.state(model), slopes))
        return tuple(p[...] for p in (model.W1, model.b1, model.W2, model.b2))


@wrong("placed-at-the-end", 10)
def steps_on_whole_weights():
    class Network(nnx.Module):
        def __init__(self, mesh, *weights):
            params = (nnx.Param(w) for w, s in zip(weights, SPECS))
            self.W1, self.b1, self.W2, self.b2 = params

        def __call__(self, x):
            return nnx.relu(x @ self.W1 + self.b1) @ self.W2 + self.b2

    def placed(mesh, weights, specs=SPECS):
        return tuple(jax.lax.with_sharding_constraint(w, jax.NamedSharding(mesh, s)) for w, s in zip(weights, specs))

    def train(mesh, X, Y, *weights):
        model = Network(mesh, *weights)
        for _ in range(5):
            slopes = nnx.grad(loss)(model, X, Y)
            weights = [p[...] - 0.1 * slopes[name][...] for name, p in vars(model).items() if name in slopes]
            weights = [
                model.W1 - 0.1 * slopes.W1,
                model.b1 - 0.1 * slopes.b1,
                model.W2 - 0.1 * slopes.W2,
                model.b2 - 0.1 * slopes.b2,
            ]
            model = Network(mesh, *placed(mesh, weights, (P(), P(), P(), P())))
        return placed(mesh, tuple(p[...] for p in (model.W1, model.b1, model.W2, model.b2)))


@wrong("sum-instead-of-mean", 0, of="another_way")
def summed():
    def loss(model, X, Y):
        return jnp.sum((model(X) - Y) ** 2)


@wrong("uphill", 0, of="another_way")
def uphill():
    def train(mesh, X, Y, *weights):
        model = Network(mesh, *weights)
        for _ in range(5):
            slopes = nnx.grad(loss)(model, X, Y)
            nnx.update(model, jax.tree.map(lambda w, g: w + 0.1 * g, nnx.state(model), slopes))
        return tuple(p[...] for p in (model.W1, model.b1, model.W2, model.b2))


@right
def without_flax():
    def train(mesh, X, Y, *weights):
        def body(X, Y, *weights):
            def loss(weights):
                W1, b1, W2, b2 = weights
                out = jax.lax.psum(jax.nn.relu(X @ W1 + b1) @ W2, "model") + b2
                return jax.lax.pmean(jnp.mean((out - Y) ** 2), "data")

            for _ in range(5):
                weights = jax.tree.map(lambda w, g: w - 0.1 * g, weights, jax.grad(loss)(weights))
            return weights

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P("data"), *SPECS), out_specs=SPECS)(X, Y, *weights)


@wrong("note-without-mesh", 0)
def without_mesh():
    SPECS = (None, "model"), ("model",), ("model", None), ()

    class Network(nnx.Module):
        def __init__(self, *weights):
            params = (nnx.Param(w, out_sharding=s) for w, s in zip(weights, SPECS))
            self.W1, self.b1, self.W2, self.b2 = params

        def __call__(self, x):
            return nnx.relu(x @ self.W1 + self.b1) @ self.W2 + self.b2

    def train(mesh, X, Y, *weights):
        model = Network(*weights)
        for _ in range(5):
            slopes = nnx.grad(lambda model: jnp.mean((model(X) - Y) ** 2))(model)
            nnx.update(model, jax.tree.map(lambda w, g: w - 0.1 * g, nnx.state(model), slopes))
        return tuple(p[...] for p in (model.W1, model.b1, model.W2, model.b2))


@wrong("-", 5, of="another_way")
def cut_then_gathered():
    def train(mesh, X, Y, *weights):
        model = Network(mesh, *weights)
        for _ in range(5):
            slopes = nnx.grad(loss)(model, X, Y)
            nnx.update(model, jax.tree.map(lambda w, g: w - 0.1 * g, nnx.state(model), slopes))
        whole = jax.NamedSharding(mesh, P())
        return tuple(jax.lax.with_sharding_constraint(p[...], whole) for p in (model.W1, model.b1, model.W2, model.b2))
