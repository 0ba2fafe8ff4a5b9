import shardlab as sl
from variants import right, told

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
    why="a",
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
        why="a",
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
        why="a",
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
        why="a",
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
        why="a",
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
        why="a",
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
        why="a",
    )


@told("pieces-that-divide")
def pieces_that_divide():
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
        why="b",
    )


@told("only-the-order")
def only_the_order():
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
        why="c",
    )
