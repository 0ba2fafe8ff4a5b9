# failed: rounded-down
# points: 2
"""Rounded to the nearest number of rows."""

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
    return n * bandwidth * latency


def crossover_rows(columns, itemsize, n, bandwidth, latency):
    return round(n * bandwidth * latency / (columns * itemsize))
