# failed: everything-is-divided
# points: 1.75
"""B is cut, too."""

import shardlab as sl

share = {"A": 1 / 8, "B": 1 / 8, "C": 1 / 8, "flops": 1 / 8}
sl.predict("0.2", share=share, time="same")
