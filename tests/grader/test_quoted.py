"""What a chapter's prose quotes: shown by its page, allowed with a reason, or told."""

from __future__ import annotations

import pathlib

import nbformat
import pytest
from nbformat import NotebookNode

from shardlab.errors import ShardlabError
from shardlab_authoring import quoted

CELLS = (
    ("markdown", "# Sums\n\nOf 12 rows each device has 3."),
    ("code", "rows = 12\nprint(rows // 4)"),
    ("markdown", "## Shapes\n\n```\nf32[7,5]\n```"),
    ("code", "show()"),
)
PRINTED = {1: "3", 3: "f32[4,6] on mesh x=4"}
SHOWN = {
    "an output": "It prints `f32[4,6]`.",
    "an output with other blanks": "It prints `f32[4, 6]`.",
    "a listing of the section": "It is `f32[7,5]` above.",
    "a number of another section": "All 12 rows.",
    "what a placeholder says": "It is {{ x }}, as `f32[{{ x }},6]`.",
    "code that calls": "Write `sl.devices(99)`, or `.at[99].add(1)`.",
    "code that computes": "So `n // 77`.",
    "a formula": "It takes $98 n$ bytes, 98 for each.",
    "a chapter and an exercise": "Chapter 17 asks, and exercises 31.1 and\n31.2 do (31.3).",
    "a paragraph with a source": "A v5e has 197 ([the book](https://jax-ml.github.io/scaling-book/tpus/)).",
    "what an exercise takes": "★★☆ · 55 minutes",
    "names with digits": "`W1`, `bf16`, `case_2` and x86-64.",
}
UNSHOWN = {
    "a type": ("It prints `f32[4,8]`.", "f32[4,8]"),
    "a type of another section": ("A span `12` here.", "12"),
    "a number": ("Of 14 rows.", "14"),
    "with commas": ("Of 65,536 rows.", "65,536"),
    "words in quotes": ('It is `"64 times"`.', '"64 times"'),
}


def page(prose: str) -> tuple[list[str], NotebookNode]:
    """A page whose last section ends with some prose, and the sources of its cells."""
    made = nbformat.v4.new_notebook()
    for number, (kind, source) in enumerate((*CELLS, ("markdown", prose))):
        made.cells.append(nbformat.v4.new_code_cell(source) if kind == "code" else nbformat.v4.new_markdown_cell(source))
        if number in PRINTED:
            made.cells[-1].outputs = [nbformat.v4.new_output("stream", text=PRINTED[number])]
    return [cell.source for cell in made.cells], made


@pytest.mark.parametrize("prose", SHOWN.values(), ids=SHOWN)
def test_what_the_page_shows_may_be_quoted(prose: str, tmp_path: pathlib.Path) -> None:
    """So may code to write, what a placeholder says, and what its paragraph has a source for."""
    quoted.compare(tmp_path / "90_sums.md", *page(prose))


@pytest.mark.parametrize(("prose", "text"), UNSHOWN.values(), ids=UNSHOWN)
def test_what_it_does_not_show_is_told(prose: str, text: str, tmp_path: pathlib.Path) -> None:
    """Unless the list says why it is so."""
    chapter = tmp_path / "90_sums.md"
    with pytest.raises(ShardlabError) as error:
        quoted.compare(chapter, *page(prose))
    assert error.value.where == f"90_sums.md: {text}   is not on the page"
    (tmp_path / quoted.ALLOWED).write_text(f"[90]\n'{text}' = 'a reason'\n")
    quoted.compare(chapter, *page(prose))


def test_leave_for_what_a_measurement_may_show_stays(tmp_path: pathlib.Path) -> None:
    """On one processor an error is 1.1 units of rounding, on another it is not: the list holds on both."""
    (tmp_path / quoted.ALLOWED).write_text("[90]\n'1.1' = 'a reason'\n")
    for printed in ("1.1 units", "2.3 units", "1.1e+06"):
        written, made = page("At most 1.1 of them.")
        made.cells[3].outputs = [nbformat.v4.new_output("stream", text=printed)]
        quoted.compare(tmp_path / "90_sums.md", written, made)


def test_leave_that_is_not_needed_is_told(tmp_path: pathlib.Path) -> None:
    """The list does not outlive its sentences; other chapters' entries are theirs."""
    (tmp_path / quoted.ALLOWED).write_text("[90]\n'14' = 'a reason'\n[91]\n'15' = 'another'\n")
    with pytest.raises(ShardlabError) as error:
        quoted.compare(tmp_path / "90_sums.md", *page("Of 12 rows."))
    assert str(error.value) == (
        "[quoted-not-shown] the prose quotes what its page does not show.\n"
        "  where: quoted.toml: '14'   is not written any more\n"
        "  mend:  write {{ expression }}, show it in a cell of that section, or say in solutions/quoted.toml why it is so."
    )
