# failed: columns-of-a-shard
# points: 2
"""A row of one shard."""

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
    return math.ceil(n * bandwidth * latency / (columns / n * itemsize))
