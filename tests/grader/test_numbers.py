"""Numbers in prose: measured where the solution runs, kept, filled in, and compared in the next run."""

from __future__ import annotations

import pathlib
import re

import nbformat
import pytest

from shardlab.errors import ShardlabError
from shardlab_authoring import executed, quoted
from shardlab_course.editions import edition, header, numbers

from .conftest import SYLLABUS

NAME = "91_numbers.md"
PAGE = """\
---
jupytext:
  text_representation: {extension: .md, format_name: myst}
kernelspec: {display_name: Python 3 (ipykernel), language: python, name: python3}
---

# Numbers

Of `{{0,1},{2,3}}` nothing is known.

```{code-cell} ipython3
x = 1
```

There {{ "are" if x > 1 else "is" }} {{ x }}; in a set, {{ len({x, 2}) }}.

```{code-cell} ipython3
x = x + 1_000
x
```

There are {{ x }}, or {{ f"{x:,} \\\\" }}
"""
TEXTS = {'"are" if x > 1 else "is"': ["is"], "x": ["1", "1001"], "len({x, 2})": ["2"], 'f"{x:,} \\\\"': ["1,001 \\"]}
MISTAKES = {
    "not closed": ("a {{ x", "placeholder-not-closed"),
    "over two lines": ("a {{ x +\n1 }}", "placeholder-not-closed"),
    "no space at the end": ("a {{ x}}", "placeholder-not-closed"),
    "not python": ("a {{ x + }}", "placeholder-not-python"),
    "a statement": ("a {{ x = 1 }}", "placeholder-not-python"),
    "a comment": ("a {{ # x }}", "placeholder-not-python"),
}


@pytest.fixture
def page(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """A repository's only chapter, with placeholders and without questions."""
    monkeypatch.setattr(header, "syllabus", lambda root: SYLLABUS)
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "solutions" / NAME
    path.parent.mkdir()
    path.write_text(PAGE)
    path.with_name(quoted.ALLOWED).write_text("[91]\n'{{0,1},{2,3}}' = 'groups, as HLO writes them'\n")
    return path


@pytest.mark.notebook
def test_from_the_run_to_the_page_and_back(page: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One run keeps the texts, the editions show them, the next run compares, and a changed page stops it."""
    run = ["build", str(91)]
    assert executed.main(["--numbers", *run]) == 0
    assert numbers.load(page) == TEXTS
    told = "There are 1001, or 1,001 \\"
    assert edition.source(page, SYLLABUS).cells[-1].source == told
    assert executed.main(run) == 0
    ran = nbformat.read("build/91_numbers.ipynb", as_version=4)
    assert (ran.cells[-1].source, [c.execution_count for c in ran.cells[1::2]]) == (told, [1, 2])
    capsys.readouterr()
    page.write_text(PAGE.replace("1_000", "1"))
    assert executed.main(run) == 1
    assert capsys.readouterr().err == (
        "[number-differs] 2 of the numbers in prose are not what the page says now.\n"
        "  where: 91_numbers.md: {{ x }}   kept: 1, 1001   now: 1, 2\n"
        '         91_numbers.md: {{ f"{x:,} \\\\" }}   kept: 1,001 \\   now: 2 \\\n'
        '  mend:  run the page again: make numbers CHAPTERS="91"; then read the sentences around them again.\n'
    )


@pytest.mark.notebook
def test_a_placeholder_that_raises_is_named(page: pathlib.Path) -> None:
    """The author reads which one, and what it raised."""
    page.write_text(PAGE.replace("{{ x }},", "{{ y }},"))
    with pytest.raises(ShardlabError) as error:
        executed.run(page, SYLLABUS, page.parent)
    assert str(error.value) == (
        "[placeholder-raises] a placeholder raises NameError: name 'y' is not defined\n"
        "  where: 91_numbers.md: {{ y }}\n"
        "  mend:  use names that the code cells above it have made."
    )


@pytest.mark.notebook
def test_a_sentence_about_another_jax_keeps_its_number(page: pathlib.Path) -> None:
    """Its expression is not evaluated here, in any of its places; without a kept text it stops the run."""
    page.write_text(PAGE.replace("{{ x }}", "{{ x  # JAX 0.1 }}"))
    about = "x  # JAX 0.1"
    numbers.save(page, TEXTS | {about: ["7", "8"]})
    notebook, texts = executed.run(page, SYLLABUS, page.parent)
    assert texts[about] == ["7", "8"] and notebook.cells[-1].source == "There are 8, or 1,001 \\"
    numbers.save(page, TEXTS | {about: ["7"]})
    with pytest.raises(ShardlabError) as error:
        executed.run(page, SYLLABUS, page.parent)
    assert str(error.value) == (
        "[number-not-measured] what a placeholder says of another version of JAX is not kept.\n"
        "  where: 91_numbers.md: {{ x  # JAX 0.1 }}\n"
        "  mend:  run `make numbers` by that lane's Python."
    )


@pytest.mark.notebook
def test_what_a_page_compiles_is_kept(page: pathlib.Path) -> None:
    """JAX writes it into the chapter's folder, from where the open edition takes it."""
    page.write_text(PAGE.replace("x = 1\n```", "import jax\n\nx = int(jax.numpy.add(0, 1))\n```"))
    executed.run(page, SYLLABUS, page.parent)
    assert any("add" in kept.name for kept in (executed.COMPILED / "91").iterdir())


def test_some_pages_compile_what_they_show() -> None:
    """A clock would show how long it takes to read a file, and a program that a cell compiled another run's lines."""
    root = pathlib.Path(__file__).parents[2]
    pages = [*root.glob("solutions/*.md"), *root.glob("jupyter_book/*.md")]
    shown = re.compile(r"perf_counter|read_program\(")
    assert {page.stem for page in pages if shown.search(page.read_text())} == set(executed.ANEW)
    enabled = [
        executed.compiled(root, page)["JAX_ENABLE_COMPILATION_CACHE"] for page in (*executed.ANEW, "04_four_matmul_cases")
    ]
    assert enabled == ["False"] * len(executed.ANEW) + ["True"]


def test_a_number_without_its_text_stops_the_editions(page: pathlib.Path) -> None:
    """What is new on the page is named, with the command that measures it."""
    numbers.save(page, TEXTS | {"x": ["1"]})
    with pytest.raises(ShardlabError) as error:
        edition.source(page, SYLLABUS)
    assert str(error.value) == (
        "[number-not-measured] 1 of the placeholders has not been measured.\n"
        "  where: 91_numbers.md: {{ x }}\n"
        '  mend:  run the page again: make numbers CHAPTERS="91"'
    )


def test_texts_are_kept_a_line_each(page: pathlib.Path) -> None:
    """The file is for reading in a review; a chapter without numbers has none."""
    numbers.save(page, {"x": ["1", "2 µs"], '"a"': ["a"]})
    assert numbers.kept(page).read_text() == '{\n "x": ["1", "2 µs"],\n "\\"a\\"": ["a"]\n}\n'
    numbers.save(page, {})
    assert not numbers.kept(page).exists()
    assert numbers.load(page) == {}


def test_ids_of_cells_do_not_know_the_numbers(page: pathlib.Path) -> None:
    """A number that changes leaves the notebook's other lines alone."""
    first, second = ([[f"{n}" for n in range(k, k + len(told))] for told in TEXTS.values()] for k in (0, 7))
    ids = []
    for texts in (first, second):
        numbers.save(page, dict(zip(TEXTS, texts)))
        ids.append([cell.id for cell in edition.source(page, SYLLABUS).cells])
    assert ids[0] == ids[1]


@pytest.mark.parametrize(("text", "reference"), MISTAKES.values(), ids=MISTAKES)
def test_a_broken_placeholder_is_named(text: str, reference: str) -> None:
    """It is an error of the author, not a text."""
    with pytest.raises(ShardlabError) as error:
        numbers.expressions(text, NAME)
    assert error.value.reference == reference
    assert error.value.where.startswith(NAME)


def test_other_chapters_are_left_alone(page: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A chapter that waits for its numbers does not stop the editions of another."""
    page.with_name("92_plain.md").write_text("# Plain\n")
    assert edition.main(["92"]) == 0
    assert edition.main(["--check", "92"]) == 0
    assert edition.main(["91"]) == 1
    assert "number-not-measured" in capsys.readouterr().err
