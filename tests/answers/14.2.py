from variants import right, wrong

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
        "h": "hangs",
    },
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
            "f": "differ",
            "g": "differ",
            "h": "hangs",
        },
    )


@wrong("copies-are-compared", 1.75)
def copies():
    sl.predict(
        "14.2",
        fates={
            "a": "fine",
            "b": "error",
            "c": "hangs",
            "d": "fine",
            "e": "fine",
            "f": "differ",
            "g": "error",
            "h": "hangs",
        },
    )


@wrong("one-process-is-enough", 1.75)
def error_not_hang():
    sl.predict(
        "14.2",
        fates={
            "a": "fine",
            "b": "error",
            "c": "error",
            "d": "fine",
            "e": "fine",
            "f": "differ",
            "g": "differ",
            "h": "hangs",
        },
    )


@wrong("the-longer-loop-goes-on", 1.75)
def loop():
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


@wrong("one-process-is-enough", 1.75)
def one_process():
    sl.predict(
        "14.2",
        fates={
            "a": "fine",
            "b": "error",
            "c": "fine",
            "d": "fine",
            "e": "fine",
            "f": "differ",
            "g": "differ",
            "h": "hangs",
        },
    )


@wrong("printing-is-computing", 1.5)
def printing():
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


@wrong("shapes-are-compared", 1.75)
def shapes():
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


@wrong("a-total-is-cut-too", 1.75)
def total():
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


@wrong("a-process-has-all-values", 1.75)
def values():
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
