# failed: copies-are-one
# points: 2.75
import shardlab as sl

sl.predict(
    "7.2",
    shapes={"A": [8, 12], "B": [2, 48], "C": [8, 12], "D": [16, 6], "E": [12, 8], "F": "error", "G": [8], "H": "error"},
    values={"a": [1, 2], "b": [1, 2, 1, 2, 1, 2, 1, 2], "c": [4, 8]},
)
