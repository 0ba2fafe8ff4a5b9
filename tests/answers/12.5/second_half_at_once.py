# failed: most-before-or-after
# points: 1.5
import jax
import jax.numpy as jnp

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

        h = [jax.nn.relu(c @ w1) for c in rings(x)]
        t = [*jnp.split(jnp.concatenate(h[1:]) @ w2, n - 1), h[0] @ w2]
        total = t[0]
        for i in range(1, n):
            total = jax.lax.ppermute(total, "x", ring(n, -1)) + t[i]
        return total

    specs = (P("x", None), P(None, "x"), P("x", None))
    return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W1, W2)
