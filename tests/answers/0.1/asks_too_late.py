# failed: asks-too-late
# points: 2
"""The array comes first."""

import shardlab as sl

outcomes = {"a": "8", "b": "RuntimeError", "c": "RuntimeError", "d": "8", "e": "8", "f": "8"}
sl.predict("0.1", outcomes=outcomes)
why = "q"
order = ["import", "x", "ask", "print"]
