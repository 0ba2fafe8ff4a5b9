# passed
import jax
from jax import P, lax


def stencil(mesh, x):
    n = mesh.shape["x"]

    def body(b):
        y = -3 * b
        y = y.at[1:].add(b[:-1])
        y = y.at[:-1].add(2 * b[1:])
        y = y.at[0].add(lax.ppermute(b[-1], "x", [(i, i + 1) for i in range(n - 1)]))
        return y.at[-1].add(lax.ppermute(2 * b[0], "x", [(i + 1, i) for i in range(n - 1)]))

    return jax.shard_map(body, mesh=mesh, in_specs=P("x", None), out_specs=P("x", None))(x)
