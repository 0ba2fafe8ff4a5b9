import jax
import jax.numpy as jnp

from shardlab_course.answers import right, wrong

P = jax.P


def loss(weights, X, Y):
    W1, W2 = weights
    return jnp.mean((jax.nn.relu(X @ W1) @ W2 - Y) ** 2)


def over(tree, what):
    return jax.tree.map(lambda a: what(a, "data"), tree)


@right
def another_way():
    def gradients(mesh, X, Y, W1, W2):
        def body(X, Y, W1, W2):
            weights = W1, W2
            return jax.grad(lambda w: jax.lax.pmean(loss(w, X, Y), "data"))(weights)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P("data"), P(), P()), out_specs=P())(X, Y, W1, W2)


@wrong("left-to-the-compiler", 0)
def automatic():
    def gradients(mesh, X, Y, W1, W2):
        return jax.grad(lambda w: jnp.mean((jax.nn.relu(X @ w[0]) @ w[1] - Y) ** 2))((W1, W2))


@wrong("promise-not-proved", 0)
def cast_alone():
    def gradients(mesh, X, Y, W1, W2):
        def body(X, Y, W1, W2):
            weights = W1, W2
            weights = jax.tree.map(lambda w: jax.lax.pcast(w, "data", to="varying"), weights)
            return jax.grad(loss)(weights, X, Y)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P("data"), P(), P()), out_specs=P())(X, Y, W1, W2)


@right
def cast_then_mean():
    def gradients(mesh, X, Y, W1, W2):
        def body(X, Y, W1, W2):
            weights = W1, W2
            weights = jax.tree.map(lambda w: jax.lax.pcast(w, "data", to="varying"), weights)
            return over(jax.grad(loss)(weights, X, Y), jax.lax.pmean)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P("data"), P(), P()), out_specs=P())(X, Y, W1, W2)


@wrong("divided-by-a-constant", 0)
def by_eight():
    def gradients(mesh, X, Y, W1, W2):
        def body(X, Y, W1, W2):
            weights = W1, W2
            return jax.tree.map(lambda g: g / 8, jax.grad(loss)(weights, X, Y))

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P("data"), P(), P()), out_specs=P())(X, Y, W1, W2)


@right
def divided():
    def gradients(mesh, X, Y, W1, W2):
        def body(X, Y, W1, W2):
            weights = W1, W2
            return jax.tree.map(lambda g: g / jax.lax.axis_size("data"), jax.grad(loss)(weights, X, Y))

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P("data"), P(), P()), out_specs=P())(X, Y, W1, W2)


@wrong("averaged-twice", 0)
def divided_twice():
    def gradients(mesh, X, Y, W1, W2):
        def body(X, Y, W1, W2):
            weights = W1, W2
            return jax.tree.map(
                lambda g: g / jax.lax.axis_size("data"), jax.grad(lambda w: jax.lax.pmean(loss(w, X, Y), "data"))(weights)
            )

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P("data"), P(), P()), out_specs=P())(X, Y, W1, W2)


@wrong("gathers", 8.5)
def gathers_the_batch():
    def gradients(mesh, X, Y, W1, W2):
        def body(X, Y, W1, W2):
            weights = W1, W2
            X, Y = (jax.lax.all_gather(a, "data", tiled=True, to="invarying") for a in (X, Y))
            return jax.grad(loss)(weights, X, Y)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P("data"), P(), P()), out_specs=P())(X, Y, W1, W2)


@right
def global_sum():
    def gradients(mesh, X, Y, W1, W2):
        def body(X, Y, W1, W2):
            weights = W1, W2

            def total(w):
                errors = jax.lax.psum(jnp.sum((jax.nn.relu(X @ w[0]) @ w[1] - Y) ** 2), "data")
                return errors / (Y.size * mesh.shape["data"])

            return jax.grad(total)(weights)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P("data"), P(), P()), out_specs=P())(X, Y, W1, W2)


@wrong("sum-of-means", 0)
def grad_alone():
    def gradients(mesh, X, Y, W1, W2):
        def body(X, Y, W1, W2):
            weights = W1, W2
            return jax.grad(loss)(weights, X, Y)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P("data"), P(), P()), out_specs=P())(X, Y, W1, W2)


@right
def grad_outside():
    def gradients(mesh, X, Y, W1, W2):
        def error(weights):
            def body(X, Y, W1, W2):
                return jax.lax.pmean(jnp.mean((jax.nn.relu(X @ W1) @ W2 - Y) ** 2), "data")

            return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P("data"), P(), P()), out_specs=P())(X, Y, *weights)

        return jax.grad(error)((W1, W2))


@wrong("reduces-what-is-reduced", 8.5)
def mean_of_both():
    def gradients(mesh, X, Y, W1, W2):
        def body(X, Y, W1, W2):
            weights = W1, W2
            return over(jax.grad(lambda w: jax.lax.pmean(loss(w, X, Y), "data"))(weights), jax.lax.pmean)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P("data"), P(), P()), out_specs=P())(X, Y, W1, W2)


@wrong("sum-over-outputs")
def mean_over_samples():
    def gradients(mesh, X, Y, W1, W2):
        def body(X, Y, W1, W2):
            def e(ws):
                return jax.lax.pmean(jnp.mean(jnp.sum((jax.nn.relu(X @ ws[0]) @ ws[1] - Y) ** 2, -1)), "data")

            return jax.grad(e)((W1, W2))

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P("data"), P(), P()), out_specs=P())(X, Y, W1, W2)


@wrong("pmap-habit", 0)
def pmap_habit():
    def gradients(mesh, X, Y, W1, W2):
        def body(X, Y, W1, W2):
            weights = W1, W2
            return over(jax.grad(loss)(weights, X, Y), jax.lax.pmean)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P("data"), P(), P()), out_specs=P())(X, Y, W1, W2)


@wrong("summed-again", 0)
def psum_after():
    def gradients(mesh, X, Y, W1, W2):
        def body(X, Y, W1, W2):
            weights = W1, W2
            return over(jax.grad(loss)(weights, X, Y), jax.lax.psum)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P("data"), P(), P()), out_specs=P())(X, Y, W1, W2)


@wrong("sum-of-means", 0)
def psum_of_loss():
    def gradients(mesh, X, Y, W1, W2):
        def body(X, Y, W1, W2):
            weights = W1, W2
            return jax.grad(lambda w: jax.lax.psum(loss(w, X, Y), "data"))(weights)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P("data"), P(), P()), out_specs=P())(X, Y, W1, W2)


@wrong("left-to-the-compiler", 0)
def tiny_manual_rest_auto():
    def gradients(mesh, X, Y, W1, W2):
        def e(ws):
            return jnp.mean((jax.nn.relu(X @ ws[0]) @ ws[1] - Y) ** 2)

        g = jax.grad(e)((W1, W2))
        one = jax.shard_map(lambda y: jax.lax.pmean(y.mean(), "data"), mesh=mesh, in_specs=P("data"), out_specs=P())(Y)
        return jax.tree.map(lambda a: a + 0 * one, g)


@wrong("never-reduced", 0)
def unchecked_alone():
    def gradients(mesh, X, Y, W1, W2):
        def body(X, Y, W1, W2):
            weights = W1, W2
            return jax.grad(loss)(weights, X, Y)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P("data"), P(), P()), out_specs=P(), check_vma=False)(
            X, Y, W1, W2
        )


@wrong("a-number-beside", 8.5)
def unchecked_everything():
    def gradients(mesh, X, Y, W1, W2):
        def body(X, Y, W1, W2):
            weights = W1, W2
            return over(jax.grad(lambda w: jax.lax.pmean(loss(w, X, Y), "data"))(weights), jax.lax.pmean)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P("data"), P(), P()), out_specs=P(), check_vma=False)(
            X, Y, W1, W2
        )


@wrong("never-reduced", 0)
def unchecked_loss():
    def gradients(mesh, X, Y, W1, W2):
        def body(X, Y, W1, W2):
            weights = W1, W2
            return jax.grad(lambda w: jax.lax.pmean(loss(w, X, Y), "data"))(weights)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P("data"), P(), P()), out_specs=P(), check_vma=False)(
            X, Y, W1, W2
        )


@right
def unchecked_mean():
    def gradients(mesh, X, Y, W1, W2):
        def body(X, Y, W1, W2):
            weights = W1, W2
            return over(jax.grad(loss)(weights, X, Y), jax.lax.pmean)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P("data"), P(), P()), out_specs=P(), check_vma=False)(
            X, Y, W1, W2
        )


@wrong("one-left-out", 0)
def second_not_reduced():
    def gradients(mesh, X, Y, W1, W2):
        def body(X, Y, W1, W2):
            first, second = jax.grad(loss)((W1, W2), X, Y)
            return jax.lax.pmean(first, "data"), second

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P("data"), P(), P()), out_specs=P(), check_vma=False)(
            X, Y, W1, W2
        )


@wrong("one-left-out", 0)
def first_not_reduced():
    def gradients(mesh, X, Y, W1, W2):
        def body(X, Y, W1, W2):
            first, second = jax.grad(loss)((W1, W2), X, Y)
            return first, jax.lax.pmean(second, "data")

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P("data"), P(), P()), out_specs=P(), check_vma=False)(
            X, Y, W1, W2
        )


@wrong("-", 8.5)
def terms_gathered():
    def gradients(mesh, X, Y, W1, W2):
        def body(X, Y, W1, W2):
            weights = jax.tree.map(lambda w: jax.lax.pcast(w, "data", to="varying"), (W1, W2))
            terms = jax.grad(loss)(weights, X, Y)
            return jax.tree.map(lambda g: jax.lax.all_gather(g, "data", to="invarying").mean(0), terms)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P("data"), P(), P()), out_specs=P())(X, Y, W1, W2)


@wrong("gathers", 8.5)
def samples_gathered():
    def gradients(mesh, X, Y, W1, W2):
        def body(X, Y, W1, W2):
            X, Y = (jax.lax.all_gather(a, "data", tiled=True, to="invarying") for a in (X, Y))
            return jax.grad(loss)((W1, W2), X, Y)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P("data"), P(), P()), out_specs=P())(X, Y, W1, W2)


@right
def flat_in_two_halves():
    def gradients(mesh, X, Y, W1, W2):
        def body(X, Y, W1, W2):
            n = mesh.shape["data"]
            weights = jax.tree.map(lambda w: jax.lax.pcast(w, "data", to="varying"), (W1, W2))
            flat = jnp.concatenate([g.ravel() for g in jax.grad(loss)(weights, X, Y)])
            padded = jnp.pad(flat / n, (0, -flat.size % n))
            part = jax.lax.psum_scatter(padded, "data", tiled=True)
            flat = jax.lax.all_gather(part, "data", tiled=True, to="invarying")
            return flat[: W1.size].reshape(W1.shape), flat[W1.size : W1.size + W2.size].reshape(W2.shape)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P("data"), P(), P()), out_specs=P())(X, Y, W1, W2)


@right
def mean_by_weights_sum():
    def gradients(mesh, X, Y, W1, W2):
        def body(X, Y, W1, W2):
            return jax.grad(lambda w: loss(w, X, Y) / mesh.shape["data"])((W1, W2))

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P("data"), P(), P()), out_specs=P())(X, Y, W1, W2)


@wrong("never-reduced", 0)
def stacked_own():
    def gradients(mesh, X, Y, W1, W2):
        def body(X, Y, W1, W2):
            w = jax.tree.map(lambda a: jax.lax.pcast(a, "data", to="varying"), (W1, W2))
            return jax.grad(loss)(w, X, Y)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P("data"), P(), P()), out_specs=P("data"))(X, Y, W1, W2)


@wrong("averaged-twice", 0)
def both_hints():
    def gradients(mesh, X, Y, W1, W2):
        def body(X, Y, W1, W2):
            w = jax.tree.map(lambda a: jax.lax.pcast(a, "data", to="varying"), (W1, W2))
            g = jax.grad(lambda w: jax.lax.pmean(loss(w, X, Y), "data"))(w)
            return over(g, jax.lax.pmean)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P("data"), P(), P()), out_specs=P())(X, Y, W1, W2)
