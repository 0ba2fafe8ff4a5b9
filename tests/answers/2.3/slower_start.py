# failed: slower-start-same-size
# points: 2.8
"""Latency is thought to drop out."""

import math

import shardlab as sl

changes = {
    "bandwidth": "double",
    "latency": "same",
    "devices": "double",
    "directions": "same",
    "all_reduce": "same",
}
sl.predict("2.3", changes=changes)


def crossover_bytes(n, bandwidth, latency):
    return n * bandwidth * latency


def crossover_rows(columns, itemsize, n, bandwidth, latency):
    return math.ceil(n * bandwidth * latency / (columns * itemsize))
