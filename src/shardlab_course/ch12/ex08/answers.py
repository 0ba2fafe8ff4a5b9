import jax

import shardlab as sl
from shardlab_course.answers import right, told, wrong

P = jax.P


@wrong("everything-everywhere", 3.5)
def all_queries():
    def overlapped(mesh, X, W):
        def body(x, w):
            everyone = jax.lax.all_gather(x, "x", axis=0, tiled=True)
            queries = everyone @ w
            mine = jax.lax.dynamic_slice_in_dim(queries, jax.lax.axis_index("x") * len(x), len(x))
            return mine @ everyone.T

        specs = (P("x", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)


@wrong("summed-instead-of-gathered", 3.5)
def all_reduce():
    import jax.numpy as jnp

    def overlapped(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d = jax.lax.axis_index("x")
            y = jnp.zeros((n * len(x), x.shape[1]))
            y = jax.lax.dynamic_update_slice_in_dim(y, x, d * len(x), 0)
            return (x @ w) @ jax.lax.psum(y, "x").T

        specs = (P("x", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)


@wrong("left-to-the-compiler", 1)
def compiler():
    def overlapped(mesh, X, W):
        return (X @ W) @ X.T


@wrong("made-then-gathered", 3.5)
def gathered_keys():
    def overlapped(mesh, X, W):

        def body(x, w):
            k = jax.lax.all_gather(x @ w.T, "x", axis=0, tiled=True)
            return x @ k.T

        specs = (P("x", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)


@right
def local_first():
    import jax.numpy as jnp

    def overlapped(mesh, X, W):
        def body(x, w):
            queries = x @ w
            return jnp.einsum("td,sd->ts", queries, jax.lax.all_gather(x, "x", axis=0, tiled=True))

        specs = (P("x", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)


@wrong("own-part-of-the-whole", 3.5)
def own_part():
    def overlapped(mesh, X, W):
        def body(x, w):
            everyone = jax.lax.all_gather(x, "x", axis=0, tiled=True)
            mine = jax.lax.dynamic_slice_in_dim(everyone, jax.lax.axis_index("x") * len(x), len(x))
            return (mine @ w) @ everyone.T

        specs = (P("x", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)


@wrong("local-scores-only", 1)
def own_scores():
    def overlapped(mesh, X, W):
        def body(x, w):
            return (x @ w) @ x.T

        specs = (P("x", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)


@told("python-decides")
def python():
    predictions = sl.predict("12.8", decides="a")


@right
def ring():
    import jax.numpy as jnp

    def ring(n, by):
        return [(d, (d + by) % n) for d in range(n)]

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


@wrong("transposed", 1)
def transposed():
    def overlapped(mesh, X, W):

        def body(x, w):
            everyone = jax.lax.all_gather(x, "x", axis=0, tiled=True)
            return (x @ w.T) @ everyone.T

        specs = (P("x", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)


@right
def untiled():
    def overlapped(mesh, X, W):
        def body(x, w):
            everyone = jax.lax.all_gather(x, "x").reshape(-1, x.shape[1])
            return (x @ w) @ everyone.T

        specs = (P("x", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)


@told("await-decides")
def waits():
    predictions = sl.predict("12.8", decides="c")


@wrong("own-part-of-the-whole", 3.5)
def tiny_dot_beside():
    def overlapped(mesh, X, W):
        def body(x, w):
            tiny = x[:2, :2] @ w[:2, :2]
            everyone = jax.lax.all_gather(x, "x", axis=0, tiled=True)
            mine = jax.lax.dynamic_slice_in_dim(everyone, jax.lax.axis_index("x") * len(x), len(x))
            return (mine @ w) @ everyone.T + 0 * tiny[0, 0]

        specs = (P("x", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)


@wrong("own-part-of-the-whole", 3.5)
def decoy_beside():
    import jax.numpy as jnp

    def overlapped(mesh, X, W):
        def body(x, w):
            decoy = jnp.tanh(x) @ w
            everyone = jax.lax.all_gather(x, "x", axis=0, tiled=True)
            mine = jax.lax.dynamic_slice_in_dim(everyone, jax.lax.axis_index("x") * len(x), len(x))
            return (mine @ w) @ everyone.T + 0 * decoy[:, :1]

        specs = (P("x", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)


@right
def multiplied_and_summed():
    import jax.numpy as jnp

    def overlapped(mesh, X, W):
        def body(x, w):
            queries = jnp.sum(x[:, :, None] * w[None], axis=1)
            everyone = jax.lax.all_gather(x, "x", axis=0, tiled=True)
            return jnp.sum(queries[:, None] * everyone[None], axis=2)

        specs = (P("x", None), P())
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)
