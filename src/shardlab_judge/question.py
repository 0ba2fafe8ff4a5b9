"""What a question is: items to answer, how each is checked, and what is said of the wrong answers that we know."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Protocol, Self, TypeVar

from shardlab.errors import ShardlabError
from shardlab_judge.cases import Case
from shardlab_judge.costs import Cost
from shardlab_judge.verdict import Finding

Letter = str
Response = Mapping[str, Any]
"""What was recorded for one item, or for one case of it, as plain JSON."""
Judged = tuple[dict[Letter, float], list[Finding]]
"""For each letter the share of its points that is earned, and the findings."""
JudgeOne = Callable[..., list[Finding]]
Drawn = TypeVar("Drawn")
Draw = Callable[[random.Random], Drawn]
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


RECOGNISERS = {
    "like": "WrongValues(like=...)",
    "local": "WrongValues(local=...)",
    "when": "WrongValues(when=...) where values are wrong, WrongCost(when=...) where they are right",
    "error": "WrongProgram(error=...)",
    "barred": "WrongProgram(when=..., barred=True)",
    "breaks": "WrongValues(when=..., breaks=True)",
}
"""By what a misconception can be recognised, and which kind of misconception has it."""


@dataclasses.dataclass(frozen=True)
class Misconception:
    """A cause of a wrong answer, and what to say of it. An exercise declares one of the three kinds below.

    Args:
        id: the misconception, in kebab-case.
        cause: the likely cause in one sentence.
        hint: the hint to open, 1 to 3.
    Raises:
        ShardlabError: it is given a recogniser that its kind does not have; the message names the kind that has it.
    """

    id: str
    cause: str
    hint: int = 1
    like: Any = dataclasses.field(default=None, init=False)
    local: Callable[..., Any] | None = dataclasses.field(default=None, init=False)
    when: Callable[[Any], bool] | None = dataclasses.field(default=None, init=False)
    error: str | Callable[[str, str], bool] | None = dataclasses.field(default=None, init=False)
    barred: bool = dataclasses.field(default=False, init=False)
    breaks: bool = dataclasses.field(default=False, init=False)
    letters: str = dataclasses.field(default="", init=False)

    def __new__(cls, *_: Any, **given: Any) -> Self:
        """Refuse what this kind does not have, and name the kind that does."""
        taken = {field.name for field in dataclasses.fields(cls) if field.init}
        for name in (name for name in given if name not in taken):
            mend = (
                f"write {RECOGNISERS[name]}." if name in RECOGNISERS else f"{cls.__name__} takes {', '.join(sorted(taken))}."
            )
            where = f"{cls.__name__}(..., {name}=...)"
            raise ShardlabError("other-misconception", f"{cls.__name__} has no {name!r}.", where=where, mend=mend)
        return super().__new__(cls)

    def explains(self, letter: Letter) -> bool:
        """Whether it can be why points for this letter are lost."""
        return not self.letters or letter in self.letters

    @property
    def recognisers(self) -> tuple[str, ...]:
        """The names of those that it has."""
        return tuple(name for name in ("like", "local", "when", "error") if getattr(self, name) is not None)


@dataclasses.dataclass(frozen=True)
class WrongValues(Misconception):
    """An answer with wrong values.

    Args:
        like: the wrong answer itself: a `Placement`; a value, or a predicate over it; the wrong function for calls;
            for a program a NumPy function of the global inputs with the wrong output.
        local: for a program: what each device computes, `local(coordinates, *blocks)` with its mesh coordinates; of
            several outputs a tuple.
        when: a predicate that is asked where neither of these fits. For a program: over what was `Observed`; for processes:
            over `shardlab_judge.launches.Seen`; for a guard: over the share of each program that it lets through.
        breaks: for a program: whether what `when` finds makes values wrong, though it does not look at them, as a ring does
            that is open. Without it nothing is told of wrong values that would be found of right ones too.
    """

    like: Any = dataclasses.field(default=None, kw_only=True)
    local: Callable[..., Any] | None = dataclasses.field(default=None, kw_only=True)
    when: Callable[[Any], bool] | None = dataclasses.field(default=None, kw_only=True)
    breaks: bool = dataclasses.field(default=False, kw_only=True)


@dataclasses.dataclass(frozen=True)
class WrongProgram(Misconception):
    """An answer that is not what was asked for: it raises, or it goes another way.

    Args:
        error: a regular expression found in the exception that the answer raised, or a predicate over its text and the
            case's title.
        when: for a program: a predicate over what was `Observed`, which holds of another way than the one asked for.
        barred: whether a program of which `when` holds earns no H even where it is right and cheap.
    """

    error: str | Callable[[str, str], bool] | None = dataclasses.field(default=None, kw_only=True)
    when: Callable[[Any], bool] | None = dataclasses.field(default=None, kw_only=True)
    barred: bool = dataclasses.field(default=False, kw_only=True)


@dataclasses.dataclass(frozen=True)
class WrongCost(Misconception):
    """An answer that sends, computes or holds too much, or whose output is in the wrong place. The values may be right.

    Args:
        when: a predicate over what was `Observed`. Of wrong values nothing is told that would be found of right ones too.
        letters: for what it costs points, if not for everything: what sends too much need not hold too much.
    """

    when: Callable[[Any], bool] = dataclasses.field(kw_only=True)
    letters: str = dataclasses.field(default="", kw_only=True)


class Costing(Protocol):
    """Where the costs of reference solutions are looked up."""

    def cost(self, question: str, item: str, case: Case) -> Cost:
        """The cost of the reference in one case."""
        ...


@dataclasses.dataclass(frozen=True)
class Check:
    """What one question looks at besides what its kind of item does; it comes with the question.

    Args:
        letter: whose points it costs, where the kind itself finds nothing wrong.
        find: what is wrong, from the item and from what was seen of the answer.
    """

    letter: Letter
    find: Callable[[Any, Any], Iterable[Finding]]


@dataclasses.dataclass(frozen=True)
class Setting:
    """What items are judged with, besides the answer.

    Args:
        question: its id.
        seed: the release's seed, or none in a notebook.
        references: costs of the reference in each case.
        judge_one: judges one program in one case, where this is not to be done anew each time.
    """

    question: str
    seed: int | None
    references: Costing
    judge_one: JudgeOne | None = None


@dataclasses.dataclass(frozen=True)
class Item:
    """One thing to answer inside a question; its `name` is the student's variable, or the key in the student's dict.

    `points` gives each checked letter its points; `misconceptions` are tried in order. A kind of item is a class of its
    own, in a module of its own: what follows is all that the others know of it.
    """

    name: str
    points: Mapping[Letter, float]
    misconceptions: tuple[Misconception, ...] = dataclasses.field(default=(), kw_only=True)

    kind: ClassVar[str] = ""
    form: ClassVar[str] = ""
    """What it asks for, in words."""
    parts: ClassVar[str] = ""
    """The field of the response that holds a list with a response for each case, if there is one."""
    sees: ClassVar[tuple[str, ...]] = ("like", "error")
    """The recognisers of misconceptions that it looks at."""
    observed: ClassVar[bool] = False
    """Whether it is judged by what running code of the student's said of itself, and not by a program that is run again."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if Item in cls.__bases__:
            KINDS[cls.kind] = cls

    def __post_init__(self) -> None:
        """Refuse a misconception that nothing here would ever recognise.

        Raises:
            ShardlabError: there is one; the message names what this kind of item looks at.
        """
        for known in self.misconceptions:
            if blind := [name for name in known.recognisers if name not in self.sees]:
                what = f"nothing looks at `{blind[0]}` of the misconception {known.id!r}."
                where, mend = f"{type(self).__name__} {self.name!r}", f"recognise it by {' or '.join(self.sees)}."
                raise ShardlabError("misconception-unseen", what, where=where, mend=mend)

    @property
    def total(self) -> float:
        """Points of the whole item."""
        return sum(self.points.values())

    @property
    def first(self) -> Letter:
        """The letter that findings have which concern all of the answer."""
        return next(iter(self.points))

    def manifest(self, question: str, seed: int | None) -> dict[str, Any]:
        """What the student's process must know to record the answer: no oracle, no key, no values."""
        return {"name": self.name, "kind": self.kind, **self.asks(question, seed)}

    def asks(self, question: str, seed: int | None) -> dict[str, Any]:
        """What its manifest says besides its name; with another `kind`, which of the others it is recorded as."""
        return {}

    @classmethod
    def told(cls, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        """What of its manifest the process of a graded notebook is told."""
        return asked

    @classmethod
    def admit(cls, asked: Mapping[str, Any], raw: Any) -> Response:
        """A checked copy of what came out of a sandbox for an item of this kind.

        Args:
            asked: the item's manifest.
            raw: hostile JSON.
        Raises:
            shardlab_judge.responses.Refused: a field, type, count or size is not as the manifest says.
        """
        raise NotImplementedError

    def is_open(self, response: Response) -> bool:
        """Whether there is no answer yet."""
        parts = response.get(self.parts) or ()
        return "todo" in response or "missing" in response or (bool(parts) and all("todo" in part for part in parts))

    def judge(self, response: Response, setting: Setting) -> Judged:
        """What the answer earns, and what there is to say of it."""
        raise NotImplementedError

    def with_drawn(
        self, public: tuple[Drawn, ...], draw: Draw[Drawn] | None, many: int, question: str, seed: int | None
    ) -> tuple[Drawn, ...]:
        """What everybody may see, then as many again as are drawn from `seed`."""
        if seed is None or draw is None:
            return public
        rng = random.Random(f"{seed}/{question}/{self.name}")
        return public + tuple(draw(rng) for _ in range(many))


KINDS: dict[str, type[Item]] = {}
"""Every kind that was declared so far, by its name: the classes that are made from `Item` itself."""


@dataclasses.dataclass(frozen=True)
class Question:
    """One exercise with one grade cell.

    Args:
        id: as in prose, `"4.2"`.
        difficulty: 1 to 5.
        minutes: the time that it should take, at most.
        variable: the name of the student's dict whose entries are the items; else each item is a variable, or predicted.
        optional: whether it is beside the course's core: what follows does not need it.
        hints: three, from a nudge to nearly the code.
        explanation: shown by `sl.explain` after passing.
        known_as: what the field calls a right answer, with a source that the book's bibliography has; empty for most.
    """

    id: str
    title: str
    items: tuple[Item, ...]
    difficulty: int
    minutes: int
    hints: tuple[str, str, str]
    explanation: str
    variable: str | None = None
    optional: bool = False
    known_as: str = ""

    @property
    def grade_id(self) -> str:
        """nbgrader's name of the grade cell."""
        return "q" + self.id.replace(".", "-")

    @property
    def typed(self) -> str:
        """The id as it is typed in a call: `4.2`, and `"50.10"`, which is 50.1 as a number."""
        return f'"{self.id}"' if self.id.endswith("0") else self.id

    @property
    def points(self) -> float:
        """Points of all items."""
        return sum(item.total for item in self.items)

    @property
    def observed(self) -> bool:
        """Whether some item is judged by what running code of the student's said of itself."""
        return any(item.observed for item in self.items)

    @property
    def variables(self) -> tuple[str, ...]:
        """The student's variables that hold the answer, in the order in which `sl.check` takes them."""
        if self.variable:
            return (self.variable,)
        return tuple(item.name for item in self.items if not getattr(item, "predicted", False))

    def worth(self, points: float) -> Self:
        """The same question with this many points in all, shared among items and letters as before, to two decimals."""
        if points == self.points or not self.points:
            return self
        share, before, items = points / self.points, 0.0, []
        for item in self.items:
            given = {}
            for letter, most in item.points.items():
                # Rounded sums, not rounded parts: the last sum is all points.
                given[letter] = round(round((before + most) * share, 2) - round(before * share, 2), 2)
                before += most
            items.append(dataclasses.replace(item, points=given))
        return dataclasses.replace(self, items=tuple(items))

    def manifest(self, seed: int | None = None) -> dict[str, Any]:
        """What the student's process must know to record an answer: no oracle, no key, no values.

        With a `seed` the drawn cases and calls are included, after the public ones.
        """
        return {"id": self.id, "variable": self.variable, "items": [item.manifest(self.id, seed) for item in self.items]}


def holds(when: Callable[[Any], bool], observed: Any) -> bool:
    """Whether a predicate holds; not one that asks for what there is none of here: an output, an entry, a price."""
    try:
        return bool(when(observed))
    except Exception:
        return False
