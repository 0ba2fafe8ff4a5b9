"""Chapter 17, exercise 17.5: its oracles, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np

from shardlab_course.ch17.ex03.oracle import zigzag
from shardlab_course.ch17.shared import MESHES, TOKENS
from shardlab_course.shared.rings import devices, whole
from shardlab_judge.cases import Case, Input, Observed
from shardlens import Axes

BASE = 10000.0
Positions = Callable[[int, int], list[int]]
"""For the length of a sequence and the devices, the positions that its rows are taken to have."""


def turned(at: list[int], X: np.ndarray, sign: int = 1, beside: bool = False) -> np.ndarray:
    """Each pair of features as a complex number, turned by its position's angle; `beside` pairs neighbours."""
    half = X.shape[1] // 2
    first, second = (X[:, ::2], X[:, 1::2]) if beside else (X[:, :half], X[:, half:])
    angles = np.array([[position * BASE ** (-pair / half) for pair in range(half)] for position in at])
    pairs = (first + 1j * second) * np.exp(sign * 1j * angles)
    parts = pairs.real, pairs.imag
    return np.stack(parts, axis=2).reshape(X.shape) if beside else np.concatenate(parts, axis=1)


def local(S: int, n: int) -> list[int]:
    """Every device counts from 0."""
    return [i % (S // n) for i in range(S)]


def in_order(S: int, n: int) -> list[int]:
    """Row i is taken for position i."""
    return list(range(S))


def first_chunk_alone(S: int, n: int) -> list[int]:
    """Both chunks of a device follow one another, from where its first begins."""
    m = S // n
    return [d * m // 2 + i for d in range(n) for i in range(m)]


def turns(positions: Positions, **how: object) -> Callable[[Observed], bool]:
    """Whether rows were turned by the angles of these positions."""

    def found(o: Observed) -> bool:
        X = o.inputs[0].astype(np.float64)
        return whole(o, turned(positions(len(X), devices(o)), X, **how))  # type: ignore[arg-type]

    return found


def rotated(o: Observed) -> tuple[np.ndarray, ...]:
    """The right output; the positions of the rows depend on the number of devices."""
    X = o.inputs[0].astype(np.float64)
    return (turned(zigzag(len(X), devices(o)), X),)


def labels(tokens: np.ndarray) -> np.ndarray:
    """At each position the token that follows, and -1 at the last."""
    return np.array([*(tokens[i + 1] for i in range(len(tokens) - 1)), -1], tokens.dtype)


def within_blocks(at: dict[str, int], tokens: np.ndarray) -> np.ndarray:
    """Each device shifts its own tokens, and its first token follows its last."""
    return np.roll(tokens, -1)


def ends_everywhere(at: dict[str, int], tokens: np.ndarray) -> np.ndarray:
    """Each device's last token has no label."""
    return np.append(tokens[1:], -1).astype(tokens.dtype)


def ends_with(last: int, tokens: np.ndarray) -> np.ndarray:
    """The same with another label at the end."""
    return np.append(tokens[1:], last).astype(tokens.dtype)


def ids(rng: np.random.Generator, shape: tuple[int, ...], _: object) -> np.ndarray:
    """Words of a vocabulary, none of which is 0."""
    return rng.integers(1, 50000, shape)


def rows_case(mesh: Axes, s: int, d: int) -> Case:
    """Rows cut over x."""
    return Case(mesh, (Input((s, d), TOKENS),), (TOKENS,))


def tokens_case(mesh: Axes, s: int) -> Case:
    """Tokens cut over x."""
    return Case(mesh, (Input((s,), ("x",), "int32", values=ids),), (("x",),))


def draw_rows(rng: random.Random) -> Case:
    """Another mesh and other sizes."""
    return rows_case(rng.choice(MESHES), 16 * rng.randint(3, 9), 2 * rng.randint(3, 8))


def draw_tokens(rng: random.Random) -> Case:
    """Another mesh and another length."""
    return tokens_case(rng.choice(MESHES), 8 * rng.randint(3, 20))
