# failed: hop-waits-for-the-round
# points: 1
def finish(compute, hops):
    t, ends = 0, []
    for c, h in zip(compute, [*hops, 0]):
        ends.append(t + c)
        t += max(c, h)
    return ends


def most_devices(F, flops, bandwidth, both):
    return max(1, int(F * bandwidth * (2 if both else 1) / flops))
