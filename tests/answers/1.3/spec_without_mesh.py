# failed: spec-without-mesh
# points: 1.5
"""The spec alone."""

import jax
import shardlab as sl

sl.predict("1.3", rows_xy=[2, 4], rows_yx=[8, 10], moved=6)
alternating = jax.P(("chip", "host"))
