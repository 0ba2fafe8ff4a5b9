# failed: fraction-of-the-array
# points: 2.0
"""A fraction of V."""

import shardlab as sl

sl.predict("2.4", one_way=0.5, both_ways=0.125)


def all_to_all_link_bytes(V, n, bidirectional):
    if bidirectional:
        return (n * n // 4) / 2 * V / n**2
    return n * (n - 1) / 2 * V / n**2


def all_to_all_factor(n, bidirectional):
    hops = n // 2 if bidirectional else n - 1
    blocks = (n * n // 4) / 2 if bidirectional else n * (n - 1) / 2
    return blocks / n**2
