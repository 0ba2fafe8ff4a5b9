# failed: work-is-repeated
# points: 1.75
"""Everyone does all the work."""

import shardlab as sl

share = {"A": 1 / 8, "B": 1, "C": 1 / 8, "flops": 1}
sl.predict("0.2", share=share, time="same")
