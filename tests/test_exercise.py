"""What a student calls: check, predict, hint, explain, progress; and the one file that remembers."""

from __future__ import annotations

import json
import pathlib

import pytest
from sample_questions import CALLED, PLACED, PROGRAM, product, question

import shardlab as sl
from shardlab.answers.record import plain, record
from shardlab.errors import ShardlabError
from shardlab_course import chapters as questions
from shardlab_course.checking import elsewhere, local, predictions, progress_file
from shardlab_judge.items.value import ValueItem
from shardlab_judge.references import build

GUESS = question(ValueItem("kinds", {"P": 1}, key=frozenset({"all-reduce"}), predicted=True), *CALLED.items, id="0.2")


@pytest.fixture(autouse=True)
def course(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    """A course of two questions and an empty progress file."""
    monkeypatch.setenv("SHARDLAB_PROGRESS", str(tmp_path / "progress.json"))
    monkeypatch.setattr(questions, "QUESTIONS", {"0.1": PROGRAM, "0.2": GUESS})
    monkeypatch.setattr(predictions, "GIVEN", {})
    references = build([PROGRAM], {"0.1": record(PROGRAM.manifest(), {"product": product}, {})})
    monkeypatch.setattr(local, "reference_of", lambda id: references)


def bytes_of(shape, size):
    total = size
    for n in shape:
        total *= n
    return total


def test_check_by_position_and_by_name() -> None:
    """Answers are given in the exercise's order or by name, with the same verdict."""
    assert sl.check("0.1", product).passed
    assert sl.check("0.1", product=product).passed


def test_unattempted_is_quiet_and_no_try() -> None:
    """`...` is answered in a line and counts for nothing."""
    assert "to do" in repr(sl.check("0.1", ...))
    assert progress_file.of("0.1") == {}


@pytest.mark.parametrize(
    "call, reference",
    [
        pytest.param(lambda: sl.check("9.9", 1), "unknown-question", id="unknown question"),
        pytest.param(lambda: sl.check("0.1", 1, 2), "other-answers", id="too many answers"),
        pytest.param(lambda: sl.check("0.1", sum=1), "other-answers", id="another name"),
        pytest.param(lambda: sl.hint("0.1", 4), "no-such-hint", id="fourth hint"),
        pytest.param(lambda: sl.target("0.1", "A"), "no-such-target", id="no target"),
        pytest.param(lambda: sl.predict("0.2", kind=1), "unknown-prediction", id="unknown prediction"),
    ],
)
def test_slips_are_named(call, reference: str) -> None:
    """A slip in a call is told with what to write instead."""
    with pytest.raises(ShardlabError) as caught:
        call()
    assert caught.value.reference == reference
    assert caught.value.mend


def test_unknown_question_whole_message() -> None:
    """The message names the nearest question."""
    with pytest.raises(ShardlabError) as caught:
        sl.check("0.11", 1)
    assert str(caught.value) == (
        "[unknown-question] there is no question '0.11'.\n"
        "  where: sl.check('0.11', ...)   questions: 0.1, 0.2\n"
        "  mend:  use the number in the exercise's heading, as text; the nearest is '0.1'."
    )


def test_predictions_are_merged_and_survive_a_restart(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was predicted before is judged with the answer, also in a new session."""
    assert "Noted for 0.2" in repr(sl.predict("0.2", kinds=["all-reduce"]))
    monkeypatch.setattr(predictions, "GIVEN", {})
    assert sl.check("0.2", bytes_of).verdict.points == 4


def test_open_prediction_is_no_prediction() -> None:
    """`...` notes nothing."""
    assert "still open" in repr(sl.predict("0.2", kinds=...))
    assert predictions.predicted("0.2") == {}


def test_hints_come_one_by_one() -> None:
    """Each call opens the next hint, the last stays; any can be asked for by number."""
    assert [sl.hint("0.1").text for _ in range(4)] == [*PROGRAM.hints, PROGRAM.hints[2]]
    assert sl.hint("0.1", 1).text == PROGRAM.hints[0]
    assert progress_file.of("0.1")["hints"] == 3


def test_explanation_opens_after_passing() -> None:
    """No explanation before the first full pass; a later wrong try does not close it."""
    assert "not passed yet" in repr(sl.explain("0.1"))
    sl.check("0.1", product)
    sl.check("0.1", lambda mesh, a, b: a)
    assert PROGRAM.explanation in repr(sl.explain("0.1"))
    assert progress_file.of("0.1") == {"status": "passed", "points": 4, "of": 4, "tries": 2}


def test_progress_table() -> None:
    """Every question has a row; points are summed."""
    sl.check("0.1", product)
    table = sl.progress()
    assert [row[0] for row in table.rows] == ["0.1", "0.2"]
    assert "4 of 8 points" in repr(table) and "✓ passed" in table._repr_html_()


@pytest.mark.parametrize(
    "contents", ["", "{", "[]", '{"questions": 3, "predictions": {}}', '{"questions": {"0.1": 1}, "predictions": {}}']
)
def test_damaged_progress_is_set_aside(contents: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A damaged file is kept under another name, said so, and never fatal."""
    progress_file.location().write_text(contents)
    assert sl.check("0.1", product).passed
    assert "set aside" in capsys.readouterr().out
    assert progress_file.location().with_name("progress.json.damaged").read_text() == contents
    assert json.loads(progress_file.location().read_text())["questions"]["0.1"]["status"] == "passed"


def test_unwritable_place_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where no file can be written the check still answers."""
    monkeypatch.setenv("SHARDLAB_PROGRESS", str(tmp_path / "nowhere" / "progress.json"))
    assert sl.check("0.1", product).passed
    assert "could not be kept" in capsys.readouterr().out


def test_judge_in_a_child_gives_the_same_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a TPU or GPU the judge is a child on simulated CPU devices, which answers the same."""
    monkeypatch.undo()
    asked = questions.question("1.2")
    answer = record(asked.manifest(), dict.fromkeys(asked.variables, bytes_of), {})
    try:
        for _ in range(2):
            assert elsewhere.judge_elsewhere("1.2", answer) == local.judge_here("1.2", answer)
    finally:
        elsewhere._child().kill()
        elsewhere._child().wait()
        elsewhere._child.cache_clear()


@pytest.mark.parametrize("value", [float("inf"), object(), [1, {2: len}], 1j], ids=str)
def test_plain_refuses(value: object) -> None:
    """What JSON cannot hold is named."""
    with pytest.raises(TypeError):
        plain(value)


def test_variable_that_holds_no_dict() -> None:
    """Where a dict of answers is asked for, anything else is told by its type."""
    asked = question(*PLACED.items, variable="pictures")
    entry = record(asked.manifest(), {"pictures": [1]}, {})["items"]["picture"]
    assert entry["error"]["message"] == "pictures is a list; it should be a dict with an entry for each part"
