# failed: a-process-has-all-values
# points: 1.75
import shardlab as sl

sl.predict(
    "14.2",
    fates={
        "a": "fine",
        "b": "fine",
        "c": "hangs",
        "d": "fine",
        "e": "fine",
        "f": "differ",
        "g": "differ",
        "h": "hangs",
    },
)
