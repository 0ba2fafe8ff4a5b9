"""What a student calls: check, predict, hint, explain, progress; and the one file that remembers."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from fractions import Fraction

import jax
import numpy as np
import pytest
from jax.sharding import AxisType

import shardlab as sl
from sample_questions import CALLED, PLACED, PROGRAM, product, question
from shardlab.answers.record import record
from shardlab.as_json import as_json
from shardlab.errors import ShardlabError
from shardlab_course import chapters as questions
from shardlab_course.checking import elsewhere, local, predictions, progress_file
from shardlab_course.checking.exercise import Note
from shardlab_course.checking.feedback import html
from shardlab_course.checking.moment import Moment, moment, own_choice
from shardlab_course.outline import outline
from shardlab_judge import measuring
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import WrongValues
from shardlab_judge.references import build
from shardlens import setting

KINDS = ("all-gather", "all-reduce")
GUESS = question(
    ValueItem("kinds", {"P": 1}, key=frozenset({"all-reduce"}), members=KINDS, predicted=True),
    ValueItem("shares", {"P": 2}, key={"a": 0.125, "b": 1}, predicted=True),
    *CALLED.items,
    id="0.2",
)


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


@pytest.mark.parametrize(
    "setting",
    [
        lambda: jax.set_mesh(jax.make_mesh((4, 2), ("a", "b"), axis_types=(AxisType.Auto,) * 2)),
        lambda: jax.set_mesh(jax.make_mesh((4, 2), ("a", "b"), axis_types=(AxisType.Explicit,) * 2)),
        jax.disable_jit,
        lambda: setting("jax_use_shardy_partitioner", False),
    ],
    ids=["a mesh for all", "an Explicit mesh for all", "nothing compiled", "without Shardy"],
)
def test_what_another_cell_has_set(setting: Callable[[], AbstractContextManager[None]]) -> None:
    """The mesh of the case is the only one, and programs are compiled, with Shardy."""
    measuring.measure.cache_clear()
    with setting():
        assert sl.check("0.1", product).passed


def test_one_of_several_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who gives one answer by its name is told of it alone, and is not through."""
    pair = question(*(ValueItem(name, {"V": 1}, key=key) for name, key in (("rows", 2), ("columns", 3))), id="0.2")
    monkeypatch.setitem(questions.QUESTIONS, "0.2", pair)
    right = sl.check("0.2", rows=2)
    assert (right.passed, right.verdict.findings, right.verdict.points) == (False, (), 1)
    assert right.verdict.reason == "Of rows alone: right. The other answers were not given."
    assert [finding.item for finding in sl.check("0.2", columns=2).verdict.findings] == ["columns"]
    assert len(sl.check("0.2", 1).verdict.findings) == 2


def test_unattempted_is_quiet_and_no_try() -> None:
    """`...` is answered in a line and counts for nothing."""
    assert "to do" in repr(sl.check("0.1", ...))
    assert progress_file.of("0.1") == {} and progress_file.last() == ""


def columns(n: int) -> int:
    return n


def rows(n: int) -> int:
    return n


@pytest.mark.parametrize(
    "call, reference",
    [
        pytest.param(lambda: sl.check("9.9", 1), "unknown-question", id="unknown question"),
        pytest.param(lambda: sl.check(PROGRAM, 1), "unknown-question", id="an answer in the number's place"),
        pytest.param(lambda: sl.check("product", 1), "unknown-question", id="a name in the number's place"),
        pytest.param(lambda: sl.check("0.2", columns, rows), "other-answers", id="functions in each other's places"),
        pytest.param(lambda: sl.predict("0.2", ["all-reduce"]), "unknown-prediction", id="prediction without its name"),
        pytest.param(lambda: sl.check("0.1", 1, 2), "other-answers", id="too many answers"),
        pytest.param(lambda: sl.check("0.1", sum=1), "other-answers", id="another name"),
        pytest.param(lambda: sl.hint("0.1", 4), "no-such-hint", id="fourth hint"),
        pytest.param(lambda: sl.hint("0.1", 1.0), "no-such-hint", id="hint by a float"),
        pytest.param(lambda: sl.target("0.1", "A"), "no-such-target", id="no target"),
        pytest.param(lambda: sl.predict("0.2", kind=1), "unknown-prediction", id="unknown prediction"),
        pytest.param(lambda: sl.predict("0.2", kinds=["gather"]), "no-such-prediction", id="another word"),
        pytest.param(lambda: sl.predict("0.2", kinds=len), "no-such-prediction", id="no value at all"),
    ],
)
def test_slips_are_named(call, reference: str) -> None:
    """A slip in a call is told with what to write instead."""
    with pytest.raises(ShardlabError) as caught:
        call()
    assert caught.value.reference == reference
    assert caught.value.mend


def test_a_name_nobody_has_names_the_nearest() -> None:
    """As Python does for names that it knows."""
    with pytest.raises(AttributeError, match="no attribute 'chekc'; the nearest name is 'check'$"):
        getattr(sl, "chekc")  # noqa: B009


def test_an_answer_that_checks_itself_ends() -> None:
    """It is told so, and the next check is not affected."""

    def itself(mesh, a, b):
        return sl.check("0.1", itself)

    assert "put it into a cell of its own" in " ".join(repr(sl.check("0.1", itself)).split())
    assert sl.check("0.1", product).passed


def test_entries_that_nobody_asked_for() -> None:
    """A dict whose keys are misspelt is wrong, and not open; one that is open in part says nothing of them."""
    manifest = {"variable": "cases", "items": [{"name": "a", "kind": "value"}, {"name": "b", "kind": "value"}]}
    entries = record(manifest, {"cases": {"A": 1, "b": 2}}, {})["items"]
    assert entries["a"]["error"]["message"] == "no such entry in cases, which has 'A'" and entries["b"] == {"value": 2}
    assert record(manifest, {"cases": {"b": 2}}, {})["items"]["a"] == {"missing": True}


def test_unknown_question_whole_message() -> None:
    """The message names the nearest question."""
    with pytest.raises(ShardlabError) as caught:
        sl.check("0.11", 1)
    assert str(caught.value) == (
        "[unknown-question] there is no question '0.11'.\n"
        "  where: sl.check('0.11', ...)   chapter 0 has 0.1 to 0.2\n"
        "  mend:  use the number in the exercise's heading, as text; the nearest is '0.1'."
    )


def test_what_cannot_be_a_prediction_is_refused_whole_message() -> None:
    """All faults at once, and nothing of the call is noted."""
    with pytest.raises(ShardlabError) as caught:
        sl.predict("0.2", kinds=["all_gather", "gather"], shares={"a": "1/8", "c": 1})
    assert str(caught.value) == (
        "[no-such-prediction] kinds: 'gather' is not one of all-gather, all-reduce; shares: a: '1/8' is not a number: "
        "write it without quotation marks; shares: there is no entry 'c'; the entries are a, b.\n"
        "  where: sl.predict('0.2', kinds=..., shares=...)\n"
        "  mend:  write what the exercise lists, and `...` where you don't predict yet. Nothing was noted."
    )
    assert predictions.predicted("0.2") == {} and not progress_file.location().exists()


def test_predictions_are_merged_and_survive_a_restart(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was predicted before is judged with the answer, also in a new session."""
    assert "Noted for 0.2: kinds = ['all-reduce']" in repr(sl.predict("0.2", kinds="ALL_REDUCE"))
    sl.predict("0.2", shares={"a": Fraction(1, 8), "b": np.float32(1)})
    monkeypatch.setattr(predictions, "GIVEN", {})
    assert sl.check("0.2", bytes_of).verdict.points == 6


def test_a_wrong_prediction_passes_and_is_told() -> None:
    """It earns its points by being made; how it turned out is said, and the explanation opens."""
    sl.predict("0.2", kinds=["all-gather"], shares={"a": 1, "b": 1})
    feedback = sl.check("0.2", bytes_of)
    assert feedback.passed and feedback.verdict.points == 6
    told = "2 predictions were different: kinds, ['all-reduce'] instead of ['all-gather']; shares, a: 0.125 instead of a: 1"
    assert told in repr(feedback) and "<details><summary" in feedback._repr_html_()
    again = sl.check("0.2", bytes_of)
    assert again.passed and "different" not in repr(again) + again._repr_html_()
    assert GUESS.explanation in repr(sl.explain("0.2"))


def test_the_first_prediction_is_kept() -> None:
    """Another one is noted for the check; the file keeps the first, and a dict is filled in by and by."""
    sl.predict("0.2", kinds=["all-gather"], shares={"a": 1, "b": ...})
    again = sl.predict("0.2", kinds=["all-reduce"], shares={"a": 0.125, "b": 0.5})
    assert "Your first prediction is kept beside it: kinds = ['all-gather'], shares = {'a': 1, 'b': 0.5}." in repr(again)
    assert progress_file.read()["predictions"]["0.2"] == {"kinds": ["all-gather"], "shares": {"a": 1, "b": 0.5}}
    assert predictions.predicted("0.2") == {"kinds": ["all-reduce"], "shares": {"a": 0.125, "b": 0.5}}


def test_nothing_is_no_first_prediction() -> None:
    """A variable that was empty yet does not stand for what was thought."""
    assert progress_file.note_prediction("0.2", {"kinds": None}) == {"kinds": None}
    assert progress_file.note_prediction("0.2", {"kinds": ["all-gather"]}) == {"kinds": ["all-gather"]}


def test_a_prediction_that_is_open_in_part_earns_its_part() -> None:
    """One entry of two, and the other one is asked for."""
    sl.predict("0.2", kinds=[], shares={"a": 0.125})
    verdict = sl.check("0.2", bytes_of).verdict
    assert (verdict.status, verdict.points) == ("failed", 5)
    assert any(finding.what == "b: no answer yet." for finding in verdict.findings)


def test_open_prediction_is_no_prediction() -> None:
    """`...` notes nothing."""
    assert "still open" in repr(sl.predict("0.2", kinds=...))
    assert predictions.predicted("0.2") == {}


def test_hints_come_one_by_one() -> None:
    """Each call opens the next hint, the last stays; any can be asked for by number."""
    assert [sl.hint("0.1").text for _ in range(4)] == [*PROGRAM.hints, PROGRAM.hints[2]]
    assert sl.hint("0.1", 1).text == PROGRAM.hints[0]
    assert sl.hint("0.1", np.int64(2)).text == PROGRAM.hints[1]
    assert progress_file.of("0.1")["hints"] == 3


def test_paragraphs_stay_apart() -> None:
    """An empty line between them in a terminal, and one element each on a page; a title alone is a line."""
    note = Note("Title", "One & two.\n\nThree.")
    assert repr(note) == "Title\n  One & two.\n\n  Three."
    assert note._repr_html_().count("<p style") == 2 and "One &amp; two.</p>" in note._repr_html_()
    assert repr(Note("Title")) == "Title"


def test_explanation_opens_after_passing() -> None:
    """No explanation before the first full pass; a later wrong try does not close it."""
    assert "not passed yet" in repr(sl.explain("0.1"))
    sl.check("0.1", product)
    sl.check("0.1", lambda mesh, a, b: a)
    assert PROGRAM.explanation in repr(sl.explain("0.1"))
    assert progress_file.of("0.1") | {"causes": 0} == {"status": "passed", "points": 4, "of": 4, "tries": 2, "causes": 0}


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"points": "2"}, "points"),
        ({"tries": None}, "tries"),
        ({"hints": "2", "status": 7}, "status and hints"),
        ({"causes": 3}, "causes"),
    ],
)
def test_progress_edited_by_hand(fields: dict, named: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A value of another type is named, the file is set aside whole, and everything goes on."""
    path = progress_file.location()
    path.write_text(json.dumps({"questions": {"0.1": {"points": 1.5, **fields}}, "predictions": {}}))
    assert sl.progress().earned == 0 and not sl.check("0.1", lambda mesh, a, b: a).passed
    assert f"of 0.1 it holds other {named} than it was given" in capsys.readouterr().out
    assert path.with_name("progress.json.damaged").exists() and progress_file.of("0.1")["tries"] == 1


def test_what_cannot_be_kept_is_said_once_a_check(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not once for the points and once for the causes."""
    monkeypatch.setenv("SHARDLAB_PROGRESS", str(tmp_path / "nowhere" / "progress.json"))
    sl.check("0.1", lambda mesh, a, b: a)
    assert capsys.readouterr().out.count("could not be kept") == 1


def test_progress_shows_the_way() -> None:
    """Chapters by their titles, a sign for each exercise, what is left, and what is next; no points."""
    progress_file.note_check("1.1", status="passed", tries=1, points=4)
    progress_file.note_check("0.2", status="failed", tries=2, hints=1)
    found = sl.progress()
    first, second = found.chapters[:2]
    assert (first.title, first.picture, first.done, first.core) == ("First light", "○◐○◇", 0, 3)
    assert second.picture.startswith("●") and second.left == sum(e.minutes for e in second.exercises[1:] if not e.optional)
    said, core = repr(found), sum(not e.optional for chapter in outline().values() for e in chapter)
    assert "points" not in said and f"1 of {core} core exercises done." in said and "2 tries, 1 hint" in said
    assert found.here.number == 0 and f"Next: 0.1 {first.exercises[0].title}" in said
    assert "Meshes, shardings, shards" in said and found._repr_html_().count("● done") == 1


def test_the_call_of_a_tenth_exercise_is_no_number() -> None:
    """Which would be the first one's."""
    assert (question(id="50.10").typed, question(id="50.1").typed) == ('"50.10"', "50.1")


@pytest.mark.parametrize("which", [1, "1", "01", 1.2, "1.2"])
def test_progress_of_a_chapter(which: object) -> None:
    """A chapter, or an exercise of it, however it is written: its exercises, and no other chapter's."""
    found = sl.progress(which)
    assert found.here.number == 1 and "First light" not in repr(found) and "1.2" in repr(found)


@pytest.mark.parametrize("which", [77, "77", None.__class__, 3.5j])
def test_no_such_chapter(which: object) -> None:
    """Another number, or something else, is told what may stand there."""
    with pytest.raises(ShardlabError, match="unknown-chapter"):
        sl.progress(which)


def test_progress_imports_no_exercise(tmp_path: pathlib.Path) -> None:
    """So it is quick: of the declarations it reads the text."""
    code = "import sys, shardlab as sl; repr(sl.progress()); print([n for n in sys.modules if n.endswith('.question')])"
    environment = {**os.environ, "SHARDLAB_PROGRESS": str(tmp_path / "p.json"), "JAX_PLATFORMS": "cpu"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "['shardlab_judge.question']\n"


@pytest.mark.parametrize(
    ("given", "id"),
    [(0.2, "0.2"), ("0.2", "0.2"), ("00.2", "0.2"), ("0-2", "0.2"), (0, "0.1"), ("00", "0.1"), (None, "0.2")],
)
def test_an_exercise_is_named_in_many_ways(given: object, id: str) -> None:
    """By its number as text or as a number, by its chapter, or not at all: then it is the one that was checked last."""
    progress_file.note_check("0.2", status="passed") if given is None else None
    assert sl.hint(given, 1).title == f"Hint 1 of 3 for {id}"
    assert repr(sl.explain(given)).startswith(id)


def test_a_check_takes_a_number() -> None:
    """As text or not; it is the last one then, and a chapter alone names no exercise."""
    assert sl.check(0.1, product).passed and progress_file.last() == "0.1"
    assert "Noted for 0.2" in repr(sl.predict(0.2, kinds=[]))
    with pytest.raises(ShardlabError, match="there is no question 0"):
        sl.check(0, product)


def test_a_pass_says_what_it_reached_and_what_is_next() -> None:
    """In bytes of the student's own program, and with a link to the next exercise."""
    feedback = sl.check("0.1", product)
    said, page = repr(feedback), feedback._repr_html_()
    told = "product moves 3,072 B a device by 1 all-reduce over x, on mesh (x=2, y=4); XLA's own choice moves as much."
    assert told in said
    assert "Next in this chapter: 0.2 " in said and "<a href" not in page
    there = {each.id: each for chapter in outline().values() for each in chapter}
    (line,) = Moment((), there["1.1"], 0).html_lines()
    link = "<a href='01_meshes_and_shardings.ipynb'>Next, in chapter 1, Meshes, shardings, shards</a>"
    assert line == f"{link}: 1.1 Ten pictures, 30 minutes."
    named = dataclasses.replace(PROGRAM, known_as="a row-parallel layer (Shoeybi and others, 2019)")
    assert moment(named, ["It moves 8 B."], {}).lines()[:2] == [
        "It moves 8 B.",
        "The field calls this a row-parallel layer (Shoeybi and others, 2019).",
    ]
    assert "points" not in said + page
    assert "4 of 4 points" in html(feedback.verdict, PROGRAM, hints=False)


def test_xlas_own_choice_is_asked_where_it_can_be() -> None:
    """Of a product of arrays that are cut otherwise than its output; not of a formula that NumPy alone computes."""
    (item,) = PROGRAM.items
    assert own_choice(item) == 3072
    assert own_choice(dataclasses.replace(item, oracle=lambda a, b: np.linalg.norm(a) * b)) is None


def test_a_scoreboard_of_parts() -> None:
    """Of an exercise with several parts, which are right; none where all are, or where nothing is written."""
    pair = question(*(ValueItem(name, {"V": 1}, key=n) for n, name in enumerate("abc")), id="0.2")
    questions.QUESTIONS["0.2"] = pair
    assert "2 of 3 right: a, c. Not yet: b." in repr(sl.check("0.2", 0, 7, 2))
    assert "right:" not in repr(sl.check("0.2", 0, 1, 2)) + repr(sl.check("0.2", ..., ..., ...))


def test_the_largest_lesson_comes_first() -> None:
    """What several parts have alike, then what has a cause; what is not answered comes last, and the rest opens."""
    like = WrongValues("one-more", "You counted one too many.", like=8)
    items = [ValueItem(name, {"V": 1}, key=n, misconceptions=(like,) * (n == 7)) for n, name in enumerate("abcdefgh")]
    questions.QUESTIONS["0.2"] = question(*items, id="0.2")
    feedback = sl.check("0.2", ..., 8, 9, 9, 5, 6, 7, 8)
    shown = [line.split(" (")[0].strip() for line in repr(feedback).splitlines() if line.endswith(": That is not it.")]
    assert shown == ["c, d", "h", "b", "e"] and "... and 3 more: f (values)" in repr(feedback)
    assert repr(feedback).rindex("a (values)") > repr(feedback).rindex("g (values)")
    assert "<details><summary" in feedback._repr_html_()


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
    progress_file.location().write_text("[]")
    progress_file.read()
    assert progress_file.location().with_name("progress.json.damaged").read_text() == contents
    assert progress_file.location().with_name("progress.json.damaged2").read_text() == "[]"


def test_unwritable_place_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where no file can be written the check still answers."""
    monkeypatch.setenv("SHARDLAB_PROGRESS", str(tmp_path / "nowhere" / "progress.json"))
    assert sl.check("0.1", product).passed
    assert "could not be kept" in capsys.readouterr().out


@pytest.mark.thorough
def test_judge_in_a_child_gives_the_same_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a TPU or GPU the judge is a child on simulated CPU devices, which answers the same."""
    monkeypatch.undo()
    asked = questions.question("1.2")
    answer = record(asked.manifest(), dict.fromkeys(asked.variables, bytes_of), {})
    try:
        for _ in range(2):
            assert elsewhere.judge_elsewhere("1.2", answer) == local.judge_here("1.2", answer)
    finally:
        elsewhere.end_child()


@pytest.mark.parametrize("value", [float("inf"), object(), [1, {2: len}], 1j], ids=str)
def test_what_json_cannot_hold(value: object) -> None:
    """What JSON cannot hold is named."""
    with pytest.raises(TypeError):
        as_json(value)


def test_variable_that_holds_no_dict() -> None:
    """Where a dict of answers is asked for, anything else is told by its type."""
    asked = question(*PLACED.items, variable="pictures")
    entry = record(asked.manifest(), {"pictures": [1]}, {})["items"]["picture"]
    assert entry["error"]["message"] == "pictures is a list; it should be a dict with an entry for each part"
