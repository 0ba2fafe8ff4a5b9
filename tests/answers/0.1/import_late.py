# failed: used-before-made
# points: 2
"""It asks before it imports."""

import shardlab as sl

outcomes = {"a": "8", "b": "RuntimeError", "c": "RuntimeError", "d": "8", "e": "8", "f": "8"}
sl.predict("0.1", outcomes=outcomes)
why = "q"
order = ["ask", "import", "x", "print"]
