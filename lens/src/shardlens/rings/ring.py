"""Collectives on a ring, hop by hop: chunks that carry their names move between simulated devices. No JAX here."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Collection, Iterator

from shardlens.errors import LensError

KINDS = ("all-gather", "reduce-scatter", "all-reduce", "all-to-all")
PERMUTE = "collective-permute"
LETTERS = "ABCDEFGHIJKLMNOP"
MOST = len(LETTERS)


@dataclasses.dataclass(frozen=True, order=True)
class Chunk:
    """What one message carries.

    Args:
        home: the device that had it first; in a reduction, the device that ends up with its sum.
        part: in an all-to-all, the device that it is for.
        terms: devices whose contributions are in it; more than one once partial sums have been added.
    """

    home: int
    part: int | None = None
    terms: tuple[int, ...] = ()

    @property
    def slot(self) -> tuple[int, int | None]:
        """What stays the same while sums grow."""
        return self.home, self.part


@dataclasses.dataclass(frozen=True)
class Hop:
    """One message between neighbours."""

    source: int
    target: int
    chunk: Chunk


@dataclasses.dataclass(frozen=True)
class Step:
    """Hops that happen at the same time, and what each device holds afterwards. The start has no hops."""

    hops: tuple[Hop, ...]
    held: tuple[tuple[Chunk, ...], ...]
    phase: str


@dataclasses.dataclass(frozen=True)
class Schedule:
    """A collective on a ring of `n` devices; the first step is the start.

    `fraction` says which part of the array one chunk is: 1 / `fraction`.
    """

    kind: str
    n: int
    bidirectional: bool
    steps: tuple[Step, ...]

    @property
    def hops(self) -> int:
        """Steps in which something moves."""
        return len(self.steps) - 1

    @property
    def fraction(self) -> int:
        """One chunk is this fraction of the array: its parts on all devices together, or what each device is to sum."""
        return self.n**2 if self.kind == "all-to-all" else self.n

    @property
    def room(self) -> int:
        """Places for chunks on each device."""
        return 1 if self.kind == PERMUTE else self.n

    @property
    def busiest_link(self) -> int:
        """Chunks that cross the busiest link in one direction, all steps together."""
        loads: dict[tuple[int, int], int] = {}
        for hop in itertools.chain.from_iterable(step.hops for step in self.steps):
            loads[hop.source, hop.target] = loads.get((hop.source, hop.target), 0) + 1
        return max(loads.values(), default=0)


def schedule(kind: str, n: int, bidirectional: bool = False) -> Schedule:
    """The steps of a collective on a ring, found by moving chunks until everyone has what it should.

    Args:
        kind: "all-gather", "reduce-scatter", "all-reduce" or "all-to-all".
        n: devices in the ring, 2 to 16.
        bidirectional: whether both directions of the ring carry chunks.
    Raises:
        LensError: another kind, or another number of devices.
    Example:
        >>> schedule("all-gather", 4).hops, schedule("all-gather", 4, bidirectional=True).hops
        (3, 2)
    """
    if kind not in KINDS or not 2 <= n <= MOST:
        raise LensError(
            "no-ring",
            f"there is no ring picture of {kind!r} on {n} devices.",
            where=f"kind={kind!r}, n={n}",
            mend=f"name one of {', '.join(KINDS)}, on 2 to {MOST} devices.",
        )
    ways = (1, -1) if bidirectional else (1,)
    if kind == "all-to-all":
        steps = tuple(_blocks(n, bidirectional))
    elif kind == "all-gather":
        steps = tuple(_copies(n, ways, ()))
    else:
        steps = tuple(_sums(n, ways))
    if kind == "all-reduce":
        steps += tuple(_copies(n, ways, tuple(range(n))))[1:]
    return Schedule(kind, n, bidirectional, steps)


def passed(pairs: Collection[tuple[int, int]], n: int, steps: int) -> Schedule:
    """One block from each of `n` devices, passed on `steps` times along (source, target) pairs.

    Who is no target holds nothing afterwards; each device is at most once a source, and at most once a target.
    """
    held: dict[int, Chunk] = {d: Chunk(d) for d in range(n)}
    made = [Step((), tuple((held[d],) for d in range(n)), PERMUTE)]
    for _ in range(steps):
        hops = tuple(Hop(a, b, held[a]) for a, b in pairs if a in held)
        held = {hop.target: hop.chunk for hop in hops}
        made.append(Step(hops, tuple((held[d],) if d in held else () for d in range(n)), PERMUTE))
    return Schedule(PERMUTE, n, False, tuple(made))


def _copies(n: int, ways: tuple[int, ...], terms: tuple[int, ...]) -> Iterator[Step]:
    """All-gather: whoever has just got a chunk passes a copy on, the same way round."""
    held = [{Chunk(d, None, terms)} for d in range(n)]
    fresh = [(d, way, Chunk(d, None, terms)) for d in range(n) for way in ways]
    yield _step((), held, "all-gather")
    while fresh:
        hops: list[Hop] = []
        arrived: list[tuple[int, int, Chunk]] = []
        for device, way, chunk in fresh:
            target = (device + way) % n
            if chunk not in held[target] and all((hop.target, hop.chunk) != (target, chunk) for hop in hops):
                hops.append(Hop(device, target, chunk))
                arrived.append((target, way, chunk))
        for hop in hops:
            held[hop.target].add(hop.chunk)
        fresh = arrived
        if hops:
            yield _step(hops, held, "all-gather")


def _sums(n: int, ways: tuple[int, ...]) -> Iterator[Step]:
    """Reduce-scatter: an all-gather run backwards; each copy that was made becomes an addition."""
    gather = list(_copies(n, tuple(-way for way in ways), ()))[1:]
    held: list[dict[int, tuple[int, ...]]] = [{chunk: (d,) for chunk in range(n)} for d in range(n)]
    yield _partial((), held)
    for step in reversed(gather):
        routes = [(hop.target, hop.source, hop.chunk.home) for hop in step.hops]
        hops = [Hop(a, b, Chunk(c, None, held[a].pop(c))) for a, b, c in routes]
        for hop in hops:
            held[hop.target][hop.chunk.home] = tuple(sorted((*held[hop.target][hop.chunk.home], *hop.chunk.terms)))
        yield _partial(hops, held)


def _blocks(n: int, both: bool) -> Iterator[Step]:
    """All-to-all: every block goes one hop nearer to its device; half of the farthest ones go each way round."""
    held = [{Chunk(d, t) for t in range(n)} for d in range(n)]
    yield _step((), held, "all-to-all")
    while any(chunk.part != d for d in range(n) for chunk in held[d]):
        under_way = [(d, chunk) for d in range(n) for chunk in sorted(held[d]) if chunk.part != d]
        hops = [Hop(d, (d + _way(chunk, n, both)) % n, chunk) for d, chunk in under_way]
        for hop in hops:
            held[hop.source].remove(hop.chunk)
        for hop in hops:
            held[hop.target].add(hop.chunk)
        yield _step(hops, held, "all-to-all")


def _way(chunk: Chunk, n: int, both: bool) -> int:
    ahead = ((chunk.part or 0) - chunk.home) % n
    if not both or 2 * ahead < n:
        return 1
    return -1 if 2 * ahead > n or chunk.home % 2 else 1


def _step(hops: list[Hop] | tuple[()], held: list[set[Chunk]], phase: str) -> Step:
    return Step(tuple(hops), tuple(tuple(sorted(chunks)) for chunks in held), phase)


def _partial(hops: list[Hop] | tuple[()], held: list[dict[int, tuple[int, ...]]]) -> Step:
    chunks = [{Chunk(c, None, terms) for c, terms in own.items()} for own in held]
    return _step(hops, chunks, "reduce-scatter")
