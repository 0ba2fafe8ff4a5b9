import jax
import jax.numpy as jnp

from shardlab_course.answers import right, wrong

P = jax.P


@wrong("constraint-deleted", 2)
def all_deleted():
    def ported(mesh, X, W1, W2):
        return jnp.dot(jax.nn.relu(X @ W1), W2, out_sharding=P())


@right
def auto_axes():
    def ported(mesh, X, W1, W2):
        @jax.sharding.auto_axes
        def before(X, W1, W2):
            X = jax.lax.with_sharding_constraint(X, P("x", None))
            H = jax.nn.relu(X @ W1)
            H = jax.lax.with_sharding_constraint(H, P("x", "y"))
            return jax.lax.with_sharding_constraint(H @ W2, P("x", None))

        return before(X, W1, W2, out_sharding=P("x", None))


@wrong("whole-batch-everywhere", 6)
def cut_after_the_first():
    def ported(mesh, X, W1, W2):
        H = jax.reshard(jax.nn.relu(X @ W1), P("x", "y"))
        return jnp.dot(H, W2, out_sharding=P("x", None))


@wrong("resharded-at-the-end", 4)
def cut_at_the_end():
    def ported(mesh, X, W1, W2):
        Y = jnp.dot(jax.nn.relu(X @ W1), W2, out_sharding=P())
        return jax.reshard(Y, P("x", None))


@right
def device_put():
    def ported(mesh, X, W1, W2):
        X = jax.device_put(X, jax.NamedSharding(mesh, P("x", None)))
        H = jax.nn.relu(X @ W1)
        terms = jnp.dot(H, W2, out_sharding=P("x", None, unreduced={"y"}))
        return jax.reshard(terms, P("x", None))


@wrong("no-out-sharding", 0)
def product_unchanged():
    def ported(mesh, X, W1, W2):
        X = jax.reshard(X, P("x", None))
        H = jax.nn.relu(X @ W1)
        return jax.reshard(H @ W2, P("x", None))


@wrong("constraint-is-an-assert", 0)
def unchanged():
    def ported(mesh, X, W1, W2):
        X = jax.lax.with_sharding_constraint(X, P("x", None))
        H = jax.nn.relu(X @ W1)
        H = jax.lax.with_sharding_constraint(H, P("x", "y"))
        return jax.lax.with_sharding_constraint(H @ W2, P("x", None))


@wrong("weights-made-whole", 4)
def weights_whole():
    def ported(mesh, X, W1, W2):
        X = jax.reshard(X, P("x", None))
        return jax.nn.relu(X @ jax.reshard(W1, P())) @ jax.reshard(W2, P())


@right
def where():
    def ported(mesh, X, W1, W2):
        H = jax.reshard(X, P("x")) @ W1
        H = jnp.where(H > 0, H, 0)
        return jnp.dot(H, W2, out_sharding=P("x", None))


@wrong("-", 6)
def hidden_layer_gathered():
    """No weight is brought together; the hidden layer is."""

    def ported(mesh, X, W1, W2):
        X = jax.reshard(X, P("x", None))
        H = jax.reshard(jax.nn.relu(X @ W1), P("x", None))
        return jnp.dot(H, W2, out_sharding=P("x", None))
