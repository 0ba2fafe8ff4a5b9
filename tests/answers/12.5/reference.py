# passed
# points: 3.5
import jax

P = jax.P


def ring(n, by):
    return [(d, (d + by) % n) for d in range(n)]


def overlapped_mlp(mesh, X, W1, W2):
    n = mesh.shape["x"]

    def body(x, w1, w2):
        h = [jax.nn.relu(x @ w1)]
        for _ in range(1, n):
            x = jax.lax.ppermute(x, "x", ring(n, -1))
            h.append(jax.nn.relu(x @ w1))
        total = h[1] @ w2
        for i in range(2, n + 1):
            total = jax.lax.ppermute(total, "x", ring(n, -1)) + h[i % n] @ w2
        return total

    specs = (P("x", None), P(None, "x"), P("x", None))
    return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W1, W2)
