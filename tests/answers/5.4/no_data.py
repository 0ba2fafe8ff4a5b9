# failed: batch-not-cut
# points: 1
"""Only the weights."""

import shardlab as sl

sl.predict("5.4", kinds=["all-reduce"], factor=2)
layout = {
    "X": "b x -> b x",
    "W1": "x y -> x y@model",
    "W2": "y z -> y@model z",
}
