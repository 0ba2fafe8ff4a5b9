"""Items whose answer is a free design: a program together with the specs of its arguments, judged by what both cost."""

from __future__ import annotations

import dataclasses
import math
import pathlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from shardlab.placement import Spec, place
from shardlab_judge.cases import Case
from shardlab_judge.question import Item, ProgramItem

STEPS = ((1.1, 1.0), (1.35, 0.75), (2.0, 0.5), (3.5, 0.25))
"""Up to this distance from the front, this share of the points."""
ARITHMETIC = 1.25
"""FLOPs of a device, as a multiple of those of the leanest design on the front."""


class Cost(NamedTuple):
    """What a design costs on one device: payload price in bytes, and bytes of arguments and outputs."""

    price: float
    memory: float


@dataclasses.dataclass(frozen=True)
class Design:
    """A program `step(mesh, *arrays)` and where its arguments lie."""

    layout: Mapping[str, Spec]
    step: Callable[..., Any]


@dataclasses.dataclass(frozen=True)
class DesignItem(Item):
    """A dict with the keys `layout`, a spec for each array, and `step`, the program; one for all cases.

    Values and placements are judged as for a `ProgramItem`. The letter `D` is for the distance to the front of `designs`; a
    design that holds more than `room` times an equal share of everything, or leaves arithmetic to be done several times, is
    not on the map at all.

    Args:
        oracle: slow, plain NumPy on the global inputs.
        cases: on at least two mesh shapes; the specs of their inputs do not count.
        arrays: names of the inputs, in their order.
        kept: for each output the array whose spec it must have.
        designs: our own, by name; those that no other beats are the front.
        fronts: the file where `shardlab_judge.fronts` keeps what they cost.
        room: bytes that a device may hold, as a multiple of all bytes divided by the devices.
        rtol, atol: tolerances of the values.
    """

    oracle: Callable[..., Any] = dataclasses.field(kw_only=True)
    cases: tuple[Case, ...] = dataclasses.field(kw_only=True)
    arrays: tuple[str, ...] = dataclasses.field(kw_only=True)
    kept: tuple[str, ...] = dataclasses.field(kw_only=True)
    designs: Mapping[str, Design] = dataclasses.field(kw_only=True)
    fronts: pathlib.Path | None = dataclasses.field(default=None, kw_only=True)
    room: float = dataclasses.field(kw_only=True)
    rtol: float = dataclasses.field(default=1e-4, kw_only=True)
    atol: float = dataclasses.field(default=1e-5, kw_only=True)
    kind = "design"

    def asks(self, question: str, seed: int | None) -> dict[str, Any]:
        """The cases, and the arrays whose specs the answer gives."""
        return {"cases": [case.to_json() for case in self.cases], "arrays": list(self.arrays)}

    @property
    def program(self) -> ProgramItem:
        """What is judged of the program by itself."""
        points = {letter: of for letter, of in self.points.items() if letter in "VS"}
        return ProgramItem(
            self.name, points, misses=self.misses, oracle=self.oracle, cases=self.cases, rtol=self.rtol, atol=self.atol
        )

    def laid_out(self, case: Case, layout: Mapping[str, Any]) -> Case:
        """The case with its inputs and outputs where a layout puts them.

        Raises:
            ValueError: a spec is missing, or does not fit; the message says which.
        """
        if not isinstance(layout, Mapping) or set(layout) != set(self.arrays):
            raise ValueError(f"the layout needs a spec for each of {', '.join(self.arrays)}, and nothing else")
        specs = {name: _spec(layout[name]) for name in self.arrays}
        for name, given in zip(self.arrays, case.inputs):
            try:
                place(given.shape, case.axes, specs[name])
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(f"the spec of {name} does not fit {list(given.shape)}: {error}") from error
        inputs = tuple(dataclasses.replace(given, spec=specs[name]) for name, given in zip(self.arrays, case.inputs))
        return dataclasses.replace(case, inputs=inputs, outputs=tuple(specs[name] for name in self.kept))

    def limit(self, case: Case) -> int:
        """Bytes of arguments and outputs that a device may hold."""
        sizes = {name: 4 * math.prod(given.shape) for name, given in zip(self.arrays, case.inputs)}
        whole = sum(sizes.values()) + sum(sizes[name] for name in self.kept)
        return int(self.room * whole / math.prod(size for _, size in case.axes))


def front(costs: Mapping[str, Cost]) -> dict[str, Cost]:
    """Those that no other beats, by falling memory: each costs less than every other in bytes or in memory.

    Example:
        >>> front({"a": Cost(4, 1), "b": Cost(2, 2), "c": Cost(4, 2)})
        {'b': Cost(price=2, memory=2), 'a': Cost(price=4, memory=1)}
    """
    kept = {name: cost for name, cost in costs.items() if not any(_beats(other, cost) for other in costs.values())}
    unique = {cost: name for name, cost in reversed(kept.items())}
    return {name: cost for cost, name in sorted(unique.items())}


def distance(cost: Cost, reached: Iterable[Cost]) -> float:
    """How many times worse than the nearest design that is `reached`, in the worse of bytes and memory; 1 if none beats it.

    Example:
        >>> distance(Cost(6, 2), [Cost(4, 1), Cost(2, 3)])
        2.0
        >>> distance(Cost(3, 2), [Cost(4, 1), Cost(2, 3)])
        1.0
    """
    others = list(reached)
    if not any(_beats(other, cost) for other in others):
        return 1.0
    return max(1.0, min(max(_ratio(cost.price, o.price), _ratio(cost.memory, o.memory)) for o in others))


def share(found: float, steps: Sequence[tuple[float, float]] = STEPS) -> float:
    """The share of the points at this distance."""
    return next((part for most, part in steps if found <= most + 1e-9), 0.0)


def _ratio(mine: float, other: float) -> float:
    return mine / other if other else 1.0 if not mine else math.inf


def _beats(other: Cost, cost: Cost) -> bool:
    return other != cost and other.price <= cost.price and other.memory <= cost.memory


def _spec(given: Any) -> Spec:
    """A spec from plain JSON."""
    if not isinstance(given, list | tuple):
        raise ValueError(f"a spec is jax.P(...), and not {given!r}")
    entries = tuple(tuple(entry) if isinstance(entry, list | tuple) else entry for entry in given)
    names = [name for entry in entries for name in (entry if isinstance(entry, tuple) else (entry,))]
    if not all(name is None or isinstance(name, str) for name in names):
        raise ValueError("the entries of a spec are mesh axes, tuples of them, or None")
    return entries
