import jax

from shardlab_course.answers import right, wrong

P = jax.P


@right
def all_to_all_and_add():
    def three_layers(mesh, X, W1, W2, W3):
        def body(x, w1, w2, w3):
            g = jax.nn.relu(x @ w1) @ w2
            n = mesh.shape["model"]
            g = jax.lax.all_to_all(g, "model", 1, 0, tiled=True)
            g = jax.nn.relu(g.reshape(n, len(x), -1).sum(0))
            return jax.lax.psum(g @ w3, "model")

        specs = (P(), P(None, "model"), P("model"), P("model"))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P())(X, W1, W2, W3)


@right
def gather_and_sum_by_hand():
    def mlp_by_hand(mesh, X, W1, W2):
        def body(x, w1, w2):
            terms = jax.lax.psum_scatter(jax.nn.relu(x @ w1) @ w2, "model", tiled=True)
            return jax.lax.all_gather(terms, "model", tiled=True, to="invarying")

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P(None, "model"), P("model", None)), out_specs=P())(X, W1, W2)


@wrong("left-to-the-compiler", 8.75)
def left_to_the_compiler():
    def mlp_by_hand(mesh, X, W1, W2):
        return jax.nn.relu(X @ W1) @ W2


@right
def manual_over_model_only():
    def mlp_by_hand(mesh, X, W1, W2):
        def body(x, w1, w2):
            return jax.lax.psum(jax.nn.relu(x @ w1) @ w2, "model")

        return jax.shard_map(
            body, mesh=mesh, in_specs=(P(), P(None, "model"), P("model", None)), out_specs=P(), axis_names={"model"}
        )(X, W1, W2)


@wrong("mean-instead-of-sum", 8.75)
def mean():
    def mlp_by_hand(mesh, X, W1, W2):
        def body(x, w1, w2):
            return jax.lax.pmean(jax.nn.relu(x @ w1) @ w2, "model")

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P(None, "model"), P("model", None)), out_specs=P())(X, W1, W2)


@wrong("relu-forgotten")
def no_second_relu():
    def three_layers(mesh, X, W1, W2, W3):
        def body(x, w1, w2, w3):
            h = jax.nn.relu(x @ w1)
            g = jax.lax.psum_scatter(h @ w2, "model", scatter_dimension=1, tiled=True)
            return jax.lax.psum(g @ w3, "model")

        specs = (P(), P(None, "model"), P("model", None), P("model", None))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P())(X, W1, W2, W3)


@wrong("term-returned", 8.75)
def no_sum():
    def mlp_by_hand(mesh, X, W1, W2):
        def body(x, w1, w2):
            return jax.nn.relu(x @ w1) @ w2

        return jax.shard_map(
            body, mesh=mesh, in_specs=(P(), P(None, "model"), P("model", None)), out_specs=P(), check_vma=False
        )(X, W1, W2)


@wrong("promise-not-proved", 8.75)
def no_sum_checked():
    def mlp_by_hand(mesh, X, W1, W2):
        def body(x, w1, w2):
            return jax.nn.relu(x @ w1) @ w2

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P(None, "model"), P("model", None)), out_specs=P())(X, W1, W2)


@wrong("goes-on-with-terms", 5.25)
def own_columns_of_own_term():
    def three_layers(mesh, X, W1, W2, W3):
        def body(x, w1, w2, w3):
            g = jax.nn.relu(jax.nn.relu(x @ w1) @ w2)
            start = jax.lax.axis_index("model") * len(w3)
            g = jax.lax.dynamic_slice_in_dim(g, start, len(w3), axis=1)
            return jax.lax.psum(g @ w3, "model")

        specs = (P(), P(None, "model"), P("model", None), P("model", None))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P())(X, W1, W2, W3)


@right
def partial_einsum_untiled():
    import functools

    import jax.numpy as jnp

    def mlp_by_hand(mesh, X, W1, W2):
        @jax.jit
        @functools.partial(
            jax.shard_map, mesh=mesh, in_specs=(P(None, None), P(None, "model"), P("model")), out_specs=P(None, None)
        )
        def f(x, w1, w2):
            h = jnp.maximum(jnp.einsum("td,df->tf", x, w1), 0)
            return jax.lax.psum(jnp.einsum("tf,fd->td", h, w2), ("model",))

        return f(X, W1, W2)

    def three_layers(mesh, X, W1, W2, W3):
        n = mesh.shape["model"]

        def body(x, w1, w2, w3):
            h = jax.nn.relu(x @ w1)
            t = h @ w2
            t = t.reshape(len(t), n, -1)
            g = jax.lax.psum_scatter(t, "model", scatter_dimension=1)
            return jax.lax.psum(jax.nn.relu(g) @ w3, axis_name="model")

        specs = (P(), P(None, "model"), P("model", None), P("model", None))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P())(X, W1, W2, W3)


@wrong("relu-before-sum", 5.25)
def relu_before_sum():
    def three_layers(mesh, X, W1, W2, W3):
        def body(x, w1, w2, w3):
            h = jax.nn.relu(x @ w1)
            g = jax.nn.relu(h @ w2)
            g = jax.lax.psum_scatter(g, "model", scatter_dimension=1, tiled=True)
            return jax.lax.psum(g @ w3, "model")

        specs = (P(), P(None, "model"), P("model", None), P("model", None))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P())(X, W1, W2, W3)


@wrong("adds-finished-columns", 8.75)
def sum_after_the_first():
    def mlp_by_hand(mesh, X, W1, W2):
        def body(x, w1, w2):
            h = jax.nn.relu(jax.lax.psum(x @ w1, "model"))
            return jax.lax.psum(h @ w2, "model")

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P(None, "model"), P("model", None)), out_specs=P())(X, W1, W2)


@wrong("sum-over-the-wrong-axis", 8.75)
def sum_over_all_axes():
    def mlp_by_hand(mesh, X, W1, W2):
        def body(x, w1, w2):
            return jax.lax.psum(jax.nn.relu(x @ w1) @ w2, mesh.axis_names)

        return jax.shard_map(
            body, mesh=mesh, in_specs=(P(), P(None, "model"), P("model", None)), out_specs=P(), check_vma=False
        )(X, W1, W2)


@wrong("sum-over-the-wrong-axis", 8.75)
def sum_over_all_axes_checked():
    def mlp_by_hand(mesh, X, W1, W2):
        def body(x, w1, w2):
            return jax.lax.psum(jax.nn.relu(x @ w1) @ w2, mesh.axis_names)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P(None, "model"), P("model", None)), out_specs=P())(X, W1, W2)


@wrong("reduces-all-columns", 10.5)
def sum_then_slice():
    def three_layers(mesh, X, W1, W2, W3):
        def body(x, w1, w2, w3):
            g = jax.nn.relu(jax.lax.psum(jax.nn.relu(x @ w1) @ w2, "model"))
            start = jax.lax.axis_index("model") * len(w3)
            g = jax.lax.dynamic_slice_in_dim(g, start, len(w3), axis=1)
            return jax.lax.psum(g @ w3, "model")

        specs = (P(), P(None, "model"), P("model", None), P("model", None))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P())(X, W1, W2, W3)


@wrong("left-to-the-compiler", 5.25)
def three_left_to_the_compiler():
    def three_layers(mesh, X, W1, W2, W3):
        return jax.nn.relu(jax.nn.relu(X @ W1) @ W2) @ W3


@wrong("promise-not-proved", 5.25)
def three_no_last_sum():
    def three_layers(mesh, X, W1, W2, W3):
        def body(x, w1, w2, w3):
            h = jax.nn.relu(x @ w1)
            g = jax.lax.psum_scatter(h @ w2, "model", scatter_dimension=1, tiled=True)
            return jax.nn.relu(g) @ w3

        specs = (P(), P(None, "model"), P("model", None), P("model", None))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P())(X, W1, W2, W3)


@wrong("weights-gathered", 5.25)
def three_whole_weights():
    def three_layers(mesh, X, W1, W2, W3):
        def body(x, w1, w2, w3):
            g = jax.lax.psum_scatter(jax.nn.relu(x @ w1) @ w2, "model", scatter_dimension=1, tiled=True)
            g = jax.lax.all_gather(jax.nn.relu(g), "model", axis=1, tiled=True, to="invarying")
            return g @ w3

        specs = (P(), P(None, "model"), P("model", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P())(X, W1, W2, W3)


@wrong("weights-gathered", 8.75)
def weights_whole_by_in_specs():
    def mlp_by_hand(mesh, X, W1, W2):
        def body(x, w1, w2):
            return jax.nn.relu(x @ w1) @ w2

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P(), P()), out_specs=P())(X, W1, W2)


@wrong("left-to-the-compiler", 8.75)
def dead_region_beside():
    def mlp_by_hand(mesh, X, W1, W2):
        def body(x):
            return jax.lax.psum(jax.lax.axis_index("model"), "model")

        jax.shard_map(body, mesh=mesh, in_specs=P(), out_specs=P())(X)
        return jax.nn.relu(X @ W1) @ W2


@wrong("left-to-the-compiler", 8.75)
def region_beside():
    def mlp_by_hand(mesh, X, W1, W2):
        def body(x):
            return jax.lax.psum(jax.lax.axis_index("model") * x[0, 0], "model")

        return jax.nn.relu(X @ W1) @ W2 + 0 * jax.shard_map(body, mesh=mesh, in_specs=P(), out_specs=P())(X)


@wrong("left-to-the-compiler", 8.75)
def sum_left():
    def mlp_by_hand(mesh, X, W1, W2):
        def body(x, w1, w2):
            return (jax.nn.relu(x @ w1) @ w2)[None] + 0 * jax.lax.psum(x[0, 0], "model") / mesh.shape["model"]

        terms = jax.shard_map(body, mesh=mesh, in_specs=(P(), P(None, "model"), P("model", None)), out_specs=P("model"))(
            X, W1, W2
        )
        return terms.sum(0)
