"""One cell does not stop a class: what a student wrote is rendered under limits, and every parser of ours is linear."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator

import pytest

from shardlab_grader.classes import unread
from shardlab_grader.inside import cells
from shardlab_grader.nbgrader import admonitions, pages, rendering
from shardlab_grader.nbgrader.rendering import Renderer, Unrendered
from shardlab_grader.plain import inert, plain
from shardlab_grader.records import forms, texts
from shardlab_grader.records.forms import Unreadable

KINDS: dict[str, Callable[[int], str]] = {
    "admonitions that open": lambda n: ":::{a}\n" * n,
    "admonitions": lambda n: ":::{a} b\nc\n:::\n" * n,
    "admonitions that close": lambda n: ":::\n" * n,
    "options": lambda n: ":::{a}\n" + ":b: c\n" * n + ":::",
    "blank lines": lambda n: " \n" * n,
    "blanks": lambda n: " " * n,
    "tabs": lambda n: "\t" * n + "x",
    "lines": lambda n: "\n" * n,
    "assignments": lambda n: "a = 1\n" * n,
    "a long name": lambda n: "a" * n,
    "a long annotation": lambda n: "a:" + " b" * n,
    "brackets": lambda n: "[" * n,
    "braces": lambda n: "{" * n,
    "keys": lambda n: '{"id": ' * n,
    "sources": lambda n: '{"source": "x", ' * n,
    "fences": lambda n: "```python\n" * n,
    "fences that close": lambda n: "```python\nx\n```\n" * n,
    "backticks": lambda n: "`" * n,
    "regions": lambda n: "<!-- #region\n" * n,
    "marks": lambda n: "# %%" + " " * n + "x",
    "light marks": lambda n: "# +" + " " * n + "{",
    "options of marks": lambda n: "# + " + "a b " * n,
    "grade ids": lambda n: "# + " + "grade_id : " * n,
    "checks": lambda n: 'sl.check("1.1")\n' * n,
    "a check that does not close": lambda n: "sl.check(" + " " * n,
    "comments": lambda n: "# a\n\n" * n,
    "magics": lambda n: "# %a b\n" * n,
    "quotes": lambda n: '"""\n' * n,
    "predictions": lambda n: "sl.predict( " * n,
    "definitions": lambda n: "async  def  " * n,
    "signs": lambda n: "; =" * n,
    "apostrophes": lambda n: ";" + " \"'" * n,
    "surrogates": lambda n: "\udc80" * n,
    "carriage returns": lambda n: "\r" * n,
}
"""Texts of about so many pieces."""


def read(text: str) -> None:
    try:
        forms.handed_in(text.encode("utf-8", "surrogatepass"))
    except Unreadable:
        pass


PARSERS: dict[str, Callable[[str], object]] = {
    "handed in": read,
    "text editions": lambda text: texts.cells(f'sl.check("1.1")\n{text}'),
    "documents": lambda text: texts.cells(f'```python\nsl.check("1.1")\n```\n{text}'),
    "definitions": cells.defined,
    "labels": cells.label,
    "statements": lambda text: cells.readable(text, lambda part: None),
    "admonitions": admonitions.quoted,
    "spreadsheets": inert,
    "terminals": plain,
    "errors": unread.TOLD.search,
    "headings": pages.HEADING.search,
    "plain pages": lambda text: rendering.unrendered(text, "x"),
}


def seconds(parse: Callable[[str], object], text: str) -> float:
    """CPU time, the least of three."""
    took = []
    for _ in range(3):
        started = time.process_time()
        parse(text)
        took.append(time.process_time() - started)
    return min(took)


@pytest.mark.parametrize("parser", PARSERS)
@pytest.mark.thorough(after=4)
def test_twice_the_text_takes_twice_the_time(parser: str) -> None:
    """Of every kind of text; what takes a few milliseconds says nothing."""
    parse = PARSERS[parser]
    for name, make in KINDS.items():
        first, second = (seconds(parse, make(n)) for n in (2_500, 10_000))
        assert second < 0.02 or second < 10 * first, f"{name}: {first:.3f} s, and {second:.3f} s of four times as much"


@pytest.fixture
def renderer(monkeypatch: pytest.MonkeyPatch) -> Iterator[Renderer]:
    """One of its own."""
    made = Renderer()
    monkeypatch.setattr(rendering, "RENDERER", made)
    pages._rendered.cache_clear()
    yield made
    made.close()
    pages._rendered.cache_clear()


def test_what_is_rendered_is_what_it_was(renderer: Renderer) -> None:
    """Markdown, formulas, admonitions and colours."""
    shown = pages.markdown(":::{note} Look\n:class: tip\n\n**here** $x^2$\n:::\nafter")
    assert "<blockquote>" in shown and "<strong>Look</strong>" in shown and "<msup>" in shown and "class: tip" not in shown
    assert '<span class="k">return</span>' in pages.highlighted("def f(x):\n    return x")


TOO_MUCH = {
    "long code": (pages.highlighted, "a = 1\n" * 50_000, "has 300,000 characters"),
    "long prose": (pages.markdown, ":::{a}\n" * 60_000, "has 420,000 characters"),
    "blank lines": (pages.highlighted, " \n" * 40_000, "took too long to format"),
}


@pytest.mark.parametrize("name", TOO_MUCH)
@pytest.mark.thorough(after=2)
def test_what_takes_too_long_is_plain_and_says_so(name: str, renderer: Renderer) -> None:
    """The next text is rendered again."""
    show, source, why = TOO_MUCH[name]
    started = time.process_time()
    shown = show(source)
    assert f"because it {why}. Your notebook was graded as a whole." in shown and len(shown) < 2 * rendering.SHOWN
    assert "characters more" in shown and time.process_time() - started < rendering.SECONDS
    assert "<em>x</em>" in pages.markdown("*x*")


def test_a_thousand_slow_cells_are_slow_once(renderer: Renderer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page has a budget, and the next page has its own."""
    monkeypatch.setattr(Renderer, "_ask", lambda self, asked: ("<p>x</p>", 6.0))
    shown = [pages.markdown(f"cell {number}") for number in range(6)]
    assert ["came after others" in one for one in shown] == [False] * 4 + [True] * 2
    renderer.begin()
    assert pages.markdown("cell 5") == "<p>x</p>"


def test_a_child_that_dies_costs_its_text_alone(renderer: Renderer) -> None:
    """Somebody else may kill it."""
    assert "<em>x</em>" in renderer.render("markdown", "*x*")
    assert renderer._child is not None
    os.kill(renderer._child.pid, signal.SIGKILL)
    renderer._child.wait()
    with pytest.raises(Unrendered, match="took too long"):
        renderer.render("markdown", "*y*")
    assert "<em>y</em>" in renderer.render("markdown", "*y*")


def test_a_plain_page_runs_nothing() -> None:
    """It is escaped, and without what a terminal would obey."""
    assert json.dumps(rendering.unrendered("<script>\x1b[2J", "x")).count("script") == 1
    assert "&lt;script&gt;\ufffd[2J" in rendering.unrendered("<script>\x1b[2J", "x")
