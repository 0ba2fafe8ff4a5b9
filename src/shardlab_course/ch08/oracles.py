"""Chapter 8's oracles: slow, chunk by chunk on the host; with drawn cases and recognisers of wrong answers."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from shardlab_course.shared.rings import Made, devices, each, hops, near, only_permutes, whole
from shardlab_judge.cases import Case, Input, Observed
from shardlens import Axes, Spec

WEIGHTS = (1.0, -3.0, 2.0)
"""Of the row above, the row itself, and the row below, in the stencil."""


def unchanged(x: np.ndarray) -> np.ndarray:
    """The array itself: gathered or turned, an array keeps its values."""
    return x


def summed(terms: np.ndarray) -> np.ndarray:
    """The sum of all devices' terms, one after the other."""
    total = np.zeros(terms.shape[1:])
    for term in terms:
        total += term
    return total


def stencil(x: np.ndarray) -> np.ndarray:
    """Each row from itself and its neighbours; beyond the ends there are zeros."""
    return filtered(x, np.zeros_like(x[0]), np.zeros_like(x[0]))


def filtered(x: np.ndarray, above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """The stencil on rows between a row above and a row below."""
    rows = [above, *x, below]
    return np.stack([sum(w * row for w, row in zip(WEIGHTS, rows[i : i + 3])) for i in range(len(x))])


def steps(n: int) -> dict[str, int]:
    """Dependent steps of an all-reduce: a ring walked twice, and a tree whose groups merge in pairs, up and down."""
    chunks, groups, rounds = 0, n, 0
    for _phase in ("reduce-scatter", "all-gather"):
        chunks += len(range(1, n))
    while groups > 1:
        groups, rounds = len(range(0, groups, 2)), rounds + 1
    return {"ring": chunks, "tree": rounds + rounds}


def seconds(nbytes: float, n: int, bandwidth: float, latency: float) -> dict[str, float]:
    """Seconds of both, hop after hop: each takes its latency or as long as its bytes need, whichever is longer."""
    sizes = {"ring": nbytes / n, "tree": nbytes}
    return {way: sum(max(latency, sizes[way] / bandwidth) for _ in range(count)) for way, count in steps(n).items()}


def crossover(n: int, bandwidth: float, latency: float) -> float:
    """The size from which on the ring is not slower, found by halving an interval."""
    low, high = 0.0, 1e18
    for _ in range(200):
        middle = (low + high) / 2
        times = seconds(middle, n, bandwidth, latency)
        low, high = (middle, high) if times["tree"] < times["ring"] else (low, middle)
    return high


def steps_with(*, once: bool = False, linear: bool = False, rounded: bool = False, more: int = 0) -> Callable[..., Any]:
    """The counts with one of them wrong: one phase, a tree without logarithm, rounded down, hops too many."""

    def steps(n: int) -> dict[str, int]:
        depth = n - 1 if linear else int(math.log2(n)) if rounded else math.ceil(math.log2(n))
        times = 1 if once else 2
        return {"ring": times * (n - 1 + more), "tree": times * depth}

    return steps


def seconds_with(*, whole: bool = False, cut: bool = False, added: bool = False) -> Callable[..., Any]:
    """The times with one of them wrong: a ring of whole arrays, a tree of chunks, latency added to the bytes' time."""

    def seconds(nbytes: float, n: int, bandwidth: float, latency: float) -> dict[str, float]:
        sizes = {"ring": nbytes if whole else nbytes / n, "tree": nbytes / n if cut else nbytes}
        join: Callable[[float, float], float] = (lambda a, b: a + b) if added else max
        return {way: count * join(latency, sizes[way] / bandwidth) for way, count in steps(n).items()}

    return seconds


def draw_ring(rng: random.Random) -> tuple[float, int, float, float]:
    """Bytes, devices, bandwidth and latency."""
    bandwidth, latency = rng.choice((4.5e10, 9e10, 4.5e11)), rng.choice((5e-7, 1e-6, 5e-6))
    return float(2 ** rng.randint(6, 28)), rng.randint(4, 64), bandwidth, latency


def draw_devices(rng: random.Random) -> tuple[int]:
    """A number of devices."""
    return (rng.randint(2, 200),)


def draw_link(rng: random.Random) -> tuple[int, float, float]:
    """Devices, bandwidth and latency."""
    return draw_ring(rng)[1:]


def case(mesh: Axes, shape: tuple[int, ...], given: Spec, out: Spec) -> Case:
    """A case with one array."""
    return Case(mesh, (Input(shape, given),), (out,))


def drawing(meshes: tuple[Axes, ...], shape: Callable[[random.Random, int], tuple[int, ...]], given: Spec,
            out: Spec) -> Callable[[random.Random], Case]:  # fmt: skip
    """A function that draws a mesh, and a shape for the number of devices along x."""

    def draw(rng: random.Random) -> Case:
        mesh = rng.choice(meshes)
        return case(mesh, shape(rng, dict(mesh)["x"]), given, out)

    return draw


def rows(rng: random.Random, n: int) -> tuple[int, int]:
    """A matrix whose rows n devices share, an even number each."""
    return 2 * n * rng.randint(1, 4), rng.randint(3, 9)


def terms(rng: random.Random, n: int) -> tuple[int, int, int]:
    """A matrix for each of n devices, whose rows they can share."""
    return n, n * rng.randint(1, 4), rng.randint(3, 9)


def cube(rng: random.Random, n: int) -> tuple[int, int, int]:
    """Tokens and heads that n devices can share, and more numbers for each."""
    return n * rng.randint(2, 5), n * rng.randint(1, 2), rng.randint(3, 9)


def brings_together(o: Observed) -> bool:
    """Whether something is gathered or summed over all devices."""
    return bool(o.kinds & {"all-gather", "all-reduce"})


def chunks(o: Observed, wanted: np.ndarray) -> list[np.ndarray]:
    """The rows of `wanted`, in as many parts as there are devices along x."""
    return np.split(wanted, devices(o))


def rotated(o: Observed, wanted: np.ndarray) -> bool:
    """Whether each device has the chunks in the order in which they came, from either side, its own first or last."""
    parts, n = chunks(o, wanted), devices(o)

    def made(way: int, off: int) -> Made:
        return lambda d: np.concatenate([parts[(d + off + way * i) % n] for i in range(n)])

    return any(each(o, made(*choice)) for choice in itertools.product((1, -1), (0, 1, -1)))


def mirrored(o: Observed, wanted: np.ndarray) -> bool:
    """Whether chunks that came from behind lie ahead, and the other way round."""
    parts, n = chunks(o, wanted), devices(o)

    def made(off: int) -> Made:
        return lambda d: np.concatenate([parts[(2 * d + off - i) % n] for i in range(n)])

    return any(each(o, made(off)) for off in (0, 1, -1))


def incomplete(o: Observed, wanted: np.ndarray) -> bool:
    """Whether every device has some of the chunks where they belong, and zeros for the others."""
    parts = [pair for *_, block in o.shards[0] for pair in zip(np.split(block, devices(o)), chunks(o, wanted), strict=True)]
    return all(near(part, right) or not part.any() for part, right in parts) and any(not part.any() for part, _ in parts)


def one_chunk(o: Observed, wanted: np.ndarray) -> bool:
    """Whether every device has its own chunk where it belongs, and zeros for the others."""
    parts, n = chunks(o, wanted), devices(o)
    return each(o, lambda d: np.concatenate([parts[i] if i == d else np.zeros_like(parts[i]) for i in range(n)]))


def shifted(o: Observed, wanted: np.ndarray) -> bool:
    """Whether all chunks lie one place further, or one less far."""
    width = len(wanted) // devices(o)
    return any(whole(o, np.roll(wanted, way * width, axis=0)) for way in (1, -1))


def same_chunk_everywhere(o: Observed) -> bool:
    """Whether in each round every device added its chunk of the same number, so that different chunks met."""
    n, all_terms = devices(o), o.inputs[0]
    parts = [np.split(term, n) for term in all_terms]

    def made(start: int, turn: int, way: int) -> Made:
        return lambda d: np.sum([parts[(d - way * (n - 1 - i)) % n][(start + turn * i) % n] for i in range(n)], axis=0)

    return any(each(o, made(*choice)) for choice in itertools.product(range(n), (1, -1), (1, -1)))


def miscounted(o: Observed, sign: int) -> bool:
    """Whether every sum has one device's term once more (`sign` 1) or not at all (-1)."""
    n, total = devices(o), chunks(o, summed(o.inputs[0]))
    parts = [np.split(term, n) for term in o.inputs[0]]

    def made(chunk: int, device: int) -> Made:
        return lambda d: total[(d + chunk) % n] + sign * parts[(d + device) % n][(d + chunk) % n]

    return any(each(o, made(*choice)) for choice in itertools.product((-1, 0, 1), repeat=2))


def short_sums(o: Observed) -> bool:
    """Whether every device has sums of all chunks, each in its place or the next one's, and each lacks a device's term."""
    n, total = devices(o), chunks(o, summed(o.inputs[0]))
    parts = [np.split(term, n) for term in o.inputs[0]]

    def held(chunk: int, device: int) -> np.ndarray:
        return np.concatenate([total[(p + chunk) % n] - parts[(p + device) % n][(p + chunk) % n] for p in range(n)])

    return any(whole(o, held(*choice)) for choice in itertools.product((-1, 0, 1), repeat=2))


def mixed_up(o: Observed) -> bool:
    """Whether the rows beside each block come from the wrong neighbour, or are the wrong ones of the right neighbour."""
    parts = np.split(o.inputs[0], devices(o))

    def made(above: tuple[int, int], below: tuple[int, int], closed: bool) -> Made:
        return lambda d: filtered(*(parts[d], *(_edge(parts, d + way, row, closed) for way, row in (above, below))))

    edges = tuple(itertools.product((-1, 1), (-1, 0)))
    ways = set(itertools.product(edges, edges)) - {((-1, -1), (1, 0))}
    return any(each(o, made(*way, closed)) for way in ways for closed in (True, False))


def _edge(parts: list[np.ndarray], device: int, row: int, closed: bool) -> np.ndarray:
    edge: np.ndarray = parts[device % len(parts)][row]
    return edge if closed or 0 <= device < len(parts) else np.zeros_like(edge)


def one_sided(o: Observed) -> bool:
    """Whether only the rows above came from beside, or only those below, and zeros stand for the others."""
    parts, zeros = np.split(o.inputs[0], devices(o)), np.zeros_like(o.inputs[0][0])

    def made(side: int) -> Made:
        def block(d: int) -> np.ndarray:
            edge = _edge(parts, d - side, -1 if side == 1 else 0, closed=False)
            return filtered(parts[d], *((edge, zeros) if side == 1 else (zeros, edge)))

        return block

    return any(each(o, made(side)) for side in (1, -1))


def lonely(o: Observed) -> bool:
    """Whether every block was filtered as if it were the whole array."""
    parts = np.split(o.inputs[0], devices(o))
    return each(o, lambda d: stencil(parts[d]))


def tally(o: Observed) -> np.ndarray:
    """How often each device's term is in each chunk that a device holds; empty where nobody can tell."""
    n, counts = devices(o), []
    parts = [np.stack(np.split(term, n)).reshape(n, -1) for term in o.inputs[0]]
    for _, _, block in o.shards[0]:
        for chunk, held in enumerate(np.split(block, n)):
            terms = np.stack([part[chunk] for part in parts], axis=1)
            if len(terms) <= n or held.size != len(terms):
                return np.empty(0)
            found = np.round(np.linalg.lstsq(terms, held.ravel())[0])
            if not np.allclose(terms @ found, held.ravel(), atol=1e-4):
                return np.empty(0)
            counts.append(found)
    return np.array(counts)


def copies_as_parts(o: Observed, wanted: np.ndarray) -> bool:
    """Whether all devices' copies lie one below another in the output."""
    return o.placements[0].shape == (devices(o) * len(wanted), *wanted.shape[1:])


def rank(o: Observed) -> int:
    """Dimensions of the output."""
    return len(o.placements[0].shape)


def parts_stacked(o: Observed) -> bool:
    """Whether the output has a dimension more, as long as there are devices, and not that of a device's own block."""
    shape = o.placements[0].shape
    return rank(o) == 3 and shape[0] > 1 and devices(o) in shape


def scattered(o: Observed) -> bool:
    """Whether the output is right and cut, where every device should hold all of it."""
    return whole(o, summed(o.inputs[0])) and o.placements[0].shard_shape != o.placements[0].shape


def ends_halfway(o: Observed) -> bool:
    """Whether every device has one finished chunk alone, and no more moved than it takes for that."""
    return hops(o) < 2 * (devices(o) - 1) and (scattered(o) or one_chunk(o, summed(o.inputs[0])))


def split_again(o: Observed) -> bool:
    """Whether the dimension that was cut already is cut once more, and the other one is longer."""
    cut, n = o.case.inputs[0].spec.index("x"), devices(o)
    return o.placements[0].shard_shape[cut] * n * n == o.inputs[0].shape[cut]


def right_blocks(o: Observed) -> bool:
    """Whether every device holds what it should, and the global shape is another."""
    assert (spec := o.case.outputs[0]) is not None
    parts = np.split(o.inputs[0], devices(o), axis=spec.index("x"))
    return o.placements[0].shape != o.inputs[0].shape and each(o, lambda d: parts[d])


def adds_up(o: Observed) -> bool:
    """Whether the sum is right, and made by permutes alone."""
    return only_permutes(o) and whole(o, summed(o.inputs[0]))


def rotates_terms(o: Observed) -> bool:
    """Whether the sum is right, and nothing smaller than a whole term was sent."""
    return adds_up(o) and min(c.payload_bytes for c in o.collectives) >= o.inputs[0][0].nbytes


def both_all_round(o: Observed) -> bool:
    """Whether two rings of n - 1 hops run beside each other."""
    return o.depth == devices(o) - 1 and hops(o) == 2 * (devices(o) - 1)


def wrapped(o: Observed) -> bool:
    """Whether a row from the other end was taken beyond one end, or beyond both."""
    x, zeros = o.inputs[0], np.zeros_like(o.inputs[0][0])
    return any(whole(o, filtered(x, *ends)) for ends in ((x[-1], x[0]), (x[-1], zeros), (zeros, x[0])))
