# passed
"""Upper and lower case of its own."""

import shardlab as sl

sl.predict("0.1", outcomes={"a": "8", "b": "runtimeerror", "c": "runtimeerror", "d": "8", "e": "8", "f": "8"})
why = "Q"
order = ["import", "ask", "x", "print"]
