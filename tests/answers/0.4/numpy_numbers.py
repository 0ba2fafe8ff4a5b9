# passed
"""With numbers of NumPy."""

import numpy as np

import shardlab as sl

clocks = {"a": "dispatch", "b": "product", "c": "compiling", "d": "dispatch", "e": "product"}
sl.predict("0.4", clocks=clocks)


def rate(m, k, n, seconds):
    return np.float64(2) * m * k * n / seconds


def believable(m, k, n, seconds, peak):
    return np.less_equal(rate(m, k, n, seconds), peak)
