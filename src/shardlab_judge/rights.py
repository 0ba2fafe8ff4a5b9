"""What a program's outputs should be, where its item says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from shardlab_judge.cases import Observed
from shardlab_judge.inputs import wide
from shardlab_judge.question import Item


def rights(item: Item, observed: Observed) -> tuple[np.ndarray, ...]:
    """The right outputs, computed in double precision where the inputs are floats; none where more than one is right."""
    oracle, on_mesh = getattr(item, "oracle", None), getattr(item, "rights", None)
    if on_mesh is not None:
        return tuple(map(np.asarray, on_mesh(observed)))
    return () if oracle is None else returned(oracle, observed)


def returned(function: Callable[..., Any], observed: Observed) -> tuple[np.ndarray, ...]:
    """What a function of the global inputs returns, as a tuple."""
    made = function(*map(wide, observed.inputs))
    return tuple(map(np.asarray, made if isinstance(made, tuple) else (made,)))
