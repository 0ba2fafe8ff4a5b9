# failed: last-addition
# points: 1.75
"""k products, k-1 additions."""

import shardlab as sl

clocks = {"a": "dispatch", "b": "product", "c": "compiling", "d": "dispatch", "e": "product"}
sl.predict("0.4", clocks=clocks)


def rate(m, k, n, seconds):
    return m * n * (2 * k - 1) / seconds


def believable(m, k, n, seconds, peak):
    return rate(m, k, n, seconds) <= peak
