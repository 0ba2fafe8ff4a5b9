"""`sl.example`: every program runs, none is a solution, and a report points to one when a cause comes again."""

from __future__ import annotations

import pathlib
import re
from typing import Any

import jax
import pytest

import shardlab as sl
from corpus import verdict
from shardlab.answers.record import record
from shardlab_course.chapters import QUESTIONS
from shardlab_course.checking import examples, progress_file
from shardlab_course.checking.local import judge_here
from shardlab_judge.items.program import ProgramItem
from variants import of, samples

ROOT = pathlib.Path(__file__).parents[1]
NAMED = {miss.id: question for question in QUESTIONS.values() for item in question.items for miss in item.misconceptions}
IDEAS = {idea.name: idea for idea in examples.ideas()}


@pytest.fixture(autouse=True)
def at_home(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    """A progress file of the test's own."""
    monkeypatch.setenv("SHARDLAB_PROGRESS", str(tmp_path / "progress.json"))


@pytest.mark.thorough(after=2)
@pytest.mark.parametrize("idea", IDEAS.values(), ids=IDEAS)
def test_it_runs_and_prints(idea: examples.Idea) -> None:
    """It is small, fits a narrow page, and prints a few lines."""
    printed = examples.run(idea).splitlines()
    assert 1 < len(printed) <= 6 and len(idea.program.splitlines()) <= 22
    assert max(map(len, idea.program.splitlines())) <= 120 and 15 <= len(idea.says.split()) <= 60


def test_a_program_is_plain_python() -> None:
    """No `__future__` of the course's own files reaches it."""
    idea = examples.Idea("plain", (), "1 A", "", "def f(x: int): ...\nprint(f.__annotations__)\n")
    assert examples.run(idea) == "{'x': <class 'int'>}\n"


@pytest.mark.parametrize("idea", IDEAS.values(), ids=IDEAS)
def test_it_is_about_causes_that_there_are(idea: examples.Idea) -> None:
    """A question has each of its causes, and the chapter that it names has its section."""
    assert set(idea.causes) <= set(NAMED)
    chapter, _, heading = idea.section.partition(" ")
    (text,) = (path.read_text() for path in (ROOT / "solutions").glob(f"{int(chapter):02}_*.md"))
    assert heading in re.findall(r"(?m)^##+ (.+)$", text)


def test_there_are_enough() -> None:
    """At least twenty ideas, no cause in two; of the wrong answers that we know more than a fifth has one."""
    causes = [cause for idea in IDEAS.values() for cause in idea.causes]
    wrong = [sample for sample in samples() if sample.misconception not in (None, "-")]
    assert len(IDEAS) >= 20 and len(set(causes)) == len(causes)
    assert sum(sample.misconception in causes for sample in wrong) > len(wrong) / 5


@pytest.mark.thorough(after=2)
@pytest.mark.parametrize("idea", IDEAS.values(), ids=IDEAS)
def test_it_is_no_solution(idea: examples.Idea) -> None:
    """None of its functions, given as an answer to an exercise that it is shown for, passes."""
    names: dict[str, Any] = {}
    exec(compile(examples.PRELUDE + idea.program, idea.name, "exec"), names)
    own = [value for name, value in names.items() if callable(value) and name not in dir(jax) and name[0].islower()]
    shown = {q.id: q for q in QUESTIONS.values() for i in q.items for m in i.misconceptions if m.id in idea.causes}
    for question in shown.values():
        programs = [item.name for item in question.items if isinstance(item, ProgramItem)]
        assert not set(question.variables) & set(names)
        for function in own if programs else ():
            given = record(question.manifest(), dict.fromkeys(programs, function), {})
            assert judge_here(question.id, given).status != "passed", question.id


def check(question: str, name: str) -> Any:
    """What a student is told who hands in an answer of the corpus."""
    found = of(question)[name].variables()
    return sl.check(question, *(found[variable] for variable in QUESTIONS[question].variables if variable in found))


def keep(question: str, causes: list[str]) -> None:
    """As a failed check does."""
    progress_file.note(question, causes=examples.noted(question, causes))


def test_a_cause_that_comes_again() -> None:
    """The first report has no pointer, the second one has; what it points to is about that cause, and shows both forms."""
    first, second = (check("7.5", "mean_of_means") for _ in range(2))
    assert "sl.example" not in repr(first) and not first.passed
    line = next(line for line in repr(second).splitlines() if "sl.example" in line)
    assert 'sl.example("7.5")' in line and "Three collectives, before and after" in line
    assert "sl.example" in second._repr_html_()
    shown = sl.example("7.5")
    assert shown.idea.name == "count_before_you_divide" and shown.printed.splitlines()[-1] in repr(shown)
    assert "It prints:" in repr(shown) and "<pre style=" in shown._repr_html_() and "&lt;" not in shown.idea.says


def test_without_a_cause() -> None:
    """Before a check there is nothing to show, and the note says so; an unknown exercise is an error of ours."""
    assert "no check has named a cause yet" in repr(sl.example("4.2"))
    keep("4.2", ["operands-swapped"])
    assert "no cause with an example" in repr(sl.example("4.2"))
    with pytest.raises(sl.ShardlabError, match="unknown-question"):
        sl.example("4.99")


def test_the_last_cause_counts() -> None:
    """Of several causes the one named last is shown."""
    keep("4.2", ["promise-not-proved"])
    keep("4.2", ["partial-sum-returned", "operands-swapped"])
    assert sl.example("4.2").idea.name == "terms_are_no_sum"
    keep("4.2", ["promise-not-proved"])
    assert sl.example("4.2").idea.name == "a_promise_and_its_proof"
    assert examples.pointer("4.2", ["partial-sum-returned"]) == ""
    assert "a promise" in examples.pointer("4.2", ["promise-not-proved"])


def test_feedback_of_a_grader_has_no_pointer() -> None:
    """What is said on a feedback page does not hang on a student's file."""
    sample = of("7.5")["mean_of_means"]
    for _ in range(2):
        keep("7.5", ["mean-of-means"])
    from shardlab_course.checking.feedback import html

    assert "sl.example" not in html(verdict(sample, 20), QUESTIONS["7.5"], hints=False)
