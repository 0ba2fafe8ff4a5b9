import jax

import shardlab as sl
from shardlab_course.answers import right, told, wrong

P = jax.P


@wrong("weights-whole", 5.5)
def all_whole():
    plain = {"X": P(), "W1": P(), "W2": P()}


@wrong("tokens-cut-weights-whole", 5.5)
def data_parallel():
    plain = {"X": P("model", None), "W1": P(), "W2": P()}


@right
def as_expressions():
    plain = {"X": P(None, None), "W1": "d f -> d f@model", "W2": "f d -> f@model d"}
    gated = {"X": P(), "Wg": "d f -> d f@model", "Wu": "d f -> d f@model", "Wd": P("model")}


@told("columns-taken-for-terms")
def believes_in_terms():
    predictions = sl.predict("9.1", collective="all-reduce", factor=1, compilers=["CPU", "GPU"])


@wrong("last-by-columns", 5.5)
def both_by_columns():
    plain = {"X": P(), "W1": P(None, "model"), "W2": P(None, "model")}


@wrong("first-by-rows", 6.25)
def both_by_rows():
    plain = {"X": P(), "W1": P("model", None), "W2": P("model", None)}


@told("counts-devices")
def counts_devices():
    predictions = sl.predict("9.1", collective="all-gather", factor=8, compilers=["CPU", "GPU"])


@wrong("first-left-whole", 6.25)
def first_whole():
    plain = {"X": P(), "W1": P(), "W2": P("model", None)}


@wrong("gate-cut-otherwise", 6.25)
def gate_whole():
    gated = {"X": P(), "Wg": P(), "Wu": P(None, "model"), "Wd": P("model", None)}


@wrong("input-cut", 6.25)
def input_cut():
    plain = {"X": P(None, "model"), "W1": P(None, "model"), "W2": P("model", None)}


@told("same-size")
def no_size():
    predictions = sl.predict("9.1", collective="all-gather", factor=1, compilers=["CPU", "GPU"])


@told("price-taken-for-payload")
def price_for_payload():
    predictions = sl.predict("9.1", collective="all-gather", factor=2, compilers=["CPU", "GPU"])


@wrong("last-left-whole", 6.25)
def second_whole():
    plain = {"X": P(), "W1": P(None, "model"), "W2": P()}
