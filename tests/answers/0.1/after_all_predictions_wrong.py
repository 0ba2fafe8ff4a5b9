# failed: array-starts-nothing
# points: 1
"""Every outcome is the other one."""

import shardlab as sl

outcomes = {"a": "RuntimeError", "b": "8", "c": "8", "d": "RuntimeError", "e": "RuntimeError", "f": "RuntimeError"}
sl.predict("0.1", outcomes=outcomes)
why = "q"
order = ["import", "ask", "x", "print"]
