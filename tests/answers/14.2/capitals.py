# passed
import shardlab as sl

sl.predict(
    "14.2",
    fates={
        "a": "Fine",
        "b": "Error.",
        "c": "hangs",
        "d": "fine",
        "e": "fine",
        "f": "differ",
        "g": "differ",
        "h": "hangs",
    },
)
