import jax

from shardlab_course.answers import right, wrong

P = jax.P


@right
def another_way():
    def constrain(x, mesh, spec):
        return jax.lax.with_sharding_constraint(x, jax.NamedSharding(mesh, spec))

    def block(mesh, X, W1, W2):
        H = jax.nn.relu(X @ W1)
        return constrain(H @ W2, mesh, P("data", None))


@right(of="another_way")
def as_it_is():
    def block(mesh, X, W1, W2):
        H = jax.nn.relu(X @ W1)
        H = constrain(H, mesh, P("data", "model"))
        return constrain(H @ W2, mesh, P("data", None))


@right
def by_hand():
    def block(mesh, X, W1, W2):
        def body(x, up, down):
            return jax.lax.psum(jax.nn.relu(x @ up) @ down, "model")

        specs = P("data", None), P(None, "model"), P("model", None)
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("data", None))(X, W1, W2)


@wrong("scattered-and-gathered", 4.5, of="another_way")
def cut_further():
    def block(mesh, X, W1, W2):
        H = jax.nn.relu(X @ W1)
        Y = constrain(H @ W2, mesh, P(("data", "model"), None))
        return constrain(Y, mesh, P("data", None))


@wrong("more-constraints", 4.5, of="another_way")
def more():
    def block(mesh, X, W1, W2):
        W1, W2 = constrain(W1, mesh, P(None, "model")), constrain(W2, mesh, P("model", None))
        H = jax.nn.relu(X @ W1)
        H = constrain(H, mesh, P(("data", "model"), None))
        return constrain(H @ W2, mesh, P("data", None))


@wrong("relu-forgotten", 0)
def no_relu():
    def block(mesh, X, W1, W2):
        return X @ W1 @ W2


@wrong("none-means-whole", 4.5, of="another_way")
def none_is_open():
    def block(mesh, X, W1, W2):
        H = jax.nn.relu(X @ W1)
        H = constrain(H, mesh, P("data", None))
        return constrain(H @ W2, mesh, P("data", None))


@wrong("-", 2.25, of="another_way")
def out_changed():
    def block(mesh, X, W1, W2):
        H = jax.nn.relu(X @ W1)
        H = constrain(H, mesh, P("data", "model"))
        return constrain(H @ W2, mesh, P())


@wrong("batch-over-everything", 4.5, of="another_way")
def turned():
    def block(mesh, X, W1, W2):
        H = jax.nn.relu(X @ W1)
        H = constrain(H, mesh, P("model", "data"))
        return constrain(H @ W2, mesh, P("data", None))


@wrong("batch-over-everything", 4.5, of="another_way")
def unchanged():
    def block(mesh, X, W1, W2):
        H = jax.nn.relu(X @ W1)
        H = constrain(H, mesh, P(("data", "model"), None))
        return constrain(H @ W2, mesh, P("data", None))


@right(of="another_way")
def unconstrained():
    def block(mesh, X, W1, W2):
        H = jax.nn.relu(X @ W1)
        H = constrain(H, mesh, P("data", P.UNCONSTRAINED))
        return constrain(H @ W2, mesh, P("data", None))


@wrong("more-constraints", 4.5, of="another_way")
def weights_whole():
    def block(mesh, X, W1, W2):
        W1, W2 = constrain(W1, mesh, P()), constrain(W2, mesh, P())
        H = jax.nn.relu(X @ W1)
        return constrain(H @ W2, mesh, P("data", None))


@wrong("batch-over-everything", 4.5, of="another_way")
def weight_asked_to_be_whole():
    """Nothing is said of H; a weight is made whole."""

    def block(mesh, X, W1, W2):
        H = jax.nn.relu(X @ constrain(W1, mesh, P()))
        return constrain(H @ W2, mesh, P("data", None))


@wrong("-", 4.5, of="another_way")
def x_over_both():
    def block(mesh, X, W1, W2):
        X = constrain(X, mesh, P(("data", "model"), None))
        H = jax.nn.relu(X @ W1)
        return constrain(H @ W2, mesh, P("data", None))


@wrong("-", 4.5, of="another_way")
def x_whole():
    def block(mesh, X, W1, W2):
        X = constrain(X, mesh, P())
        H = jax.nn.relu(X @ W1)
        return constrain(H @ W2, mesh, P("data", None))


@wrong("-", 2.25, of="another_way")
def out_whole():
    def block(mesh, X, W1, W2):
        H = jax.nn.relu(X @ W1)
        return constrain(H @ W2, mesh, P())
