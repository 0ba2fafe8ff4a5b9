# failed: blocks-until-all-is-there
# points: 1


def finish(compute, hops):
    ends, now = [], sum(hops)
    for seconds in compute:
        now += seconds
        ends.append(now)
    return ends


def most_devices(F, flops, bandwidth, both):
    return max(1, int(F * bandwidth * (2 if both else 1) / flops))
