# failed: several-at-a-time
# points: 1
def finish(compute, hops):
    arrived, ends = 0, []
    for seconds, hop in zip(compute, [0, *hops]):
        arrived += hop
        ends.append(arrived + seconds)
    return ends


def most_devices(F, flops, bandwidth, both):
    return max(1, int(F * bandwidth * (2 if both else 1) / flops))
