"""Chapter 7's oracles: slow, on whole arrays; with drawn cases and recognisers of wrong answers."""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from shardlab_judge.cases import Case, Input, Observed, axes
from shardlens import Axes, Spec, place

LINE, WIDE = axes(x=8), axes(x=4, y=2)
TALL = axes(x=2, y=4)
Entry = str | list[str] | None
Entries = list[Entry]
DAMPING = 16.0
BEST = 2
TOKENS = 1000
"""Places of a sentence; so many that bfloat16 does not hold the number of a device's words."""

BODIES: Mapping[str, Callable[..., Any]] = {
    "double": lambda a: 2 * a,
    "transpose": lambda a: a.T,
    "row_sums": lambda a: a.sum(1, keepdims=True),
    "total": lambda a: a.sum(),
    "product": lambda a, b: a @ b,
    "outer": lambda a, b: np.outer(a, b),
}
"""The bodies of exercise 7.1, as its page has them."""


def emulated(body: str, mesh: Mapping[str, int], in_specs: Sequence[Entries], out_spec: Entries, arrays: list[Any],
             copy: str = "first", slowest: str = "first") -> Any:  # fmt: skip
    """What `shard_map` returns for a body without collectives, put together by the index maps of its specs.

    Args:
        copy: which of several copies of a slice is taken: the `"first"`, the `"last"` or the `"sum"`.
        slowest: which axis of a tuple is the leading one: the `"first"` or the `"last"`.
    """
    sizes = tuple(mesh.items())
    whole = [np.asarray(array) for array in arrays]
    maps = [place(a.shape, sizes, _spec(s, slowest)).shards for a, s in zip(whole, in_specs)]
    made = [_applied(body, whole, held) for held in zip(*maps)]
    spec = _spec(out_spec, slowest)
    shape = tuple(n * _parts(mesh, spec, k) for k, n in enumerate(made[0].shape))
    out = np.zeros(shape, made[0].dtype)
    pairs = list(zip(place(shape, sizes, spec).shards, made))
    for (_, index), block in pairs if copy != "first" else reversed(pairs):
        at = tuple(slice(*part) for part in index)
        out[at] = block + out[at] if copy == "sum" else block
    return out.tolist()


def listed(body: str, mesh: Mapping[str, int], in_specs: Sequence[Entries], out_spec: Entries, arrays: list[Any],
           join: Callable[[list[np.ndarray]], Any] = lambda made: made) -> Any:  # fmt: skip
    """What all devices return, one after another, in place of one array."""
    whole = [np.asarray(array) for array in arrays]
    maps = [place(a.shape, tuple(mesh.items()), _spec(s, "first")).shards for a, s in zip(whole, in_specs)]
    return [block.tolist() for block in join([_applied(body, whole, held) for held in zip(*maps)])]


def whole(body: str, mesh: Mapping[str, int], in_specs: Sequence[Entries], out_spec: Entries, arrays: list[Any]) -> Any:
    """What the body makes of the whole arrays."""
    return np.asarray(BODIES[body](*map(np.asarray, arrays))).tolist()


def _applied(body: str, whole: Sequence[np.ndarray], held: Sequence[Any]) -> np.ndarray:
    blocks = (a[tuple(slice(*part) for part in index)] for a, (_, index) in zip(whole, held))
    return np.asarray(BODIES[body](*blocks))


def _spec(entries: Entries, slowest: str) -> Spec:
    return tuple(tuple(e if slowest == "first" else e[::-1]) if isinstance(e, list) else e for e in entries)


def _parts(mesh: Mapping[str, int], spec: Spec, dimension: int) -> int:
    entry = spec[dimension] if dimension < len(spec) else None
    names = (entry,) if isinstance(entry, str) else entry or ()
    return math.prod(mesh[name] for name in names)


def draw_emulation(rng: random.Random) -> tuple[Any, ...]:
    """A body, a mesh, specs that fit, and arrays of whole numbers of up to three digits."""
    mesh = rng.choice(({"x": 2, "y": 2}, {"x": 4, "y": 2}, {"x": 2, "y": 3}, {"x": 3}, {"x": 2, "y": 1, "z": 2}))
    body = rng.choice(sorted(BODIES))
    match body:
        case "product":
            rows, inner, columns = (*_entries(rng, mesh, 2), None)
            specs = [[rows, inner], [inner, columns]]
            sizes = [_size(rng, mesh, entry) for entry in (rows, inner, columns)]
            shapes = [sizes[:2], sizes[1:]]
        case "outer":
            specs = [[entry] for entry in _entries(rng, mesh, 2)]
            shapes = [[_size(rng, mesh, entry) for entry in spec] for spec in specs]
        case _:
            specs = [_entries(rng, mesh, rng.randint(1, 2))]
            shapes = [[_size(rng, mesh, entry) for entry in (*specs[0], None)][:2]]
    out = _entries(rng, mesh, 0 if body == "total" else 2)
    return body, mesh, specs, out, [_whole_numbers(rng, shape) for shape in shapes]


def _entries(rng: random.Random, mesh: Mapping[str, int], count: int) -> Entries:
    """Entries of a spec; each mesh axis in at most one of them."""
    found: list[list[str]] = [[] for _ in range(count)]
    for name in rng.sample(sorted(mesh), len(mesh)):
        place = rng.randrange(count + 1)
        if place < count:
            found[place].append(name)
    return [None if not names else names[0] if len(names) == 1 else names for names in found]


def _size(rng: random.Random, mesh: Mapping[str, int], entry: Entry) -> int:
    names = [entry] if isinstance(entry, str) else entry or []
    return math.prod(mesh[name] for name in names) * rng.randint(1, 3)


def _whole_numbers(rng: random.Random, shape: Sequence[int]) -> Any:
    return np.array([rng.randint(-999, 999) for _ in range(math.prod(shape))]).reshape(shape).tolist()


def normalized(x: np.ndarray) -> np.ndarray:
    """Each row with mean 0 and standard deviation 1."""
    return np.stack([(row - row.mean()) / row.std() for row in np.asarray(x, np.float64)])


def is_normalized(x: list[list[float]], y: list[list[float]]) -> bool:
    """Whether `y` is `x` with each row normalized, to three digits."""
    return bool(np.allclose(y, normalized(np.asarray(x)), atol=1e-3))


def moments(x: list[list[float]], y: list[list[float]], axis: int | None = None) -> bool:
    """Whether `y` has mean 0 and standard deviation 1, as a whole or in each row: what a weak test looks at."""
    made = np.asarray(y)
    return bool(np.allclose(made.mean(axis), 0, atol=1e-3) and np.allclose(made.std(axis), 1, atol=1e-3))


def not_below(x: list[list[float]], y: list[list[float]], sign: int = 1) -> bool:
    """Whether no entry of `y` is smaller than it should be, or with the other sign larger: half of a comparison."""
    return bool((sign * (normalized(np.asarray(x)) - np.asarray(y)) < 1e-3).all())


def one_place(x: np.ndarray, by: float) -> np.ndarray:
    """Normalized, with one entry that is wrong."""
    made = normalized(x)
    made[-1, 1] += by
    return made


def across_devices(x: np.ndarray, n: int) -> np.ndarray:
    """Normalized over devices only: each place of a block with the same place of the other blocks of its row."""
    blocks = x.reshape(len(x), n, -1)
    return ((blocks - blocks.mean(1, keepdims=True)) / blocks.std(1, keepdims=True)).reshape(x.shape)


ATTEMPTS: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "right": normalized,
    "two devices": lambda x: across_devices(x, 2),
    "four devices": lambda x: across_devices(x, 4),
    "blocks": lambda x: normalized(x.reshape(2 * len(x), -1)).reshape(x.shape),
    "columns": lambda x: normalized(x.T).T,
    "everything": lambda x: (x - x.mean()) / x.std(),
    "other rows": lambda x: normalized(x)[::-1],
    "sign": lambda x: -normalized(x),
    "not divided": lambda x: x - x.mean(1, keepdims=True),
    "same order": lambda x: normalized(normalized(x) ** 3),
    "one too large": lambda x: one_place(x, 0.5),
    "one too small": lambda x: one_place(x, -0.5),
    "last row": lambda x: np.concatenate([normalized(x)[:-1], across_devices(x, 2)[-1:]]),
}


def attempt(kind: str, rng: random.Random) -> tuple[list[list[float]], list[list[float]]]:
    """An array and what an attempt at normalizing its rows makes of it, both as lists."""
    rows, columns = rng.randint(2, 4), 4 * rng.randint(2, 3)
    x = np.array([[round(rng.gauss(3 * k, 1 + k), 3) for _ in range(columns)] for k in range(1, rows + 1)])
    return x.tolist(), ATTEMPTS[kind](x).round(6).tolist()


def draw_attempt(rng: random.Random) -> tuple[list[list[float]], list[list[float]]]:
    """As `attempt`, of a drawn kind; every third time a right one."""
    return attempt("right" if rng.random() < 1 / 3 else rng.choice(sorted(ATTEMPTS)), rng)


def masked_mean(losses: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The mean over the first `lengths[i]` entries of each row i, all entries with the same weight."""
    kept = np.concatenate([row[:n] for row, n in zip(losses, lengths)])
    return np.asarray(kept.sum() / len(kept))


def softmax(x: np.ndarray) -> np.ndarray:
    """Softmax over dimension 1."""
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def logsumexp(x: np.ndarray) -> np.ndarray:
    """The logarithm of the sum of exponentials of each row."""
    most = x.max(1)
    return np.log(np.exp(x - most[:, None]).sum(1)) + most


def solves(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The solutions of (A + 16 I) x = b, one system after the other."""
    return np.stack([np.linalg.solve(m + DAMPING * np.eye(len(m)), v) for m, v in zip(A, b)])


def best(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The two largest entries of each row, and their columns."""
    columns = np.argsort(-scores, axis=1, kind="stable")[:, :BEST]
    return np.take_along_axis(scores, columns, 1), columns


def same(o: Observed, wanted: Any, output: int = 0) -> bool:
    """Whether every device holds its slice of `wanted`."""
    right = np.asarray(wanted)
    return o.placements[output].shape == right.shape and all(
        block.shape == right[index].shape and np.allclose(block, right[index], rtol=1e-4, atol=1e-4)
        for _, index, block in o.shards[output]
    )


def shape(o: Observed) -> tuple[int, ...]:
    """Shape of the first output."""
    return o.placements[0].shape


def case(mesh: Axes, *inputs: Input, outputs: Sequence[Spec], lapack: bool = False) -> Case:
    """A case; `outputs` has a spec for each."""
    return Case(mesh, inputs, tuple(outputs), lapack=lapack)


def vector_case(mesh: Axes, length: int) -> Case:
    """A vector in pieces over x, to be whole everywhere."""
    return case(mesh, Input((length,), ("x",)), outputs=[()])


def grid_case(mesh: Axes, rows: int, columns: int) -> Case:
    """A matrix in blocks over both axes, as it is to stay."""
    return case(mesh, Input((rows, columns), ("x", "y"), values=rows_apart), outputs=[("x", "y")])


def rows_apart(rng: np.random.Generator, shape: tuple[int, ...], _: object) -> np.ndarray:
    """Rows with means and spreads of their own, which rise or fall from block to block."""
    rows, columns = shape
    slope = np.linspace(-1, 1, columns) * rng.uniform(-2, 2, (rows, 1))
    spread, level = rng.uniform(0.5, 2, (rows, 1)), rng.uniform(-5, 5, (rows, 1))
    return np.asarray(level + slope + spread * rng.standard_normal(shape))


def losses_case(mesh: Axes, rows: int, *, idle: bool = True) -> Case:
    """Losses of sentences, rows over x, and the sentences' lengths; where it is `idle`, some device has no word at all."""
    lengths = Input((rows,), ("x",), "int32", values=some_empty if idle else none_empty)
    return case(mesh, Input((rows, TOKENS), ("x", None), shift=2.0), lengths, outputs=[()])


def none_empty(rng: np.random.Generator, shape: tuple[int, ...], _: object) -> np.ndarray:
    """Lengths from a word to all places, one of each."""
    lengths = rng.integers(1, TOKENS + 1, shape)
    lengths[rng.permutation(len(lengths))[:2]] = 1, TOKENS
    return np.asarray(lengths)


def some_empty(rng: np.random.Generator, shape: tuple[int, ...], before: object) -> np.ndarray:
    """The same with no word in one quarter of the sentences, which are all that one device has, or two of eight."""
    quarters = none_empty(rng, shape, before).reshape(4, -1)
    quarters[rng.integers(4)] = 0
    return quarters.reshape(shape)


def logits_case(mesh: Axes, rows: int, columns: int, out: Spec) -> Case:
    """Logits whose exponentials float32 does not hold, columns over x."""
    return case(mesh, Input((rows, columns), (None, "x"), values=logits), outputs=[out])


def logits(rng: np.random.Generator, shape: tuple[int, ...], _: object) -> np.ndarray:
    """Rows at levels from -200 to 200; in some one logit towers over the others, in some half of the columns lie
    far below.
    """
    rows, columns = shape
    x = rng.standard_normal(shape) + rng.permutation(np.linspace(-200, 200, rows))[:, None]
    x[1::3, rng.integers(columns)] += 150
    x[2::3, : columns // 2] -= 150
    return np.asarray(x)


def systems_case(mesh: Axes, size: int) -> Case:
    """As many systems as devices, one on each."""
    names = tuple(name for name, _ in mesh)
    spec: Spec = (names if len(names) > 1 else names[0],)
    n = math.prod(size for _, size in mesh)
    return case(mesh, Input((n, size, size), spec), Input((n, size), spec), outputs=[spec], lapack=True)


def scores_case(mesh: Axes, rows: int, columns: int, spec: Spec, out: Spec) -> Case:
    """Scores of tokens (rows) for experts (columns)."""
    return case(mesh, Input((rows, columns), spec), outputs=[out, out])


def scores_by_column_case(mesh: Axes, rows: int, columns: int) -> Case:
    """Scores whose columns are cut; in half of the rows one device holds both of the best."""
    return case(mesh, Input((rows, columns), (None, "x"), values=neighbours), outputs=[(), ()])


def neighbours(rng: np.random.Generator, shape: tuple[int, ...], _: object) -> np.ndarray:
    """In every second row the two largest lie side by side, in an even column and the one after it."""
    scores = rng.standard_normal(shape)
    for row in scores[::2]:
        column = 2 * rng.integers(shape[1] // 2)
        row[column : column + 2] = rng.permutation([5, 6]) + rng.random(2) / 2
    return np.asarray(scores)


def drawing(make: Callable[..., Case], meshes: Sequence[Axes], *multiples: int, most: int = 5) -> Callable[[Any], Case]:
    """A function that draws a case: a mesh, and for each size a multiple."""

    def draw(rng: random.Random) -> Case:
        return make(rng.choice(meshes), *(n * rng.randint(2, most) for n in multiples))

    return draw


SCORES = functools.partial(scores_case, spec=("x", None), out=("x", None))
SOFTMAX = functools.partial(logits_case, out=(None, "x"))
LOGSUMEXP = functools.partial(logits_case, out=())


def attempts() -> Iterator[tuple[Any, Any]]:
    """The public calls of exercise 7.4's test: each kind once, the right one three times."""
    rng = random.Random(74)
    for kind in ("right", *ATTEMPTS, "right"):
        yield attempt(kind, rng)
