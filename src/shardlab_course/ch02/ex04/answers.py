import shardlab as sl
from shardlab_course.answers import right, told, wrong


@right
def another_way():
    def all_to_all_link_bytes(V, n, bidirectional):
        if bidirectional:
            return (n * n // 4) / 2 * V / n**2
        return n * (n - 1) / 2 * V / n**2

    def all_to_all_factor(n, bidirectional):
        hops = n // 2 if bidirectional else n - 1
        blocks = (n * n // 4) / 2 if bidirectional else n * (n - 1) / 2
        return blocks / n / hops


@wrong("asked-the-other-way", 9)
def asked_the_other_way():
    """The gather divided by the all-to-all."""
    sl.predict("2.4", one_way=2, both_ways=4, why="a")

    def all_to_all_factor(n, bidirectional):
        return 4 * n / (n + n % 2) if bidirectional else 2


@wrong("directions-added", 6.5, of="another_way")
def directions_added():
    """Blocks of both directions on one link."""

    def all_to_all_link_bytes(V, n, bidirectional):
        if bidirectional:
            return (n * n // 4) * V / n**2
        return (n - 1) * V / n / 2


@wrong("distance-forgotten", 3.5)
def distance_forgotten():
    """Bytes that a device sends, not bytes over a link."""
    sl.predict("2.4", one_way=0.0625, both_ways=0.0625, why="a")

    def all_to_all_link_bytes(V, n, bidirectional):
        return (n - 1) * V / n**2

    def all_to_all_factor(n, bidirectional):
        return 1 / n


@wrong("distance-forgotten", 6.5, of="another_way")
def distance_forgotten_both():
    """The same, half each way; the rest right."""

    def all_to_all_link_bytes(V, n, bidirectional):
        return (n - 1) * V / n**2 / (2 if bidirectional else 1)


@wrong("fraction-of-the-array", 9)
def fraction_of_the_array():
    """A fraction of V."""
    sl.predict("2.4", one_way=0.5, both_ways=0.125, why="a")

    def all_to_all_factor(n, bidirectional):
        hops = n // 2 if bidirectional else n - 1
        blocks = (n * n // 4) / 2 if bidirectional else n * (n - 1) / 2
        return blocks / n**2


@wrong("limit-of-large-rings", 6.5, of="another_way")
def limit_for_odd_rings():
    """An eighth for odd rings, too."""

    def all_to_all_link_bytes(V, n, bidirectional):
        one_way = (n - 1) * V / n / 2
        return V / 8 if bidirectional else one_way


@wrong("limit-of-large-rings", 6.5, of="another_way")
def limit_of_large_rings():
    """The formulas for large rings."""

    def all_to_all_link_bytes(V, n, bidirectional):
        return V / 8 if bidirectional else V / 2


@wrong("one-way-gather", 9)
def one_way_gather():
    """An all-gather of n - 1 hops in both modes."""

    def all_to_all_factor(n, bidirectional):
        hops = n - 1
        blocks = (n * n // 4) / 2 if bidirectional else n * (n - 1) / 2
        return blocks / n / hops


@wrong("one-way-only", 6.5, of="another_way")
def one_way_only():
    """The flag is not used."""

    def all_to_all_link_bytes(V, n, bidirectional):
        return (n - 1) * V / n / 2


@wrong("quarter-everywhere", 9)
def quarter_everywhere():
    """A quarter, one way and both ways."""
    sl.predict("2.4", one_way=0.25, both_ways=0.25, why="a")

    def all_to_all_factor(n, bidirectional):
        return 0.25


@wrong("quarter-everywhere", 9)
def quarter_for_odd_rings():
    """A quarter for odd rings too."""

    def all_to_all_factor(n, bidirectional):
        return 0.25 if bidirectional else 0.5


@wrong("same-as-gather", 3.5)
def same_as_gather():
    """Everyone talks to everyone, so it is thought to cost the same."""
    sl.predict("2.4", one_way=1, both_ways=1, why="a")

    def all_to_all_link_bytes(V, n, bidirectional):
        hops = n // 2 if bidirectional else n - 1
        return hops * V / n

    def all_to_all_factor(n, bidirectional):
        return 1.0


@wrong("second-direction-halves", 6.5, of="another_way")
def second_direction_halves():
    """Half of the one-way bytes."""

    def all_to_all_link_bytes(V, n, bidirectional):
        one_way = (n - 1) * V / n / 2
        return one_way / 2 if bidirectional else one_way


@wrong("second-direction-halves-both", 9)
def second_direction_halves_both():
    """The second direction is thought to help both alike."""
    sl.predict("2.4", one_way=0.5, both_ways=0.5, why="a")

    def all_to_all_factor(n, bidirectional):
        return 0.5


@wrong("shard-for-array", 6.5, of="another_way")
def shard_for_array():
    """V is taken for one device's shard."""

    def all_to_all_link_bytes(V, n, bidirectional):
        if bidirectional:
            return (n * n // 4) / 2 * V / n
        return n * (n - 1) / 2 * V / n


@wrong("tie-goes-one-way", 6.5, of="another_way")
def tie_goes_one_way():
    """The farthest block of an even ring goes one way only."""

    def all_to_all_link_bytes(V, n, bidirectional):
        if bidirectional:
            return sum(range(1, n // 2 + 1)) * V / n**2
        return (n - 1) * V / n / 2


@right
def walked():
    """Every block walked round the ring, the load of link 0 counted."""

    def all_to_all_link_bytes(V, n, bidirectional):
        load = 0.0
        for source in range(n):
            for target in range(n):
                ahead = (target - source) % n
                ways = [(1, 1.0)]
                if bidirectional and 2 * ahead == n:
                    ways = [(1, 0.5), (-1, 0.5)]
                elif bidirectional and 2 * ahead > n:
                    ways = [(-1, 1.0)]
                for way, part in ways:
                    here = source
                    while here != target:
                        load += part * (here == 0 and way == 1)
                        here = (here + way) % n
        return load * V / n**2

    def all_to_all_factor(n, bidirectional):
        hops = n // 2 if bidirectional else n - 1
        return all_to_all_link_bytes(1.0, n, bidirectional) / (hops / n)


@told("everyone-alike")
def everyone_alike():
    sl.predict("2.4", one_way=0.5, both_ways=0.25, why="b")


@told("straight-to-its-reader")
def straight_to_its_reader():
    sl.predict("2.4", one_way=0.5, both_ways=0.25, why="c")
