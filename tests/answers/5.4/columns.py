# failed: second-weight-by-columns
# points: 1.5
"""W2 is cut along z."""

import shardlab as sl

sl.predict("5.4", kinds=["all-reduce"], factor=2)
layout = {
    "X": "b x -> b@data x",
    "W1": "x y -> x y@model",
    "W2": "y z -> y z@model",
}
