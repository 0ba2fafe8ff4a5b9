# failed: array-below-a-hop
# points: 2
"""Divided by n, where it should be multiplied."""

import math

import shardlab as sl

changes = {
    "bandwidth": "double",
    "latency": "double",
    "devices": "double",
    "directions": "same",
    "all_reduce": "same",
}
sl.predict("2.3", changes=changes)


def crossover_bytes(n, bandwidth, latency):
    return bandwidth * latency / n


def crossover_rows(columns, itemsize, n, bandwidth, latency):
    return math.ceil(n * bandwidth * latency / (columns * itemsize))
