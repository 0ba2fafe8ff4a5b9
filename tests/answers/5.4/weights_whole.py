# failed: weights-whole
# points: 2
"""Data parallelism over one axis."""

import shardlab as sl

sl.predict("5.4", kinds=["all-reduce"], factor=2)
layout = {
    "X": "b x -> b@data x",
    "W1": "... -> ...",
    "W2": "... -> ...",
}
