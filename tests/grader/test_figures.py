"""What a class's records say of the exercises, and what is not said of a class that is too small."""

from __future__ import annotations

import random

import pytest

from shardlab_grader.records.store import Record
from shardlab_grader.reports.figures import FEW, Cause, Figures, Group, Guess, Loss, State, figures, state
from shardlab_judge import question as declared
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question
from shardlab_judge.verdict import Finding, Part, Status, Verdict

HINTS = ("one", "two", "three")
MISS = declared.Misconception("forgot-psum", "Nothing adds the terms up.")
F = CallsItem("f", {"V": 2.0, "H": 1.0}, oracle=abs, calls=((1,),), misconceptions=(MISS,))
QUESTIONS = [
    Question("1.1", "One", (F,), 1, 1, HINTS, ""),
    Question("1.2", "Two", (ValueItem("a", {"P": 1.0}, key=1),), 1, 1, HINTS, ""),
]


def one(points: float = 3.0, misconceptions: tuple[str, ...] = (), status: Status | None = None) -> Verdict:
    """A verdict on 1.1: values first, then communication."""
    parts = (Part("f", "V", min(points, 2.0), 2.0), Part("f", "H", max(points - 2.0, 0.0), 1.0))
    findings = tuple(
        Finding("f", "V", "It differs.", cause="As found.", misconception=miss or None) for miss in misconceptions
    )
    return Verdict("1.1", status or ("passed" if points == 3.0 else "failed"), parts, findings)


def two(points: float = 1.0) -> Verdict:
    """A verdict on 1.2."""
    return Verdict("1.2", "passed" if points else "failed", (Part("a", "P", points, 1.0),))


def made(*verdicts: Verdict, seconds: float = 0.0, program: str = "") -> Record:
    """A record; a question that is not named is passed."""
    found = {"1.1": one(), "1.2": two()} | {verdict.question: verdict for verdict in verdicts}
    return Record(
        found, "none", seconds={"notebook": seconds} if seconds else {}, programs={"1.1": program} if program else {}
    )


def of(*records: Record) -> Figures:
    """The figures of a class."""
    return figures(records, QUESTIONS)


STATES: dict[str, tuple[Verdict, State]] = {
    "all points": (one(), "passed"),
    "some": (one(2.0), "partly"),
    "none": (one(0.0), "failed"),
    "no answer": (one(0.0, status="unattempted"), "unattempted"),
    "our fault": (one(0.0, status="ungraded"), "ungraded"),
}


@pytest.mark.parametrize(("verdict", "expected"), STATES.values(), ids=STATES)
def test_a_verdict_has_one_state(verdict: Verdict, expected: State) -> None:
    """Wrong with points is *partly*; all others keep the verdict's word."""
    assert state(verdict) == expected


def test_every_submission_is_counted_once() -> None:
    """States add up to the class; an ungraded question is in no mean."""
    first, second = of(*(made(verdict) for verdict, _ in STATES.values())).exercises
    assert first.counts == {"passed": 1, "partly": 1, "failed": 1, "unattempted": 1, "ungraded": 1}
    assert (first.points, first.mean) == ((0.0, 0.0, 2.0, 3.0), 1.25)
    assert second.counts == {"passed": 5, "partly": 0, "failed": 0, "unattempted": 0, "ungraded": 0}


def test_misconceptions_are_counted_by_submission() -> None:
    """A mistake in three cases of one submission counts once; its cause is the declared one, or else what was said."""
    known, twice, other = one(0.0, ("forgot-psum",) * 3), one(0.0, ("forgot-psum", "new-one")), one(0.0, ("",))
    exercise = of(made(known), made(twice), made(other), made()).exercises[0]
    assert exercise.misconceptions == (
        Cause("forgot-psum", "Nothing adds the terms up.", 2),
        Cause("new-one", "As found.", 1),
    )
    assert exercise.other == 1


def test_predictions_are_counted_by_exercise() -> None:
    """How many were made, how many came true; a wrong one costs nothing, and its cause is counted."""
    known = declared.Misconception("as-before", "It grew.")
    question = Question("1.2", "Two", (ValueItem("a", {"P": 1.0}, key=1, predicted=True, misconceptions=(known,)),), 1, 1,
                        HINTS, "")  # fmt: skip
    told = "The outcome was different from what you predicted."
    otherwise = Finding("a", "P", told, cause="It grew.", misconception="as-before")
    part = Part("a", "P", 1.0, 1.0)
    wrong, right = Verdict("1.2", "passed", (part,), (otherwise,)), Verdict("1.2", "passed", (part,))
    none = Verdict("1.2", "failed", (Part("a", "P", 0.0, 1.0),), (Finding("a", "P", "a was not given."),))
    exercise = figures([Record({"1.2": v}, "none") for v in (wrong, wrong, right, none)], [question]).exercises[0]
    assert exercise.guesses == (Guess("a", 3, 1),)
    assert exercise.misconceptions == (Cause("as-before", "It grew.", 2),)
    assert exercise.counts["passed"] == 3 and exercise.other == 1


def test_groups_of_equal_programs() -> None:
    """Sizes, largest first; a program that nobody else has is in no group."""
    programs = ["a", "b", "a", "c", "b", "a", ""]
    assert [group.size for group in of(*(made(program=p) for p in programs)).exercises[0].groups] == [3, 2]


@pytest.mark.parametrize(("points", "earned"), [(3.0, "passed"), (2.0, "partly"), (0.0, "failed")])
def test_a_group_has_what_its_program_earned(points: float, earned: State) -> None:
    """The programs' own parts count; a prediction in the same question does not change what the program is."""
    question = Question("1.1", "One", (ProgramLike("f", {"V": 2.0, "H": 1.0}, key=1), F), 1, 1, HINTS, "")
    found = figures([made(one(points), program="a")] * 2, [question])
    assert found.exercises[0].groups == (Group(2, earned),)


class ProgramLike(ValueItem):
    """An item that counts as a program."""

    kind = "program"


def test_the_middle_of_the_class() -> None:
    """The half around the median: who lost most and least is left out; the letter that cost most is named."""
    wrong, best = made(one(0.0)), made()
    middle = [made(one(2.0)), made(one(2.0)), made(one(2.0), two(0.0)), made(one(2.0))]
    found = of(wrong, wrong, *middle, best, best)
    assert found.losses == (Loss("1.1", 1.0, 3.0, "H"), Loss("1.2", 0.25, 1.0, "P"))


def test_a_small_class_is_not_described() -> None:
    """With fewer graded submissions there is no middle; the ungraded ones do not count."""
    lost = made(one(0.0, status="ungraded"))
    assert of(*[made()] * (FEW - 1), lost).losses is None
    assert of(*[made()] * FEW).losses == ()


def test_no_correlation_is_told_of_a_small_class() -> None:
    """29 submissions whose points agree perfectly say nothing here; 30 do."""
    agreeing = [made(one(3.0 * (n % 2)), two(n % 2)) for n in range(30)]
    assert of(*agreeing[:29]).pairs is None
    (pair,) = of(*agreeing).pairs or ()
    assert (pair.questions, round(pair.correlation, 6)) == (("1.1", "1.2"), 1.0)


def test_chance_is_rarely_told() -> None:
    """Of 200 classes with independent points at most a few show a pair; the interval promises 5 %."""
    rng = random.Random(0)
    classes = [[made(one(rng.choice((0.0, 2.0, 3.0))), two(rng.choice((0.0, 1.0)))) for _ in range(40)] for _ in range(200)]
    assert sum(bool(of(*records).pairs) for records in classes) <= 20


def test_an_exercise_that_all_have_right_correlates_with_nothing() -> None:
    """Without variation there is no correlation, and no division by it."""
    assert of(*[made(two(n % 2)) for n in range(30)]).pairs == ()


def test_times_and_totals() -> None:
    """Totals of the graded, sorted; times of all that were measured."""
    found = of(made(seconds=3.0), made(one(2.0), seconds=1.5), made(one(0.0, status="ungraded")))
    assert (found.totals, found.seconds, found.of, found.submissions) == ((3.0, 4.0), (1.5, 3.0), 4.0, 3)


def test_an_empty_class() -> None:
    """Nobody has handed in yet: no figure fails."""
    found = of()
    assert (found.submissions, found.totals, found.seconds, found.losses) == (0, (), (), None)
    assert found.exercises[0].mean is None
