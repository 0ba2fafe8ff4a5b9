# failed: -
# points: 1
"""Order and reason without predictions."""

import shardlab as sl

sl.predict("0.1", outcomes=...)
why = "q"
order = ["import", "ask", "x", "print"]
