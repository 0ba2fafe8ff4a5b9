# failed: transposed
# points: 1.5
import jax

import shardlab as sl

P = jax.P


predictions = sl.predict("12.8", first="SyntaxError", second="AttributeError", decides="d")


def overlapped(mesh, X, W):

    def body(x, w):
        everyone = jax.lax.all_gather(x, "x", axis=0, tiled=True)
        return (x @ w.T) @ everyone.T

    specs = (P("x", None), P())
    return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)
