# passed
# points: 3.5
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

        s = x
        s = jax.lax.ppermute(x, "x", ring(n, -1))
        total = jax.nn.relu(s @ w1) @ w2
        for i in range(2, n + 1):
            if i < n:
                s = jax.lax.ppermute(s, "x", ring(n, -1))
            else:
                s = x
            total = jax.lax.ppermute(total, "x", ring(n, -1)) + jax.nn.relu(s @ w1) @ w2
        return total

    specs = (P("x", None), P(None, "x"), P("x", None))
    return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W1, W2)
