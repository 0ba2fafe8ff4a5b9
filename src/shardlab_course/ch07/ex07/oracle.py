"""Chapter 7, exercise 7.7: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import math

import numpy as np

from shardlab_course.ch07.shared import case
from shardlab_judge.cases import Case, Input, Observed
from shardlens import Axes, Spec

DAMPING = 16.0


def solves(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The solutions of (A + 16 I) x = b, one system after the other."""
    return np.stack([np.linalg.solve(m + DAMPING * np.eye(len(m)), v) for m, v in zip(A, b)])


def systems_case(mesh: Axes, size: int) -> Case:
    """As many systems as devices, one on each."""
    names = tuple(name for name, _ in mesh)
    spec: Spec = (names if len(names) > 1 else names[0],)
    n = math.prod(size for _, size in mesh)
    return case(mesh, Input((n, size, size), spec), Input((n, size), spec), outputs=[spec], lapack=True)


def otherwise_damped(o: Observed) -> bool:
    """Whether all systems are solved with one number on the diagonal that is not 16."""
    A, b = (x.astype(np.float64) for x in o.inputs)
    solved = np.zeros_like(b)
    for _, index, block in o.shards[0]:
        solved[index] = block
    left = b - np.einsum("nij,nj->ni", A, solved)
    damping = np.vdot(left, solved) / np.vdot(solved, solved)
    near = np.abs(left - damping * solved).max() < 1e-3 * b.shape[1] * np.abs(solved).max()
    return bool(near and abs(damping - DAMPING) > 0.1)
