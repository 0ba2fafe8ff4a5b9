import jax
import jax.numpy as jnp

from shardlab_course.answers import changed, right, wrong

P = jax.P

both = ("x", "y")


@right
def another_way():
    layout = {"X": P(both, None), "Y": P(both, None), "W1": P(None, both), "W2": P(both, None)}

    def step(mesh, X, Y, W1, W2):
        def loss(weights, x, y):
            x = jax.lax.all_gather(x, both, axis=0, tiled=True)
            terms = jnp.tanh(x @ weights[0]) @ weights[1]
            out = jax.lax.psum_scatter(terms, both, scatter_dimension=0, tiled=True)
            return jnp.sum((out - y) ** 2) / Y.size

        def body(x, y, *weights):
            slopes = jax.grad(loss)(weights, x, y)
            return tuple(w - 0.1 * g for w, g in zip(weights, slopes))

        specs = tuple(layout[name] for name in ("X", "Y", "W1", "W2"))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=specs[2:])(X, Y, W1, W2)

    design = {"layout": layout, "step": step}


@wrong("-", 0, of="another_way")
def axis_twice():
    layout = {"X": P(both, None), "Y": P(both, None), "W1": P("x", "x"), "W2": P(both, None)}
    design = {"layout": layout, "step": step}


@wrong("outputs-summed-everywhere", of="another_way")
def by_compiler():
    def loss(weights, X, Y):
        W1, W2 = weights
        return jnp.mean((jnp.tanh(X @ W1) @ W2 - Y) ** 2)

    def step(mesh, X, Y, W1, W2):
        slopes = jax.grad(loss)((W1, W2), X, Y)
        news = [W1 - 0.1 * slopes[0], W2 - 0.1 * slopes[1]]
        places = [jax.NamedSharding(mesh, layout[name]) for name in ("W1", "W2")]
        return tuple(jax.lax.with_sharding_constraint(new, place) for new, place in zip(news, places))

    design = {"layout": layout, "step": step}


@wrong("weights-whole", 20)
def data_parallel():
    layout = {"X": P(both, None), "Y": P(both, None), "W1": P(), "W2": P()}

    def loss(weights, X, Y):
        W1, W2 = weights
        return jnp.mean((jnp.tanh(X @ W1) @ W2 - Y) ** 2)

    def step(mesh, X, Y, W1, W2):
        slopes = jax.grad(loss)((W1, W2), X, Y)
        news = [W1 - 0.1 * slopes[0], W2 - 0.1 * slopes[1]]
        places = [jax.NamedSharding(mesh, layout[name]) for name in ("W1", "W2")]
        return tuple(jax.lax.with_sharding_constraint(new, place) for new, place in zip(news, places))

    design = {"layout": layout, "step": step}


@wrong("data-parallel-in-disguise", 10)
def elsewhere():
    layout = {"X": P(both, None), "Y": P(both, None), "W1": P(both, None), "W2": P(both, None)}

    def loss(weights, X, Y):
        W1, W2 = weights
        return jnp.mean((jnp.tanh(X @ W1) @ W2 - Y) ** 2)

    def step(mesh, X, Y, W1, W2):
        slopes = jax.grad(loss)((W1, W2), X, Y)
        place = jax.NamedSharding(mesh, P())
        return tuple(jax.lax.with_sharding_constraint(w - 0.1 * g, place) for w, g in zip((W1, W2), slopes))

    design = {"layout": layout, "step": step}


@wrong("weights-whole", 20)
def everything_everywhere():
    layout = {"X": P(), "Y": P(), "W1": P(), "W2": P()}

    def loss(weights, X, Y):
        W1, W2 = weights
        return jnp.mean((jnp.tanh(X @ W1) @ W2 - Y) ** 2)

    def step(mesh, X, Y, W1, W2):
        slopes = jax.grad(loss)((W1, W2), X, Y)
        news = [W1 - 0.1 * slopes[0], W2 - 0.1 * slopes[1]]
        places = [jax.NamedSharding(mesh, layout[name]) for name in ("W1", "W2")]
        return tuple(jax.lax.with_sharding_constraint(new, place) for new, place in zip(news, places))

    design = {"layout": layout, "step": step}


@wrong("hidden-units-travel")
def fsdp():
    layout = {"X": P(both, None), "Y": P(both, None), "W1": P(both, None), "W2": P(both, None)}

    def loss(weights, X, Y):
        W1, W2 = weights
        return jnp.mean((jnp.tanh(X @ W1) @ W2 - Y) ** 2)

    def step(mesh, X, Y, W1, W2):
        slopes = jax.grad(loss)((W1, W2), X, Y)
        news = [W1 - 0.1 * slopes[0], W2 - 0.1 * slopes[1]]
        places = [jax.NamedSharding(mesh, layout[name]) for name in ("W1", "W2")]
        return tuple(jax.lax.with_sharding_constraint(new, place) for new, place in zip(news, places))

    design = {"layout": layout, "step": step}


@changed("0.12", wrong("hidden-units-travel", 20), wrong("hidden-units-travel", 30))
def given_away():
    layout = {"X": P(both, None), "Y": P(both, None), "W1": P(both, None), "W2": P(both, None)}

    def loss(weights, X, Y):
        W1, W2 = weights
        return jnp.mean((jnp.tanh(X @ W1) @ W2 - Y) ** 2)

    def step(mesh, X, Y, W1, W2):
        slopes = jax.grad(loss)((W1, W2), X, Y)
        news = [W1 - 0.1 * slopes[0], W2 - 0.1 * slopes[1]]
        places = [jax.NamedSharding(mesh, layout[name]) for name in ("W1", "W2")]
        return tuple(jax.lax.with_sharding_constraint(new, place) for new, place in zip(news, places))

    design = {"layout": layout, "step": jax.jit(step, static_argnums=0, donate_argnums=(3, 4))}


@right
def in_a_ring():
    layout = {"X": P(both), "Y": P(both), "W1": P(None, both), "W2": P(both)}

    def step(mesh, X, Y, W1, W2):
        n = mesh.size
        ring = [(i, (i + 1) % n) for i in range(n)]

        def round_trip(block):
            found = [block]
            for _ in range(n - 1):
                found.append(jax.lax.ppermute(found[-1], both, ring))
            return found

        def body(x, y, w1, w2):
            xs = round_trip(x)
            hidden = [jnp.tanh(x @ w1) for x in xs]
            in_order = jnp.roll(jnp.stack(hidden)[::-1], jax.lax.axis_index(both) + 1, axis=0)
            out = jax.lax.psum_scatter((in_order @ w2).reshape(-1, y.shape[1]), both, tiled=True)
            errors = round_trip(2 * (out - y) / Y.size)
            slope2 = sum(h.T @ e for h, e in zip(hidden, errors))
            slope1 = sum(x.T @ ((e @ w2.T) * (1 - h * h)) for x, h, e in zip(xs, hidden, errors))
            return w1 - 0.1 * slope1, w2 - 0.1 * slope2

        specs = tuple(layout[name] for name in ("X", "Y", "W1", "W2"))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=specs[2:])(X, Y, W1, W2)

    design = {"layout": layout, "step": step}


@right
def inputs_whole():
    layout = {"X": P(), "Y": P(both, None), "W1": P(None, both), "W2": P(both, None)}

    def step(mesh, X, Y, W1, W2):
        def loss(weights, x, y):
            terms = jnp.tanh(x @ weights[0]) @ weights[1]
            out = jax.lax.psum_scatter(terms, both, scatter_dimension=0, tiled=True)
            return jnp.sum((out - y) ** 2) / Y.size

        def body(x, y, *weights):
            slopes = jax.grad(loss)(weights, x, y)
            return tuple(w - 0.1 * g for w, g in zip(weights, slopes))

        specs = tuple(layout[name] for name in ("X", "Y", "W1", "W2"))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=specs[2:])(X, Y, W1, W2)

    design = {"layout": layout, "step": step}


@wrong("-", 20, of="another_way")
def loop():
    def step(mesh, X, Y, W1, W2):
        def loss(weights, x, y):
            x = jax.lax.all_gather(x, both, axis=0, tiled=True)
            terms = jnp.tanh(x @ weights[0]) @ weights[1]
            out = jax.lax.psum_scatter(terms, both, scatter_dimension=0, tiled=True)
            return jnp.sum((out - y) ** 2) / Y.size

        def body(x, y, *weights):
            def once(_, slopes):
                return jax.grad(loss)(weights, x, y)

            slopes = jax.lax.fori_loop(0, 1, once, jax.tree.map(jnp.zeros_like, weights))
            return tuple(w - 0.1 * g for w, g in zip(weights, slopes))

        specs = tuple(layout[name] for name in ("X", "Y", "W1", "W2"))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=specs[2:])(X, Y, W1, W2)

    design = {"layout": layout, "step": step}


@wrong("-", 0, of="another_way")
def odd_layout():
    layout = {"X": P(both, None), "Y": P(both, None), "W1": P(None, both)}
    design = {"layout": layout, "step": step}


@wrong("data-parallel-in-disguise")
def sharded_weights():
    layout = {"X": P(both, None), "Y": P(both, None), "W1": P(both, None), "W2": P(both, None)}

    def step(mesh, X, Y, W1, W2):
        def loss(weights, x, y):
            W1, W2 = (jax.lax.all_gather(w, both, axis=0, tiled=True) for w in weights)
            return jnp.sum((jnp.tanh(x @ W1) @ W2 - y) ** 2) / Y.size

        def body(x, y, *weights):
            slopes = jax.grad(loss)(weights, x, y)
            return tuple(w - 0.1 * g for w, g in zip(weights, slopes))

        specs = tuple(layout[name] for name in ("X", "Y", "W1", "W2"))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=specs[2:])(X, Y, W1, W2)

    design = {"layout": layout, "step": step}


@wrong("sixteen-bits", 0, of="another_way")
def sixteen_bits():
    def step(mesh, X, Y, W1, W2):
        def loss(weights, x, y):
            x = jax.lax.all_gather(x.astype(jnp.bfloat16), both, axis=0, tiled=True).astype(jnp.float32)
            terms = jnp.tanh(x @ weights[0]) @ weights[1]
            out = jax.lax.psum_scatter(terms.astype(jnp.bfloat16), both, scatter_dimension=0, tiled=True).astype(jnp.float32)
            return jnp.sum((out - y) ** 2) / Y.size

        def body(x, y, *weights):
            slopes = jax.grad(loss)(weights, x, y)
            return tuple(w - 0.1 * g for w, g in zip(weights, slopes))

        specs = tuple(layout[name] for name in ("X", "Y", "W1", "W2"))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=specs[2:])(X, Y, W1, W2)

    design = {"layout": layout, "step": step}


@wrong("times-the-devices", 0, of="another_way")
def summed_again():
    def step(mesh, X, Y, W1, W2):
        def loss(weights, x, y):
            x = jax.lax.all_gather(x, both, axis=0, tiled=True)
            terms = jnp.tanh(x @ weights[0]) @ weights[1]
            out = jax.lax.psum_scatter(terms, both, scatter_dimension=0, tiled=True)
            return jnp.sum((out - y) ** 2) / Y.size

        def body(x, y, *weights):
            slopes = jax.grad(loss)(weights, x, y)
            return tuple(w - 0.8 * g for w, g in zip(weights, slopes))

        specs = tuple(layout[name] for name in ("X", "Y", "W1", "W2"))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=specs[2:])(X, Y, W1, W2)

    design = {"layout": layout, "step": step}


@wrong("activations-whole")
def tensor_by_y():
    layout = {"X": P("x", None), "Y": P("x", None), "W1": P("x", "y"), "W2": P("y", "x")}

    def loss(weights, X, Y):
        W1, W2 = weights
        return jnp.mean((jnp.tanh(X @ W1) @ W2 - Y) ** 2)

    def step(mesh, X, Y, W1, W2):
        slopes = jax.grad(loss)((W1, W2), X, Y)
        news = [W1 - 0.1 * slopes[0], W2 - 0.1 * slopes[1]]
        places = [jax.NamedSharding(mesh, layout[name]) for name in ("W1", "W2")]
        return tuple(jax.lax.with_sharding_constraint(new, place) for new, place in zip(news, places))

    design = {"layout": layout, "step": step}


@wrong("activations-whole", 20)
def tensor_whole():
    layout = {"X": P(), "Y": P(), "W1": P(None, both), "W2": P(both, None)}

    def loss(weights, X, Y):
        W1, W2 = weights
        return jnp.mean((jnp.tanh(X @ W1) @ W2 - Y) ** 2)

    def step(mesh, X, Y, W1, W2):
        slopes = jax.grad(loss)((W1, W2), X, Y)
        news = [W1 - 0.1 * slopes[0], W2 - 0.1 * slopes[1]]
        places = [jax.NamedSharding(mesh, layout[name]) for name in ("W1", "W2")]
        return tuple(jax.lax.with_sharding_constraint(new, place) for new, place in zip(news, places))

    design = {"layout": layout, "step": step}


@wrong("uphill-or-short", 0, of="another_way")
def uphill():
    def step(mesh, X, Y, W1, W2):
        def loss(weights, x, y):
            x = jax.lax.all_gather(x, both, axis=0, tiled=True)
            terms = jnp.tanh(x @ weights[0]) @ weights[1]
            out = jax.lax.psum_scatter(terms, both, scatter_dimension=0, tiled=True)
            return jnp.sum((out - y) ** 2) / Y.size

        def body(x, y, *weights):
            slopes = jax.grad(loss)(weights, x, y)
            return tuple(w + 0.1 * g for w, g in zip(weights, slopes))

        specs = tuple(layout[name] for name in ("X", "Y", "W1", "W2"))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=specs[2:])(X, Y, W1, W2)

    design = {"layout": layout, "step": step}
