# failed: output-elements
# points: 1.25
"""The elements of C are counted."""

import shardlab as sl

clocks = {"a": "dispatch", "b": "product", "c": "compiling", "d": "dispatch", "e": "product"}
sl.predict("0.4", clocks=clocks)


def rate(m, k, n, seconds):
    return 2 * m * n / seconds


def believable(m, k, n, seconds, peak):
    return rate(m, k, n, seconds) <= peak
