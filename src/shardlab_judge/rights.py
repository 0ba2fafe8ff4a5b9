"""What a program's outputs should be, where its item says so."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from shardlab_judge.cases import Case, Observed
from shardlab_judge.inputs import wide
from shardlab_judge.question import Item


def rights(item: Item, observed: Observed) -> tuple[np.ndarray, ...]:
    """The right outputs, computed in double precision where the inputs are floats; none where more than one is right.

    They depend on the case and the inputs alone, so they are computed once for these, and are not to be written to.
    """
    if (on_mesh := getattr(item, "rights", None)) is not None:
        return computed(on_mesh, observed)
    oracle = getattr(item, "oracle", None)
    return () if oracle is None else returned(oracle, observed)


def bound(right: np.ndarray, atol: float) -> float:
    """The absolute tolerance for an output: at most a tenth of its largest value, or small values would never be wrong."""
    if right.dtype.kind not in "fc":
        return atol
    most = float(np.abs(right[np.isfinite(right)]).max(initial=0.0))
    return min(atol, most / 10) if most else atol


def near(block: np.ndarray, right: np.ndarray, rtol: float, atol: float) -> np.ndarray:
    """Where a block has the right values: within tolerances, and whole numbers exactly."""
    close: np.ndarray = block == right if right.dtype.kind in "iub" else np.isclose(block, right, rtol=rtol, atol=atol)
    return close


def returned(function: Callable[..., Any], observed: Observed) -> tuple[np.ndarray, ...]:
    """What a function of the global inputs returns, as a tuple; it is called once for a case and its inputs."""
    return _once(_Asked(function, observed.case, observed.inputs))


def computed(function: Callable[[Observed], Any], observed: Observed) -> tuple[np.ndarray, ...]:
    """The same of a function of what was observed; of that it gets nothing but the case and the inputs."""
    return _once(_Asked(function, observed.case, observed.inputs, given=False))


@dataclasses.dataclass(frozen=True, eq=False)
class _Asked:
    """A function, and what it gets: the inputs, global ones, where these are `given`, or an `Observed` of case and inputs.

    Two are equal where case and arrays are the same: these are kept with it, so their places in memory are names.
    """

    function: Callable[..., Any]
    case: Case
    inputs: tuple[np.ndarray, ...]
    given: bool = True

    def _key(self) -> tuple[Any, ...]:
        return self.function, self.given, self.case, *map(id, self.inputs)

    def __hash__(self) -> int:
        return hash(self._key())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Asked) and self._key() == other._key()


@functools.lru_cache(maxsize=128)
def _once(asked: _Asked) -> tuple[np.ndarray, ...]:
    given = map(wide, asked.inputs) if asked.given else [Observed(asked.case, asked.inputs)]
    made = _arrays(asked.function(*given))
    for x in made:
        x.flags.writeable = False
    return made


def _arrays(made: Any) -> tuple[np.ndarray, ...]:
    return tuple(np.asarray(x).view() for x in (made if isinstance(made, tuple) else (made,)))
