# failed: axes-in-another-order
# points: 2.5
"""The axes of a tuple the other way round."""

import jax
import numpy as np

P = jax.P


def on(spec, **sizes):
    devices = np.array(jax.devices()[:8]).reshape(*sizes.values())
    kinds = (jax.sharding.AxisType.Auto,) * len(sizes)
    return jax.NamedSharding(jax.sharding.Mesh(devices, tuple(sizes), axis_types=kinds), spec)


translations = {
    "a": "r c -> c2 r4",
    "b": "r c -> 2 r4 c",
    "c": "r c -> r2 c2 r2",
    "d": "r c -> * r c",
    "e": "r c -> r@(model data) c",
    "f": "... d -> ... d@model",
    "g": on(P(None, "y"), x=2, y=4),
    "h": on(P("x", "y"), x=4, y=2),
    "i": on(P(("z", "x"), "y"), x=2, y=2, z=2),
    "j": on(P(None, None, "y"), x=4, y=2),
    "k": on(P(("model", "data")), data=4, model=2),
    "l": on(P(None, "y"), x=4, y=2),
}
