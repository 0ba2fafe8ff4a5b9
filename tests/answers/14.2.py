import shardlab as sl
from variants import right, told

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
    why="a",
)


@right
def capitals():
    sl.predict(
        "14.2",
        fates={
            "a": "Fine",
            "b": "Error.",
            "c": "hangs",
            "d": "fine",
            "e": "fine",
            "f": "error",
            "g": "differ",
            "h": "hangs",
        },
        why="a",
    )


@told("copies-are-compared")
def copies():
    sl.predict(
        "14.2",
        fates={
            "a": "fine",
            "b": "error",
            "c": "hangs",
            "d": "fine",
            "e": "fine",
            "f": "error",
            "g": "error",
            "h": "hangs",
        },
        why="a",
    )


@told("one-process-is-enough")
def error_not_hang():
    sl.predict(
        "14.2",
        fates={
            "a": "fine",
            "b": "error",
            "c": "error",
            "d": "fine",
            "e": "fine",
            "f": "error",
            "g": "differ",
            "h": "hangs",
        },
        why="a",
    )


@told("the-longer-loop-goes-on")
def loop():
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
            "h": "differ",
        },
        why="a",
    )


@told("one-process-is-enough")
def one_process():
    sl.predict(
        "14.2",
        fates={
            "a": "fine",
            "b": "error",
            "c": "fine",
            "d": "fine",
            "e": "fine",
            "f": "error",
            "g": "differ",
            "h": "hangs",
        },
        why="a",
    )


@told("printing-is-computing")
def printing():
    sl.predict(
        "14.2",
        fates={
            "a": "fine",
            "b": "error",
            "c": "hangs",
            "d": "hangs",
            "e": "hangs",
            "f": "error",
            "g": "differ",
            "h": "hangs",
        },
        why="a",
    )


@told("nobody-is-asked")
def believed():
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
            "h": "hangs",
        },
        why="a",
    )


@told("a-total-is-cut-too")
def total():
    sl.predict(
        "14.2",
        fates={
            "a": "error",
            "b": "error",
            "c": "hangs",
            "d": "fine",
            "e": "fine",
            "f": "error",
            "g": "differ",
            "h": "hangs",
        },
        why="a",
    )


@told("a-process-has-all-values")
def values():
    sl.predict(
        "14.2",
        fates={
            "a": "fine",
            "b": "fine",
            "c": "hangs",
            "d": "fine",
            "e": "fine",
            "f": "error",
            "g": "differ",
            "h": "hangs",
        },
        why="a",
    )


@told("every-use-waits")
def every_use_waits():
    sl.predict(
        "14.2",
        fates={"a": "fine", "b": "error", "c": "hangs", "d": "fine", "e": "fine", "f": "error", "g": "differ", "h": "hangs"},
        why="b",
    )


@told("reading-waits")
def reading_waits():
    sl.predict(
        "14.2",
        fates={"a": "fine", "b": "error", "c": "hangs", "d": "fine", "e": "fine", "f": "error", "g": "differ", "h": "hangs"},
        why="c",
    )
