import jax

import shardlab as sl
from shardlab_course.answers import right, told, wrong

P = jax.P


@right
def added_outside():
    def mlp_bias(mesh, X, W1, b1, W2, b2):
        def body(x, w1, b1, w2, b2):
            h = jax.nn.relu(x @ w1 + b1)
            return jax.lax.psum(h @ w2, "model")

        specs = (P(), P(None, "model"), P("model"), P("model", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P())(X, W1, b1, W2, b2) + b2


@right
def an_nth_each():
    def mlp_bias(mesh, X, W1, b1, W2, b2):
        def body(x, w1, b1, w2, b2):
            h = jax.nn.relu(x @ w1 + b1)
            return jax.lax.psum(h @ w2 + b2 / mesh.shape["model"], "model")

        specs = (P(), P(None, "model"), P("model"), P("model", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P())(X, W1, b1, W2, b2)


@wrong("bias-after-relu")
def b1_after_relu():
    sl.predict("9.3", times=7)

    def mlp_bias(mesh, X, W1, b1, W2, b2):
        def body(x, w1, b1, w2, b2):
            return jax.lax.psum((jax.nn.relu(x @ w1) + b1) @ w2, "model") + b2

        return jax.shard_map(
            body, mesh=mesh, in_specs=(P(), P(None, "model"), P("model"), P("model", None), P()), out_specs=P()
        )(X, W1, b1, W2, b2)


@wrong("parts-gathered")
def b1_whole_sliced():
    sl.predict("9.3", times=7)

    def mlp_bias(mesh, X, W1, b1, W2, b2):
        def body(x, w1, b1, w2, b2):
            k = w1.shape[1]
            b = jax.lax.dynamic_slice_in_dim(b1, jax.lax.axis_index("model") * k, k)
            return jax.lax.psum(jax.nn.relu(x @ w1 + b) @ w2, "model") + b2

        specs = (P(), P(None, "model"), P(), P("model", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P())(X, W1, b1, W2, b2)


@wrong("relu-forgotten")
def b2_outside_relu_forgot():
    sl.predict("9.3", times=7)

    def mlp_bias(mesh, X, W1, b1, W2, b2):
        def body(x, w1, b1, w2, b2):
            return jax.lax.psum((x @ w1 + b1) @ w2, "model") + b2

        return jax.shard_map(
            body, mesh=mesh, in_specs=(P(), P(None, "model"), P("model"), P("model", None), P()), out_specs=P()
        )(X, W1, b1, W2, b2)


@wrong("bias-on-every-device", 1.25)
def before_the_sum():
    def mlp_bias(mesh, X, W1, b1, W2, b2):
        def body(x, w1, b1, w2, b2):
            h = jax.nn.relu(x @ w1 + b1)
            return jax.lax.psum(h @ w2 + b2, "model")

        specs = (P(), P(None, "model"), P("model"), P("model", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P())(X, W1, b1, W2, b2)


@told("one-extra-a-device")
def eight_too_many():
    predictions = sl.predict("9.3", times=8)


@wrong("left-to-the-compiler", 1.25)
def left_to_the_compiler():
    def mlp_bias(mesh, X, W1, b1, W2, b2):
        return jax.nn.relu(X @ W1 + b1) @ W2 + b2


@wrong("bias-forgotten", 1.25)
def no_second_bias():
    def mlp_bias(mesh, X, W1, b1, W2, b2):
        def body(x, w1, b1, w2, b2):
            h = jax.nn.relu(x @ w1 + b1)
            return jax.lax.psum(h @ w2, "model")

        specs = (P(), P(None, "model"), P("model"), P("model", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P())(X, W1, b1, W2, b2)


@wrong("promise-not-proved", 1.25)
def no_sum():
    def mlp_bias(mesh, X, W1, b1, W2, b2):
        def body(x, w1, b1, w2, b2):
            h = jax.nn.relu(x @ w1 + b1)
            return h @ w2 + b2

        specs = (P(), P(None, "model"), P("model"), P("model", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P())(X, W1, b1, W2, b2)


@told("bias-is-a-copy")
def none_too_many():
    predictions = sl.predict("9.3", times=0)


@right
def on_one_device():
    import jax.numpy as jnp

    def mlp_bias(mesh, X, W1, b1, W2, b2):
        def body(x, w1, b1, w2, b2):
            h = jax.nn.relu(x @ w1 + b1)
            first = jax.lax.axis_index("model") == 0
            return jax.lax.psum(h @ w2 + jnp.where(first, b2, 0), "model")

        specs = (P(), P(None, "model"), P("model"), P("model", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P())(X, W1, b1, W2, b2)


@told("bias-once-too-often")
def one_too_many():
    predictions = sl.predict("9.3", times=1)


@wrong("whole-bias-on-a-slice", 1.25)
def whole_first_bias():
    def mlp_bias(mesh, X, W1, b1, W2, b2):
        def body(x, w1, b1, w2, b2):
            h = jax.nn.relu(x @ w1 + b1)
            return jax.lax.psum(h @ w2, "model") + b2

        specs = (P(), P(None, "model"), P(), P("model", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P())(X, W1, b1, W2, b2)


@wrong("left-to-the-compiler", 1.25)
def decoy_region():
    def mlp_bias(mesh, X, W1, b1, W2, b2):
        def body(x):
            return x + 0 * jax.lax.psum(jax.lax.axis_index("model"), "model")

        X = jax.shard_map(body, mesh=mesh, in_specs=P(), out_specs=P())(X)
        return jax.nn.relu(X @ W1 + b1) @ W2 + b2


@wrong("divided-by-a-constant", 1.25)
def an_eighth():
    def mlp_bias(mesh, X, W1, b1, W2, b2):
        def body(x, w1, b1, w2, b2):
            h = jax.nn.relu(x @ w1 + b1)
            return jax.lax.psum(h @ w2 + b2 / 8, "model")

        specs = (P(), P(None, "model"), P("model"), P("model", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P())(X, W1, b1, W2, b2)


@wrong("-", 1.25)
def weights_do_not_fit():
    def mlp_bias(mesh, X, W1, b1, W2, b2):
        def body(x, w1, b1, w2, b2):
            h = jax.nn.relu(x @ w1 + b1)
            return jax.lax.psum(h @ w2, "model") + b2 + x[:4]

        specs = (P(), P(None, "model"), P("model"), P("model", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P())(X, W1, b1, W2, b2)


@wrong("-", 4.75)
def terms_gathered_and_added():
    def mlp_bias(mesh, X, W1, b1, W2, b2):
        def body(x, w1, b1, w2, b2):
            h = jax.nn.relu(x @ w1 + b1)
            return jax.lax.all_gather(h @ w2, "model", to="invarying").sum(0) + b2

        specs = (P(), P(None, "model"), P("model"), P("model", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P())(X, W1, b1, W2, b2)


@right
def scattered_then_gathered():
    def mlp_bias(mesh, X, W1, b1, W2, b2):
        def body(x, w1, b1, w2, b2):
            h = jax.nn.relu(x @ w1 + b1)
            part = jax.lax.psum_scatter(h @ w2, "model", scatter_dimension=0, tiled=True)
            return jax.lax.all_gather(part, "model", tiled=True, to="invarying") + b2

        specs = (P(), P(None, "model"), P("model"), P("model", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P())(X, W1, b1, W2, b2)
