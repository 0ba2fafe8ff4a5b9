# failed: second-weight-whole
# points: 2
"""Only W1 is cut."""

import shardlab as sl

sl.predict("5.4", kinds=["all-reduce"], factor=2)
layout = {
    "X": "b x -> b@data x",
    "W1": "x y -> x y@model",
    "W2": "... -> ...",
}
