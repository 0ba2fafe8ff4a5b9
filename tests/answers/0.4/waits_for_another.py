# failed: waits-for-another
# points: 2
"""Waiting after the clock has stopped."""

import shardlab as sl

clocks = {"a": "dispatch", "b": "product", "c": "compiling", "d": "product", "e": "product"}
sl.predict("0.4", clocks=clocks)


def rate(m, k, n, seconds):
    return 2 * m * k * n / seconds


def believable(m, k, n, seconds, peak):
    return rate(m, k, n, seconds) <= peak
