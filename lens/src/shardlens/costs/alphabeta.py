"""The alpha-beta model: how long a collective takes on a ring, a line or a torus of chips.

A time is the larger of two: hops times the latency of one hop (alpha), and bytes over a link divided by its bandwidth
(beta). `bandwidth` is always that of one link in one direction. `bidirectional` says that the axis is a ring whose two
directions both carry bytes; without it, bytes go one way round. A gather or a sum takes as long on a line without
wraparound; an all-to-all takes less there.

Source: scaling-book, Part 3 (Sharded Matrices and How to Multiply Them), 'How is an AllGather actually performed?' and
'A note on ICI latency' (the larger of the two, not their sum), 'What happens when we AllGather over multiple axes?',
'Our final communication primitive: the AllToAll', and Question 10. Its W_ici is bidirectional: twice our `bandwidth`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

Ring = int | Sequence[int]


def all_gather(nbytes: float, n: Ring, bandwidth: float, latency: float = 0.0, bidirectional: bool = True) -> float:
    """Seconds of an all-gather.

    A shard is passed on whole, `n // 2` hops in both directions or `n - 1` in one.

    Args:
        nbytes: bytes of the gathered array, as each device ends up holding it.
        n: devices in the ring; several numbers for a torus whose axes all help.
        bandwidth: bytes a second over one link, one way.
        latency: seconds a hop takes at least.
        bidirectional: whether both directions of each ring carry bytes.
    Example:
        >>> all_gather(9e10, n=16, bandwidth=4.5e10), all_gather(9e10, n=64, bandwidth=4.5e10)
        (1.0, 1.0)
    """
    sizes = _sizes(n)
    if not sizes:
        return 0.0
    devices = math.prod(sizes)
    share = _hops(devices, bidirectional) / devices
    hops = sum(_hops(size, bidirectional) for size in sizes)
    return max(hops * latency, share * nbytes / (bandwidth * len(sizes)))


def reduce_scatter(nbytes: float, n: Ring, bandwidth: float, latency: float = 0.0, bidirectional: bool = True) -> float:
    """Seconds of a reduce-scatter, the additions not counted: an all-gather run backwards.

    Args:
        nbytes: bytes of the array to be summed, as each device holds it before.
        n, bandwidth, latency, bidirectional: see `all_gather`.
    """
    return all_gather(nbytes, n, bandwidth, latency, bidirectional)


def all_reduce(nbytes: float, n: Ring, bandwidth: float, latency: float = 0.0, bidirectional: bool = True) -> float:
    """Seconds of an all-reduce: a reduce-scatter, then an all-gather.

    Args:
        nbytes: bytes of the array to be summed, as each device holds it before and after.
        n, bandwidth, latency, bidirectional: see `all_gather`.
    """
    ring = (n, bandwidth, latency, bidirectional)
    return reduce_scatter(nbytes, *ring) + all_gather(nbytes, *ring)


def all_to_all(
    nbytes: float, n: Ring, bandwidth: float, latency: float = 0.0, bidirectional: bool = True, line: bool = False
) -> float:
    """Seconds of an all-to-all: each block goes only as far as it must, a quarter of an all-gather in a ring.

    On a torus the longest axis decides.

    Args:
        nbytes: bytes of the whole array, all devices' parts together.
        n, bandwidth, latency, bidirectional: see `all_gather`.
        line: whether the axes are lines, on which the middle link carries most; `bidirectional` says nothing of these.
    Example:
        >>> ring = dict(n=8, bandwidth=4.5e10)
        >>> all_to_all(9e10, **ring) / all_gather(9e10, **ring)
        0.25
    """
    sizes = _sizes(n)
    if not sizes:
        return 0.0
    longest, devices = max(sizes), math.prod(sizes)
    # From one device to all others of a ring it is n² // 4 hops by the shorter ways, which both directions share; one way
    # round, n (n - 1) / 2. On a line each device of one half sends to each of the other over the middle link.
    pairs = longest**2 // 4 if line else longest**2 // 4 / 2 if bidirectional else longest * (longest - 1) / 2
    hops = sum(_hops(size, bidirectional and not line) for size in sizes)
    return max(hops * latency, pairs / longest * nbytes / devices / bandwidth)


def collective_permute(
    nbytes: float, n: int, bandwidth: float, latency: float = 0.0, bidirectional: bool = True, distance: int = 1
) -> float:
    """Seconds for every device of a ring to send to the one `distance` further on.

    Args:
        nbytes: bytes that each device sends.
        n, bandwidth, latency, bidirectional: see `all_gather`.
        distance: hops between sender and receiver; each link on the way carries that many messages.
    """
    hops = distance % n
    hops = min(hops, n - hops) if bidirectional else hops
    return max(hops * latency, hops * nbytes / bandwidth)


def switched_all_to_all(nbytes: float, n: int, bandwidth: float) -> float:
    """Seconds of an all-to-all between chips on one switch, where no chip passes on another's bytes.

    Args:
        nbytes: bytes of the whole array, all devices' parts together.
    Source: scaling-book, Part 12 (How to Think About GPUs), 'Intra-node collectives', AllToAlls.
    """
    return nbytes * (n - 1) / n**2 / bandwidth


def in_network_all_reduce(nbytes: float, bandwidth: float) -> float:
    """Seconds of an all-reduce that switches add up: each chip sends its bytes once, and takes the sum once.

    Args:
        nbytes: bytes of the array to be summed, as each device holds it before and after.
    Example:
        >>> all_reduce(8e11, n=8, bandwidth=4e11, bidirectional=False), in_network_all_reduce(8e11, bandwidth=4e11)
        (3.5, 2.0)

    Source: scaling-book, Part 12 (How to Think About GPUs), 'Intra-node collectives', in-network reductions.
    """
    return nbytes / bandwidth


def link_load(pairs: Iterable[tuple[int, ...]], rings: Sequence[tuple[int, bool]]) -> tuple[int, int]:
    """Messages over the busiest link in one direction, and hops of the longest way, when each source sends to its target.

    A message goes along the first axis, then along the next; in a ring, the shorter way round.

    Args:
        pairs: source and target positions in mesh order.
        rings: size of each axis, and whether it is a ring.
    """
    loads: dict[tuple[tuple[int, ...], int, int], int] = {}
    longest = 0
    for source, target in pairs:
        here, end = _coordinates(source, rings), _coordinates(target, rings)
        hops = 0
        for axis, (size, ring) in enumerate(rings):
            step = 1 if _forward(here[axis], end[axis], size, ring) else -1
            while here[axis] != end[axis]:
                link = (tuple(here), axis, step)
                loads[link] = loads.get(link, 0) + 1
                here[axis] = (here[axis] + step) % size
                hops += 1
        longest = max(longest, hops)
    return max(loads.values(), default=0), longest


def _forward(here: int, end: int, size: int, ring: bool) -> bool:
    return (end - here) % size <= (here - end) % size if ring else end > here


def _coordinates(position: int, rings: Sequence[tuple[int, bool]]) -> list[int]:
    coordinates = []
    for size, _ in reversed(rings):
        position, index = divmod(position, size)
        coordinates.append(index)
    return coordinates[::-1]


def _sizes(n: Ring) -> tuple[int, ...]:
    return tuple(size for size in ((n,) if isinstance(n, int) else n) if size > 1)


def _hops(n: int, bidirectional: bool) -> int:
    return n // 2 if bidirectional else n - 1
