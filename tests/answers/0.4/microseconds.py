# failed: microseconds-matmul
# points: 1.75
"""A call is taken for its product."""

import shardlab as sl

clocks = {"a": "product", "b": "product", "c": "compiling", "d": "product", "e": "product"}
sl.predict("0.4", clocks=clocks)


def rate(m, k, n, seconds):
    return 2 * m * k * n / seconds


def believable(m, k, n, seconds, peak):
    return rate(m, k, n, seconds) <= peak
