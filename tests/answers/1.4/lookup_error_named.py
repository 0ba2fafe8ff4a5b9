# failed: lookup-error-named
# points: 2.5
"""As if something were looked up."""

import shardlab as sl

said = {
    "a": [4, 3],
    "b": "IndivisibleError",
    "c": "IndivisibleError",
    "d": [1, 12],
    "e": "DuplicateSpecError",
    "f": "IndivisibleError",
    "g": [5, 3],
    "h": "IndexError",
    "i": "KeyError",
    "j": [8, 12],
    "k": "DuplicateSpecError",
    "l": [1, 6, 4],
}
sl.predict("1.4", outcome=said)
