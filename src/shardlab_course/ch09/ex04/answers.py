import jax
import jax.numpy as jnp

import shardlab as sl
from shardlab_course.answers import right, told, wrong

P = jax.P


@right
def another_way():
    def norm(x, scale):
        return x / jnp.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * scale

    def block(mesh, X, scale, W1, W2, b2):
        def body(x, scale, w1, w2, b2):
            h = jax.lax.all_gather(norm(x, scale), "model", axis=0, tiled=True)
            y = jax.nn.relu(h @ w1) @ w2
            y = jax.lax.psum_scatter(y, "model", scatter_dimension=0, tiled=True)
            return x + y + b2

        specs = (P("model", None), P(), P(None, "model"), P("model", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("model", None))(X, scale, W1, W2, b2)


@told("halved")
def activations_halved():
    predictions = sl.predict("9.4", price=1, activations=0.5)


@told("activations-stay-whole")
def activations_whole():
    predictions = sl.predict("9.4", price=1, activations=1)


@told("saves-communication")
def believes_in_savings():
    predictions = sl.predict("9.4", price=0.5, activations=0.125)


@wrong("bias-on-every-device", 2.5, of="another_way")
def bias_before_the_sum():
    def block(mesh, X, scale, W1, W2, b2):
        def body(x, scale, w1, w2, b2):
            h = jax.lax.all_gather(norm(x, scale), "model", axis=0, tiled=True)
            y = jax.nn.relu(h @ w1) @ w2
            y = y + b2
            y = jax.lax.psum_scatter(y, "model", scatter_dimension=0, tiled=True)
            return x + y

        specs = (P("model", None), P(), P(None, "model"), P("model", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("model", None))(X, scale, W1, W2, b2)


@right(of="another_way")
def bias_by_nths():
    def block(mesh, X, scale, W1, W2, b2):
        def body(x, scale, w1, w2, b2):
            h = jax.lax.all_gather(norm(x, scale), "model", axis=0, tiled=True)
            y = jax.nn.relu(h @ w1) @ w2
            y = y + b2 / mesh.shape["model"]
            y = jax.lax.psum_scatter(y, "model", scatter_dimension=0, tiled=True)
            return x + y

        specs = (P("model", None), P(), P(None, "model"), P("model", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("model", None))(X, scale, W1, W2, b2)


@right(of="another_way")
def gather_before_the_norm():
    def block(mesh, X, scale, W1, W2, b2):
        def body(x, scale, w1, w2, b2):
            h = norm(jax.lax.all_gather(x, "model", axis=0, tiled=True), scale)
            y = jax.nn.relu(h @ w1) @ w2
            y = jax.lax.psum_scatter(y, "model", scatter_dimension=0, tiled=True)
            return x + y + b2

        specs = (P("model", None), P(), P(None, "model"), P("model", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("model", None))(X, scale, W1, W2, b2)


@told("gather-comes-on-top")
def gather_on_top():
    predictions = sl.predict("9.4", price=1.5, activations=0.125)


@wrong("weights-gathered", of="another_way")
def gather_weights():
    sl.predict("9.4", price=1, activations=1 / 8)

    def block(mesh, X, scale, W1, W2, b2):

        def body(x, scale, w1, w2, b2):

            w1 = jax.lax.all_gather(w1, "model", axis=1, tiled=True)
            w2 = jax.lax.all_gather(w2, "model", axis=0, tiled=True)
            return x + jax.nn.relu(norm(x, scale) @ w1) @ w2 + b2

        specs = (P("model", None), P(), P(None, "model"), P("model", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("model", None))(X, scale, W1, W2, b2)


@wrong("all-tokens-everywhere", 7.25, of="another_way")
def gathers_at_the_end():
    def block(mesh, X, scale, W1, W2, b2):
        def body(x, scale, w1, w2, b2):
            h = jax.lax.all_gather(norm(x, scale), "model", axis=0, tiled=True)
            y = jax.nn.relu(h @ w1) @ w2
            y = jax.lax.psum_scatter(y, "model", scatter_dimension=0, tiled=True)
            return jax.lax.all_gather(x + y + b2, "model", tiled=True, to="invarying")

        specs = (P("model", None), P(), P(None, "model"), P("model", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P())(X, scale, W1, W2, b2)


@wrong("left-to-the-compiler", 2.5, of="another_way")
def left_to_the_compiler():
    def block(mesh, X, scale, W1, W2, b2):
        Y = X + jax.nn.relu(norm(X, scale) @ W1) @ W2 + b2
        return jax.lax.with_sharding_constraint(Y, jax.NamedSharding(mesh, P("model", None)))


@wrong("tokens-not-gathered", of="another_way")
def no_gather():
    sl.predict("9.4", price=1, activations=1 / 8)

    def block(mesh, X, scale, W1, W2, b2):

        def body(x, scale, w1, w2, b2):

            h = norm(x, scale)
            y = jax.nn.relu(h @ w1) @ w2
            return x + y + b2

        specs = (P("model", None), P(), P(None, "model"), P("model", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("model", None))(X, scale, W1, W2, b2)


@wrong("tokens-not-gathered", of="another_way")
def no_gather_psum():
    sl.predict("9.4", price=1, activations=1 / 8)

    def block(mesh, X, scale, W1, W2, b2):

        def body(x, scale, w1, w2, b2):

            h = norm(x, scale)
            y = jax.lax.psum(jax.nn.relu(h @ w1) @ w2, "model")
            return x + y + b2

        specs = (P("model", None), P(), P(None, "model"), P("model", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("model", None))(X, scale, W1, W2, b2)


@wrong("norm-forgotten")
def no_norm():
    sl.predict("9.4", price=1, activations=1 / 8)

    def block(mesh, X, scale, W1, W2, b2):

        def body(x, scale, w1, w2, b2):

            h = jax.lax.all_gather(x, "model", axis=0, tiled=True)
            y = jax.lax.psum_scatter(jax.nn.relu(h @ w1) @ w2, "model", scatter_dimension=0, tiled=True)
            return x + y + b2

        specs = (P("model", None), P(), P(None, "model"), P("model", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("model", None))(X, scale, W1, W2, b2)


@wrong("residual-forgotten", 2.5, of="another_way")
def no_residual():
    def block(mesh, X, scale, W1, W2, b2):
        def body(x, scale, w1, w2, b2):
            h = jax.lax.all_gather(norm(x, scale), "model", axis=0, tiled=True)
            y = jax.nn.relu(h @ w1) @ w2
            y = jax.lax.psum_scatter(y, "model", scatter_dimension=0, tiled=True)
            return y + b2

        specs = (P("model", None), P(), P(None, "model"), P("model", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("model", None))(X, scale, W1, W2, b2)


@wrong("scatter-not-tiled", 2.5, of="another_way")
def not_tiled():
    def block(mesh, X, scale, W1, W2, b2):
        def body(x, scale, w1, w2, b2):
            h = jax.lax.all_gather(norm(x, scale), "model", axis=0, tiled=True)
            y = jax.nn.relu(h @ w1) @ w2
            y = jax.lax.psum_scatter(y, "model", scatter_dimension=0)
            return x + y + b2

        specs = (P("model", None), P(), P(None, "model"), P("model", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("model", None))(X, scale, W1, W2, b2)


@wrong("residual-on-every-device", 2.5, of="another_way")
def residual_before_the_sum():
    def block(mesh, X, scale, W1, W2, b2):
        def body(x, scale, w1, w2, b2):
            full = jax.lax.all_gather(x, "model", axis=0, tiled=True)
            y = full + jax.nn.relu(norm(full, scale) @ w1) @ w2
            y = jax.lax.psum_scatter(y, "model", scatter_dimension=0, tiled=True)
            return y + b2

        specs = (P("model", None), P(), P(None, "model"), P("model", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("model", None))(X, scale, W1, W2, b2)


@wrong("residual-of-the-norm", of="another_way")
def residual_of_normed():
    sl.predict("9.4", price=1, activations=1 / 8)

    def block(mesh, X, scale, W1, W2, b2):

        def body(x, scale, w1, w2, b2):

            x = norm(x, scale)
            h = jax.lax.all_gather(x, "model", axis=0, tiled=True)
            y = jax.lax.psum_scatter(jax.nn.relu(h @ w1) @ w2, "model", scatter_dimension=0, tiled=True)
            return x + y + b2

        specs = (P("model", None), P(), P(None, "model"), P("model", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("model", None))(X, scale, W1, W2, b2)


@right(of="another_way")
def ring():
    sl.predict("9.4", price=1, activations=1 / 8)

    def block(mesh, X, scale, W1, W2, b2):
        n = mesh.shape["model"]

        def body(x, scale, w1, w2, b2):
            hop = [(i, (i + 1) % n) for i in range(n)]
            own = norm(x, scale)
            parts = [own]
            for _ in range(n - 1):
                parts.append(jax.lax.ppermute(parts[-1], "model", hop))
            # parts[k] are the tokens of the device k places before
            ys = [jax.nn.relu(p @ w1) @ w2 for p in parts]
            total = ys[1]
            for k in range(2, n):
                total = jax.lax.ppermute(total, "model", hop) + ys[k]
            total = jax.lax.ppermute(total, "model", hop) + ys[0]
            return x + total + b2

        specs = (P("model", None), P(), P(None, "model"), P("model", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("model", None))(X, scale, W1, W2, b2)


@wrong("wrong-dimension", of="another_way")
def scatter_columns():
    sl.predict("9.4", price=1, activations=1 / 8)

    def block(mesh, X, scale, W1, W2, b2):

        def body(x, scale, w1, w2, b2):

            h = jax.lax.all_gather(norm(x, scale), "model", axis=0, tiled=True)
            y = jax.lax.psum_scatter(jax.nn.relu(h @ w1) @ w2, "model", scatter_dimension=1, tiled=True)
            return x + y + b2

        specs = (P("model", None), P(), P(None, "model"), P("model", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("model", None))(X, scale, W1, W2, b2)


@wrong("reduces-then-slices", 12.25, of="another_way")
def sum_then_slice():
    def block(mesh, X, scale, W1, W2, b2):
        def body(x, scale, w1, w2, b2):
            h = jax.lax.all_gather(norm(x, scale), "model", axis=0, tiled=True)
            y = jax.nn.relu(h @ w1) @ w2
            y = jax.lax.psum(y, "model")
            start = jax.lax.axis_index("model") * len(x)
            return x + jax.lax.dynamic_slice_in_dim(y, start, len(x)) + b2

        specs = (P("model", None), P(), P(None, "model"), P("model", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("model", None))(X, scale, W1, W2, b2)


@right(of="another_way")
def token_terms_by_all_to_all():
    def block(mesh, X, scale, W1, W2, b2):
        def body(x, scale, w1, w2, b2):
            h = jax.lax.all_gather(norm(x, scale), "model", axis=0, tiled=True)
            y = jax.nn.relu(h @ w1) @ w2
            y = jax.lax.all_to_all(y, "model", 0, 0, tiled=True)
            y = y.reshape(-1, *x.shape).sum(0)
            return x + y + b2

        specs = (P("model", None), P(), P(None, "model"), P("model", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("model", None))(X, scale, W1, W2, b2)


@wrong("wrong-dimension", 2.5, of="another_way")
def summed_not_scattered():
    def block(mesh, X, scale, W1, W2, b2):
        def body(x, scale, w1, w2, b2):
            h = jax.lax.all_gather(norm(x, scale), "model", axis=0, tiled=True)
            y = jax.lax.psum(jax.nn.relu(h @ w1) @ w2, "model")
            return x + y + b2

        specs = (P("model", None), P(), P(None, "model"), P("model", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("model", None))(X, scale, W1, W2, b2)


@wrong("bias-forgotten", 2.5, of="another_way")
def without_the_bias():
    def block(mesh, X, scale, W1, W2, b2):
        def body(x, scale, w1, w2):
            h = jax.lax.all_gather(norm(x, scale), "model", axis=0, tiled=True)
            y = jax.nn.relu(h @ w1) @ w2
            return x + jax.lax.psum_scatter(y, "model", scatter_dimension=0, tiled=True)

        specs = (P("model", None), P(), P(None, "model"), P("model", None))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("model", None))(X, scale, W1, W2)


@wrong("-", 2.5, of="another_way")
def taken_off_under_the_root():
    def norm(x, scale):
        return x / jnp.sqrt((x * x).mean(-1, keepdims=True) - 1e-6) * scale


@wrong("epsilon-forgotten", 2.5, of="another_way")
def nothing_under_the_root():
    def norm(x, scale):
        return x / jnp.sqrt((x * x).mean(-1, keepdims=True)) * scale
