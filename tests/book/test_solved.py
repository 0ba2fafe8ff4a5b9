"""What an open chapter shows where its own cells say only that an answer is open."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("docutils", reason="the book's packages are not installed (extra: book)")
from docutils import nodes  # noqa: E402

EXTENSIONS = Path(__file__).parents[2] / "jupyter_book" / "_ext"
sys.path.insert(0, str(EXTENSIONS))

import book_solved  # noqa: E402

HEAD = "            collectives    price\n"
XLA = "XLA's       all-reduce     1,024\n"


def cell(text: str) -> nodes.container:
    """An output that prints this."""
    whole, output = nodes.container(), nodes.container(nb_element="cell_code_output")
    output += nodes.literal_block(text, text)
    whole += output
    return output


@pytest.mark.parametrize(
    "opened, solved, shown",
    [
        ("Ellipsis\n", "3\n", f"{book_solved.SAID}\n\n3\n"),
        ("· 4.1: to do\n  Not attempted yet: ...\n", "✓ 4.1: passed\n", f"{book_solved.SAID}\n\n✓ 4.1: passed\n"),
        (f"{HEAD}{XLA}mine   not written yet\n", f"{HEAD}{XLA}mine   all-reduce   512\n",
         f"{book_solved.SAID}\n\n{HEAD}{XLA}mine   all-reduce   512\n"),
        (f"{HEAD}{XLA}mine   not written yet\n", f"{HEAD}{XLA}mine   reduce-scatter   512\n", f"{HEAD}{XLA}"),
        (f"{HEAD}mine   not written yet\n", f"{HEAD}mine   all-gather   512\n", None),
        ("Prediction 4.4 is still open: ...\n", None, None),
        ("Ellipsis\n", "Ellipsis\n", None),
    ],
)  # fmt: skip
def test_open_outputs(opened: str, solved: str | None, shown: str | None) -> None:
    """The solved output, if it names no collective that is not there already; else what is left, and more than a head."""
    output = cell(opened)
    parent = output.parent
    book_solved._replace(output, None if solved is None else cell(solved))
    assert (parent.astext() if shown else parent.children) == (shown or [])
    assert all(text.parent is not None for text in parent.findall(nodes.Text))


def test_a_demonstration_stays() -> None:
    """A check that fails because it is meant to is no open exercise."""
    assert not book_solved.OPEN.search("✗ 0.3 Read a report, and mend: not yet, 0.5 of 3.25 points")
