# failed: class-for-name
# points: 0
"""The class instead of its name."""

import shardlab as sl

said = {
    "a": [4, 3],
    "b": "IndivisibleError",
    "c": "IndivisibleError",
    "d": [1, 12],
    "e": "DuplicateSpecError",
    "f": "IndivisibleError",
    "g": [5, 3],
    "h": ValueError,
    "i": ValueError,
    "j": [8, 12],
    "k": "DuplicateSpecError",
    "l": [1, 6, 4],
}
sl.predict("1.4", outcome=said)
