"""A kind of item is one module: what is declared here goes all the way, and no other file knows of it."""

from __future__ import annotations

import dataclasses
import pathlib
import pkgutil
from collections.abc import Mapping
from typing import Any

import pytest

import shardlab as sl
from sample_questions import PROGRAM, question
from shardlab.answers import record as recording
from shardlab.answers.record import RECORDERS, record
from shardlab_course import chapters
from shardlab_course.chapters import QUESTIONS
from shardlab_course.checking import local
from shardlab_grader.border.entries import entry, refused
from shardlab_judge import items, responses
from shardlab_judge import question as questions
from shardlab_judge.findings import explained
from shardlab_judge.judging import judge
from shardlab_judge.question import KINDS, Item, Judged, Response, Setting, WrongValues
from shardlab_judge.references import References
from shardlab_judge.verdict import Finding

NAMES = [module.name for module in pkgutil.iter_modules(items.__path__)]
SHARED = ("judging", "question", "responses", "findings", "verdict", "cases", "costs", "inputs", "measuring")


@dataclasses.dataclass(frozen=True)
class PaletteItem(Item):
    """Three numbers that mix a colour, each between 0 and 255."""

    colour: tuple[int, int, int] = dataclasses.field(kw_only=True)
    kind = "palette"
    form = "three numbers"

    def asks(self, question: str, seed: int | None) -> dict[str, Any]:
        return {"most": 255}

    @classmethod
    def admit(cls, asked: Mapping[str, Any], raw: Any) -> Response:
        def parts(given: Any) -> list[int]:
            mixed = responses.listed(given, 3, exactly=True)
            return mixed if all(type(n) is int and 0 <= n <= asked["most"] for n in mixed) else responses.fail("no colour")

        return responses.single(raw, "parts", parts)

    def judge(self, response: Response, setting: Setting) -> Judged:
        if tuple(response["parts"]) == self.colour:
            return {self.first: 1.0}, []
        miss = next((m for m in self.misconceptions if tuple(response["parts"]) == m.like), None)
        return {}, [explained(Finding(self.name, self.first, "Another colour."), miss)]


@dataclasses.dataclass(frozen=True)
class EvenItem(Item):
    """An even number: recorded, and let through, as a value."""

    kind = "even"
    form = "an even number"

    def asks(self, question: str, seed: int | None) -> dict[str, Any]:
        return {"kind": "value", "predicted": False}

    def judge(self, response: Response, setting: Setting) -> Judged:
        return {self.first: float(response["value"] % 2 == 0)}, []


PALETTE = question(
    PaletteItem("red", {"V": 2}, colour=(255, 0, 0),
                misconceptions=(WrongValues("blue", "The order is red, green, blue.", 2, like=(0, 0, 255)),)),
    EvenItem("even", {"V": 1}),
    id="0.9",
)  # fmt: skip


@pytest.fixture(autouse=True)
def recorder(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line in the laboratory, for an answer that is recorded as none is yet."""
    monkeypatch.setitem(RECORDERS, "palette", lambda given, item: {"parts": [int(n) for n in given]})


def submitted(**namespace: Any) -> dict[str, Any]:
    """An answer as it comes through the border."""
    manifest = PALETTE.manifest(7)
    given = record(manifest, namespace, {})["items"]
    return {"items": {item["name"]: let_through(item, given[item["name"]]) for item in manifest["items"]}}


def let_through(item: Mapping[str, Any], raw: Any) -> Any:
    """The entry, or what stands for one that was refused."""
    try:
        return entry(item, raw)
    except responses.Refused as refusal:
        return refused(str(refusal))


def test_manifest() -> None:
    """The manifest says what the item asks for, and as what it is recorded."""
    assert PALETTE.manifest()["items"] == [
        {"name": "red", "kind": "palette", "most": 255},
        {"name": "even", "kind": "value", "predicted": False},
    ]


@pytest.mark.parametrize(
    ("red", "even", "points", "miss"),
    [
        ((255, 0, 0), 4, 3, None),
        ((0, 0, 255), 4, 1, "blue"),
        ((255, 0, 0), 3, 2, None),
        ((256, 0, 0), 4, 1, None),
        ((255, 0), 4, 1, None),
        (..., 4, 1, None),
        ("red", 4, 1, None),
    ],
)
def test_from_recording_to_verdict(red: Any, even: int, points: float, miss: str | None) -> None:
    """Recorded, let through or refused, judged: with points, and with the misconception named."""
    verdict = judge(PALETTE, submitted(red=red, even=even), References({}, {}), 7)
    assert verdict.points == points
    assert {finding.misconception for finding in verdict.findings} in ({miss}, set())


def test_what_is_refused_says_why() -> None:
    """The border's reason reaches the verdict, with what was asked for."""
    (finding,) = judge(PALETTE, submitted(red=(1, 2, -3), even=4), References({}, {})).findings
    assert (finding.expected, finding.got) == ("three numbers", "AnswerRefused: no colour")
    with pytest.raises(responses.Refused, match="the one field parts"):
        entry(PALETTE.manifest()["items"][0], {"parts": [1, 2, 3], "more": 4})


def test_open_is_unattempted() -> None:
    """An answer that is still `...` everywhere costs no try."""
    assert judge(PALETTE, submitted(red=..., even=...), References({}, {})).status == "unattempted"


def test_a_student_checks_it(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    """`sl.check` passes it, or names what is wrong."""
    monkeypatch.setenv("SHARDLAB_PROGRESS", str(tmp_path / "progress.json"))
    monkeypatch.setattr(chapters, "QUESTIONS", {"0.9": PALETTE})
    monkeypatch.setattr(local, "reference_of", lambda id: References({}, {}))
    assert sl.check("0.9", (255, 0, 0), 2).passed
    assert "red, green, blue" in repr(sl.check("0.9", red=(0, 0, 255), even=2))


def test_an_unknown_kind_is_our_fault() -> None:
    """A kind without a recorder, or without a module, is no fault of the student's: it is raised."""
    with pytest.raises(ValueError, match="unknown kind of item: none"):
        recording.record({"variable": None, "items": [{"name": "a", "kind": "none"}]}, {"a": 1}, {})
    with pytest.raises(ModuleNotFoundError):
        items.kind("none")


@pytest.mark.parametrize("name", NAMES)
def test_a_module_holds_its_kind(name: str) -> None:
    """Each module declares the kind of its name, with words for what it asks for and a way to judge it."""
    found = items.kind(name)
    assert found is KINDS[name] and found.__module__ == f"{items.__name__}.{name}"
    assert found.form and found.judge is not Item.judge


def test_every_manifest_has_a_recorder_and_a_border() -> None:
    """Whatever a manifest of the course asks for can be recorded, and let through: an open answer is."""
    for asked in (*QUESTIONS.values(), PROGRAM):
        for item in asked.manifest()["items"]:
            assert item["kind"] in RECORDERS
            assert entry(item, {"todo": True}) == {"todo": True}


def test_nothing_shared_names_a_kind() -> None:
    """Neither the judge nor a question nor the border has a case for some kind."""
    home = pathlib.Path(questions.__file__).parent
    for name in SHARED:
        text = (home / f"{name}.py").read_text()
        assert not [kind for kind in NAMES if f".items.{kind}" in text or f'"{kind}"' in text], name
