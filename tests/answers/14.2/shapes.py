# failed: shapes-are-compared
# points: 1.75
import shardlab as sl

sl.predict(
    "14.2",
    fates={
        "a": "fine",
        "b": "error",
        "c": "hangs",
        "d": "fine",
        "e": "fine",
        "f": "error",
        "g": "differ",
        "h": "hangs",
    },
)
