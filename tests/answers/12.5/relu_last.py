# failed: relu-of-the-sums
# points: 0
import jax

P = jax.P


def ring(n, by):
    return [(d, (d + by) % n) for d in range(n)]


def overlapped_mlp(mesh, X, W1, W2):
    n = mesh.shape["x"]

    def body(x, w1, w2):

        def rings(x):
            came = [x]
            for _ in range(n - 1):
                came.append(jax.lax.ppermute(came[-1], "x", ring(n, -1)))
            return came

        h = [c @ w1 for c in rings(x)]
        total = h[1] @ w2
        for i in range(2, n + 1):
            total = jax.lax.ppermute(total, "x", ring(n, -1)) + h[i % n] @ w2
        return jax.nn.relu(total)

    specs = (P("x", None), P(None, "x"), P("x", None))
    return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W1, W2)
