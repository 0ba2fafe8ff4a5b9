"""Chapter 8, what several exercises use: cases, oracles, recognisers and misconceptions."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from shardlab_course.shared import rings
from shardlab_course.shared.manual import LEFT
from shardlab_course.shared.rings import Made, devices, each, near, only_permutes, whole
from shardlab_judge.cases import Case, Input, Observed, axes
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Misconception, WrongCost, WrongProgram, WrongValues
from shardlens import Axes, Spec


def unchanged(x: np.ndarray) -> np.ndarray:
    """The array itself: gathered or turned, an array keeps its values."""
    return x


def summed(terms: np.ndarray) -> np.ndarray:
    """The sum of all devices' terms, one after the other."""
    total = np.zeros(terms.shape[1:])
    for term in terms:
        total += term
    return total


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


def shifted(o: Observed, wanted: np.ndarray) -> bool:
    """Whether all chunks lie one place further, or one less far."""
    width = len(wanted) // devices(o)
    return any(whole(o, np.roll(wanted, way * width, axis=0)) for way in (1, -1))


def copies_as_parts(o: Observed, wanted: np.ndarray) -> bool:
    """Whether all devices' copies lie one below another in the output."""
    return o.placements[0].shape == (devices(o) * len(wanted), *wanted.shape[1:])


def rank(o: Observed) -> int:
    """Dimensions of the output."""
    return len(o.placements[0].shape)


def scattered(o: Observed) -> bool:
    """Whether the output is right and cut, where every device should hold all of it."""
    return whole(o, summed(o.inputs[0])) and o.placements[0].shard_shape != o.placements[0].shape


def adds_up(o: Observed) -> bool:
    """Whether the sum is right, and made by permutes alone."""
    return only_permutes(o) and whole(o, summed(o.inputs[0]))


def rotates_terms(o: Observed) -> bool:
    """Whether the sum is right, and nothing smaller than a whole term was sent."""
    return adds_up(o) and min(c.payload_bytes for c in o.collectives) >= o.inputs[0][0].nbytes


READY_MADE = WrongProgram(
    "uses-a-finished-collective",
    "Something other than ppermute moves data. Here, build the collective from ppermute alone.",
    1, when=lambda o: bool(o.kinds - {"collective-permute"}), barred=True)  # fmt: skip
LEAPS = WrongProgram(
    "leaps-over-neighbours",
    "A permute sends beyond the next device. On a real ring such a message crosses every link on its way, and each link "
    "carries it.", 1, when=rings.leaps, barred=True)  # fmt: skip
PROMISE = WrongProgram(
    "promise-not-proved",
    "What ppermute returns counts as varying, and no type says that all devices have ended with the same array. Here, after "
    "a look at the copies, check_vma=False is the honest way.", 2, error="can't be statically "
    "inferred")  # fmt: skip
CARRY = WrongProgram(
    "carry-changes-type",
    "Two arrays must have the same type, but one is equal on all devices and the other varies over x. Perhaps a loop starts "
    "from fresh zeros: start from a block, or pcast them to varying. Or in_specs names no x.",
    2, error="manual axis types do not "
    "match")  # fmt: skip
OPEN = WrongValues(
    "ring-is-open", "A permutation does not go round all devices: some device gets nothing but zeros from it.",
    1, when=lambda o: rings.is_open(o) and not rings.leaps(o), breaks=True)  # fmt: skip
COPIES = WrongCost(
    "copies-as-parts",
    "Every device returns as many rows as there are, and out_specs=P('x') set them one below another. P() says that they "
    "are copies of one array, and with check_vma=False you promise that this is true.",
    2, when=lambda o: copies_as_parts(o, o.inputs[0]) and o.placements[0].shard_shape == o.inputs[0].shape)  # fmt: skip
SUMS = WrongCost(
    "copies-as-parts",
    "out_specs=P('x'), or a gather, put the devices' arrays one below another. Each device should end with the whole sum, "
    "and P() says that these are copies of one array.", 2,
    when=lambda o: copies_as_parts(o, o.inputs[0][0]))  # fmt: skip
KEPT = WrongValues(
    "dimension-of-devices-kept",
    "A device's block of the terms has shape (1, I, J). Its term is block[0], and the sum has no such dimension.",
    1, when=lambda o: rank(o) == 3 and o.placements[0].shard_shape[0] == 1)  # fmt: skip

TOO_MANY = WrongCost(
    "one-hop-too-many", "n - 1 hops bring every block to every device. One more hop brings a block that is there already.",
    2, when=lambda o: rings.whole(o, o.inputs[0]) and rings.hops(o) == rings.devices(o) and rings.needless(o))  # fmt: skip

GATHERING = (LEFT, READY_MADE, LEAPS, PROMISE, CARRY, OPEN)
GATHER = (
    *GATHERING, COPIES,
    WrongValues(
        "arrival-order",
        "The blocks lie in a different order on each device, perhaps as they came. A block's place is that of the "
        "device it began on.", 2, when=lambda o: rotated(o, o.inputs[0])),
    WrongValues(
        "counts-the-wrong-way",
        "The places go the wrong way round. After i hops to the next device you hold the block that began on (d - i) % n; "
        "after i hops to the one before, the block that began on (d + i) % n.",
        2, when=lambda o: mirrored(o, o.inputs[0])),
    WrongValues(
        "one-hop-short",
        "Blocks are missing, with zeros in their place. n blocks take n - 1 hops, and a device keeps its own block and "
        "every arrival.",
        2, when=lambda o: incomplete(o, o.inputs[0])),
    TOO_MANY,
    WrongCost(
        "sends-all-it-has",
        "A hop carries more than one block, perhaps the whole buffer. Only the block that came last is new.",
        1, when=lambda o: rings.only_permutes(o) and rings.largest(o) > o.inputs[0].nbytes // rings.devices(o)),
    WrongCost(
        "its-number-travels-too",
        "Single numbers are sent too, perhaps the number of each block's device. You do not have to send that: it follows "
        "from axis_index and the number of hops.",
        2, when=lambda o: rings.only_permutes(o)
        and sum(c.executions or 0 for c in o.collectives if c.payload_bytes == 4) >= rings.devices(o) // 2),
)  # fmt: skip
ENDS = WrongValues(
    "sum-ends-next-door", "Each sum is whole, but all of them lie one place off. Perhaps each begins one chunk too late, or "
    "too early.",
    2, when=lambda o: shifted(o, summed(o.inputs[0])))  # fmt: skip
ROTATION = WrongCost(
    "full-rotation-ring",
    "Each hop carries as much as a whole term: n chunks, where one would do. Cut the term, and let sums of chunks travel.",
    1, when=rotates_terms)  # fmt: skip

LINE, WIDE, FIVE = axes(x=8), axes(x=4, y=2), axes(x=5)
ROWS: Spec = ("x",)
WHOLE: Spec = ()
Shapes = tuple[tuple[Axes, tuple[int, ...]], ...]


def program(name: str, points: dict[str, float], oracle: Any, shapes: Shapes, given: Spec, out: Spec, drawn: Any,
            misconceptions: tuple[Misconception, ...], **options: Any) -> ProgramItem:  # fmt: skip
    """A program of one array with spec `given`, written with shard_map, on these meshes and shapes and on drawn ones."""
    cases = tuple(case(mesh, shape, given, out) for mesh, shape in shapes)
    draw = drawing(tuple(dict(shapes)), drawn, given, out)
    return ProgramItem(
        name, points, oracle=oracle, cases=cases, draw=draw, misconceptions=misconceptions, manual=True, **options
    )


BLOCKS: Shapes = ((LINE, (32, 6)), (WIDE, (24, 10)))
TERMS: Shapes = ((LINE, (8, 24, 5)), (WIDE, (4, 12, 10)))
