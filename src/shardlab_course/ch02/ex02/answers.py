from shardlab_course.answers import right, wrong


@wrong("adds-latency", 0)
def adds_latency():
    """Latency and bytes added."""

    def time_all_gather(V, n, bandwidth, latency, bidirectional):
        hops = n // 2 if bidirectional else n - 1
        return hops * (latency + V / n / bandwidth)


@wrong("directions-counted-twice", 0)
def directions_counted_twice():
    """Fewer hops and twice the bandwidth."""

    def time_all_gather(V, n, bandwidth, latency, bidirectional):
        hops = n // 2 if bidirectional else n - 1
        both = 2 if bidirectional else 1
        return hops * max(latency, V / n / (both * bandwidth))


@wrong("half-a-hop", 0)
def half_a_hop():
    """The book's |X| / 2 hops, for odd rings too."""

    def time_all_gather(V, n, bandwidth, latency, bidirectional):
        hops = n / 2 if bidirectional else n - 1
        return hops * max(latency, V / n / bandwidth)


@wrong("halves-exactly", 0)
def halves_exactly():
    """Both ways as exactly half of one way."""

    def time_all_gather(V, n, bandwidth, latency, bidirectional):
        one_way = (n - 1) * max(latency, V / n / bandwidth)
        return one_way / 2 if bidirectional else one_way


@wrong("hop-too-many", 0)
def hop_too_many():
    """Half the ring, rounded up."""
    import math

    def time_all_gather(V, n, bandwidth, latency, bidirectional):
        hops = math.ceil(n / 2) if bidirectional else n - 1
        return hops * max(latency, V / n / bandwidth)


@wrong("time-grows-with-n", 0)
def n_times():
    """n times the array."""

    def time_all_gather(V, n, bandwidth, latency, bidirectional):
        hops = n // 2 if bidirectional else n
        return hops * max(latency, V / bandwidth)


@wrong("no-latency", 0)
def no_latency():
    """Bytes only."""

    def time_all_gather(V, n, bandwidth, latency, bidirectional):
        hops = n // 2 if bidirectional else n - 1
        return hops * V / n / bandwidth


@wrong("one-way-only", 0)
def one_way_only():
    """The flag is not used."""

    def time_all_gather(V, n, bandwidth, latency, bidirectional):
        return (n - 1) * max(latency, V / n / bandwidth)


@wrong("own-shard-sent-too", 0)
def own_shard_sent_too():
    """V over the bandwidth: a device is sent its own shard."""

    def time_all_gather(V, n, bandwidth, latency, bidirectional):
        hops = n / 2 if bidirectional else n
        return max(hops * latency, V / bandwidth / (2 if bidirectional else 1))


@wrong("own-shard-sent-too", 0)
def own_shard_sent_one_way():
    """n hops one way, and as many as it takes both ways."""

    def time_all_gather(V, n, bandwidth, latency, bidirectional):
        return (n // 2 if bidirectional else n) * max(latency, V / n / bandwidth)


@wrong("own-shard-sent-too", 0)
def own_shard_sent_too_waited_right():
    """The same bytes with the right hops for latency."""

    def time_all_gather(V, n, bandwidth, latency, bidirectional):
        hops = n // 2 if bidirectional else n - 1
        if n == 1:
            return V / bandwidth
        return max(hops * latency, V / bandwidth / (2 if bidirectional else 1))


@wrong("second-direction-as-bandwidth", 0)
def second_direction_as_bandwidth():
    """All hops, at twice the bandwidth."""

    def time_all_gather(V, n, bandwidth, latency, bidirectional):
        rate = 2 * bandwidth if bidirectional else bandwidth
        return max((n - 1) * latency, (n - 1) / n * V / rate)


@wrong("time-grows-with-n", 0)
def time_grows_with_n():
    """Every hop is thought to carry the whole array."""

    def time_all_gather(V, n, bandwidth, latency, bidirectional):
        hops = n // 2 if bidirectional else n - 1
        return hops * max(latency, V / bandwidth)


@right
def two_cases():
    """Latency and bytes of all hops compared at the end."""

    def time_all_gather(V, n, bandwidth, latency, bidirectional):
        if n == 1:
            return 0
        hops = (n - 1 + 1) // 2 if bidirectional else n - 1
        return max(hops * latency, V * hops / n / bandwidth)


@wrong("waits-once", 0)
def waits_once():
    """One latency for the whole collective."""

    def time_all_gather(V, n, bandwidth, latency, bidirectional):
        hops = n // 2 if bidirectional else n - 1
        return max(latency if hops else 0, hops * V / n / bandwidth) if n > 1 else 0


@wrong("waits-the-long-way", 0)
def waits_the_long_way():
    """Latency of n - 1 hops in both modes."""

    def time_all_gather(V, n, bandwidth, latency, bidirectional):
        hops = n // 2 if bidirectional else n - 1
        return max((n - 1) * latency, hops * V / n / bandwidth)


@right
def walked():
    """Shards passed on in a loop until everyone has them all."""

    def time_all_gather(V, n, bandwidth, latency, bidirectional):
        held = {0}
        seconds = 0.0
        step = 0
        while len(held) < n:
            step += 1
            held |= {step} | ({n - step} if bidirectional else set())
            seconds += max(latency, V / (n * bandwidth))
        return seconds


@wrong("doubles-like-a-tree", 0)
def as_in_a_tree():
    """What is known doubles in every hop."""
    import math

    def time_all_gather(V, n, bandwidth, latency, bidirectional):
        return math.ceil(math.log2(n)) * max(latency, V / n / bandwidth)


@wrong("-", 0)
def asks_the_laboratory():
    """The model of the laboratory."""
    from shardlens import alphabeta

    def time_all_gather(V, n, bandwidth, latency, bidirectional):
        return alphabeta.all_gather(V, n, bandwidth, latency, bidirectional)


@wrong("-", 0)
def is_the_laboratorys():
    """The same under another name."""
    from shardlens import alphabeta

    time_all_gather = alphabeta.all_gather


@wrong("opposite-forgotten", 0)
def opposite_forgotten():
    def time_all_gather(V, n, bandwidth, latency, bidirectional):
        hops = (n - 1) // 2 if bidirectional else n - 1
        return hops * max(latency, V / n / bandwidth)
