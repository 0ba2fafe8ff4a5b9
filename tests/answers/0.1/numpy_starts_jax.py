# failed: numpy-starts-jax
# points: 2.25
"""NumPy is taken for JAX."""

import shardlab as sl

outcomes = {"a": "8", "b": "RuntimeError", "c": "RuntimeError", "d": "RuntimeError", "e": "8", "f": "8"}
sl.predict("0.1", outcomes=outcomes)
why = "q"
order = ["import", "ask", "x", "print"]
