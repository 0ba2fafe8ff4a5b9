"""Chapter 9, what several exercises use: cases, oracles, recognisers and misconceptions."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

import numpy as np

from shardlab_course.shared.manual import promise
from shardlab_judge.cases import Case, Observed, axes
from shardlab_judge.question import WrongCost
from shardlens import Axes, Spec

COLUMNS: Spec = (None, "model")
ROWS: Spec = ("model", None)
WHOLE: Spec = ()
LINE, FOUR = axes(model=8), axes(model=4)
WIDE, TALL = axes(data=4, model=2), axes(data=2, model=4)
MESHES = (LINE, WIDE, TALL)
EPSILON = 1e-6


def mlp(X: np.ndarray, W1: np.ndarray, W2: np.ndarray) -> np.ndarray:
    """The block in NumPy, hidden unit by hidden unit."""
    return np.sum([np.outer(np.maximum(X @ W1[:, f], 0), W2[f]) for f in range(len(W2))], axis=0)


def block(X: np.ndarray, scale: np.ndarray, W1: np.ndarray, W2: np.ndarray, b2: np.ndarray) -> np.ndarray:
    """Norm, block, bias and residual, token by token."""
    return X + mlp(normed(X, scale), W1, W2) + b2


def normed(X: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Every token divided by the root of its mean square."""
    return np.array([x / np.sqrt((x @ x) / len(x) + EPSILON) * scale for x in X])


def drawing(make: Callable[..., Case], meshes: tuple[Axes, ...], sizes: int) -> Callable[[random.Random], Case]:
    """A function that draws a case with this many sizes: first tokens and width, which differ, then wider layers."""

    def draw(rng: random.Random) -> Case:
        tokens = rng.randint(1, 4)
        narrow = [8 * tokens, 8 * rng.choice([n for n in range(2, 6) if n != tokens])]
        wide = [16 * rng.randint(4, 8) for _ in range(sizes - 2)]
        return make(rng.choice(meshes), *narrow, *wide)

    return draw


def same(o: Observed, wanted: np.ndarray) -> bool:
    """Whether every device holds its slice of `wanted`."""
    return len(o.shards) == 1 and all(
        block.shape == wanted[index].shape and np.allclose(block, wanted[index], rtol=1e-3, atol=1e-3)
        for _, index, block in o.shards[0]
    )


def wide(o: Observed) -> list[np.ndarray]:
    """The inputs in double precision."""
    return [x.astype(np.float64) for x in o.inputs]


def size(o: Observed) -> int:
    """Devices along `model`."""
    return dict(o.case.axes)["model"]


def slices(x: np.ndarray, n: int, axis: int) -> list[np.ndarray]:
    """n equal blocks along a dimension."""
    return np.split(x, n, axis=axis)


def moves_weights(o: Observed) -> bool:
    """Whether a whole weight matrix is gathered."""
    return gathers(o, [x.shape for x in o.inputs[1:] if x.ndim == 2])


def gathers(o: Observed, shapes: Iterable[tuple[int, ...]]) -> bool:
    """Whether an all-gather makes an array of one of these shapes, or of one that is turned."""
    wanted = {tuple(sorted(shape)) for shape in shapes}
    return any(c.kind == "all-gather" and tuple(sorted(c.shape)) in wanted for c in o.collectives)


def reduces(o: Observed, elements: int) -> bool:
    """Whether an all-reduce carries this many elements."""
    return any(c.kind == "all-reduce" and c.payload_bytes == 4 * elements for c in o.collectives)


def off_by(o: Observed, right: np.ndarray, term: np.ndarray) -> bool:
    """Whether the output has `term` n times instead of once, for n devices along `model` or along all axes."""
    counts = {size(o), int(np.prod([n for _, n in o.case.axes]))}
    return any(same(o, right + (n - 1) * term) for n in counts)


def cut(o: Observed, argument: int, dimension: int) -> bool:
    """Whether a dimension of an argument is sharded."""
    spec = o.case.inputs[argument].spec
    return len(spec) > dimension and spec[dimension] is not None


PROMISE = promise(
    "out_specs promises equal copies over an axis over which the type still varies. Perhaps a sum over that axis is "
    "missing, an all_gather lacks to='invarying', or a spec cuts what should be whole.")  # fmt: skip
INPUT_CUT = WrongCost(
    "input-cut", "X is cut. So either X or a weight has to be sent before a product, or Y is left in pieces.", 2,
    letters="SHF", when=lambda o: cut(o, 0, 0) or cut(o, 0, 1))  # fmt: skip

ROUNDING = "float32 sums of up to 256 terms in another order"
