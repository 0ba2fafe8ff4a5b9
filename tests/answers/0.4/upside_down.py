# failed: upside-down
# points: 1.75
"""Time over work; the guard is right."""

import shardlab as sl

clocks = {"a": "dispatch", "b": "product", "c": "compiling", "d": "dispatch", "e": "product"}
sl.predict("0.4", clocks=clocks)


def rate(m, k, n, seconds):
    return seconds / (2 * m * k * n)


def believable(m, k, n, seconds, peak):
    return 2 * m * k * n / seconds <= peak
