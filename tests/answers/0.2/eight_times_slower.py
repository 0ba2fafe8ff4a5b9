# failed: simulation-is-slow
# points: 1
"""Simulation is paid for in time."""

import shardlab as sl

share = {"A": 1 / 8, "B": 1, "C": 1 / 8, "flops": 1 / 8}
sl.predict("0.2", share=share, time="8x slower")
