import jax
import jax.numpy as jnp

import shardlab as sl
from shardlab_course.answers import right, told, wrong

P = jax.P


def loss(weights, X, Y):
    W1, b1, W2, b2 = weights
    return jnp.mean((jax.nn.relu(X @ W1 + b1) @ W2 + b2 - Y) ** 2)


@right
def another_way():
    def step(mesh, X, Y, *weights):
        slopes = jax.grad(loss)(weights, X, Y)
        return jax.tree.map(lambda w, g: w - 0.1 * g, weights, slopes)


@told("a-device-s-share")
def an_eighth():
    sl.predict("10.1", numbers={"bytes": 1542.5, "bytes_of_twice_the_batch": 1542.5})


@right
def by_hand_backprop():
    def step(mesh, X, Y, W1, b1, W2, b2):
        z = X @ W1 + b1
        h = jax.nn.relu(z)
        d = 2 * (h @ W2 + b2 - Y) / Y.size
        e = d @ W2.T * (z > 0)
        return W1 - 0.1 * X.T @ e, b1 - 0.1 * e.sum(0), W2 - 0.1 * h.T @ d, b2 - 0.1 * d.sum(0)


@right
def by_shard_map():
    def step(mesh, X, Y, *weights):
        def body(X, Y, *weights):
            slopes = jax.grad(lambda w: jax.lax.pmean(loss(w, X, Y), "data"))(weights)
            return jax.tree.map(lambda w, g: w - 0.1 * g, weights, slopes)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P("data"), P(), P(), P(), P()), out_specs=P())(
            X, Y, *weights
        )


@told("bytes-grow-with-the-batch")
def bytes_of_batch():
    sl.predict("10.1", numbers={"bytes": 12340, "bytes_of_twice_the_batch": 24680})


@told("elements-not-bytes")
def elements():
    sl.predict("10.1", numbers={"bytes": 3085, "bytes_of_twice_the_batch": 3085})


@wrong("gathers", 5)
def gathers_the_batch():
    def step(mesh, X, Y, *weights):
        X, Y = (jax.lax.with_sharding_constraint(a, jax.NamedSharding(mesh, P())) for a in (X, Y))
        return jax.tree.map(lambda w, g: w - 0.1 * g, weights, jax.grad(loss)(weights, X, Y))


@wrong("gradient-returned", 3)
def gradients():
    def step(mesh, X, Y, *weights):
        return jax.grad(loss)(weights, X, Y)


@wrong("half-the-error")
def halved():
    def step(mesh, X, Y, *weights):
        def error(weights):
            W1, b1, W2, b2 = weights
            out = jnp.maximum(X @ W1 + b1, 0) @ W2 + b2
            return jnp.mean((out - Y) ** 2) / 2

        slopes = jax.grad(error)(weights)
        new = [w - 0.1 * g for w, g in zip(weights, slopes)]
        return tuple(new)


@told("biases-forgotten")
def matrices_only():
    sl.predict("10.1", numbers={"bytes": 11920, "bytes_of_twice_the_batch": 11920})


@wrong("sum-over-outputs")
def mean_over_samples_only():
    def step(mesh, X, Y, *weights):
        def error(weights):
            W1, b1, W2, b2 = weights
            out = jnp.maximum(X @ W1 + b1, 0) @ W2 + b2
            return jnp.mean(jnp.sum((out - Y) ** 2, axis=1))

        slopes = jax.grad(error)(weights)
        new = [w - 0.1 * g for w, g in zip(weights, slopes)]
        return tuple(new)


@wrong("pmap-habit")
def shard_map_pmean():
    def step(mesh, X, Y, *weights):
        def body(X, Y, *weights):
            def error(weights):
                W1, b1, W2, b2 = weights
                return jnp.mean((jax.nn.relu(X @ W1 + b1) @ W2 + b2 - Y) ** 2)

            slopes = jax.lax.pmean(jax.grad(error)(weights), "data")
            return tuple(w - 0.1 * g for w, g in zip(weights, slopes))

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P("data"), P(), P(), P(), P()), out_specs=P())(
            X, Y, *weights
        )


@wrong("sum-instead-of-mean", 3)
def summed():
    def step(mesh, X, Y, *weights):
        slopes = jax.grad(lambda w: jnp.sum((jax.nn.relu(X @ w[0] + w[1]) @ w[2] + w[3] - Y) ** 2))(weights)
        return jax.tree.map(lambda w, g: w - 0.1 * g, weights, slopes)


@wrong("uphill", 3)
def uphill():
    def step(mesh, X, Y, *weights):
        return jax.tree.map(lambda w, g: w + 0.1 * g, weights, jax.grad(loss)(weights, X, Y))


@right
def value_and_grad():
    def step(mesh, X, Y, W1, b1, W2, b2):
        value, slopes = jax.value_and_grad(loss)([W1, b1, W2, b2], X, Y)
        return [w - 0.1 * g for w, g in zip((W1, b1, W2, b2), slopes)]


@right
def vmapped():
    def step(mesh, X, Y, *weights):
        def one(weights, x, y):
            W1, b1, W2, b2 = weights
            return jnp.mean((jax.nn.relu(x @ W1 + b1) @ W2 + b2 - y) ** 2)

        slopes = jax.vmap(jax.grad(one), in_axes=(None, 0, 0))(weights, X, Y)
        return jax.tree.map(lambda w, g: w - 0.1 * g.mean(0), weights, slopes)


@right
def flat_in_two_halves():
    def step(mesh, X, Y, *weights):
        def body(X, Y, *weights):
            n = mesh.shape["data"]
            own = jax.tree.map(lambda w: jax.lax.pcast(w, "data", to="varying"), weights)
            flat = jnp.concatenate([g.ravel() for g in jax.grad(loss)(own, X, Y)])
            part = jax.lax.psum_scatter(jnp.pad(flat / n, (0, -flat.size % n)), "data", tiled=True)
            flat, new, at = jax.lax.all_gather(part, "data", tiled=True, to="invarying"), [], 0
            for w in weights:
                new.append(w - 0.1 * flat[at : at + w.size].reshape(w.shape))
                at += w.size
            return tuple(new)

        specs = (P("data"), P("data"), P(), P(), P(), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P())(X, Y, *weights)


@wrong("-", 3)
def rate_eight():
    def step(mesh, X, Y, *weights):
        slopes = jax.grad(loss)(weights, X, Y)
        return jax.tree.map(lambda w, g: w - 0.8 * g, weights, slopes)
