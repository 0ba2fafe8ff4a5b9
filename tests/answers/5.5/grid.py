# failed: grid-needs-a-mesh
# points: 2.28
"""A grid needs a mesh."""

import jax
import numpy as np

import shardlab as sl

sl.predict("5.5", said={"a": "axes", "b": "axes", "c": "axes", "d": "axes", "e": "nothing", "f": "nothing", "g": "numbers", "h": "numbers", "i": "numbers"})
mesh = jax.sharding.Mesh(np.array(jax.devices()[:8])[::-1], ("x",), axis_types=(jax.sharding.AxisType.Auto,))
backwards = sl.make_sharding("r c -> r@x c", (16, 4), mesh)
