# failed: texts-wanted
# points: 1.5
"""Numbers where texts are asked for."""

import shardlab as sl

sl.predict("0.1", outcomes={"a": 8, "b": "RuntimeError", "c": "RuntimeError", "d": 8, "e": 8, "f": 8})
why = "q"
order = ["import", "ask", "x", "print"]
