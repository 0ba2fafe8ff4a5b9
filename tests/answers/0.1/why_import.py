# failed: import-starts-the-devices
# points: 2
"""The import is blamed."""

import shardlab as sl

outcomes = {"a": "8", "b": "RuntimeError", "c": "RuntimeError", "d": "8", "e": "8", "f": "8"}
sl.predict("0.1", outcomes=outcomes)
why = "p"
order = ["import", "ask", "x", "print"]
