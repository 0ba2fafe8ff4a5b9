# failed: printing-is-computing
# points: 1.5
import shardlab as sl

sl.predict(
    "14.2",
    fates={
        "a": "fine",
        "b": "error",
        "c": "hangs",
        "d": "hangs",
        "e": "hangs",
        "f": "differ",
        "g": "differ",
        "h": "hangs",
    },
)
