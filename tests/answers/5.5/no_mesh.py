# failed: mesh-cannot-be-given
# points: 2.06
"""Order and choice of devices are thought to be out of reach."""

import jax
import numpy as np

import shardlab as sl

sl.predict("5.5", said={"a": "numbers", "b": "axes", "c": "nothing", "d": "nothing", "e": "nothing", "f": "nothing", "g": "numbers", "h": "numbers", "i": "numbers"})
mesh = jax.sharding.Mesh(np.array(jax.devices()[:8])[::-1], ("x",), axis_types=(jax.sharding.AxisType.Auto,))
backwards = sl.make_sharding("r c -> r@x c", (16, 4), mesh)
