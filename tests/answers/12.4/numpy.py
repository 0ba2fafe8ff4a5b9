# passed
# points: 2.5


import itertools


def finish(compute, hops):
    came = itertools.accumulate(hops, initial=0.0)
    return list(itertools.accumulate(zip(came, compute), lambda end, now: max(end, now[0]) + now[1], initial=0.0))[1:]


def most_devices(F, flops, bandwidth, both):
    n = 1
    while 2 * F / (n + 1) / flops >= 2 / (bandwidth * (1 + both)):
        n += 1
    return n
