# failed: second-direction-as-bandwidth
# points: 0
"""All hops, at twice the bandwidth."""

def time_all_gather(V, n, bandwidth, latency, bidirectional):
    rate = 2 * bandwidth if bidirectional else bandwidth
    return max((n - 1) * latency, (n - 1) / n * V / rate)
