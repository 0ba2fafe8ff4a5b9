# failed: the-longer-loop-goes-on
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
        "f": "differ",
        "g": "differ",
        "h": "differ",
    },
)
