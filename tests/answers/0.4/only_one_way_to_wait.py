# failed: only-one-way-to-wait
# points: 2
"""NumPy is thought not to wait."""

import shardlab as sl

clocks = {"a": "dispatch", "b": "product", "c": "compiling", "d": "dispatch", "e": "dispatch"}
sl.predict("0.4", clocks=clocks)


def rate(m, k, n, seconds):
    return 2 * m * k * n / seconds


def believable(m, k, n, seconds, peak):
    return rate(m, k, n, seconds) <= peak
