"""Chapter 5, what several exercises use: cases, oracles, recognisers and misconceptions."""

from __future__ import annotations

import random
from typing import Any

from shardlab_judge.cases import Observed, axes
from shardlab_judge.items.layout import Situation
from shardlab_judge.question import WrongCost
from shardlens import Axes


def mlp(X: Any, W1: Any, W2: Any) -> Any:
    """The network of the chapter, for the judge to compile."""
    import jax

    return jax.nn.relu(X @ W1) @ W2


def sizes(b: int, x: int, y: int, z: int, *, axes: Axes | None = None, devices: int = 8) -> Situation:
    """The three arrays of the network."""
    return Situation((("X", (b, x)), ("W1", (x, y)), ("W2", (y, z))), axes, devices)


def draw_sizes(rng: random.Random, *, axes: Axes | None = None) -> Situation:
    """Other sizes, on 2, 4 or 8 devices or on the mesh."""
    b, x, y, z = 8 * rng.randint(1, 3), 8 * rng.randint(5, 12), 32 * rng.randint(4, 8), 8 * rng.randint(3, 8)
    return sizes(b, x, y, z, axes=axes, devices=rng.choice([2, 4, 8]))


def draw_on_mesh(rng: random.Random) -> Situation:
    """Other sizes, on a mesh with the axes `data` and `model`."""
    data = rng.choice([2, 4])
    return draw_sizes(rng, axes=(("data", data), ("model", 8 // data)))


def over(observed: Observed, argument: int, dimension: int) -> tuple[str, ...]:
    """The mesh axes that cut a dimension of an argument."""
    spec = observed.case.inputs[argument].spec
    entry = spec[dimension] if len(spec) > dimension else None
    return () if entry is None else (entry,) if isinstance(entry, str) else tuple(entry)


def cut(observed: Observed, argument: int, dimension: int) -> bool:
    """Whether a dimension of an argument is sharded."""
    return bool(over(observed, argument, dimension))


def apart(observed: Observed, argument: int, dimension: int) -> bool:
    """Whether other mesh axes cut a dimension of an argument than cut the batch."""
    return not set(over(observed, argument, dimension)) & set(over(observed, 0, 0))


def weights_cut(observed: Observed) -> bool:
    """Whether anything is sharded in the two weights."""
    return any(cut(observed, argument, dimension) for argument in (1, 2) for dimension in (0, 1))


BY_ROWS = WrongCost(
    "first-weight-by-rows", "W1 is cut along x. Then the sum comes a layer too early, over the wide hidden layer, or W1 "
    "itself has to move. Cut y in both weights, and x in neither.", 2, when=lambda o: cut(o, 1, 0))  # fmt: skip
X_BY_COLUMNS = WrongCost(
    "input-by-columns", "X is cut along x, so a device has parts of rows. The columns of W1 need whole rows.",
    2, when=lambda o: cut(o, 0, 1))  # fmt: skip
WHOLE = WrongCost(
    "weights-whole", "No weight is cut, so every device holds all weights.", 1,
    when=lambda o: not weights_cut(o))  # fmt: skip
BY_COLUMNS = WrongCost(
    "second-weight-by-columns", "W2 is cut along z. Then each of its parts needs the whole hidden layer, and the output "
    "comes out in columns, or W2 itself has to move.", 2, when=lambda o: cut(o, 2, 1))  # fmt: skip
ONE_WEIGHT = (
    WrongCost(
        "second-weight-whole", "W1 is cut and W2 is not. A device may take its rows of W2 out of a whole copy, but it has "
        "to hold that copy. And if a mesh axis lies idle, XLA gathers the hidden layer instead.", 1,
        when=lambda o: cut(o, 1, 1) and not cut(o, 2, 0) and apart(o, 1, 1)),
    WrongCost(
        "first-weight-whole", "W2 is cut and W1 is not. A device may take its columns of W1 out of a whole copy, but it has "
        "to hold that copy. If a mesh axis lies idle, it may also do too much work.", 1,
        when=lambda o: cut(o, 2, 0) and not cut(o, 1, 1) and apart(o, 2, 0)),
)  # fmt: skip

GRID, EIGHTS, LINE = axes(x=2, y=4), axes(x=2, y=2, z=2), axes(x=8)
WIDE, TALL, ONE_REPLICA = axes(data=4, model=2), axes(data=2, model=4), axes(data=1, model=8)
