# failed: wrong-way-round
# points: 1.75
"""It believes what is too fast."""

import shardlab as sl

clocks = {"a": "dispatch", "b": "product", "c": "compiling", "d": "dispatch", "e": "product"}
sl.predict("0.4", clocks=clocks)


def rate(m, k, n, seconds):
    return 2 * m * k * n / seconds


def believable(m, k, n, seconds, peak):
    return rate(m, k, n, seconds) > peak
