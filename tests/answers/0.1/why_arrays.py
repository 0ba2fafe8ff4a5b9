# failed: arrays-are-lost
# points: 2
"""The wish is taken for a deletion."""

import shardlab as sl

outcomes = {"a": "8", "b": "RuntimeError", "c": "RuntimeError", "d": "8", "e": "8", "f": "8"}
sl.predict("0.1", outcomes=outcomes)
why = "s"
order = ["import", "ask", "x", "print"]
