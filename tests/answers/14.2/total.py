# failed: a-total-is-cut-too
# points: 1.75
import shardlab as sl

sl.predict(
    "14.2",
    fates={
        "a": "error",
        "b": "error",
        "c": "hangs",
        "d": "fine",
        "e": "fine",
        "f": "differ",
        "g": "differ",
        "h": "hangs",
    },
)
