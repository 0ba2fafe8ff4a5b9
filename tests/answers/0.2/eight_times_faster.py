# failed: device-count-is-speed
# points: 1
"""Eight devices, eight times the speed."""

import shardlab as sl

share = {"A": 1 / 8, "B": 1, "C": 1 / 8, "flops": 1 / 8}
sl.predict("0.2", share=share, time="8x faster")
