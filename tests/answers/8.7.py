from variants import right, told

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


@told("scatter-cuts-anything")
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


@told("new-dimension-always-first")
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


@told("scatter-keeps-the-dimension")
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


@told("exchange-changes-the-size")
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


@told("tiled-by-default")
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
