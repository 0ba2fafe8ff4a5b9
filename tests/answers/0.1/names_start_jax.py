# failed: names-start-jax
# points: 2
"""A spec and a function are taken for work."""

import shardlab as sl

outcomes = {"a": "8", "b": "RuntimeError", "c": "RuntimeError", "d": "8", "e": "RuntimeError", "f": "RuntimeError"}
sl.predict("0.1", outcomes=outcomes)
why = "q"
order = ["import", "ask", "x", "print"]
