"""A cell of a solution that raises is told by its line in the chapter's source."""

from __future__ import annotations

import pathlib

import nbformat
import pytest

from shardlab.errors import ShardlabError
from shardlab_authoring import executed
from shardlab_course.editions import header

from .conftest import SYLLABUS

PAGE = """\
---
jupytext:
  text_representation: {extension: .md, format_name: myst}
kernelspec: {display_name: Python 3 (ipykernel), language: python, name: python3}
---

# Lines

```{code-cell} ipython3
one = 1
```

```{code-cell} ipython3
:tags: [show]

two = one + 1
### BEGIN SOLUTION
three = two + 1

four = {}["none"]
### END SOLUTION
five = 5
```
"""
TRACEBACK = "KeyError Traceback\nCell In[2], line {}\n      1 two = one + 1\nFile dict.py:9, in get\n   Cell In[1], line 1"
LINES = {
    "the first": (1, "16: two = one + 1", 'two = one + 1\nthree = two + 1\n\nfour = {}["none"]\nfive = 5'),
    "after a marker": (2, "18: three = two + 1", 'two = one + 1\nthree = two + 1\n\nfour = {}["none"]\nfive = 5'),
    "after a blank line": (4, '20: four = {}["none"]', 'two = one + 1\nthree = two + 1\n\nfour = {}["none"]\nfive = 5'),
    "of the first cell": (1, "10: one = 1", "one = 1"),
}


@pytest.mark.parametrize(("line", "told", "cell"), LINES.values(), ids=LINES)
def test_the_line_of_a_cell(line: int, told: str, cell: str, tmp_path: pathlib.Path) -> None:
    """Options and the marks of a region stand in the source, and not in the cell that runs."""
    (tmp_path / "solutions").mkdir()
    source = tmp_path / "solutions" / "90_lines.md"
    source.write_text(PAGE)
    assert executed.where(source, cell, TRACEBACK.format(line)) == f"solutions/90_lines.md:{told}"


def test_a_generated_cell_is_told_by_its_beginning(tmp_path: pathlib.Path) -> None:
    """It has no line in the source."""
    source = tmp_path / "90_lines.md"
    source.write_text(PAGE)
    told = executed.where(source, "import shardlab as sl\nsl.setup(8)", TRACEBACK.format(2))
    assert told == f"{tmp_path.name}/90_lines.md, the cell that begins import shardlab as sl"


@pytest.mark.notebook
def test_a_cell_that_raises(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command ends with one message, and without the traceback of whoever runs the cells."""
    monkeypatch.setattr(header, "syllabus", lambda root: SYLLABUS)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "solutions").mkdir()
    (tmp_path / "solutions" / "91_lines.md").write_text(
        PAGE.replace("### BEGIN SOLUTION\n", "").replace("### END SOLUTION\n", "")
    )
    assert executed.main(["build", "91"]) == 1
    assert capsys.readouterr().err == (
        "[cell-raises] a cell raises KeyError: 'none'\n"
        '  where: solutions/91_lines.md:19: four = {}["none"]\n'
        "  mend:  mend the cell, and run the chapter again.\n"
    )


def test_a_cell_that_warns(tmp_path: pathlib.Path) -> None:
    """The book refuses such a page, many minutes later."""
    cell = nbformat.v4.new_code_cell(
        "one = 1", outputs=[nbformat.v4.new_output("stream", name="stderr", text="Take care\n")]
    )
    source = tmp_path / "90_lines.md"
    source.write_text(PAGE)
    with pytest.raises(ShardlabError, match="Take care") as raised:
        executed.quiet(source, nbformat.v4.new_notebook(cells=[cell]))
    assert "90_lines.md:10: one = 1" in str(raised.value)
