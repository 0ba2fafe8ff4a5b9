# failed: elements-for-bytes
# points: 1.1
"""Elements, not bytes."""

import shardlab as sl

kinds = {
    "a": "all-gather",
    "b": "all-reduce",
    "c": "reduce-scatter",
    "d": "all-to-all",
    "e": "none",
    "f": "collective-permute",
    "g": "all-gather",
    "h": "all-gather",
    "i": "all-reduce",
    "j": "reduce-scatter",
}
prices = {
    "a": 128,
    "b": 256,
    "c": 128,
    "d": 32,
    "e": 0,
    "f": 16,
    "g": 32,
    "h": 64,
    "i": 64,
    "j": 32,
}
sl.predict("2.1", kinds=kinds, prices=prices)
