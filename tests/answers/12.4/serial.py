# failed: hop-waits-for-product
# points: 1


def finish(compute, hops):
    ends, now = [], 0.0
    for seconds, hop in zip(compute, [0.0, *hops]):
        now += hop + seconds
        ends.append(now)
    return ends


def most_devices(F, flops, bandwidth, both):
    return max(1, int(F * bandwidth * (2 if both else 1) / flops))
