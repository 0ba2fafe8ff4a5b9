"""What a question is: items to answer, how each is checked, and what is said of the wrong answers that we know."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Mapping
from typing import Any

from shardlab.placement import Axes, Placement, place
from shardlab_judge.cases import Case, Input, Observed

Letter = str
LETTERS: Mapping[Letter, str] = {
    "V": "values",
    "S": "shardings",
    "H": "communication",
    "M": "memory per device",
    "F": "FLOPs per device",
    "J": "operations before XLA",
    "C": "formula",
    "P": "prediction",
    "D": "distance to the front",
}


@dataclasses.dataclass(frozen=True)
class Miss:
    """A wrong answer that we know: how to recognise it, and what to say of it.

    Args:
        id: the misconception, in kebab-case.
        cause: the likely cause in one sentence.
        hint: the hint to open, 1 to 3.
        like: the wrong answer itself: a `Placement`; a value, or a predicate over it; the wrong function for calls;
            for a program a NumPy function of the global inputs with the wrong output.
        local: for a program: what each device computes, `local(coordinates, *blocks)` with its mesh coordinates.
        when: for a program: a predicate over what was `Observed`; for processes: over `shardlab_judge.processes_item.Seen`.
        error: for any answer: a regular expression found in the exception that the answer raised.
        barred: for a program: whether it earns no H even where it is right and cheap, because another way is asked for.
    """

    id: str
    cause: str
    hint: int = 1
    like: Any = None
    local: Callable[..., Any] | None = None
    when: Callable[[Any], bool] | None = None
    error: str | None = None
    barred: bool = False


@dataclasses.dataclass(frozen=True)
class Item:
    """One thing to answer inside a question; its `name` is the student's variable, or the key in the student's dict.

    `points` gives each checked letter its points; `misses` are tried in order.
    """

    name: str
    points: Mapping[Letter, float]
    misses: tuple[Miss, ...] = dataclasses.field(default=(), kw_only=True)

    kind = ""
    observed = False
    """Whether it is judged by what a run in the student's own sandbox said, and not by data that is checked elsewhere."""

    @property
    def total(self) -> float:
        """Points of the whole item."""
        return sum(self.points.values())

    def asks(self, question: str, seed: int | None) -> dict[str, Any]:
        """What its manifest says of itself, for kinds of items that are declared elsewhere."""
        return {}


@dataclasses.dataclass(frozen=True)
class PlacementItem(Item):
    """An array or a sharding that must put `target`'s slices on `target`'s devices."""

    target: Placement = dataclasses.field(kw_only=True)
    kind = "placement"


@dataclasses.dataclass(frozen=True)
class ValueItem(Item):
    """A prediction, a choice or a number. With a dict as key every entry carries its share of the points.

    Args:
        key: the right value: number, text, list, frozenset (answered as a list in any order), or a dict of these.
        predicted: whether it is given by `sl.predict` before the code runs, instead of to `sl.check`.
        rtol: relative tolerance for numbers.
        spelling: brings every text of an answer into the key's spelling, where one thing may be written in several ways.
    """

    key: Any = dataclasses.field(kw_only=True)
    predicted: bool = dataclasses.field(default=False, kw_only=True)
    rtol: float = dataclasses.field(default=0.0, kw_only=True)
    spelling: Callable[[str], str] | None = dataclasses.field(default=None, kw_only=True)
    kind = "value"


@dataclasses.dataclass(frozen=True)
class CallsItem(Item):
    """A plain Python function, judged by what it returns for arguments that the grader chose.

    Args:
        oracle: slow, plain Python or NumPy; JSON-able arguments in, JSON-able value out.
        calls: the public argument lists.
        draw: one further argument list from a random generator.
        drawn: how many further argument lists the grader draws.
        rtol: relative tolerance for floats; whole numbers and texts must be equal.
    """

    oracle: Callable[..., Any] = dataclasses.field(kw_only=True)
    calls: tuple[tuple[Any, ...], ...] = dataclasses.field(kw_only=True)
    draw: Callable[[random.Random], tuple[Any, ...]] | None = dataclasses.field(default=None, kw_only=True)
    drawn: int = dataclasses.field(default=20, kw_only=True)
    rtol: float = dataclasses.field(default=0.0, kw_only=True)
    kind = "calls"


@dataclasses.dataclass(frozen=True)
class ProgramItem(Item):
    """A function `answer(mesh, *arrays)`, judged by its exported program on every case.

    Args:
        oracle: slow, plain NumPy on the global inputs; returns one array or a tuple of them.
        several: whether more than one output is right, as with random numbers. Then the oracle is given what was `Observed`,
            and returns the right output that is nearest to it; `Observed.again` tells what depends on a seed.
        cases: the public cases, on at least two mesh shapes.
        draw: one further case from a random generator.
        drawn: how many further cases the grader draws.
        rtol, atol: tolerances of the values, with the reason in `tolerance`.
        slack: payload bytes that the program may move beyond the reference, with the reason in `slack_reason`.
        most: how many collectives may run, all executions counted; unless given, only their bytes matter.
        deepest: in a case, how many collectives may wait for one another; unless given, any number.
        manual: whether it must be written with `jax.shard_map`, and not be left to the compiler.
        written: in a case, how often StableHLO operations, by their names without the dialect, may stand in the exported
            program, at least and at most: what the letter J checks, before XLA merges what is equal.
        donated: positions of the arrays that must be donated, and no others: checked with M.
        widest: in a case, how many bytes the largest array inside the program may have on a device; unless given, M looks at
            arguments and outputs alone.
    """

    oracle: Callable[..., Any] = dataclasses.field(kw_only=True)
    several: bool = dataclasses.field(default=False, kw_only=True)
    cases: tuple[Case, ...] = dataclasses.field(kw_only=True)
    draw: Callable[[random.Random], Case] | None = dataclasses.field(default=None, kw_only=True)
    drawn: int = dataclasses.field(default=1, kw_only=True)
    rtol: float = dataclasses.field(default=1e-5, kw_only=True)
    atol: float = dataclasses.field(default=1e-5, kw_only=True)
    tolerance: str = dataclasses.field(default="float32 sums in another order", kw_only=True)
    slack: int = dataclasses.field(default=0, kw_only=True)
    slack_reason: str = dataclasses.field(default="", kw_only=True)
    most: int | None = dataclasses.field(default=None, kw_only=True)
    deepest: Callable[[Case], int] | None = dataclasses.field(default=None, kw_only=True)
    manual: bool = dataclasses.field(default=False, kw_only=True)
    written: Callable[[Case], Mapping[str, tuple[int, int]]] | None = dataclasses.field(default=None, kw_only=True)
    donated: frozenset[int] | None = dataclasses.field(default=None, kw_only=True)
    widest: Callable[[Case], int] | None = dataclasses.field(default=None, kw_only=True)
    kind = "program"


@dataclasses.dataclass(frozen=True)
class Question:
    """One exercise with one grade cell.

    Args:
        id: as in prose, `"4.2"`.
        difficulty: 1 to 5.
        minutes: the time that it should take, at most.
        variable: the name of the student's dict whose entries are the items; else each item is a variable, or predicted.
        hints: three, from a nudge to nearly the code.
        explanation: shown by `sl.explain` after passing.
    """

    id: str
    title: str
    items: tuple[Item, ...]
    difficulty: int
    minutes: int
    hints: tuple[str, str, str]
    explanation: str
    variable: str | None = None

    @property
    def grade_id(self) -> str:
        """nbgrader's name of the grade cell."""
        return "q" + self.id.replace(".", "-")

    @property
    def points(self) -> float:
        """Points of all items."""
        return sum(item.total for item in self.items)

    @property
    def observed(self) -> bool:
        """Whether some item is judged by what a run in the student's own sandbox said."""
        return any(item.observed for item in self.items)

    @property
    def variables(self) -> tuple[str, ...]:
        """The student's variables that hold the answer, in the order in which `sl.check` takes them."""
        if self.variable:
            return (self.variable,)
        return tuple(item.name for item in self.items if not getattr(item, "predicted", False))

    def manifest(self, seed: int | None = None) -> dict[str, Any]:
        """What the student's process must know to record an answer: no oracle, no key, no values.

        With a `seed` the drawn cases and calls are included, after the public ones.
        """
        return {
            "id": self.id,
            "variable": self.variable,
            "items": [_item_manifest(item, self.id, seed) for item in self.items],
        }


def cases_of(item: ProgramItem, question: str, seed: int | None) -> tuple[Case, ...]:
    """The public cases, then those drawn from `seed`."""
    if seed is None or item.draw is None:
        return item.cases
    rng = random.Random(f"{seed}/{question}/{item.name}")
    return item.cases + tuple(item.draw(rng) for _ in range(item.drawn))


def calls_of(item: CallsItem, question: str, seed: int | None) -> tuple[tuple[Any, ...], ...]:
    """The public argument lists, then those drawn from `seed`."""
    if seed is None or item.draw is None:
        return item.calls
    rng = random.Random(f"{seed}/{question}/{item.name}")
    return item.calls + tuple(item.draw(rng) for _ in range(item.drawn))


def axes(**sizes: int) -> Axes:
    """Mesh axes by keyword, slowest first: `axes(x=2, y=4)`."""
    return tuple(sizes.items())


def _item_manifest(item: Item, question: str, seed: int | None) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": item.name, "kind": item.kind}
    match item:
        case ProgramItem():
            entry["cases"] = [case.to_json() for case in cases_of(item, question, seed)]
        case CallsItem():
            entry["calls"] = [list(arguments) for arguments in calls_of(item, question, seed)]
        case PlacementItem():
            entry["shape"] = list(item.target.shape)
        case ValueItem():
            entry["predicted"] = item.predicted
        case _:
            entry.update(item.asks(question, seed))
    return entry


__all__ = [
    "CallsItem",
    "Case",
    "Input",
    "Item",
    "LETTERS",
    "Miss",
    "Observed",
    "PlacementItem",
    "ProgramItem",
    "Question",
    "ValueItem",
    "axes",
    "calls_of",
    "cases_of",
    "place",
]
