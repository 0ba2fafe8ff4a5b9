"""The forms of the book: they say what the judge says, by mouse and by keyboard, and what they keep goes into a notebook."""

from __future__ import annotations

import json
import pathlib
import random
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from shardlab.errors import ShardlabError
from shardlab_course.chapters import QUESTIONS
from shardlab_course.checking import progress, progress_file
from shardlab_judge.items.value import ValueItem, matches
from shardlab_judge.question import Setting

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "jupyter_book"))

import forms  # noqa: E402

VALUES = {id: items for id, q in QUESTIONS.items() if (items := [item for item in q.items if isinstance(item, ValueItem)])}
DRAWS = 30
"""Answers drawn for each item: 72 items, so more than 2,000."""

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("ignore::ResourceWarning")]


@pytest.fixture(scope="module")
def page(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """All forms on one page from a file, with the book's script and style."""
    static = ROOT / "jupyter_book" / "_static"
    path = tmp_path_factory.mktemp("forms") / "forms.html"
    path.write_text(
        f'<!doctype html><html lang="en" data-theme="light"><head><title>forms</title><link rel="stylesheet" '
        f'href="{(static / "course.css").as_uri()}"><script src="{(static / "predict.js").as_uri()}"></script></head>'
        f'<body><main><p id="predicted-here"></p>{"".join(forms.forms().values())}</main></body></html>'
    )
    opened = browser.new_page()
    opened.errors = []
    opened.on("pageerror", lambda error: opened.errors.append(str(error)))
    opened.goto(path.as_uri())
    yield opened
    assert opened.errors == []
    opened.close()


def drawn(rng: random.Random, facts: dict[str, Any]) -> list[Any]:
    """Choices for each entry of an item; a few of them the text that stands alone."""
    if facts["alone"] and rng.random() < 0.3:
        return [rng.choice(list(facts["alone"]))]
    right = rng.random()
    return [
        rng.choice(entry["right"]) if entry["right"] and rng.random() < right else rng.randrange(len(entry["choices"]))
        for entry in facts["entries"]
    ]


def value(facts: dict[str, Any], chosen: list[Any]) -> Any:
    """The answer that these choices are."""
    if isinstance(chosen[0], str):
        return chosen[0]
    values = {e["key"]: e["choices"][at][1] for e, at in zip(facts["entries"], chosen, strict=True)}
    return values[""] if "" in values else values


def told(item: ValueItem, question: str, answer: Any) -> tuple[bool, str]:
    """What the judge says: whether it is right, and the cause."""
    points, findings = item.judge({"value": answer}, Setting(question, None, references=None))  # type: ignore[arg-type]
    assert not [f for f in findings if "cannot be" in f.what or "no answer" in f.what], findings
    return not findings, next((f.misconception or "" for f in findings), "")


def test_every_value_can_be_answered() -> None:
    """The right answer is among the choices of each entry, and something else is, too."""
    for id, items in VALUES.items():
        for item in items:
            facts = forms.facts(items, item)
            json.dumps(facts)
            for entry in facts["entries"]:
                assert len(entry["choices"]) > 1, (id, item.name, entry["key"])
                assert entry["right"] or isinstance(item.key, str), (id, item.name, entry["key"])


def test_most_causes_can_be_met() -> None:
    """Of the causes of all values nearly all belong to some choice; the others need a number that is typed."""
    never = []
    for id, items in VALUES.items():
        for item in items:
            facts = forms.facts(items, item)
            for (cause, _), tree, number in zip(facts["causes"], facts["trees"], range(99)):
                if tree is False and number not in facts["alone"].values():
                    never.append((id, item.name, cause))
    assert len(never) <= 6, never


def test_forms_say_what_the_judge_says(page: Page) -> None:
    """For drawn answers of every item: right or wrong, and the same cause."""
    rng = random.Random(20)
    asked, due = [], []
    for id, items in VALUES.items():
        for number, item in enumerate(items):
            facts = forms.facts(items, item)
            for _ in range(DRAWS):
                chosen = drawn(rng, facts)
                asked.append([id.replace(".", "-"), number, chosen])
                due.append([*told(item, id, value(facts, chosen)), value(facts, chosen)])
    got = page.evaluate(
        """asked => asked.map(([name, number, chosen]) => {
            const item = JSON.parse(document.querySelector(`#predict-${name} script`).textContent).items[number];
            const {wrong, cause} = judged(item, chosen);
            return [wrong.length === 0, cause < 0 ? "" : item.causes[cause][0], valueOf(item, chosen)];
        })""",
        asked,
    )
    assert len(due) > 2000
    assert [(a, g, d) for a, g, d in zip(asked, got, due, strict=True) if g != d] == []
    assert len({cause for _, cause, _ in due}) > 100 and sum(right for right, _, _ in due) > 100


def tap(page: Page, id: str, at: int | str) -> None:
    """Choose the value `at` in a box that opens, or tap it where it stands."""
    box = page.locator(f"select#{id}")
    if box.count():
        values = box.evaluate("box => [...box.options].map(option => option.value)")
        box.select_option(index=values.index(str(at)))  # by its value Playwright also takes what has it as its text
    else:
        page.locator(f".choices[aria-labelledby={id}] label", has=page.locator(f"input[value='{at}']")).click()


def choose(page: Page, question: str, item: ValueItem, wanted: Any) -> None:
    """Choose an answer in the form as a reader would."""
    facts = forms.facts(VALUES[question], item)
    for n, entry in enumerate(facts["entries"]):
        single = wanted[entry["key"]] if isinstance(wanted, dict) else wanted
        at = next(at for at, (_, value) in enumerate(entry["choices"]) if matches(single, value, 0.0))
        tap(page, f"predict-{question.replace('.', '-')}-{item.name}-{n}", at)


def test_every_form_answers_by_mouse(page: Page) -> None:
    """The right answer of each is said to be right; nothing is open."""
    for id, items in VALUES.items():
        form = page.locator(f"#predict-{id.replace('.', '-')}")
        for item in items:
            if isinstance(item.key, str) and item.domain.entries:
                tap(page, f"predict-{id.replace('.', '-')}-{item.name}-0", f"alone:{item.key}")
            else:
                choose(page, id, item, item.key)
        form.get_by_role("button").click()
        assert form.locator(".predict-right").count() == len(items) and form.locator(".predict-wrong").count() == 0, id


def test_a_form_answers_by_keyboard(page: Page) -> None:
    """Space and arrow choose, Tab leads on, Enter presses the button; a wrong answer says its cause."""
    page.reload()
    form = page.locator("#predict-4-4")
    form.locator("input").first.focus()
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    causes = [line.get_attribute("data-cause") for line in form.locator(".predict-wrong").all()]
    assert causes == ["case-2-always-gathers", "always-reduces"]
    assert "was different: all-reduce." in form.inner_text()


def test_what_is_open_is_said(page: Page) -> None:
    """A form that is filled in half judges that half."""
    page.reload()
    form = page.locator("#predict-3-4")
    form.locator("[data-item='roll_bytes'] label", has_text="512").click()
    form.get_by_role("button").click()
    assert form.locator(".predict-right").count() == 1 and "Still open: kinds, why." in form.inner_text()


def test_code_in_sentences_is_shown_as_code(page: Page) -> None:
    """In choices and in causes no backtick is left."""
    assert not any("`" in text for text in page.locator("form.predict").all_inner_texts())
    cause = "() => written('`a` is not `b`.').map((part) => part.outerHTML ?? part).join('')"
    assert page.evaluate(cause) == "<code>a</code> is not <code>b</code>."


def test_predictions_go_into_a_notebook(page: Page, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first prediction is kept in the browser; its file gives it to `sl.progress`, where what was there stays."""
    page.evaluate("localStorage.clear()")
    page.reload()
    assert "Nothing has been predicted" in page.locator("#predicted-here").inner_text()
    for times in (1, 2):
        for number in (5.4, 9.1):
            form = page.locator(f"#predict-{str(number).replace('.', '-')}")
            for box in form.locator(".choices").all():
                box.locator("label").nth(times - 1).click()
            form.get_by_role("button").click()
    with page.expect_download() as download:
        page.get_by_text("Take them along").click()
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    monkeypatch.setenv("SHARDLAB_PROGRESS", str(tmp_path / "progress.json"))
    progress_file.note_prediction("5.4", {"factor": 2})
    progress.progress(path)
    assert progress_file.read()["predictions"] == {
        "5.4": {"kinds": [], "factor": 2, "why": "a"},
        "9.1": {"collective": "all-gather", "factor": 1, "compilers": []},
    }


def test_what_is_no_longer_asked_is_left_out(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A browser keeps what a later version of the course does not ask; all else is taken."""
    monkeypatch.setenv("SHARDLAB_PROGRESS", str(tmp_path / "progress.json"))
    path = tmp_path / "shardlab-book.json"
    path.write_text('{"predictions": {"5.4": {"factor": 2, "gone": 1}, "99.9": {"a": 1}}}')
    progress.progress(path)
    assert progress_file.read()["predictions"] == {"5.4": {"factor": 2}}


@pytest.mark.parametrize("text", ["", "[]", '{"predictions": {"5.4": 3}}', '{"predictions": {"99.9": {"a": 1}}}', "\0"])
def test_other_files_are_refused(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """With a sentence that says which file it takes; nothing is noted."""
    monkeypatch.setenv("SHARDLAB_PROGRESS", str(tmp_path / "progress.json"))
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(ShardlabError, match="Take them along"):
        progress.progress(path)
    assert progress_file.read()["predictions"] == {}
