# failed: asking-starts-nothing
# points: 2.25
"""Looking is not using."""

import shardlab as sl

outcomes = {"a": "8", "b": "RuntimeError", "c": "8", "d": "8", "e": "8", "f": "8"}
sl.predict("0.1", outcomes=outcomes)
why = "q"
order = ["import", "ask", "x", "print"]
