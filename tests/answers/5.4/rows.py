# failed: first-weight-by-rows
# points: 2
"""W1 is cut along x."""

import shardlab as sl

sl.predict("5.4", kinds=["all-reduce"], factor=2)
layout = {
    "X": "b x -> b@data x",
    "W1": "x y -> x@model y",
    "W2": "y z -> y@model z",
}
