# failed: nothing-is-divided
# points: 1.5
"""Only the work is divided."""

import shardlab as sl

share = {"A": 1, "B": 1, "C": 1, "flops": 1 / 8}
sl.predict("0.2", share=share, time="same")
