# passed
# points: 2
"""Names of functions."""

import shardlab as sl

kinds = {
    "a": "all_gather",
    "b": "all_reduce",
    "c": "reduce_scatter",
    "d": "all-to-all",
    "e": "None",
    "f": "collective-permute",
    "g": "all-gather",
    "h": "all-gather",
    "i": "all-reduce",
    "j": "reduce-scatter",
}
prices = {
    "a": 512,
    "b": 1024,
    "c": 512,
    "d": 128,
    "e": 0,
    "f": 64,
    "g": 128,
    "h": 256,
    "i": 256,
    "j": 128,
}
sl.predict("2.1", kinds=kinds, prices=prices)
