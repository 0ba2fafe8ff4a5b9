import jax
import jax.numpy as jnp

from shardlab_course.answers import right, wrong

P = jax.P


@wrong("gathers-the-weights", 10)
def auto_gathers():
    def auto_layer(mesh, x, W, b):
        W = jax.lax.with_sharding_constraint(W, jax.NamedSharding(mesh, P()))
        x = jax.lax.with_sharding_constraint(x, jax.NamedSharding(mesh, P()))
        return jax.nn.sigmoid(x @ W + b)


@right
def explicit_by_terms():
    def auto_layer(mesh, x, W, b):
        total = jax.lax.with_sharding_constraint(x @ W, jax.NamedSharding(mesh, P()))
        return jax.nn.sigmoid(total + b)

    def explicit_layer(mesh, x, W, b):
        terms = jnp.dot(x, W, out_sharding=P(unreduced={"x"}))
        return jax.nn.sigmoid(jax.reshard(terms, P()) + b)


@wrong("gathers-the-weights", 10)
def explicit_gathers():
    def explicit_layer(mesh, x, W, b):
        return jax.nn.sigmoid(jax.reshard(x, P()) @ jax.reshard(W, P()) + b)


@wrong("no-out-sharding", 7.5)
def explicit_plain():
    def explicit_layer(mesh, x, W, b):
        return jax.nn.sigmoid(x @ W + b)


@wrong("bias-added-n-times", 7.5)
def manual_bias_inside():
    def manual_layer(mesh, x, W, b):
        def body(x, W, b):
            return jax.nn.sigmoid(jax.lax.psum(x @ W + b, "x"))

        specs = P("x"), P("x", None), P()
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P())(x, W, b)


@right
def manual_bias_on_first():
    def manual_layer(mesh, x, W, b):
        def body(x, W, b):
            first = jax.lax.axis_index("x") == 0
            return jax.nn.sigmoid(jax.lax.psum(x @ W + jnp.where(first, b, 0), "x"))

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x"), P("x", None), P()), out_specs=P())(x, W, b)


@right
def manual_bias_once():
    def manual_layer(mesh, x, W, b):
        def body(x, W, b):
            return jax.nn.sigmoid(jax.lax.psum(x @ W + b / jax.lax.axis_size("x"), "x"))

        specs = P("x"), P("x", None), P()
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P())(x, W, b)


@wrong("mean-for-sum", 7.5)
def manual_mean():
    def manual_layer(mesh, x, W, b):
        def body(x, W, b):
            return jax.nn.sigmoid(jax.lax.pmean(x @ W, "x") + b)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x"), P("x", None), P()), out_specs=P())(x, W, b)


@wrong("left-to-the-compiler", 7.5)
def manual_not_manual():
    def manual_layer(mesh, x, W, b):
        return jax.nn.sigmoid(jnp.dot(x, W, out_sharding=P()) + b)


@wrong("curved-before-the-sum", 7.5)
def manual_sigmoid_and_bias_inside():
    def manual_layer(mesh, x, W, b):
        def body(x, W, b):
            return jax.lax.psum(jax.nn.sigmoid(x @ W + b), "x")

        specs = P("x"), P("x", None), P()
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P())(x, W, b)


@wrong("curved-before-the-sum", 7.5)
def manual_sigmoid_inside():
    def manual_layer(mesh, x, W, b):
        def body(x, W, b):
            return jax.lax.psum(jax.nn.sigmoid(x @ W), "x") + b

        specs = P("x"), P("x", None), P()
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P())(x, W, b)


@wrong("left-to-the-compiler", 7.5)
def manual_sigmoid_only():
    def manual_layer(mesh, x, W, b):
        s = jnp.dot(x, W, out_sharding=P()) + b
        return jax.shard_map(jax.nn.sigmoid, mesh=mesh, in_specs=P(), out_specs=P())(s)


@wrong("terms-returned", 7.5)
def manual_terms():
    def manual_layer(mesh, x, W, b):
        def body(x, W, b):
            return jax.nn.sigmoid(x @ W + b)

        specs = P("x"), P("x", None), P()
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P(), check_vma=False)(x, W, b)


@wrong("promise-not-proved", 7.5)
def manual_terms_checked():
    def manual_layer(mesh, x, W, b):
        def body(x, W, b):
            return jax.nn.sigmoid(x @ W + b)

        specs = P("x"), P("x", None), P()
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P())(x, W, b)


@wrong("promise-not-proved", 7.5)
def bias_by_another_axis():
    """What is summed over x depends on where along y a device is."""

    def manual_layer(mesh, x, W, b):
        def body(x, W, b):
            first = jax.lax.axis_index("y") == 0
            return jax.nn.sigmoid(jax.lax.psum(x @ W + jnp.where(first, b, 0), "x"))

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x"), P("x", None), P()), out_specs=P())(x, W, b)


@wrong("terms-returned", 7.5)
def stacked_terms():
    def manual_layer(mesh, x, W, b):
        def body(x, W, b):
            return jax.nn.sigmoid(x @ W + b)

        specs = P("x"), P("x", None), P()
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x"))(x, W, b)


@wrong("moves-by-hand", 10)
def auto_by_hand():
    def auto_layer(mesh, x, W, b):
        def body(x, W, b):
            return jax.nn.sigmoid(jax.lax.psum(x @ W, "x") + b)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x"), P("x", None), P()), out_specs=P())(x, W, b)


@wrong("moves-by-hand", 10)
def explicit_by_hand():
    def explicit_layer(mesh, x, W, b):
        def body(x, W, b):
            return jax.nn.sigmoid(jax.lax.psum(x @ W, "x") + b)

        return jax.shard_map(body, in_specs=(P("x"), P("x", None), P()), out_specs=P())(x, W, b)


@right
def manual_unchecked():
    """Nothing shows that JAX's check was off."""

    def manual_layer(mesh, x, W, b):
        def body(x, W, b):
            return jax.nn.sigmoid(jax.lax.psum(x @ W, "x") + b)

        specs = P("x"), P("x", None), P()
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P(), check_vma=False)(x, W, b)
