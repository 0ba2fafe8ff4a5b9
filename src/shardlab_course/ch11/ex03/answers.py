import jax
import jax.numpy as jnp
from jax import P

from shardlab_course.answers import right, wrong


@wrong("all-reduce-and-slice", 8.5)
def all_reduced():
    def gradients(mesh, X, Y, *weights):
        def body(X, Y, *slices):
            whole = [jax.lax.all_gather(w, "data", tiled=True) for w in slices]

            def loss(whole):
                out = X
                for w in whole:
                    out = jnp.tanh(out @ w)
                return jnp.mean((out - Y) ** 2)

            def own(g):
                rows = g.shape[0] // jax.lax.axis_size("data")
                return jax.lax.dynamic_slice_in_dim(g, jax.lax.axis_index("data") * rows, rows)

            return [own(jax.lax.pmean(g, "data")) for g in jax.grad(loss)(whole)]

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)


@wrong("left-to-the-compiler", 0)
def automatic():
    def gradients(mesh, X, Y, *weights):
        def lie(a, spec):
            return jax.lax.with_sharding_constraint(a, jax.NamedSharding(mesh, spec))

        def loss(weights):
            out = X
            for w in weights:
                out = jnp.tanh(out @ lie(w, P()))
            return jnp.mean((out - Y) ** 2)

        slopes = jax.grad(loss)(weights)

        return tuple(lie(g, P("data", None)) for g in slopes)


@wrong("batch-gathered", 8.5)
def batch_too():
    def gradients(mesh, X, Y, *weights):
        def body(X, Y, *slices):
            X, Y = (jax.lax.all_gather(a, "data", tiled=True) for a in (X, Y))

            def loss(slices):
                out = X
                for w in slices:
                    out = jnp.tanh(out @ jax.lax.all_gather(w, "data", tiled=True))
                return jax.lax.pmean(jnp.mean((out - Y) ** 2), "data")

            return jax.grad(loss)(slices)

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)


@wrong("whole-for-slices", 0)
def below_one_another():
    def gradients(mesh, X, Y, *weights):
        def body(X, Y, *slices):
            whole = [jax.lax.all_gather(w, "data", tiled=True) for w in slices]

            def loss(whole):
                out = X
                for w in whole:
                    out = jnp.tanh(out @ w)
                return jnp.mean((out - Y) ** 2)

            return [jax.lax.pmean(g, "data") for g in jax.grad(loss)(whole)]

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)


@right
def by_vjp():
    def gradients(mesh, X, Y, *weights):
        def body(X, Y, *slices):
            def loss(slices):
                out = X
                for w in slices:
                    out = jnp.tanh(out @ jax.lax.all_gather(w, "data", tiled=True))
                return jnp.mean((out - Y) ** 2)

            out, back = jax.vjp(loss, slices)
            return back(0 * out + 1 / jax.lax.axis_size("data"))[0]

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)


@right
def divided():
    def gradients(mesh, X, Y, *weights):
        def body(X, Y, *slices):
            def loss(slices):
                out = X
                for w in slices:
                    out = jnp.tanh(out @ jax.lax.all_gather(w, "data", tiled=True))
                return jnp.mean((out - Y) ** 2)

            return tuple(g / jax.lax.axis_size("data") for g in jax.grad(loss)(slices))

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)


@wrong("eight-devices", 0)
def eight():
    def gradients(mesh, X, Y, *weights):
        def body(X, Y, *slices):
            def loss(slices):
                out = X
                for w in slices:
                    out = jnp.tanh(out @ jax.lax.all_gather(w, "data", tiled=True))
                return jnp.mean((out - Y) ** 2)

            return tuple(g / 8 for g in jax.grad(loss)(slices))

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)


@wrong("gathered-twice", 8.5)
def gathered_again():
    def gradients(mesh, X, Y, *weights):
        def body(X, Y, *slices):
            def gathered(w):
                return jax.lax.all_gather(w, "data", tiled=True)

            held = [X]
            for w in slices:
                held.append(jnp.tanh(held[-1] @ gathered(w)))
            back, found = 2 * (held[-1] - Y) / Y.size / jax.lax.axis_size("data"), []
            for w, x, out in reversed(list(zip(slices, held, held[1:]))):
                back = back * (1 - out**2)
                found.append(jax.lax.psum_scatter(x.T @ back, "data", tiled=True))
                w, back = jax.lax.optimization_barrier((w, back))
                back = back @ gathered(w[:, ::-1])[:, ::-1].T
            return found[::-1]

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)


@wrong("slices-averaged", 0)
def habit():
    def gradients(mesh, X, Y, *weights):
        def body(X, Y, *slices):
            def loss(slices):
                out = X
                for w in slices:
                    out = jnp.tanh(out @ jax.lax.all_gather(w, "data", tiled=True))
                return jnp.mean((out - Y) ** 2)

            return jax.lax.pmean(jax.grad(loss)(slices), "data")

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)


@wrong("sum-of-means", 0)
def local_means():
    def gradients(mesh, X, Y, *weights):
        def body(X, Y, *slices):
            def loss(slices):
                out = X
                for w in slices:
                    out = jnp.tanh(out @ jax.lax.all_gather(w, "data", tiled=True))
                return jnp.mean((out - Y) ** 2)

            return jax.grad(loss)(slices)

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)


@wrong("not-gathered", 0)
def not_gathered():
    def gradients(mesh, X, Y, *weights):
        def body(X, Y, *slices):
            def loss(slices):
                out = X
                for w in slices:
                    out = jnp.tanh(out @ w)
                return jax.lax.pmean(jnp.mean((out - Y) ** 2), "data")

            return jax.grad(loss)(slices)

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)


@wrong("never-reduced", 0)
def own_samples():
    def gradients(mesh, X, Y, *weights):
        def body(X, Y, *slices):
            whole = [jax.lax.all_gather(w, "data", tiled=True) for w in slices]

            def loss(whole):
                out = X
                for w in whole:
                    out = jnp.tanh(out @ w)
                return jnp.mean((out - Y) ** 2)

            def own(g):
                rows = g.shape[0] // jax.lax.axis_size("data")
                return jax.lax.dynamic_slice_in_dim(g, jax.lax.axis_index("data") * rows, rows)

            return [own(g) for g in jax.grad(loss)(whole)]

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)


@right
def scattered():
    def gradients(mesh, X, Y, *weights):
        def body(X, Y, *slices):
            whole = [jax.lax.all_gather(w, "data", tiled=True) for w in slices]

            def loss(whole):
                out = X
                for w in whole:
                    out = jnp.tanh(out @ w)
                return jnp.mean((out - Y) ** 2)

            n = jax.lax.axis_size("data")
            return [jax.lax.psum_scatter(g, "data", tiled=True) / n for g in jax.grad(loss)(whole)]

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)


@wrong("not-gathered", 0)
def stacked():
    def gradients(mesh, X, Y, *weights):
        def body(X, Y, *slices):
            def loss(slices):
                out = X
                for w in slices:
                    out = jnp.tanh(out @ jax.lax.all_gather(w, "data"))
                return jax.lax.pmean(jnp.mean((out - Y) ** 2), "data")

            return jax.grad(loss)(slices)

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)


@wrong("slices-averaged", 0)
def summed_slices():
    def gradients(mesh, X, Y, *weights):
        def body(X, Y, *slices):
            def loss(slices):
                out = X
                for w in slices:
                    out = jnp.tanh(out @ jax.lax.all_gather(w, "data", tiled=True))
                return jnp.mean((out - Y) ** 2)

            return jax.lax.psum(jax.grad(loss)(slices), "data")

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)


@wrong("averaged-twice", 0)
def twice():
    def gradients(mesh, X, Y, *weights):
        def body(X, Y, *slices):
            def loss(slices):
                out = X
                for w in slices:
                    out = jnp.tanh(out @ jax.lax.all_gather(w, "data", tiled=True))
                return jax.lax.pmean(jnp.mean((out - Y) ** 2), "data")

            return tuple(g / jax.lax.axis_size("data") for g in jax.grad(loss)(slices))

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)


@right
def unchecked():
    def gradients(mesh, X, Y, *weights):
        def body(X, Y, *slices):
            def loss(slices):
                out = X
                for w in slices:
                    out = jnp.tanh(out @ jax.lax.all_gather(w, "data", tiled=True))
                return jnp.mean((out - Y) ** 2) / jax.lax.axis_size("data")

            return jax.grad(loss)(slices)

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut, check_vma=False)(X, Y, *weights)


@wrong("gradients-whole", 4.5)
def whole():
    def gradients(mesh, X, Y, *weights):
        def body(X, Y, *slices):
            whole = [jax.lax.all_gather(w, "data", tiled=True) for w in slices]

            def loss(whole):
                out = X
                for w in whole:
                    out = jnp.tanh(out @ w)
                return jnp.mean((out - Y) ** 2)

            def own(g):
                rows = g.shape[0] // jax.lax.axis_size("data")
                return jax.lax.dynamic_slice_in_dim(g, jax.lax.axis_index("data") * rows, rows)

            return [jax.lax.pmean(g, "data") for g in jax.grad(loss)(whole)]

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=P())(X, Y, *weights)


@wrong("-", 0)
def cut_by_columns():
    """Everything is taken by columns: a device's columns of X meet whole rows of the weights."""

    def gradients(mesh, X, Y, *weights):
        def body(X, Y, *slices):
            def loss(slices):
                out = X
                for w in slices:
                    out = jnp.tanh(out @ jax.lax.all_gather(w, "data", axis=1, tiled=True))
                return jax.lax.pmean(jnp.mean((out - Y) ** 2), "data")

            return jax.grad(loss)(slices)

        cut = P(None, "data")
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)
