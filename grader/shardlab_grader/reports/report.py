"""A class in tables: each submission with its points and what is missing, and each exercise with what happened in it."""

from __future__ import annotations

import csv
import dataclasses
import pathlib
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from rich.console import Console, Group
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from shardlab_grader.plain import inert, plain
from shardlab_grader.records.changes import WORTH, Change
from shardlab_grader.records.store import Record
from shardlab_grader.reports.figures import ENOUGH, FEW, STATES, Exercise, Figures
from shardlab_judge.question import LETTERS
from shardlab_judge.verdict import Verdict

Cell = str | float
NONE: frozenset[str] = frozenset()
BY_HAND = "by hand"
"""What the points of all that a person grades stand under, beside those of the questions."""
STYLES = {"graded": "", "ungraded": "bold"}
COLOURS = {"graded": "green", "ungraded": "red"}
WIDE, LEAST = 140, 40
"""Columns of a table that goes to a file or a pipe; and of reasons, to stand in the table and not below it."""
MISSING = 12
"""Students who handed in nothing that a line names."""
MOST = 4
"""Exercises, or pairs of them, that a sentence names."""


@dataclasses.dataclass(frozen=True)
class Row:
    """One submission: its points by question, `total` as in the gradebook, and what a person should know.

    `student` is a name, or where names are not to be shown the submission's `key`. `fresh` says that this run gave it to
    nbgrader, `waiting` that a person has still to grade a part; `before` is the total in place of
    which a dry run would give it another; `final` is the score less the penalty before and now, where penalties were counted
    anew and that changed it.
    """

    student: str
    status: Literal["graded", "ungraded"]
    points: Mapping[str, float] = dataclasses.field(default_factory=dict)
    total: float | None = None
    reason: str = ""
    key: str = ""
    fresh: bool = dataclasses.field(default=False, compare=False)
    final: tuple[float, float] | None = None
    waiting: bool = False
    before: float | None = None


def row(student: str, record: Record, total: float | None) -> Row:
    """The row of a submission with a record; a single ungraded question makes the submission ungraded."""
    points = {question: verdict.points for question, verdict in record.verdicts.items()}
    reasons: dict[str, list[str]] = {}
    for question, verdict in record.verdicts.items():
        failed = verdict.of and verdict.status in ("failed", "unattempted")  # and counts in the course
        if verdict.status == "ungraded" or (failed and not record.ungraded):
            reasons.setdefault(_short(_said(verdict, record.errors.get(question, ()))), []).append(question)
    told = "; ".join(f"{', '.join(asked)}: {why}" for why, asked in reasons.items())
    return Row(student, "ungraded" if record.ungraded else "graded", points, total, told)


def table(
    rows: Sequence[Row],
    questions: Mapping[str, float],
    head: str = "student",
    observed: frozenset[str] = NONE,
    width: int = WIDE,
) -> Group:
    """The rows for a terminal; `questions` gives each column its points, `head` says what the first column holds.

    The `observed` questions are marked: what running processes said was judged, and not what they had compiled. Where a
    terminal of this `width` leaves too little beside the points, reasons stand below them.
    """
    points = _points(rows, questions, head, observed)
    if width - Console(width=10 * WIDE).measure(points).maximum >= LEAST:
        return Group(_points(rows, questions, head, observed, reasons=True))
    reasons = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1, 0, 0))
    reasons.add_column(head, no_wrap=True)
    reasons.add_column("reason")
    for one in rows:
        if one.reason:
            reasons.add_row(escape(plain(one.student)), escape(plain(one.reason)), style=STYLES[one.status])
    return Group(points, "", reasons) if reasons.row_count else Group(points)


def _points(
    rows: Sequence[Row], questions: Mapping[str, float], head: str, observed: frozenset[str], reasons: bool = False
) -> Table:
    most = sum(questions.values())
    shown = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1, 0, 0))
    for name in (head, "state"):
        shown.add_column(name, no_wrap=True)
    for question, points in questions.items():
        mark = "\nobserved" if question in observed else ""
        shown.add_column(f"{question}\n/{points:g}{mark}", justify="right")
    shown.add_column(f"total\n/{most:g}", justify="right")
    if reasons:
        shown.add_column("reason")
    for one in rows:
        cells = [number(one.points.get(question)) for question in questions] + [_total(one)]
        cells += [escape(plain(one.reason))] * reasons
        state = Text(one.status, COLOURS[one.status])
        shown.add_row(escape(plain(one.student)), state, *cells, style=STYLES[one.status])
    return shown


def write_scores(
    rows: Sequence[Row],
    questions: Mapping[str, float],
    path: pathlib.Path,
    head: str = "student",
    observed: frozenset[str] = NONE,
) -> None:
    """The same table as CSV."""
    heads = [f"{question} (observed)" if question in observed else question for question in questions]
    lines: list[list[Cell]] = [[head, "state", *heads, "total", "of", "reason"]]
    for one in rows:
        points = [one.points.get(question, "") for question in questions]
        total = "" if one.total is None else one.total
        lines.append([one.student, one.status, *points, total, sum(questions.values()), one.reason])
    _write(lines, path)


def tables(found: Figures) -> tuple[Table, ...]:
    """What a terminal shows of the figures."""
    exercises = exercise_table(found)
    named = any(one.misconceptions or one.other for one in found.exercises)
    guessed = any(one.guesses for one in found.exercises)
    return (exercises, *[guess_table(found)] * guessed, *[misconception_table(found)] * named)


def exercise_table(found: Figures) -> Table:
    """One row an exercise: how many ended in each state, the mean, and the sizes of the groups of equal programs."""
    shown = Table(box=None, pad_edge=False, header_style="bold")
    shown.add_column("exercise", overflow="fold")
    for name in (*STATES, "mean", "of"):
        shown.add_column(name, justify="right")
    shown.add_column("equal programs", overflow="fold")
    for one in found.exercises:
        counts = [str(one.counts[name] or "-") for name in STATES]
        mean = number(one.mean and round(one.mean, 2))
        mark = " (observed)" if one.observed else ""
        shown.add_row(f"{one.question} {escape(one.title)}{mark}", *counts, mean, f"{one.of:g}", groups(one))
    return shown


def guess_table(found: Figures) -> Table:
    """One row a prediction: how many were made, and how many came true."""
    shown = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("exercise", "prediction", "made", "came true"):
        shown.add_column(name, justify="right" if name in ("made", "came true") else "left")
    for one in found.exercises:
        for guess in one.guesses:
            shown.add_row(one.question, guess.name, str(guess.made), str(guess.right))
    return shown


def misconception_table(found: Figures) -> Table:
    """One row a named misconception, the most frequent of an exercise first, with the sentence that explains it."""
    shown = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("exercise", "hit by", "misconception"):
        shown.add_column(name, no_wrap=True, justify="right" if name == "hit by" else "left")
    shown.add_column("likely cause", overflow="fold")
    for one in found.exercises:
        for miss in one.misconceptions:
            shown.add_row(one.question, str(miss.count), miss.name, escape(miss.cause))
        if one.other:
            shown.add_row(one.question, str(one.other), "-", "other mistakes; the feedback pages say what differs")
    return shown


def sentences(found: Figures) -> list[str]:
    """What else the figures say: totals, the middle of the class, what goes together, machine time."""
    return [*_totals(found), *_middle(found), *_together(found), *_time(found)]


def groups(exercise: Exercise) -> str:
    """The groups of equal programs by what they earned: `passed 12 + 5; failed 3`."""
    by_state = {name: [str(group.size) for group in exercise.groups if group.state == name] for name in STATES}
    return "; ".join(f"{name} {' + '.join(sizes)}" for name, sizes in by_state.items() if sizes)


def write_csv(found: Figures, path: pathlib.Path) -> None:
    """The figures of each exercise as CSV."""
    heads = ["exercise", "title", "submissions", *STATES, "mean", "of", "misconceptions", "other mistakes", "equal programs"]
    lines: list[list[Cell]] = [[*heads, "observed", "predictions that came true"]]
    for one in found.exercises:
        misconceptions = "; ".join(f"{miss.name}: {miss.count}" for miss in one.misconceptions)
        mean = "" if one.mean is None else round(one.mean, 2)
        counts = [one.counts[name] for name in STATES]
        lines.append([one.question, one.title, sum(counts), *counts, mean, one.of, misconceptions, one.other, groups(one)])
        came_true = "; ".join(f"{guess.name}: {guess.right} of {guess.made}" for guess in one.guesses)
        lines[-1] += ["observed" if one.observed else "", came_true]
    _write(lines, path)


def summary(rows: Sequence[Row]) -> str:
    """One line: how many were graded and how many were not, and how many a person has still to grade in part."""
    ungraded = sum(one.status == "ungraded" for one in rows)
    line = f"{len(rows)} submission{'s' * (len(rows) != 1)}: {len(rows) - ungraded} graded, {ungraded} ungraded"
    line = f"{line}; a person must look at the ungraded ones." if ungraded else f"{line}."
    waiting = sum(one.waiting for one in rows)
    where = "Waiting for a person, in Formgrader or by mark"
    return f"{line} {where}: {waiting}. Their totals lack these points." if waiting else line


def enrolment(handed: int, missing: Sequence[str], everybody: bool = False) -> str:
    """How many are enrolled and have handed in, and who has not: the first few, or everybody."""
    line = f"{handed + len(missing)} enrolled, {handed} handed in"
    if not missing:
        return f"{line}."
    named = missing if everybody else missing[:MISSING]
    more = f" and {len(missing) - len(named)} more (--verbose names them)" * (len(named) < len(missing))
    return f"{line}, missing: {', '.join(map(plain, named))}{more}"


def changed(changes: Sequence[Change], names: bool) -> list[str]:
    """How many scores are others than before, and each with the reason."""
    if not changes:
        return []
    equal: dict[tuple[str, str], list[str]] = {}
    for one in changes:
        said = f"{one.question}: {number(one.before)} -> {number(one.now)}, {one.why}"
        equal.setdefault((f"{one.date} ".lstrip(), said), []).append(plain(one.student) if names else one.key)
    head = f"{len(changes)} score{'s' * (len(changes) != 1)} changed:"
    return [head, *(_change(when, said, who) for (when, said), who in equal.items())]


def _change(when: str, said: str, who: Sequence[str]) -> str:
    if len(who) == 1:
        return f"  {when}{who[0]} {said}"
    return f"  {when}{said}: {len(who)} submissions" + f", {', '.join(who)}" * (WORTH not in said)


def finals(rows: Sequence[Row]) -> list[str]:
    """Which final scores penalties that were counted anew have changed."""
    told = [f"  {plain(one.student)}: {number(one.final[0])} -> {number(one.final[1])}" for one in rows if one.final]
    return [f"penalties changed {len(told)} final score{'s' * (len(told) != 1)}:", *told] if told else []


def old_points(questions: Sequence[str]) -> list[str]:
    """Which exercises keep points that the course has changed since the release, and what gives them the new ones."""
    if not questions:
        return []
    told = f"the course has new points for {', '.join(questions)}; this release keeps the points that it was made with."
    return [f"{told} Releasing it again gives it the new points, and grade then gives them to every submission."]


def old_questions(kept: bool) -> list[str]:
    """That a release keeps questions that the course has changed since, and what gives it the new ones."""
    told = "the course has new versions of this chapter's questions; this release keeps those that it was made with."
    return [f"{told} Releasing it again gives it the new ones, and every submission is then judged anew."] * kept


def graded_with(versions: Mapping[str, str]) -> list[str]:
    """With which versions a class was graded last."""
    return [f"graded with {', '.join(f'{name} {version}' for name, version in versions.items())}."] if versions else []


def number(points: float | None) -> str:
    """Points for a table."""
    return "-" if points is None else f"{points:g}"


def _total(one: Row) -> str:
    moved = one.before is not None and one.before != one.total
    return f"{number(one.before)} -> {number(one.total)}" if moved else number(one.total)


def _said(verdict: Verdict, errors: Sequence[str]) -> str:
    """A few words: the name of the known mistake or else the first finding, and what its cell raised."""
    errors = [error.partition("\n")[0] for error in errors]
    if verdict.status == "unattempted":
        return f"stopped in {errors[0]}" if errors else "not attempted"
    if not verdict.findings:
        return verdict.reason.rstrip(".") or verdict.status
    named = next((finding.misconception for finding in verdict.findings if finding.misconception), None)
    stopped = f" (stopped in {errors[0]})" if errors else ""
    return (named or verdict.findings[0].what.rstrip(".")) + stopped


def _totals(found: Figures) -> list[str]:
    if not found.totals:
        return []
    low, high = found.totals[0], found.totals[-1]
    middle = statistics.median(found.totals)
    return [f"Totals: median {middle:g} of {found.of:g}; from {low:g} to {high:g}."]


def _middle(found: Figures) -> list[str]:
    if found.losses is None:
        return [f"The report cannot say where the median student lost points: that takes {FEW} graded submissions."]
    if not found.losses:
        return ["The middle half of the class lost no points."]
    told = [
        f"{one.lost:.1f} of {one.of:g} in {one.question}, mostly {LETTERS.get(one.letter, one.letter)}"
        for one in found.losses[:MOST]
    ]
    return [f"The middle half of the class lost, on average: {'; '.join(told)}."]


def _together(found: Figures) -> list[str]:
    if found.pairs is None:
        return [f"The report does not say how exercises go together: that takes {ENOUGH} graded submissions."]
    if not found.pairs:
        return ["No two exercises clearly go together in a class of this size."]
    told = [
        f"{' and '.join(pair.questions)} ({pair.correlation:.2f}, {pair.interval[0]:.2f} to {pair.interval[1]:.2f})"
        for pair in found.pairs[:MOST]
    ]
    return [f"Points go together (rank correlation, interval for all pairs at once): {'; '.join(told)}."]


def _time(found: Figures) -> list[str]:
    if not found.seconds:
        return []
    middle, longest = statistics.median(found.seconds), found.seconds[-1]
    return [f"Machine time of a submission, run and judged: median {middle:.1f} s, longest {longest:.1f} s."]


def _write(lines: Iterable[Sequence[Cell]], path: pathlib.Path) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([_inert(cell) for cell in line] for line in lines)


def _inert(cell: Cell) -> Cell:
    # A student chooses the file names that a reason quotes.
    return plain(inert(cell)) if isinstance(cell, str) else cell


def _short(reason: str, head: int = 90, tail: int = 110) -> str:
    """A reason on one line; of a long one the beginning and the end, where a traceback says what it was."""
    line = " ".join(reason.split())
    return line if len(line) <= head + tail else f"{line[:head]} ... {line[-tail:]}"
