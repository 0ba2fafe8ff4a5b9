# failed: devices-counted
# points: 1.25
"""Eight for an eighth."""

import shardlab as sl

sl.predict("0.2", share={"A": 8, "B": 1, "C": 8, "flops": 8}, time="same")
