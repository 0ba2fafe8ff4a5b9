# passed
# points: 2.5
def finish(compute, hops):
    n = len(compute)
    return [max(sum(hops[:j]) + sum(compute[j : i + 1]) for j in range(i + 1)) for i in range(n)]


def most_devices(F, flops, bandwidth, both):
    return max(1, int(F * bandwidth * (2 if both else 1) / flops))
