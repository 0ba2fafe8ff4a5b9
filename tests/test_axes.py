"""Variants: other names for mesh axes in texts, code and answers; a right answer stays right, at the same cost."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import pytest
from jax.extend.mlir.dialects import stablehlo
from jax.interpreters import mlir

import asked
import corpus
import variants
from shardlab import axes
from shardlab.answers.in_the_box import GIVEN
from shardlab.answers.record import record
from shardlab.errors import ShardlabError
from shardlab_course import variants as course
from shardlab_course.chapters import QUESTIONS
from shardlab_course.checking import exercise
from shardlab_course.editions import edition, header
from shardlab_course.renaming import Renaming
from shardlab_judge.judging import judge
from shardlab_judge.verdict import Verdict
from variants import REFERENCE, Sample

DRAWN = int(os.environ.get("SHARDLAB_VARIANTS", "2"))
"""How many variants of each exercise are drawn; `make variants` draws 100."""
XY = Renaming({"x": "bay", "y": "quay"})
DATA = Renaming({"data": "wing", "model": "pier"})
VARIED = [id for id in QUESTIONS if int(id.partition(".")[0]) in course.AXES and asked.question(id)]
WITH_MESHES = [id for id in VARIED if not course.unvaried(QUESTIONS[id])]
WRONG = {
    id: next(s for s in variants.of(id).values() if s.misconception not in (None, "-") and not s.due.passes)
    for id in WITH_MESHES
}
QUICK = ("4.2", "7.3", "9.4")
"""Programs alone, predictions, and a function whose value has axes for keys."""
TABLE = [pytest.param(id, marks=() if id in QUICK else pytest.mark.thorough) for id in WITH_MESHES]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("rows over x, and P('x', None)", "rows over bay, and P('bay', None)"),
        ("along `x` or `y`: `x` alone", "along `bay` or `quay`: `bay` alone"),
        ("mesh (x=4, y=2), float32[8@x,4@y]", "mesh (bay=4, quay=2), float32[8@bay,4@quay]"),
        ("2 all-gathers over x, y, 1 all-reduce over y", "2 all-gathers over bay, quay, 1 all-reduce over quay"),
        (r"$A[I_x, J_y] \{U_x\}$, {V:x}, {V:(x,y)}", r"$A[I_{bay}, J_{quay}] \{U_{bay}\}$, {V:bay}, {V:(bay,quay)}"),
        ("name x once; out_specs omits x", "name bay once; out_specs omits bay"),
        ("`x` is a matrix, a vector `x`, each row of `x`", None),
        ("x @ w, relu(x), sum_x, f(x), x.T, the x of y", None),
    ],
)
def test_a_text_has_the_other_names(given: str, expected: str | None) -> None:
    """Where only an axis can be meant, and an array keeps its name."""
    assert XY.text(given) == (given if expected is None else expected)
    assert Renaming({}).text(given) == given


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("batch over `data`, with model=2; the model axis", "batch over `wing`, with pier=2; the pier axis"),
        ("d@model, b@(data model)", "d@pier, b@(wing pier)"),
        ("data parallelism: the model, its data, when data moves", None),
    ],
)
def test_words_stay_words(given: str, expected: str | None) -> None:
    """An axis that is called as a thing of the course is renamed where it is an axis, and nothing else is."""
    assert DATA.text(given) == (given if expected is None else expected)


@pytest.mark.parametrize("text", ["unbound axis 'x'", "rows over y", "mesh (x=4)", "`bay` of 8", "nothing"])
def test_twice_is_nothing(text: str) -> None:
    """What a student wrote comes back as it was."""
    assert XY.text(XY.text(text)) == text


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ('mesh = f(x=4, y=x)\nx = P("x")  # over y', 'mesh = f(bay=4, quay=x)\nx = P("bay")  # over quay'),
        ("def f(x=1, *, y=2):\n    return x['x']", "def f(x=1, *, y=2):\n    return x['bay']"),
        ("print(f\"{p['x']} over x\")", "print(f\"{p['bay']} over bay\")"),
        ('%pip install "a"\nx = (', '%pip install "a"\nx = ('),
    ],
)
def test_code_has_the_other_names(given: str, expected: str) -> None:
    """In strings, comments and keywords of calls, and nowhere else."""
    assert course.code(given, XY) == expected


def test_names_are_of_no_chapter() -> None:
    """No name stands in a chapter, and no answer's part is named like an axis that gets another name."""
    texts = "\n".join(path.read_text().lower() for path in variants.TEXTS.values())
    assert not [name for name in course.NAMES if re.search(rf"\b{name}s?\b", texts)]
    for id in VARIED:
        names = {QUESTIONS[id].variable, *(item.name for item in QUESTIONS[id].items)}
        assert not names & {*course.AXES[int(id.partition(".")[0])]}


def test_half_of_the_core_varies() -> None:
    """Of the exercises that are not optional; and what a seed draws stays drawn."""
    core = [id for id in WITH_MESHES if not QUESTIONS[id].optional]
    assert not asked.everything() or 2 * len(core) >= sum(not question.optional for question in QUESTIONS.values())
    assert course.drawn(4, "7/year 2027") == course.drawn(4, "7/year 2027") != course.drawn(4, "7/year 2028")
    assert course.drawn(1, "7") == {} and len({str(course.drawn(4, str(n))) for n in range(200)}) >= 100


@pytest.mark.parametrize("id", TABLE)
def test_a_right_answer_is_the_same_in_each_variant(id: str) -> None:
    """The reference leaves every variant as the answer that it is without: so it passes, and costs what it costs."""
    sample = variants.of(id)[REFERENCE]
    plain = recorded(sample, {})
    assert all(same(plain, recorded(sample, names)) for names in drawn(id))
    if id in QUICK:
        assert judged(id, recorded(sample, drawn(id)[0])).status == "passed"


@pytest.mark.parametrize("id", TABLE)
def test_a_wrong_answer_is_the_same_in_each_variant(id: str) -> None:
    """So it is refused with its cause, which is told in the student's own names."""
    plain, every = recorded(WRONG[id], {}), drawn(id)
    assert all(same(plain, recorded(WRONG[id], names)) for names in every)
    if id in QUICK:
        verdict = judged(id, recorded(WRONG[id], every[0]))
        assert WRONG[id].misconception in {finding.misconception for finding in verdict.findings}
        told = course.told(verdict, every[0]).findings
        said = " ".join(text for f in told for text in (f.what, f.expected, f.got, f.where, f.cause))
        assert not re.search(rf"(?:'|\b(?:over|along|axis) )(?:{'|'.join(every[0])})\b", said)


@pytest.mark.parametrize("id", TABLE)
def test_the_courses_names_are_not_there(id: str) -> None:
    """An answer copied from where the axes have the course's names fails, unless it names no axis."""
    sample = variants.of(id)[REFERENCE]
    text = sample.source()
    if course.code(text, Renaming(drawn(id)[0])) == text:
        pytest.skip("it names no axis")
    assert judged(id, recorded(sample, drawn(id)[0], copied=True)).status != "passed"


def test_a_check_in_a_variant(monkeypatch: pytest.MonkeyPatch) -> None:
    """`sl.check` and `sl.hint` have the names that the first cell gave; without them an answer in these names is wrong."""
    names = {"x": "bay", "y": "quay"}
    monkeypatch.setattr(axes, "HERE", {})
    monkeypatch.setattr(course, "HERE", axes.HERE)
    axes.rename(names)
    answer = {name: value for name, value in namespace(variants.of("4.5")[REFERENCE], names).items()}
    manifest = course.asking(QUESTIONS["4.5"], course.names_here("4.5"))
    assert manifest["axes"] == names and course.names_here("3.3") == {}
    verdict, _ = exercise._verdict(QUESTIONS["4.5"], {"case_3_scattered": answer["case_3_scattered"]})
    assert not [f for f in verdict.findings if f.item == "case_3_scattered"]
    assert "over bay" in exercise.hint("4.5", 3).text
    axes.HERE.clear()
    verdict, _ = exercise._verdict(QUESTIONS["4.5"], {"case_3_scattered": answer["case_3_scattered"]})
    assert [f.item for f in verdict.findings if f.item == "case_3_scattered"]


def test_only_names_are_names() -> None:
    """What is no name is refused, and nothing is changed by it."""
    with pytest.raises(ShardlabError, match="no-names-of-axes"):
        axes.rename({"x": "two words"})
    assert axes.HERE == {}


def test_a_notebook_says_its_names() -> None:
    """Its first cell tells them to `sl.check`; in its exercises no axis has the course's name."""
    root = Path(__file__).parents[1]
    chapter = edition.student(edition.source(variants.TEXTS[4], header.syllabus(root)))
    made = course.notebook(chapter, XY.names)
    first = next(cell.source for cell in made.cells if "setup" in cell.source)
    assert first.endswith("sl.setup(8, axes={'x': 'bay', 'y': 'quay'})") and course.TOLD.search(first)
    text = "\n".join(cell.source for cell in made.cells if cell.source != first)
    assert not re.search(r"""["'`][xy]["'`]|_[xy]\b|\b(?:over|along|axis) `?[xy]\b""", text)
    assert course.notebook(chapter, {}) == chapter
    assert [cell.metadata for cell in made.cells] == [cell.metadata for cell in chapter.cells]


def drawn(id: str) -> list[dict[str, str]]:
    """The names of so many variants of an exercise."""
    return [course.drawn(int(id.partition(".")[0]), f"test {n}") for n in range(DRAWN)]


def namespace(sample: Sample, names: Mapping[str, str]) -> dict[str, Any]:
    """What an answer leaves behind that is written in a variant's names."""
    made: dict[str, Any] = {"__name__": "answer"}
    text = course.code(sample.source(), Renaming(names))
    with jax.numpy_rank_promotion("allow"), jax.numpy_dtype_promotion("standard"):
        exec(compile(text, "answer.py", "exec"), made)
    return made


def recorded(sample: Sample, names: Mapping[str, str], *, copied: bool = False) -> dict[str, Any]:
    """The answer as it leaves a notebook with these names; `copied` from one that has the course's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SHARDLAB_RECORD", "1")
        GIVEN.clear()
        made = namespace(sample, {} if copied else names)
        with jax.numpy_rank_promotion("allow"), jax.numpy_dtype_promotion("standard"):
            answer = record(course.asking(QUESTIONS[sample.question], names), made, GIVEN.get(sample.question, {}))
    return course.translated(answer, names)


def same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two answers are equal: programs by their text, without what is said of the student's own lines."""
    return plainly(one["items"]) == plainly(other["items"])


def plainly(raw: Any) -> Any:
    """An answer's entries with programs as text; of an exception its type, for JAX lists axes in an order of its own."""
    match raw:
        case {"module": module}:
            return program(module), raw["outputs"]
        case {"error": error}:
            return error["type"]
        case dict():
            return {key: plainly(part) for key, part in raw.items()}
        case list():
            return [*map(plainly, raw)]
    return raw


def program(module: str) -> str:
    """The text of an exported program."""
    with mlir.make_ir_context() as context:
        return str(stablehlo.deserialize_portable_artifact(context, base64.b64decode(module)))


def judged(id: str, answer: Mapping[str, Any]) -> Verdict:
    """The judge's verdict on the public cases, with what the course's own reference costs."""
    references, judge_one = corpus._judging(id, None)
    return judge(QUESTIONS[id], answer, references, None, judge_one)
