from functools import partial

import jax
import jax.numpy as jnp
from jax import P

import shardlab as sl
from shardlab_course.answers import changed, right, told, wrong


@right
def around_the_loss():
    def lean(mesh, X, Y, *weights):
        def layer(x, w):
            return jnp.tanh(x @ jax.lax.all_gather(w, "data", tiled=True))

        def body(X, Y, *slices):
            def loss(slices):
                out = X
                for w in slices:
                    out = layer(out, w)
                return jax.lax.pmean(jnp.mean((out - Y) ** 2), "data")

            return jax.grad(jax.checkpoint(loss, policy=lambda primitive, *_, **__: primitive.name != "all_gather"))(slices)

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)


@wrong("left-to-the-compiler", 4)
def automatic():
    def lean(mesh, X, Y, *weights):
        def lie(a, spec):
            return jax.lax.with_sharding_constraint(a, jax.NamedSharding(mesh, spec))

        def loss(weights):
            out = X
            for w in weights:
                out = jnp.tanh(out @ lie(w, P()))
            return jnp.mean((out - Y) ** 2)

        slopes = jax.grad(loss)(weights)

        return tuple(lie(g, P("data", None)) for g in slopes)


@wrong("slices-averaged", 4)
def averaged_slices():
    def lean(mesh, X, Y, *weights):
        @partial(jax.checkpoint, policy=lambda primitive, *_, **__: primitive.name != "all_gather")
        def layer(x, w):
            return jnp.tanh(x @ jax.lax.all_gather(w, "data", tiled=True))

        def body(X, Y, *slices):
            def loss(slices):
                out = X
                for w in slices:
                    out = layer(out, w)
                return jnp.mean((out - Y) ** 2)

            return jax.lax.pmean(jax.grad(loss)(slices), "data")

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)


@right
def by_hand():
    def lean(mesh, X, Y, *weights):
        def body(X, Y, *slices):
            def gathered(w):
                return jax.lax.all_gather(w, "data", tiled=True)

            held = [X]
            for w in slices:
                held.append(jnp.tanh(held[-1] @ gathered(w)))
            back, found = 2 * (held[-1] - Y) / Y.size / jax.lax.axis_size("data"), []
            for i in reversed(range(len(slices))):
                back = back * (1 - held[i + 1] ** 2)
                found.append(jax.lax.psum_scatter(held[i].T @ back, "data", tiled=True))
                if i:
                    w, back = jax.lax.optimization_barrier((slices[i], back))
                    back = back @ gathered(w).T
            return found[::-1]

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)


@wrong("averaged-twice", 4)
def divided_twice():
    def lean(mesh, X, Y, *weights):
        @partial(jax.checkpoint, policy=lambda primitive, *_, **__: primitive.name != "all_gather")
        def layer(x, w):
            return jnp.tanh(x @ jax.lax.all_gather(w, "data", tiled=True))

        def body(X, Y, *slices):
            def loss(slices):
                out = X
                for w in slices:
                    out = layer(out, w)
                return jax.lax.pmean(jnp.mean((out - Y) ** 2), "data")

            return tuple(g / jax.lax.axis_size("data") for g in jax.grad(loss)(slices))

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)


@right
def dots_kept():
    def lean(mesh, X, Y, *weights):
        @partial(jax.checkpoint, policy=jax.checkpoint_policies.dots_saveable)
        def layer(x, w):
            return jnp.tanh(x @ jax.lax.all_gather(w, "data", tiled=True))

        def body(X, Y, *slices):
            def loss(slices):
                out = X
                for w in slices:
                    out = layer(out, w)
                return jax.lax.pmean(jnp.mean((out - Y) ** 2), "data")

            return jax.grad(loss)(slices)

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)


@wrong("eight-devices", 4)
def eight():
    def lean(mesh, X, Y, *weights):
        @partial(jax.checkpoint, policy=lambda primitive, *_, **__: primitive.name != "all_gather")
        def layer(x, w):
            return jnp.tanh(x @ jax.lax.all_gather(w, "data", tiled=True))

        def body(X, Y, *slices):
            def loss(slices):
                out = X
                for w in slices:
                    out = layer(out, w)
                return jnp.mean((out - Y) ** 2) / 8

            return jax.grad(loss)(slices)

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)


@wrong("checkpoint-without-effect", 10)
def everything_kept():
    def lean(mesh, X, Y, *weights):
        @partial(jax.checkpoint, policy=jax.checkpoint_policies.everything_saveable)
        def layer(x, w):
            return jnp.tanh(x @ jax.lax.all_gather(w, "data", tiled=True))

        def body(X, Y, *slices):
            def loss(slices):
                out = X
                for w in slices:
                    out = layer(out, w)
                return jax.lax.pmean(jnp.mean((out - Y) ** 2), "data")

            return jax.grad(loss)(slices)

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)


@wrong("checkpoint-without-effect", 10)
def gather_alone():
    def lean(mesh, X, Y, *weights):
        def gathered(w):
            return jax.lax.all_gather(w, "data", tiled=True)

        def layer(x, w):
            return jnp.tanh(x @ jax.checkpoint(gathered)(w))

        def body(X, Y, *slices):
            def loss(slices):
                out = X
                for w in slices:
                    out = layer(out, w)
                return jax.lax.pmean(jnp.mean((out - Y) ** 2), "data")

            return jax.grad(loss)(slices)

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)


@right
def jitted_layer():
    def lean(mesh, X, Y, *weights):
        @jax.jit
        @partial(jax.checkpoint, policy=lambda primitive, *_, **__: primitive.name != "all_gather")
        def layer(x, w):
            return jnp.tanh(x @ jax.lax.all_gather(w, "data", tiled=True))

        def body(X, Y, *slices):
            def loss(slices):
                out = X
                for w in slices:
                    out = layer(out, w)
                return jax.lax.pmean(jnp.mean((out - Y) ** 2), "data")

            return jax.grad(loss)(slices)

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)


@wrong("some-gathered-again", 10)
def last_layer():
    def lean(mesh, X, Y, *weights):
        def layer(x, w):
            return jnp.tanh(x @ jax.lax.all_gather(w, "data", tiled=True))

        def body(X, Y, *slices):
            def loss(slices):
                out = X
                for w in slices[:2]:
                    out = layer(out, w)
                for w in slices[2:]:
                    out = jax.checkpoint(layer)(out, w)
                return jax.lax.pmean(jnp.mean((out - Y) ** 2), "data")

            return jax.grad(loss)(slices)

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)


@wrong("sum-of-means", 4)
def local_means():
    def lean(mesh, X, Y, *weights):
        @partial(jax.checkpoint, policy=lambda primitive, *_, **__: primitive.name != "all_gather")
        def layer(x, w):
            return jnp.tanh(x @ jax.lax.all_gather(w, "data", tiled=True))

        def body(X, Y, *slices):
            def loss(slices):
                out = X
                for w in slices:
                    out = layer(out, w)
                return jnp.mean((out - Y) ** 2)

            return jax.grad(loss)(slices)

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)


@right
def named_products():
    from jax.ad_checkpoint import checkpoint_name

    def lean(mesh, X, Y, *weights):
        @partial(jax.checkpoint, policy=jax.checkpoint_policies.save_only_these_names("product"))
        def layer(x, w):
            return jnp.tanh(checkpoint_name(x @ jax.lax.all_gather(w, "data", tiled=True), "product"))

        def body(X, Y, *slices):
            def loss(slices):
                out = X
                for w in slices:
                    out = layer(out, w)
                return jax.lax.pmean(jnp.mean((out - Y) ** 2), "data")

            return jax.grad(loss)(slices)

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)


@wrong("checkpoint-without-effect", 10)
def named_weight():
    from jax.ad_checkpoint import checkpoint_name

    def lean(mesh, X, Y, *weights):
        @partial(jax.checkpoint, policy=jax.checkpoint_policies.save_anything_except_these_names("whole"))
        def layer(x, w):
            whole = checkpoint_name(jax.lax.all_gather(w, "data", tiled=True), "whole")
            return jnp.tanh(x @ whole)

        def body(X, Y, *slices):
            def loss(slices):
                out = X
                for w in slices:
                    out = layer(out, w)
                return jax.lax.pmean(jnp.mean((out - Y) ** 2), "data")

            return jax.grad(loss)(slices)

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)


@wrong("merged-again", 10)
def no_barrier():
    def lean(mesh, X, Y, *weights):
        @partial(jax.checkpoint, prevent_cse=False, policy=lambda primitive, *_, **__: primitive.name != "all_gather")
        def layer(x, w):
            return jnp.tanh(x @ jax.lax.all_gather(w, "data", tiled=True))

        def body(X, Y, *slices):
            def loss(slices):
                out = X
                for w in slices:
                    out = layer(out, w)
                return jax.lax.pmean(jnp.mean((out - Y) ** 2), "data")

            return jax.grad(loss)(slices)

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)


@changed("0.12", wrong("products-made-again", 10), wrong("products-made-again", 8))
def no_policy():
    def lean(mesh, X, Y, *weights):
        @jax.checkpoint
        def layer(x, w):
            return jnp.tanh(x @ jax.lax.all_gather(w, "data", tiled=True))

        def body(X, Y, *slices):
            def loss(slices):
                out = X
                for w in slices:
                    out = layer(out, w)
                return jax.lax.pmean(jnp.mean((out - Y) ** 2), "data")

            return jax.grad(loss)(slices)

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)


@wrong("not-gathered", 4)
def not_gathered():
    def lean(mesh, X, Y, *weights):
        def layer(x, w):
            return jnp.tanh(x @ w)

        def body(X, Y, *slices):
            def loss(slices):
                out = X
                for w in slices:
                    out = layer(out, w)
                return jax.lax.pmean(jnp.mean((out - Y) ** 2), "data")

            return jax.grad(loss)(slices)

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)


@told("nothing-written-twice")
def nothing_changes():
    sl.predict("11.4", gathers=4, why="a", compilers=["TPU", "GPU"])


@changed("0.12", wrong("products-made-again", 10), wrong("products-made-again", 8))
def nothing_saveable():
    def lean(mesh, X, Y, *weights):
        @partial(jax.checkpoint, policy=jax.checkpoint_policies.nothing_saveable)
        def layer(x, w):
            return jnp.tanh(x @ jax.lax.all_gather(w, "data", tiled=True))

        def body(X, Y, *slices):
            def loss(slices):
                out = X
                for w in slices:
                    out = layer(out, w)
                return jax.lax.pmean(jnp.mean((out - Y) ** 2), "data")

            return jax.grad(loss)(slices)

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)


@wrong("merged-again", 10)
def own_rule():
    @jax.custom_vjp
    def layer(x, w):
        return jnp.tanh(x @ jax.lax.all_gather(w, "data", tiled=True))

    def forward(x, w):
        out = layer(x, w)
        return out, (x, w, out)

    def backward(kept, slope):
        x, w, out = kept
        slope = slope * (1 - out**2)
        full = jax.lax.all_gather(w, "data", tiled=True)
        return slope @ full.T, jax.lax.psum_scatter(x.T @ slope, "data", tiled=True)

    layer.defvjp(forward, backward)

    def lean(mesh, X, Y, *weights):
        def body(X, Y, *slices):
            def loss(slices):
                out = X
                for w in slices:
                    out = layer(out, w)
                return jax.lax.pmean(jnp.mean((out - Y) ** 2), "data")

            return jax.grad(loss)(slices)

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)


@right
def own_rule_with_barrier():
    @jax.custom_vjp
    def layer(x, w):
        return jnp.tanh(x @ jax.lax.all_gather(w, "data", tiled=True))

    def forward(x, w):
        out = layer(x, w)
        return out, (x, w, out)

    def backward(kept, slope):
        x, w, out = kept
        slope = slope * (1 - out**2)
        w, slope = jax.lax.optimization_barrier((w, slope))
        full = jax.lax.all_gather(w, "data", tiled=True)
        return slope @ full.T, jax.lax.psum_scatter(x.T @ slope, "data", tiled=True)

    layer.defvjp(forward, backward)

    def lean(mesh, X, Y, *weights):
        def body(X, Y, *slices):
            def loss(slices):
                out = X
                for w in slices:
                    out = layer(out, w)
                return jax.lax.pmean(jnp.mean((out - Y) ** 2), "data")

            return jax.grad(loss)(slices)

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)


@wrong("never-reduced", 4)
def own_samples():
    def lean(mesh, X, Y, *weights):
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


@wrong("no-checkpoint", 10)
def plain():
    def lean(mesh, X, Y, *weights):
        def layer(x, w):
            return jnp.tanh(x @ jax.lax.all_gather(w, "data", tiled=True))

        def body(X, Y, *slices):
            def loss(slices):
                out = X
                for w in slices:
                    out = layer(out, w)
                return jax.lax.pmean(jnp.mean((out - Y) ** 2), "data")

            return jax.grad(loss)(slices)

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)


@told("first-layer-spared")
def seven():
    sl.predict("11.4", gathers=7, why="a", compilers=["TPU", "GPU"])


@wrong("whole-loss", 10)
def whole_loss():
    def lean(mesh, X, Y, *weights):
        def layer(x, w):
            return jnp.tanh(x @ jax.lax.all_gather(w, "data", tiled=True))

        def body(X, Y, *slices):
            def loss(slices):
                out = X
                for w in slices:
                    out = layer(out, w)
                return jax.lax.pmean(jnp.mean((out - Y) ** 2), "data")

            return jax.grad(jax.checkpoint(loss))(slices)

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)


@told("weights-are-kept")
def weights_are_kept():
    sl.predict("11.4", gathers=8, why="b", compilers=["TPU", "GPU"])


@told("only-what-is-needed")
def only_what_is_needed():
    sl.predict("11.4", gathers=8, why="c", compilers=["TPU", "GPU"])


@wrong("checkpoint-without-effect", 10)
def refused_by_name():
    from jax.ad_checkpoint import checkpoint_name

    def no_whole(operation, *_, **how):
        return not (operation.name == "name" and how["name"] == "whole")

    def lean(mesh, X, Y, *weights):
        @partial(jax.checkpoint, policy=no_whole)
        def layer(x, w):
            return jnp.tanh(x @ checkpoint_name(jax.lax.all_gather(w, "data", tiled=True), "whole"))

        def body(X, Y, *slices):
            def loss(slices):
                out = X
                for w in slices:
                    out = layer(out, w)
                return jax.lax.pmean(jnp.mean((out - Y) ** 2), "data")

            return jax.grad(loss)(slices)

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)


@wrong("merged-again", None)
def no_barriers():
    def lean(mesh, X, Y, *weights):
        @partial(jax.checkpoint, prevent_cse=False, policy=lambda operation, *_, **__: operation.name != "all_gather")
        def layer(x, w):
            return jnp.tanh(x @ jax.lax.all_gather(w, "data", tiled=True))

        def body(X, Y, *slices):
            def loss(slices):
                out = X
                for w in slices:
                    out = layer(out, w)
                return jax.lax.pmean(jnp.mean((out - Y) ** 2), "data")

            return jax.grad(loss)(slices)

        cut = P("data", None)
        return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)
