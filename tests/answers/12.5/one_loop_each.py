# passed
# points: 3.5
import jax
import jax.numpy as jnp

P = jax.P


def ring(n, by):
    return [(d, (d + by) % n) for d in range(n)]


def overlapped_mlp(mesh, X, W1, W2):
    n = mesh.shape["x"]

    def body(x, w1, w2):
        def gather(x, _):
            came = jax.lax.ppermute(x, "x", ring(n, -1))
            return came, jax.nn.relu(x @ w1)

        x, h = jax.lax.scan(gather, x, None, length=n - 1)
        h = jnp.roll(jnp.concatenate([h, jax.nn.relu(x @ w1)[None]]), -1, axis=0)
        term = jnp.einsum("tf,fd->td", h[0], w2)

        def add(total, chunk):
            return jax.lax.ppermute(total, "x", ring(n, -1)) + chunk @ w2, None

        return jax.lax.scan(add, term, h[1:])[0]

    specs = (P("x", None), P(None, "x"), P("x", None))
    return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W1, W2)
