# failed: additions-forgotten
# points: 1.25
"""One FLOP for each product."""

import shardlab as sl

clocks = {"a": "dispatch", "b": "product", "c": "compiling", "d": "dispatch", "e": "product"}
sl.predict("0.4", clocks=clocks)


def rate(m, k, n, seconds):
    return m * k * n / seconds


def believable(m, k, n, seconds, peak):
    return rate(m, k, n, seconds) <= peak
