# failed: starts-instead-of-ends
# points: 1
def finish(compute, hops):
    arrived, free, ends = 0, 0, []
    for seconds, hop in zip(compute, [0, *hops]):
        arrived += hop
        free = max(free, arrived)
        ends.append(free)
        free += seconds
    return ends


def most_devices(F, flops, bandwidth, both):
    return max(1, int(F * bandwidth * (2 if both else 1) / flops))
