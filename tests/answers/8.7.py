from variants import right, wrong

import shardlab as sl

sl.predict(
    "8.7",
    shapes={
        "a": [4, 2, 3],
        "b": [8, 3],
        "c": [2, 4, 3],
        "d": [2, 12],
        "e": [6],
        "f": [1, 6],
        "g": "error",
        "h": [2, 16],
        "i": [2, 6],
    },
)


@wrong("scatter-cuts-anything", 2)
def cut():
    sl.predict(
        "8.7",
        shapes={
            "a": [4, 2, 3],
            "b": [8, 3],
            "c": [2, 4, 3],
            "d": [2, 12],
            "e": [6],
            "f": [1, 6],
            "g": [2, 6],
            "h": [2, 16],
            "i": [2, 6],
        },
    )


@wrong("new-dimension-always-first", 2)
def in_front():
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


@wrong("scatter-keeps-the-dimension", 2)
def kept():
    sl.predict(
        "8.7",
        shapes={
            "a": [4, 2, 3],
            "b": [8, 3],
            "c": [2, 4, 3],
            "d": [2, 12],
            "e": [1, 6],
            "f": [1, 6],
            "g": "error",
            "h": [2, 16],
            "i": [2, 6],
        },
    )


@wrong("exchange-changes-the-size", 2)
def shrunk():
    sl.predict(
        "8.7",
        shapes={
            "a": [4, 2, 3],
            "b": [8, 3],
            "c": [2, 4, 3],
            "d": [2, 12],
            "e": [6],
            "f": [1, 6],
            "g": "error",
            "h": [2, 4],
            "i": [2, 6],
        },
    )


@wrong("tiled-by-default", 1.75)
def tiled():
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


@right
def tuples():
    sl.predict(
        "8.7",
        shapes={
            "a": (4, 2, 3),
            "b": (8, 3),
            "c": (2, 4, 3),
            "d": (2, 12),
            "e": (6,),
            "f": (1, 6),
            "g": "error",
            "h": (2, 16),
            "i": (2, 6),
        },
    )
