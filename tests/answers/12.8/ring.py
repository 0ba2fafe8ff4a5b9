# passed
# points: 4.5
import jax
import jax.numpy as jnp

import shardlab as sl

P = jax.P


def ring(n, by):
    return [(d, (d + by) % n) for d in range(n)]


predictions = sl.predict("12.8", first="SyntaxError", second="AttributeError", decides="d")


def overlapped(mesh, X, W):
    n = mesh.shape["x"]

    def body(x, w):
        d = jax.lax.axis_index("x")
        q, t = x @ w, x
        m = len(x)
        y = jnp.zeros((m, n * m))
        y = jax.lax.pcast(y, "x", to="varying")
        for i in range(n):
            y = jax.lax.dynamic_update_slice_in_dim(y, q @ t.T, (d + i) % n * m, 1)
            if i < n - 1:
                t = jax.lax.ppermute(t, "x", ring(n, -1))
        return y

    specs = (P("x", None), P())
    return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)
