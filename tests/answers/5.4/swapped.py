# failed: batch-over-model
# points: 1
"""The axes the other way round."""

import shardlab as sl

sl.predict("5.4", kinds=["all-reduce"], factor=2)
layout = {
    "X": "b x -> b@model x",
    "W1": "x y -> x y@data",
    "W2": "y z -> y@data z",
}
