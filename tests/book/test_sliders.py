"""Figures with two sliders say what compiler and oracles say: chapters 12 and 15."""

from __future__ import annotations

import re
import sys

import pytest

from shardlab import records
from shardlab_course.ch15.ex02.oracle import choice
from shardlens import read_stored

from .conftest import ROOT

sys.path.insert(0, str(ROOT / "jupyter_book"))

import sliders  # noqa: E402


def test_moments_are_those_of_the_text() -> None:
    """In the middle of each product as many hops have a done before it in the scheduled text, and as many only a start."""
    text = read_stored(records.FOLDER / "12-ring.json", "v5e:2x4").hlo
    lines = text[text.index("ENTRY") :].splitlines()
    begun = ended = products = 0
    for line in lines:
        name = line.split(" = ")[0].strip().removeprefix("ROOT ").removeprefix("%")
        begun += name.startswith("collective-permute-start")
        ended += name.startswith("collective-permute-done")
        if re.fullmatch(r"fusion(\.\d+)?", name) and "dot_general" in line:
            products += 1
            said = sliders.beside("passed on", products)[1]
            under = f"{begun - ended} hop" if begun > ended else "nothing"
            assert f"{ended} of 7 hops ended, {under}" in said, said
    assert products == 8 == len(sliders.MOMENTS) - 1
    assert (
        sliders.beside("all_gather, then @", 0)[1]
        == "Nothing is multiplied yet: 1 all-gather ended with no product beside it."
    )


@pytest.mark.parametrize("batch", sliders.BATCHES)
def test_one_mesh_that_fits_moves_least(batch: int) -> None:
    """It is the one that exercise 15.2's oracle chooses."""
    sizes = batch, sliders.LENGTH, sliders.DEPTH, sliders.LAYERS, sliders.WORDS
    best = [mesh for mesh in sliders.MESHES if "No other mesh" in sliders.mesh(batch, *mesh)[1]]
    assert best == [tuple(choice(8, sliders.ROOMS["v5e"], *sizes) or ())]
