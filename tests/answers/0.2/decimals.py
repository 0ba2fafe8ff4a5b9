# passed
# points: 2
"""Decimal fractions."""

import shardlab as sl

share = {"A": 0.125, "B": 1.0, "C": 0.125, "flops": 0.125}
sl.predict("0.2", share=share, time="same")
