"""Rings: what the simulated schedules move, how long the model says it takes, and the pictures of them."""

import itertools
import re
import xml.etree.ElementTree as ElementTree

import pytest

from shardlens.costs import alphabeta
from shardlens.errors import LensError
from shardlens.rings.ring import KINDS, Chunk, schedule
from shardlens.rings.steps import show_ring

CASES = list(itertools.product(KINDS, (2, 3, 4, 5, 8), (False, True)))


@pytest.mark.parametrize("kind, n, both", CASES)
def test_everyone_ends_with_what_it_should(kind: str, n: int, both: bool) -> None:
    """After the last step each device holds what the collective promises, and nothing else."""
    whole = tuple(range(n))
    wanted = {
        "all-gather": [{Chunk(c) for c in whole} for _ in whole],
        "reduce-scatter": [{Chunk(d, None, whole)} for d in whole],
        "all-reduce": [{Chunk(c, None, whole) for c in whole} for _ in whole],
        "all-to-all": [{Chunk(c, d) for c in whole} for d in whole],
    }[kind]
    assert [set(held) for held in schedule(kind, n, both).steps[-1].held] == wanted


@pytest.mark.parametrize("kind, n, both", CASES)
def test_hops_are_between_neighbours_that_have_the_chunk(kind: str, n: int, both: bool) -> None:
    """Nothing is sent that is not there, further than one hop, or the wrong way round a one-way ring."""
    made = schedule(kind, n, both)
    for before, step in itertools.pairwise(made.steps):
        for hop in step.hops:
            assert hop.chunk in before.held[hop.source]
            assert (hop.target - hop.source) % n in ((1, n - 1) if both else (1,))


@pytest.mark.parametrize("kind, n", list(itertools.product(KINDS, (2, 4, 8))))
def test_steps_are_those_of_the_model(kind: str, n: int) -> None:
    """Steps are the hops of the alpha-beta model; chunks over a link its bytes, where whole chunks can share both ways."""
    model = getattr(alphabeta, kind.replace("-", "_"))
    for both in (False, True):
        made = schedule(kind, n, both)
        assert made.hops == model(0, n, 1.0, latency=1.0, bidirectional=both)
    one_way = schedule(kind, n)
    assert one_way.busiest_link / one_way.fraction == pytest.approx(model(1.0, n, 1.0, bidirectional=False))


def test_text() -> None:
    """The grid in plain characters, whole."""
    assert str(show_ring("reduce-scatter", 3)) == (
        "reduce-scatter on a ring of 3, one way: 2 steps; 2 chunks of 1/3 of the array over the busiest link\n"
        "        device 0  device 1  device 2\n"
        "start   A1 B1 C1  A1 B1 C1  A1 B1 C1\n"
        "step 1  A1 B2*    B1 C2*    A2* C1\n"
        "step 2  A3*       B3*       C3*\n"
        "* just arrived or added to. B3: chunk B, with the terms of 3 devices added up; with 3 it is finished."
    )


@pytest.mark.parametrize("kind, n, both", CASES)
def test_html(kind: str, n: int, both: bool) -> None:
    """The picture is well formed, stands alone, tells its steps, and stops moving for those who want no motion."""
    html = show_ring(kind, n, both).html
    ElementTree.fromstring(html.replace("<details open ", '<details open="" '))
    assert "http" not in html.replace("http://www.w3.org/2000/svg", "") and "<script" not in html and " id=" not in html
    assert "prefers-reduced-motion" in html and f"Step {schedule(kind, n, both).hops}:" in html
    assert set(re.findall(r"animation-name:([\w-]+)", html)) <= set(re.findall(r"@keyframes ([\w-]+)", html))


def test_large_rings_stand_still() -> None:
    """More than 8 devices, or animated=False, give the grid alone."""
    assert "@keyframes" not in show_ring("all-gather", 9).html + show_ring("all-gather", 4, animated=False).html


def test_no_such_ring() -> None:
    """Another kind, or too many devices, lists what there is."""
    with pytest.raises(LensError) as error:
        show_ring("all-scatter", 40)
    assert str(error.value) == (
        "[no-ring] there is no ring picture of 'all-scatter' on 40 devices.\n"
        "  where: kind='all-scatter', n=40\n"
        "  mend:  name one of all-gather, reduce-scatter, all-reduce, all-to-all, on 2 to 16 devices."
    )
