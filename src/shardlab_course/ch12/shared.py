"""Chapter 12, what several exercises use: cases, oracles, recognisers and misconceptions."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from shardlab_course.shared.rings import devices, each, largest, only_permutes, whole
from shardlab_judge.cases import Case, Input, Observed, axes
from shardlab_judge.question import Check, Item
from shardlab_judge.verdict import Finding
from shardlens import Axes, Overlap, Spec, overlaps
from shardlens import longest_overlap as longest

COLUMNS: Spec = (None, "x")
ROWS: Spec = ("x", None)
LINE, WIDE, FIVE = axes(x=8), axes(x=4, y=2), axes(x=5)
MESHES = (LINE, WIDE, FIVE)
Pairs = Callable[[int, int], Iterable[tuple[int, int]]]
"""For a device and the number of devices: which chunk of the left factor met which rows of the right one."""


def product(X: np.ndarray, W: np.ndarray) -> np.ndarray:
    """The matrix product, one contracted index after the other."""
    return np.sum([np.outer(X[:, k], W[k]) for k in range(len(W))], axis=0)


def gather_case(mesh: Axes, t: int, d: int, f: int) -> Case:
    """Features cut on the left, columns on the right and in the output."""
    return Case(mesh, (Input((t, d), COLUMNS), Input((d, f), COLUMNS)), (COLUMNS,))


def drawing(make: Callable[..., Case], *cut: bool, meshes: tuple[Axes, ...] = MESHES) -> Callable[[random.Random], Case]:
    """A function that draws a mesh and a size for each of `cut`, a multiple of the devices where it is cut."""

    def draw(rng: random.Random) -> Case:
        mesh = rng.choice(meshes)
        n = dict(mesh)["x"]
        return make(mesh, *(n * rng.randint(2, 5) if each_cut else rng.randint(5, 12) for each_cut in cut))

    return draw


def met(o: Observed, pairs: Pairs) -> bool:
    """Whether each device added up the products of these chunks of X and rows of W, and of no others."""
    X, W = o.inputs
    n = devices(o)
    left, right = np.split(X, n, axis=1), [np.split(rows, n, axis=1) for rows in np.split(W, n)]
    return each(o, lambda d: np.sum([left[a % n] @ right[b % n][d] for a, b in pairs(d, n)], axis=0))


def local_index(o: Observed) -> bool:
    """Whether each device took the rows of W in the order 0, 1, 2, ..., whatever came in."""

    def pairs(s: int) -> Pairs:
        return lambda d, n: [(d + s * i, i) for i in range(n)]

    return met(o, pairs(1)) or met(o, pairs(-1))


def wrong_way(o: Observed) -> bool:
    """Whether rows were counted against the direction in which chunks came."""
    return met(o, lambda d, n: [(d + i, d - i) for i in range(n)])


def lagging(o: Observed) -> bool:
    """Whether each chunk met the rows of the one before it, or after it."""

    def pairs(s: int) -> Pairs:
        return lambda d, n: [(i + s, i) for i in range(n)]

    return met(o, pairs(1)) or met(o, pairs(-1))


def same_rows(o: Observed) -> bool:
    """Whether every chunk met the rows that go with the device's own, or the same rows on all devices."""

    def pairs(own: int, row: int) -> Pairs:
        return lambda d, n: [(i, own * d + row) for i in range(n)]

    return met(o, pairs(1, 0)) or any(met(o, pairs(0, row)) for row in range(devices(o)))


def own_only(o: Observed) -> bool:
    """Whether each device multiplied its own chunk, and no other."""
    return met(o, lambda d, n: [(d, d)])


def chunk_missing(o: Observed) -> bool:
    """Whether one chunk's product is missing on each device, as many places away on all."""

    def pairs(k: int) -> Pairs:
        return lambda d, n: [(d + i, d + i) for i in range(n) if i != k]

    return any(met(o, pairs(k)) for k in range(devices(o)))


def clamped(o: Observed) -> bool:
    """Whether rows beyond the last were asked for, and the last ones came instead."""
    return met(o, lambda d, n: [(d + i, min(d + i, n - 1)) for i in range(n)])


def one_only(o: Observed) -> bool:
    """Whether each device has one chunk's product and no other, as many places away on all."""

    def pairs(k: int) -> Pairs:
        return lambda d, n: [(d + k, d + k)]

    return any(met(o, pairs(k)) for k in range(1, devices(o)))


def one_twice(o: Observed) -> bool:
    """Whether each device has all products, and one of them a second time."""

    def pairs(k: int) -> Pairs:
        return lambda d, n: [(j, j) for j in (*range(n), d + k)]

    return any(met(o, pairs(k)) for k in range(devices(o)))


def next_door(o: Observed, right: np.ndarray) -> bool:
    """Whether the sums are right, and each lies on a neighbour of its own device."""
    parts = np.split(right, devices(o))
    n = len(parts)
    return each(o, lambda d: parts[(d + 1) % n]) or each(o, lambda d: parts[(d - 1) % n])


def right(o: Observed, wanted: Callable[..., np.ndarray]) -> bool:
    """Whether every device holds its slice of what the oracle says."""
    return whole(o, wanted(*o.inputs))


def block_bytes(o: Observed, argument: int) -> int:
    """Bytes of a device's block of an argument that is cut along x."""
    return o.inputs[argument].nbytes // devices(o)


def travels(o: Observed, argument: int) -> bool:
    """Whether a device's block of this argument is sent on by a permute: never, where something else is as large."""
    sizes = {c.payload_bytes for c in o.collectives if c.kind == "collective-permute"}
    sums, chunk = o.shards[0][0][2].nbytes, block_bytes(o, 0)
    others = {sums, sums * devices(o)} | ({chunk, chunk * devices(o)} if argument else set())
    return block_bytes(o, argument) in sizes - others


def output_travels(o: Observed) -> bool:
    """Whether a device's whole block of the output is sent on by a permute, and is not as large as a block of an input."""
    out, chunk = o.shards[0][0][2].nbytes, block_bytes(o, 0)
    others = {chunk // 2, *(chunk * k for k in range(1, devices(o) + 1)), *map(lambda i: block_bytes(o, i), (0, 1))}
    return any(c.payload_bytes == out for c in o.collectives) and out not in others


def many_chunks(o: Observed) -> bool:
    """Whether a permute carries several chunks of the first argument."""
    many, rest = divmod(largest(o), block_bytes(o, 0))
    return only_permutes(o) and many > 1 and not rest


def products(o: Observed) -> int:
    """FLOPs that each device has to spend on a chain of matrix products, cut evenly along x."""
    rows = len(o.inputs[0])
    return sum(2 * rows * weight.size for weight in o.inputs[1:]) // devices(o)


def hop_flops(o: Observed) -> float:
    """FLOPs of the product that belongs beside a hop: that of one chunk, or of one of both products of the block."""
    return products(o) / devices(o) / (len(o.inputs) - 1)


def bare(o: Observed, least: float) -> bool:
    """Whether some collective has less arithmetic beside it than this, neither before nor after."""
    return bool(o.collectives) and o.beside is not None and o.beside < least


def hidden(item: Item, o: Observed) -> Iterator[Finding]:
    """What is wrong where hops and products wait for one another more than they have to."""
    # A right program may begin with a product times zero, and may multiply two chunks at a time.
    yield from in_time(item, o, products(o), 1.6 * hop_flops(o), hop_flops(o) / block_bytes(o, 0))


def in_time(item: Item, o: Observed, work: float, late: float, rate: float) -> Iterator[Finding]:
    """What is wrong where the work, with moves that take `rate` FLOPs a byte, needs more than its own time and `late`."""
    takes = {c.name: rate * c.payload_bytes for c in o.collectives}
    found, alone = longest(o.hlo, takes), longest(o.hlo, dict.fromkeys(takes, 0.0))
    most = 1.02 * work + late
    unit, wanted = "FLOPs on the longest path, with each hop counted in FLOPs", "hops beside the products"
    if found is None or alone is None:
        what = "What runs beside a hop cannot be read: a loop's number of rounds depends on values, or is very large."
        yield Finding(item.name, "H", what, wanted, "unknown rounds")
    elif alone < 0.99 * work:
        what = (
            "The products on the longest path have fewer FLOPs than the whole product: some are missing, or cannot be found."
        )
        yield Finding(item.name, "H", what, f"{work:,.0f} FLOPs", f"{alone:,.0f}")
    elif found > most:
        what = "Hops and products wait for one another more than they have to."
        yield Finding(item.name, "H", what, f"at most {most:,.0f} {unit}", f"{found:,.0f}")


def waiting(o: Observed, work: int) -> float:
    """The part of the arithmetic that has to wait for the last of the hops that themselves wait for none of it.

    It is a part of all that the program computes, or of the `work` that is due where that is more.
    """
    return min((run.after / max(work, _spent(run)) for run in runs(o) if not run.before), default=0)


def waited_for(o: Observed, work: int) -> float:
    """The part of the arithmetic, as in `waiting`, that is over before the first of the hops that none of it waits for."""
    return min((run.before / max(work, _spent(run)) for run in runs(o) if not run.after), default=0)


def _spent(run: Overlap) -> int:
    return run.before + run.beside + run.after


def runs(o: Observed) -> tuple[Overlap, ...]:
    """What runs beside each collective of the program."""
    return overlaps(o.hlo, {c.name for c in o.collectives}) or ()


def least(o: Observed) -> float:
    """FLOPs of one device in `scores`."""
    t, d = o.inputs[0].shape
    return 2 * t / devices(o) * d * (d + t)


ROUNDING = "float32 sums of up to 96 terms in another order"
HIDDEN = (Check("H", hidden),)
