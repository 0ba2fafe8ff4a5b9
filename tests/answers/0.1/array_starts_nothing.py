# failed: array-starts-nothing
# points: 2.25
"""An array is made in time."""

import shardlab as sl

outcomes = {"a": "8", "b": "8", "c": "RuntimeError", "d": "8", "e": "8", "f": "8"}
sl.predict("0.1", outcomes=outcomes)
why = "q"
order = ["import", "ask", "x", "print"]
