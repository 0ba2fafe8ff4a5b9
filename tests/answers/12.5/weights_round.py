# failed: weights-travel
# points: 1.5
import jax

P = jax.P


def ring(n, by):
    return [(d, (d + by) % n) for d in range(n)]


def overlapped_mlp(mesh, X, W1, W2):
    n = mesh.shape["x"]

    def body(x, w1, w2):
        total = jax.nn.relu(x @ w1) @ w2
        for _ in range(1, n):
            w1, w2 = jax.lax.ppermute(w1, "x", ring(n, -1)), jax.lax.ppermute(w2, "x", ring(n, -1))
            total += jax.nn.relu(x @ w1) @ w2
        return total

    specs = (P("x", None), P(None, "x"), P("x", None))
    return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W1, W2)
