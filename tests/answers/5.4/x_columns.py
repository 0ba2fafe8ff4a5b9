# failed: input-by-columns
# points: 2
"""X is cut twice."""

import shardlab as sl

sl.predict("5.4", kinds=["all-reduce"], factor=2)
layout = {
    "X": "b x -> b@data x@model",
    "W1": "x y -> x y@model",
    "W2": "y z -> y@model z",
}
