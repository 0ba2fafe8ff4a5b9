# failed: first-line-only
# points: 2
"""A rule of style is taken for the reason."""

import shardlab as sl

outcomes = {"a": "8", "b": "RuntimeError", "c": "RuntimeError", "d": "8", "e": "8", "f": "8"}
sl.predict("0.1", outcomes=outcomes)
why = "r"
order = ["import", "ask", "x", "print"]
