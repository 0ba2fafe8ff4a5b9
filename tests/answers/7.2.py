from variants import wrong

import shardlab as sl

sl.predict(
    "7.2",
    shapes={"A": [8, 12], "B": [2, 48], "C": [32, 12], "D": [16, 6], "E": [12, 8], "F": "error", "G": [8], "H": "error"},
    values={"a": [1, 2], "b": [1, 2, 1, 2, 1, 2, 1, 2], "c": [4, 8]},
)


@wrong("all-devices-counted", 2.67)
def all_devices():
    sl.predict(
        "7.2",
        shapes={"A": [8, 12], "B": [2, 48], "C": [32, 12], "D": [16, 6], "E": [12, 8], "F": "error", "G": [8], "H": "error"},
        values={"a": [1, 2], "b": [1, 2, 1, 2, 1, 2, 1, 2], "c": [8, 16]},
    )


@wrong("copies-are-one", 2.75)
def copies_once():
    sl.predict(
        "7.2",
        shapes={"A": [8, 12], "B": [2, 48], "C": [8, 12], "D": [16, 6], "E": [12, 8], "F": "error", "G": [8], "H": "error"},
        values={"a": [1, 2], "b": [1, 2, 1, 2, 1, 2, 1, 2], "c": [4, 8]},
    )


@wrong("out-specs-sums", 2.75)
def out_specs_sum():
    sl.predict(
        "7.2",
        shapes={"A": [8, 12], "B": [2, 48], "C": [32, 12], "D": [16, 6], "E": [12, 8], "F": [8], "G": [8], "H": "error"},
        values={"a": [1, 2], "b": [1, 2, 1, 2, 1, 2, 1, 2], "c": [4, 8]},
    )


@wrong("sums-out-the-rows", 2.75)
def rows_gone():
    sl.predict(
        "7.2",
        shapes={"A": [8, 12], "B": [2, 48], "C": [32, 12], "D": [16, 6], "E": [12, 8], "F": "error", "G": [2], "H": "error"},
        values={"a": [1, 2], "b": [1, 2, 1, 2, 1, 2, 1, 2], "c": [4, 8]},
    )


@wrong("scalar-concatenated", 2.75)
def scalar():
    sl.predict(
        "7.2",
        shapes={"A": [8, 12], "B": [2, 48], "C": [32, 12], "D": [16, 6], "E": [12, 8], "F": "error", "G": [8], "H": [4]},
        values={"a": [1, 2], "b": [1, 2, 1, 2, 1, 2, 1, 2], "c": [4, 8]},
    )


@wrong("specs-cancel", 2.5)
def specs_cancel():
    sl.predict(
        "7.2",
        shapes={"A": [8, 12], "B": [8, 12], "C": [32, 12], "D": [8, 12], "E": [12, 8], "F": "error", "G": [8], "H": "error"},
        values={"a": [1, 2], "b": [1, 2, 1, 2, 1, 2, 1, 2], "c": [4, 8]},
    )


@wrong("sum-of-copies-is-one", 2.67)
def sum_of_copies():
    sl.predict(
        "7.2",
        shapes={"A": [8, 12], "B": [2, 48], "C": [32, 12], "D": [16, 6], "E": [12, 8], "F": "error", "G": [8], "H": "error"},
        values={"a": [1, 2], "b": [1, 2, 1, 2, 1, 2, 1, 2], "c": [1, 2]},
    )


@wrong("out-specs-sums", 2.67)
def values_summed():
    sl.predict(
        "7.2",
        shapes={"A": [8, 12], "B": [2, 48], "C": [32, 12], "D": [16, 6], "E": [12, 8], "F": "error", "G": [8], "H": "error"},
        values={"a": [8, 16], "b": [1, 2, 1, 2, 1, 2, 1, 2], "c": [4, 8]},
    )
