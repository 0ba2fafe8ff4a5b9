# passed
# points: 2.25
"""The shortest time that the chip would need."""

import shardlab as sl

clocks = {"a": "dispatch", "b": "product", "c": "compiling", "d": "dispatch", "e": "product"}
sl.predict("0.4", clocks=clocks)


def rate(m, k, n, seconds):
    return 2 * m * k * n / seconds


def believable(m, k, n, seconds, peak):
    return seconds >= 2 * m * k * n / peak
