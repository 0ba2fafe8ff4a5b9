# failed: tiled-by-default
# points: 1.75
import shardlab as sl

sl.predict(
    "8.7",
    shapes={
        "a": [8, 3],
        "b": [8, 3],
        "c": [2, 12],
        "d": [2, 12],
        "e": [6],
        "f": [1, 6],
        "g": "error",
        "h": [2, 16],
        "i": [2, 6],
    },
)
