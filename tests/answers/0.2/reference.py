# passed
# points: 2
"""An eighth of everything but B, in the same time."""

import shardlab as sl

share = {"A": 1 / 8, "B": 1, "C": 1 / 8, "flops": 1 / 8}
sl.predict("0.2", share=share, time="same")
