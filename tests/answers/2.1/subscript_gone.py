# failed: subscript-gone
# points: 1.9
"""A gather over one axis of two is taken for a permute."""

import shardlab as sl

kinds = {
    "a": "all-gather",
    "b": "all-reduce",
    "c": "reduce-scatter",
    "d": "all-to-all",
    "e": "none",
    "f": "collective-permute",
    "g": "collective-permute",
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
