from shardlab_course.answers import right, wrong


@right
def another_way():
    def most_devices(F, flops, bandwidth, both):
        return max(1, int(F * bandwidth * (2 if both else 1) / flops))


@wrong("always-both-ways", 7)
def always_both():
    def finish(compute, hops):
        arrived, free, ends = 0, 0, []
        for seconds, hop in zip(compute, [0, *hops]):
            arrived += hop
            free = max(free, arrived) + seconds
            ends.append(free)
        return ends

    def most_devices(F, flops, bandwidth, both):
        return max(1, int(2 * F * bandwidth / flops))


@wrong("several-at-a-time", 5)
def at_once():
    def finish(compute, hops):
        arrived, ends = 0, []
        for seconds, hop in zip(compute, [0, *hops]):
            arrived += hop
            ends.append(arrived + seconds)
        return ends


@wrong("blocks-until-all-is-there", 5)
def blocking():
    def finish(compute, hops):
        ends, now = [], sum(hops)
        for seconds in compute:
            now += seconds
            ends.append(now)
        return ends


@right
def closed_form():
    def finish(compute, hops):
        n = len(compute)
        return [max(sum(hops[:j]) + sum(compute[j : i + 1]) for j in range(i + 1)) for i in range(n)]


@wrong("half-as-many", 7)
def float32():
    def most_devices(F, flops, bandwidth, both):
        return max(1, int(F * bandwidth * (2 if both else 1) / 2 / flops))


@wrong("hops-all-at-once", 5)
def free_wires():
    def finish(compute, hops):
        arrived, free, ends = 0.0, 0.0, []
        for seconds, hop in zip(compute, [0.0, *hops]):
            arrived = hop
            free = max(free, arrived) + seconds
            ends.append(free)
        return ends


@wrong("own-chunk-travels", 5)
def late():
    def finish(compute, hops):
        arrived, free, ends = 0.0, 0.0, []
        for seconds, hop in zip(compute, [*hops, 0.0]):
            arrived += hop
            free = max(free, arrived) + seconds
            ends.append(free)
        return ends


@wrong("hop-waits-for-the-round", 5)
def lockstep():
    def finish(compute, hops):
        t, ends = 0, []
        for c, h in zip(compute, [*hops, 0]):
            ends.append(t + c)
            t += max(c, h)
        return ends


@wrong("rounded-to-the-nearest", 7)
def nearest():
    def finish(compute, hops):
        arrived, free, ends = 0, 0, []
        for seconds, hop in zip(compute, [0, *hops]):
            arrived += hop
            free = max(free, arrived) + seconds
            ends.append(free)
        return ends

    def most_devices(F, flops, bandwidth, both):
        return max(1, round(F * bandwidth * (1 + both) / flops))


@wrong("nobody-waits", 5)
def nobody_waits():
    def finish(compute, hops):
        arrived, free, ends = 0.0, 0.0, []
        for seconds, hop in zip(compute, [0.0, *hops]):
            arrived += hop
            free = free + seconds
            ends.append(free)
        return ends


@wrong("no-device-at-all", 7)
def none():
    def finish(compute, hops):
        arrived, free, ends = 0, 0, []
        for seconds, hop in zip(compute, [0, *hops]):
            arrived += hop
            free = max(free, arrived) + seconds
            ends.append(free)
        return ends

    def most_devices(F, flops, bandwidth, both):
        return int(F * bandwidth * (1 + both) / flops)


@right
def numpy():
    import itertools

    def finish(compute, hops):
        came = itertools.accumulate(hops, initial=0.0)
        return list(itertools.accumulate(zip(came, compute), lambda end, now: max(end, now[0]) + now[1], initial=0.0))[1:]

    def most_devices(F, flops, bandwidth, both):
        n = 1
        while 2 * F / (n + 1) / flops >= 2 / (bandwidth * (1 + both)):
            n += 1
        return n


@wrong("both-ways-is-no-faster", 7)
def one_direction():
    def most_devices(F, flops, bandwidth, both):
        return max(1, int(F * bandwidth / flops))


@wrong("one-too-many", 7)
def rounded_up():
    def most_devices(F, flops, bandwidth, both):
        return max(1, int(F * bandwidth * (2 if both else 1) / flops) + 1)


@wrong("hop-waits-for-product", 5)
def serial():
    def finish(compute, hops):
        ends, now = [], 0.0
        for seconds, hop in zip(compute, [0.0, *hops]):
            now += hop + seconds
            ends.append(now)
        return ends


@wrong("both-ways-is-slower", 7)
def slower():
    def finish(compute, hops):
        arrived, free, ends = 0, 0, []
        for seconds, hop in zip(compute, [0, *hops]):
            arrived += hop
            free = max(free, arrived) + seconds
            ends.append(free)
        return ends

    def most_devices(F, flops, bandwidth, both):
        return max(1, int(F * bandwidth / (1 + both) / flops))


@wrong("starts-instead-of-ends", 5)
def starts():
    def finish(compute, hops):
        arrived, free, ends = 0, 0, []
        for seconds, hop in zip(compute, [0, *hops]):
            arrived += hop
            free = max(free, arrived)
            ends.append(free)
            free += seconds
        return ends


@wrong("twice-as-many", 7)
def twice():
    def finish(compute, hops):
        arrived, free, ends = 0, 0, []
        for seconds, hop in zip(compute, [0, *hops]):
            arrived += hop
            free = max(free, arrived) + seconds
            ends.append(free)
        return ends

    def most_devices(F, flops, bandwidth, both):
        return max(1, int(2 * F * bandwidth * (1 + both) / flops))
