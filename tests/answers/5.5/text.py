# failed: still-a-text
# points: 2
"""An expression, and no sharding."""

import jax
import numpy as np

import shardlab as sl

sl.predict("5.5", said={"a": "numbers", "b": "axes", "c": "axes", "d": "axes", "e": "nothing", "f": "nothing", "g": "numbers", "h": "numbers", "i": "numbers"})
backwards = "r c -> r8 c"
