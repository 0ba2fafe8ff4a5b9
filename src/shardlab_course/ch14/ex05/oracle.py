"""Chapter 14, exercise 14.5: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np

from shardlab.processes.recorded import FOLDER
from shardlab_judge.cases import axes
from shardlab_judge.launches import Launch, Seen
from shardlens import place

RUN, STATE = 14, (16, 8)


def resumed(process: int, folder: str, shape: list[int], first: int, last: int, seed: int | None) -> np.ndarray:
    """The state after `last` steps of the one run that there is."""
    return _run(0, last)


def _run(first: int, last: int, state: Any = None) -> np.ndarray:
    state = np.random.default_rng(RUN).standard_normal(STATE) if state is None else state
    for step in range(first, last):
        state = 0.9 * state + step
    return np.asarray(state)


def recounted(process: int, folder: str, shape: list[int], first: int, last: int, seed: int | None) -> np.ndarray:
    """After a restart the steps count from zero again."""
    return _run(0, last - first, _run(0, first))


def not_continued(process: int, folder: str, shape: list[int], first: int, last: int, seed: int | None) -> np.ndarray:
    """The state as it was saved."""
    return _run(0, first)


def from_zeros(process: int, folder: str, shape: list[int], first: int, last: int, seed: int | None) -> np.ndarray:
    """A restart without the checkpoint: from zeros."""
    return _run(first, last, np.zeros(STATE)) if first else _run(0, last)


def right_state(seen: Seen) -> bool:
    """Whether process 0 holds the values that it should, wherever they lie."""
    state = resumed(0, *seen.launch.arguments)
    held = [(index, block) for device, index, block in seen.returned[0].shards if device < seen.launch.devices]
    return all(np.allclose(block, state[index], rtol=1e-4, atol=1e-4) for index, block in held)


def on_another_mesh(seen: Seen) -> bool:
    """Whether the state lies as on the mesh of an earlier part of the run."""
    earlier = [(2, 4), (4, 2)] if seen.launch.arguments[2] > 0 else []
    others = [axes(rows=r, columns=c) for r, c in earlier if [r, c] != list(seen.launch.arguments[1])]
    return any(seen.returned[0].placement.same_as(place(STATE, mesh, ("rows", "columns"))) for mesh in others)


def nothing_found(seen: Seen) -> bool:
    """Whether a later part of the run raised since it looked for something that is not there."""
    said = re.compile("(?i)not found|does not exist|FileNotFound|No such file")
    return seen.launch.arguments[2] > 0 and any(said.search(error) for error in seen.errors)


def resuming(shape: tuple[int, int], first: int, last: int) -> Launch:
    """One part of a run, on a mesh of this shape; only the first part is told the seed."""
    arguments = (FOLDER, list(shape), first, last, None if first else RUN)
    return Launch(arguments, axes(rows=shape[0], columns=shape[1]), (("rows", "columns"),))


def draw_resuming(rng: random.Random) -> Launch:
    """A third part of the run, on a third mesh."""
    return resuming(rng.choice(((8, 1), (1, 8))), 5, rng.randint(7, 9))
