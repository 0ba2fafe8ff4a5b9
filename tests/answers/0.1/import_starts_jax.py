# failed: import-starts-jax
# points: 2.25
"""Importing is taken for starting."""

import shardlab as sl

outcomes = {"a": "RuntimeError", "b": "RuntimeError", "c": "RuntimeError", "d": "8", "e": "8", "f": "8"}
sl.predict("0.1", outcomes=outcomes)
why = "q"
order = ["import", "ask", "x", "print"]
