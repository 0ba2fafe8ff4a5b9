"""What a class's records say of the exercises: counts, named misconceptions, equal programs, where points were lost.

Nothing here is about a person: records come without names, and no figure is given that is one submission's alone.
"""

from __future__ import annotations

import collections
import dataclasses
import itertools
import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Literal

from shardlab_grader.records.store import Record
from shardlab_judge.question import Question
from shardlab_judge.verdict import Part, Verdict

State = Literal["passed", "partly", "failed", "unattempted", "ungraded"]
STATES: tuple[State, ...] = ("passed", "partly", "failed", "unattempted", "ungraded")
FEW = 8
"""Below as many submissions nothing is said of the middle of the class."""
ENOUGH = 30
"""Below as many submissions nothing is said of correlations: with 29, independent points reach 0.37 once in twenty pairs."""


@dataclasses.dataclass(frozen=True)
class Cause:
    """A wrong answer that we know, the sentence that explains it, and in how many submissions it was met."""

    name: str
    cause: str
    count: int


@dataclasses.dataclass(frozen=True)
class Group:
    """How many submissions of an exercise hold the same programs, and what these programs earn."""

    size: int
    state: State


@dataclasses.dataclass(frozen=True)
class Guess:
    """A prediction of an exercise: in how many submissions it was made, and in how many of these it came true as a whole."""

    name: str
    made: int
    right: int


@dataclasses.dataclass(frozen=True)
class Exercise:
    """One exercise in a class. `points` has those of the graded submissions; `other` counts mistakes without a name.

    `observed` says that it is judged by what running processes said, and not by a program that is run again.
    """

    question: str
    title: str
    of: float
    counts: Mapping[State, int]
    points: tuple[float, ...]
    misconceptions: tuple[Cause, ...]
    other: int
    groups: tuple[Group, ...]
    observed: bool = False
    guesses: tuple[Guess, ...] = ()

    @property
    def mean(self) -> float | None:
        """Mean points of the submissions in which it was graded."""
        return statistics.fmean(self.points) if self.points else None


@dataclasses.dataclass(frozen=True)
class Loss:
    """Points that the middle half of the class lost on an exercise, on average, and the letter that cost most of them."""

    question: str
    lost: float
    of: float
    letter: str


@dataclasses.dataclass(frozen=True)
class Pair:
    """Two exercises whose points go together: rank correlation, and an interval that holds for all pairs at once."""

    questions: tuple[str, str]
    correlation: float
    interval: tuple[float, float]


@dataclasses.dataclass(frozen=True)
class Figures:
    """A class in figures; `losses` and `pairs` are `None` where so few submissions can say nothing of them."""

    submissions: int
    of: float
    totals: tuple[float, ...]
    exercises: tuple[Exercise, ...]
    seconds: tuple[float, ...]
    losses: tuple[Loss, ...] | None
    pairs: tuple[Pair, ...] | None


def figures(records: Sequence[Record], questions: Sequence[Question]) -> Figures:
    """The figures of a class.

    Args:
        records: one a submission.
        questions: of the release, in order.
    """
    graded = [record for record in records if not record.ungraded and all(q.id in record.verdicts for q in questions)]
    exercises = tuple(_exercise(question, records) for question in questions)
    of = sum(question.points for question in questions)
    totals = tuple(sorted(record.points for record in graded))
    seconds = tuple(sorted(sum(record.seconds.values()) for record in records if record.seconds))
    losses = _losses(graded, questions) if len(graded) >= FEW else None
    return Figures(len(records), of, totals, exercises, seconds, losses, pairs(graded, questions))


def state(verdict: Verdict) -> State:
    """The verdict's status; failed with some points is *partly*."""
    return "partly" if verdict.status == "failed" and verdict.points > 0 else verdict.status


def pairs(graded: Sequence[Record], questions: Sequence[Question]) -> tuple[Pair, ...] | None:
    """Exercises whose points clearly go together, the strongest first; `None` when the class is too small to tell.

    The intervals are Spearman's rank correlation through Fisher's z, widened so that all of them hold at once with 95 %.

    Source: Bonferroni's inequality; variance 1.06 / (n - 3) from Fieller, Hartley and Pearson, Biometrika 44, 1957.
    """
    if len(graded) < ENOUGH:
        return None
    columns = {q.id: [record.verdicts[q.id].points for record in graded] for q in questions}
    varied = [question for question, points in columns.items() if len(set(points)) > 1]
    both = list(itertools.combinations(varied, 2))
    reach = statistics.NormalDist().inv_cdf(1 - 0.025 / max(1, len(both))) * math.sqrt(1.06 / (len(graded) - 3))
    found = [_pair(one, other, columns, reach) for one, other in both]
    clear = [pair for pair in found if pair.interval[0] > 0 or pair.interval[1] < 0]
    return tuple(sorted(clear, key=lambda pair: -abs(pair.correlation)))


def _pair(one: str, other: str, columns: Mapping[str, Sequence[float]], reach: float) -> Pair:
    # Only here: SciPy's statistics take most of a second to import, and few commands ask for them.
    from scipy import stats

    correlation = float(stats.spearmanr(columns[one], columns[other]).statistic)
    z = math.atanh(max(-0.9999, min(0.9999, correlation)))
    return Pair((one, other), correlation, (math.tanh(z - reach), math.tanh(z + reach)))


def _exercise(question: Question, records: Sequence[Record]) -> Exercise:
    met = [(record.verdicts[question.id], record) for record in records if question.id in record.verdicts]
    states = collections.Counter(state(verdict) for verdict, _ in met)
    points = tuple(sorted(verdict.points for verdict, _ in met if verdict.status != "ungraded"))
    wrong = [verdict for verdict, _ in met if verdict.status == "failed"]
    answered = [verdict for verdict, _ in met if verdict.status in ("passed", "failed")]
    return Exercise(
        question.id,
        question.title,
        question.points,
        {name: states[name] for name in STATES},
        points,
        _misconceptions(answered, {miss.id: miss.cause for item in question.items for miss in item.misconceptions}),
        sum(not any(finding.misconception for finding in verdict.findings) for verdict in wrong),
        _groups(question, met),
        question.observed,
        tuple(_guess(item.name, answered) for item in question.items if getattr(item, "predicted", False)),
    )


def _guess(name: str, answered: Sequence[Verdict]) -> Guess:
    made = [v for v in answered if any(part.item == name and part.points for part in v.parts)]
    return Guess(name, len(made), sum(not any(finding.item == name for finding in v.findings) for v in made))


def _misconceptions(answered: Sequence[Verdict], causes: Mapping[str, str]) -> tuple[Cause, ...]:
    """Those that were met; a prediction that was wrong has one and costs nothing."""
    names = collections.Counter(
        name for v in answered for name in {finding.misconception for finding in v.findings if finding.misconception}
    )
    said = {
        finding.misconception: finding.cause
        for v in answered
        for finding in v.findings
        if finding.misconception and finding.cause
    }
    return tuple(Cause(name, causes.get(name) or said.get(name, ""), n) for name, n in names.most_common())


def _groups(question: Question, met: Sequence[tuple[Verdict, Record]]) -> tuple[Group, ...]:
    """Equal programs, the largest group first; single ones are left out."""
    items = {item.name for item in question.items if item.kind == "program"}
    programs = [(record.programs[question.id], verdict) for verdict, record in met if question.id in record.programs]
    sizes = collections.Counter(digest for digest, _ in programs)
    # Not the question's state: beside the programs it may hold predictions, which differ.
    parts = {digest: [part for part in verdict.parts if part.item in items] for digest, verdict in programs}
    return tuple(Group(size, _earned(parts[digest])) for digest, size in sizes.most_common() if size > 1)


def _earned(parts: Sequence[Part]) -> State:
    if all(part.points == part.of for part in parts):
        return "passed"
    return "partly" if any(part.points for part in parts) else "failed"


def _losses(graded: Sequence[Record], questions: Sequence[Question]) -> tuple[Loss, ...]:
    """What the half of the class around the median total lost, the most first."""
    ranked = sorted(graded, key=lambda record: record.points)
    quarter = len(ranked) // 4
    middle = ranked[quarter : len(ranked) - quarter]
    found = [_loss(question, [record.verdicts[question.id] for record in middle]) for question in questions]
    return tuple(sorted((loss for loss in found if loss.lost > 0), key=lambda loss: -loss.lost))


def _loss(question: Question, verdicts: Sequence[Verdict]) -> Loss:
    lost: dict[str, float] = collections.defaultdict(float)
    for part in itertools.chain.from_iterable(verdict.parts for verdict in verdicts):
        lost[part.letter] += part.of - part.points
    letter = max(lost, key=lambda each: lost[each], default="")
    mean = statistics.fmean(question.points - verdict.points for verdict in verdicts)
    return Loss(question.id, round(mean, 2), question.points, letter)
