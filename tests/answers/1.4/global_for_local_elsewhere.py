# failed: global-for-local
# points: 2.5
"""Global shapes in d and l."""

import shardlab as sl

said = {
    "a": [4, 3],
    "b": "IndivisibleError",
    "c": "IndivisibleError",
    "d": [8, 12],
    "e": "DuplicateSpecError",
    "f": "IndivisibleError",
    "g": [5, 3],
    "h": "ValueError",
    "i": "ValueError",
    "j": [8, 12],
    "k": "DuplicateSpecError",
    "l": [4, 6, 8],
}
sl.predict("1.4", outcome=said)
