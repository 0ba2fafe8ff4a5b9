"""Chapter 5, exercise 5.6: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random

import numpy as np

from shardlab_course.ch05.shared import draw_on_mesh
from shardlab_judge.cases import Case, Input, Observed
from shardlens import Axes


def network(X: np.ndarray, W1: np.ndarray, W2: np.ndarray) -> np.ndarray:
    """The same in NumPy, row by row."""
    return np.array([np.maximum(row @ W1, 0) @ W2 for row in X])


def network_case(axes: Axes, b: int, x: int, y: int, z: int) -> Case:
    """Whole arrays in, the batch over `data` out."""
    return Case(axes, (Input((b, x)), Input((x, y)), Input((y, z))), (("data", None),))


def draw_network(rng: random.Random) -> Case:
    """A case of other sizes; in half of them the output is as wide as the hidden layer, or wider."""
    situation = draw_on_mesh(rng)
    shapes = dict(situation.shapes)
    (b, x), (y, z) = shapes["X"], shapes["W2"]
    return network_case(situation.axes or (), b, x, y, rng.choice([z, y + 8 * rng.randint(0, 4)]))


def cut_output(observed: Observed) -> bool:
    """Whether the first output is sharded."""
    return observed.placements[0].shard_shape != observed.placements[0].shape


def as_wide(observed: Observed) -> bool:
    """Whether the output has the columns of the second weight, so that this may have been used."""
    return observed.placements[0].shape[1:] == observed.case.inputs[2].shape[1:]


def output_parts(observed: Observed) -> tuple[int, ...]:
    """How many parts each dimension of the first output is cut into."""
    first = observed.placements[0]
    return tuple(n // s for n, s in zip(first.shape, first.shard_shape))


def hidden_moves(observed: Observed) -> bool:
    """Whether a collective makes rows as long as the hidden layer."""
    (batch, _), (_, hidden), _ = (given.shape for given in observed.case.inputs)
    shapes = [shape for c in observed.collectives for _, shape in c.arrays or ((c.dtype, c.shape),)]
    return any(len(shape) == 2 and shape[1] == hidden and shape[0] <= batch for shape in shapes)


def second_left_open(observed: Observed) -> bool:
    """Whether the hidden layer is gathered and nothing else, where the output is no narrower: W2 was not placed."""
    _, (_, hidden), (_, width) = (given.shape for given in observed.case.inputs)
    return hidden_moves(observed) and width >= hidden and [c.kind for c in observed.collectives] == ["all-gather"]
