# failed: elements-for-bytes
# points: 1.5
"""Bytes in what moves, elements in memory."""

import shardlab as sl

bound = {
    "a": "compute",
    "b": "memory",
    "c": "communication",
    "d": "compute",
    "e": "communication",
    "f": "communication",
}
sl.predict("2.5", bound=bound)


def layer_seconds(layer, chip):
    B, D, F, n = layer["B"], layer["D"], layer["F"], layer["n"]
    flops = 2 * B * D * F / n
    if layer["moves"] in ("nothing", "gather"):
        numbers = B / n * D + D * F + B / n * F
    else:
        numbers = B * D / n + D / n * F + B * F
    moved = {"nothing": 0, "gather": D * F, "reduce": B * F, "scatter": B * F}[layer["moves"]]
    passes = {"nothing": 0, "gather": 1, "reduce": 2, "scatter": 1}[layer["moves"]]
    hop = max(chip["hop"], 2 * moved / n / chip["link"])
    return {
        "compute": flops / chip["flops"],
        "memory": numbers / chip["hbm"],
        "communication": passes * (n // 2) * hop,
    }
