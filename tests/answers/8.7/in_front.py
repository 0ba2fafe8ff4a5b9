# failed: new-dimension-always-first
# points: 2
import shardlab as sl

sl.predict(
    "8.7",
    shapes={
        "a": [4, 2, 3],
        "b": [8, 3],
        "c": [4, 2, 3],
        "d": [2, 12],
        "e": [6],
        "f": [1, 6],
        "g": "error",
        "h": [2, 16],
        "i": [2, 6],
    },
)
