import shardlab as sl
from variants import told

sl.predict(
    "7.2",
    shapes={"A": [8, 12], "B": [2, 48], "C": [32, 12], "D": [16, 6], "E": [12, 8], "F": "error", "G": [8], "H": "error"},
    values={"a": [1, 2], "b": [1, 2, 1, 2, 1, 2, 1, 2], "c": [4, 8]},
)


@told("all-devices-counted")
def all_devices():
    sl.predict(
        "7.2",
        shapes={"A": [8, 12], "B": [2, 48], "C": [32, 12], "D": [16, 6], "E": [12, 8], "F": "error", "G": [8], "H": "error"},
        values={"a": [1, 2], "b": [1, 2, 1, 2, 1, 2, 1, 2], "c": [8, 16]},
    )


@told("copies-are-one")
def copies_once():
    sl.predict(
        "7.2",
        shapes={"A": [8, 12], "B": [2, 48], "C": [8, 12], "D": [16, 6], "E": [12, 8], "F": "error", "G": [8], "H": "error"},
        values={"a": [1, 2], "b": [1, 2, 1, 2, 1, 2, 1, 2], "c": [4, 8]},
    )


@told("out-specs-sums")
def out_specs_sum():
    sl.predict(
        "7.2",
        shapes={"A": [8, 12], "B": [2, 48], "C": [32, 12], "D": [16, 6], "E": [12, 8], "F": [8], "G": [8], "H": "error"},
        values={"a": [1, 2], "b": [1, 2, 1, 2, 1, 2, 1, 2], "c": [4, 8]},
    )


@told("sums-out-the-rows")
def rows_gone():
    sl.predict(
        "7.2",
        shapes={"A": [8, 12], "B": [2, 48], "C": [32, 12], "D": [16, 6], "E": [12, 8], "F": "error", "G": [2], "H": "error"},
        values={"a": [1, 2], "b": [1, 2, 1, 2, 1, 2, 1, 2], "c": [4, 8]},
    )


@told("scalar-concatenated")
def scalar():
    sl.predict(
        "7.2",
        shapes={"A": [8, 12], "B": [2, 48], "C": [32, 12], "D": [16, 6], "E": [12, 8], "F": "error", "G": [8], "H": [4]},
        values={"a": [1, 2], "b": [1, 2, 1, 2, 1, 2, 1, 2], "c": [4, 8]},
    )


@told("specs-cancel")
def specs_cancel():
    sl.predict(
        "7.2",
        shapes={"A": [8, 12], "B": [8, 12], "C": [32, 12], "D": [8, 12], "E": [12, 8], "F": "error", "G": [8], "H": "error"},
        values={"a": [1, 2], "b": [1, 2, 1, 2, 1, 2, 1, 2], "c": [4, 8]},
    )


@told("sum-of-copies-is-one")
def sum_of_copies():
    sl.predict(
        "7.2",
        shapes={"A": [8, 12], "B": [2, 48], "C": [32, 12], "D": [16, 6], "E": [12, 8], "F": "error", "G": [8], "H": "error"},
        values={"a": [1, 2], "b": [1, 2, 1, 2, 1, 2, 1, 2], "c": [1, 2]},
    )


@told("out-specs-sums")
def values_summed():
    sl.predict(
        "7.2",
        shapes={"A": [8, 12], "B": [2, 48], "C": [32, 12], "D": [16, 6], "E": [12, 8], "F": "error", "G": [8], "H": "error"},
        values={"a": [8, 16], "b": [1, 2, 1, 2, 1, 2, 1, 2], "c": [4, 8]},
    )
