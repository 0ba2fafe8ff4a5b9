# failed: both-ways-is-slower
# points: 1.5
def finish(compute, hops):
    arrived, free, ends = 0, 0, []
    for seconds, hop in zip(compute, [0, *hops]):
        arrived += hop
        free = max(free, arrived) + seconds
        ends.append(free)
    return ends


def most_devices(F, flops, bandwidth, both):
    return max(1, int(F * bandwidth / (1 + both) / flops))
