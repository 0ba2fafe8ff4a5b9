# passed
# points: 4
"""Blocks as shapes, and the collectives of the course's own instrument."""

import shardlab as sl
from shardlab.programs import alphabeta

bound = {
    "a": "compute",
    "b": "memory",
    "c": "communication",
    "d": "compute",
    "e": "communication",
    "f": "communication",
}
sl.predict("2.5", bound=bound)


def size(*shape):
    bytes = 2
    for length in shape:
        bytes *= length
    return bytes


def layer_seconds(layer, chip):
    B, D, F, n = layer["B"], layer["D"], layer["F"], layer["n"]
    ring = {"n": n, "bandwidth": chip["link"], "latency": chip["hop"]}
    cut = layer["moves"] in ("reduce", "scatter")
    X, W, Y = ((B, D // n), (D // n, F), (B, F)) if cut else ((B // n, D), (D, F), (B // n, F))
    moving = {
        "nothing": lambda: 0,
        "gather": lambda: alphabeta.all_gather(size(*W), **ring),
        "reduce": lambda: alphabeta.all_reduce(size(*Y), **ring),
        "scatter": lambda: alphabeta.reduce_scatter(size(*Y), **ring),
    }
    return {
        "compute": 2 * X[0] * X[1] * W[1] / chip["flops"],
        "memory": (size(*X) + size(*W) + size(*Y)) / chip["hbm"],
        "communication": moving[layer["moves"]](),
    }
