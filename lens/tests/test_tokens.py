"""Letters passed on along a permutation: whose block is where, and the pictures of it."""

import re
import xml.etree.ElementTree as ElementTree

import pytest

import hlo_texts
from shardlens.errors import LensError
from shardlens.programs.program import Memory, Program
from shardlens.reading.collectives import read_collectives
from shardlens.rings.ring import passed
from shardlens.rings.tokens import show_tokens

RING = [(d, (d + 1) % 4) for d in range(4)]


@pytest.mark.parametrize("n, by, steps", [(4, 1, 3), (8, 3, 5), (5, -1, 4)])
def test_blocks_are_where_the_permutation_takes_them(n: int, by: int, steps: int) -> None:
    """After k steps of a shift, device d holds the block that began k shifts before it."""
    made = passed([(d, (d + by) % n) for d in range(n)], n, steps)
    for k, step in enumerate(made.steps):
        assert [[chunk.home for chunk in held] for held in step.held] == [[(d - k * by) % n] for d in range(n)]


def test_text_of_an_open_ring() -> None:
    """Who gets nothing holds zeros, and passes nothing on."""
    assert str(show_tokens(RING[:-1], steps=2)) == (
        "ppermute on 4 devices, 2 times; 2 of them hold zeros in the end\n"
        "        device 0  device 1  device 2  device 3\n"
        "start   A         B         C         D\n"
        "step 1  0         A*        B*        C*\n"
        "step 2  0         0         A*        B*\n"
        "* just arrived or added to. B: the block that device 1 had; no letter: nobody sent anything, and ppermute "
        "fills in zeros."
    )


def test_program() -> None:
    """Each permutation of a program is drawn by itself, as often as it runs."""
    found = read_collectives((hlo_texts.FOLDER / "cpu_nested_loops.txt").read_text())
    permute = next(c for c in found if c.kind == "collective-permute")
    program = Program(found, Memory(0, 0, 0, 0, 0), 0.0, "", (), 8, "cpu")
    assert str(show_tokens(program)) == str(show_tokens(permute)) == str(show_tokens(permute.groups, steps=15))


@pytest.mark.parametrize("pairs, n", [(RING, 4), (RING[:-1], 4), ([(d, (d + 3) % 8) for d in range(8)], 8), ([(0, 1)], 9)])
def test_html(pairs: list[tuple[int, int]], n: int) -> None:
    """The picture is well formed, stands alone, and moves for up to 8 devices only."""
    html = show_tokens(pairs, n=n).html
    ElementTree.fromstring(html.replace("<details open ", '<details open="" '))
    assert "http" not in html.replace("http://www.w3.org/2000/svg", "") and "<script" not in html and " id=" not in html
    assert ("@keyframes" in html) == (n <= 8) and "A from 0 to" in html
    assert set(re.findall(r"animation-name:([\w-]+)", html)) <= set(re.findall(r"@keyframes ([\w-]+)", html))


def test_two_films_on_one_page_have_two_names() -> None:
    """Style rules of one permutation do not move the letters of another."""
    first, second = (set(re.findall(r"@keyframes ([\w-]+)", show_tokens(pairs).html)) for pairs in (RING, RING[::-1][:-1]))
    assert not first & second


@pytest.mark.parametrize(
    "pairs, n, said",
    [
        ([], None, "no pairs"), ([(0, 1), (0, 2)], None, "sends twice"), ([(0, 3)], 2, "not one of the 2"),
        ([(0, 20)], None, "at most 16"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn(pairs: list[tuple[int, int]], n: int | None, said: str) -> None:
    """The message says what is wrong with the pairs."""
    with pytest.raises(LensError, match=said):
        show_tokens(pairs, n=n)


def test_program_without_permutes() -> None:
    """A program that permutes nothing has no tokens."""
    with pytest.raises(LensError, match="no collective-permute"):
        show_tokens(Program((), Memory(0, 0, 0, 0, 0), 0.0, "", (), 8, "cpu"))
