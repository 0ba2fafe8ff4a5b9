import math

import shardlab as sl
from shardlab_course.answers import right, told, wrong


@right
def another_way():
    def crossover_rows(columns, itemsize, n, bandwidth, latency):
        return math.ceil(n * bandwidth * latency / (columns * itemsize))


@wrong("array-below-a-hop", 6, of="another_way")
def array_below_a_hop():
    """Divided by n, where it should be multiplied."""

    def crossover_bytes(n, bandwidth, latency):
        return bandwidth * latency / n


@wrong("both-links-counted", 6, of="another_way")
def both_links_counted():
    """With the bandwidth of both directions."""

    def crossover_bytes(n, bandwidth, latency):
        return n * 2 * bandwidth * latency


@wrong("columns-of-a-shard", 6)
def columns_of_a_shard():
    """A row of one shard."""

    def crossover_rows(columns, itemsize, n, bandwidth, latency):
        return math.ceil(n * bandwidth * latency / (columns / n * itemsize))


@right
def counted_up():
    """Rows added one by one until a hop is full."""

    def crossover_rows(columns, itemsize, n, bandwidth, latency):
        rows = 1
        while rows * columns * itemsize < crossover_bytes(n, bandwidth, latency):
            rows += 1
        return rows


@told("direction-counts")
def direction_counts():
    """Two directions are thought to halve it."""
    changes["directions"] = "half"
    sl.predict("2.3", changes=changes)


@wrong("elements-for-bytes", 6)
def elements_for_bytes():
    """The element's size is forgotten."""

    def crossover_rows(columns, itemsize, n, bandwidth, latency):
        return math.ceil(n * bandwidth * latency / columns)


@told("faster-link-sooner-busy")
def faster_link_sooner_busy():
    """A faster link is thought to leave latency behind sooner."""
    changes["bandwidth"] = "half"
    sl.predict("2.3", changes=changes)


@wrong("fraction-of-a-row", 6)
def fraction_of_a_row():
    """Not rounded."""

    def crossover_rows(columns, itemsize, n, bandwidth, latency):
        return n * bandwidth * latency / (columns * itemsize)


@wrong("hop-for-array", 3)
def hop_for_array():
    """Bytes of one hop, taken for the array's."""

    def crossover_bytes(n, bandwidth, latency):
        return bandwidth * latency

    def crossover_rows(columns, itemsize, n, bandwidth, latency):
        return math.ceil(bandwidth * latency / (columns * itemsize))


@told("hop-for-array")
def hop_for_array_believed():
    """45 kB, however many devices."""
    changes["devices"] = "same"
    sl.predict("2.3", changes=changes)


@wrong("hops-for-shards", 6, of="another_way")
def hops_for_shards():
    """Hops of a ring both ways, times a hop's bytes."""

    def crossover_bytes(n, bandwidth, latency):
        return (n // 2) * bandwidth * latency


@wrong("hops-for-shards", 6, of="another_way")
def hops_for_shards_one_way():
    """Hops of a ring one way, times a hop's bytes."""

    def crossover_bytes(n, bandwidth, latency):
        return (n - 1) * bandwidth * latency


@wrong("rounded-down", 6)
def rounded_down():
    """A row too few."""

    def crossover_rows(columns, itemsize, n, bandwidth, latency):
        return int(n * bandwidth * latency / (columns * itemsize))


@wrong("rounded-down", 6)
def rounded_to_nearest():
    """Rounded to the nearest number of rows."""

    def crossover_rows(columns, itemsize, n, bandwidth, latency):
        return round(n * bandwidth * latency / (columns * itemsize))


@told("slower-start-same-size")
def slower_start():
    """Latency is thought to drop out."""
    changes["latency"] = "same"
    sl.predict("2.3", changes=changes)


@told("twice-the-work-later")
def twice_the_work_later():
    """An all-reduce moves twice as much, so it is thought to cross over sooner."""
    changes["all_reduce"] = "half"
    sl.predict("2.3", changes=changes)


@wrong("always-one-more", 6)
def one_more():
    """Cut off, and one added."""

    def crossover_rows(columns, itemsize, n, bandwidth, latency):
        return int(n * bandwidth * latency / (columns * itemsize)) + 1


@right
def rows_by_division():
    """Latency over the time of a row, rounded up without math."""

    def crossover_rows(columns, itemsize, n, bandwidth, latency):
        return int(-(-latency // (columns * itemsize / n / bandwidth)))
