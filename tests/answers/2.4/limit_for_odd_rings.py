# failed: limit-of-large-rings
# points: 2
"""An eighth for odd rings, too."""

import shardlab as sl

sl.predict("2.4", one_way=0.5, both_ways=0.25)


def all_to_all_link_bytes(V, n, bidirectional):
    one_way = (n - 1) * V / n / 2
    return V / 8 if bidirectional else one_way


def all_to_all_factor(n, bidirectional):
    hops = n // 2 if bidirectional else n - 1
    blocks = (n * n // 4) / 2 if bidirectional else n * (n - 1) / 2
    return blocks / n / hops
