"""What reference solutions cost, as it comes with the package for the JAX of either lane."""

from __future__ import annotations

import dataclasses
import json
import pathlib

import jax
import pytest

from shardlab_authoring import lanes, packaged
from shardlab_course.chapters import CHAPTERS, folder
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.references import References

LANES = lanes.known(pathlib.Path(__file__).parents[2])
FILES = {chapter: path for chapter in CHAPTERS if (path := folder(chapter) / "references.json").exists()}


@pytest.mark.thorough(after=9)
@pytest.mark.stored
@pytest.mark.parametrize("chapter", FILES)
def test_facts_are_those_of_this_jax(chapter: int) -> None:
    """A chapter's first and last program cost here what is on file, if anything is.

    The programs on file are the oldest JAX's; what they cost on another is that of the programs which it writes itself
    (`test_packaged_references_are_those_of_the_solutions`), by FLOPs of up to 5 % more or less.
    """
    kept = json.loads(FILES[chapter].read_text())
    asked = [
        (question.id, item.name, case)
        for question in CHAPTERS[chapter]
        for item in question.items
        if isinstance(item, ProgramItem)
        for case in item.cases_of(question.id, None)
    ]
    on_file, again = References(kept["programs"], kept["facts"]), References(kept["programs"], {})
    assert asked
    for one in (asked[0], asked[-1]):
        kept_cost, cost = on_file.cost(*one), again.cost(*one)
        if jax.__version__ != LANES[0]:
            assert kept_cost.flops == pytest.approx(cost.flops, rel=0.05)
            cost = dataclasses.replace(cost, flops=kept_cost.flops)
        assert kept_cost == cost, f"run `make references CHAPTERS={chapter}`"


KEPT = {"programs": {"same": "A", "changed": "B"}, "facts": {"1": {"same": 1, "changed": 3}, "2": {"same": 2, "changed": 4}}}
WRITTEN = {"programs": {"same": "A", "changed": "C"}, "facts": {"1": {"same": 5, "changed": 6}}}


@pytest.mark.parametrize(
    ("lanes", "here", "programs", "facts"),
    [
        pytest.param(["1", "2"], "1", "AC", {"1": {"same": 5, "changed": 6}, "2": {"same": 2}}, id="oldest"),
        pytest.param(["0", "1"], "1", "AB", {"0": {}, "1": {"same": 5, "changed": 6}}, id="newer"),
        pytest.param(["1"], "1", "AC", {"1": {"same": 5, "changed": 6}}, id="a lane that has gone"),
    ],
)
def test_what_is_known_for_another_jax_stays_with_its_program(
    lanes: list[str], here: str, programs: str, facts: dict[str, dict[str, int]], tmp_path: pathlib.Path
) -> None:
    """Programs are the oldest lane's, facts each lane's own; of changed programs no other lane's stay, of no lane none."""
    path = tmp_path / "references.json"
    path.write_text(json.dumps(KEPT))
    found = json.loads(packaged.with_others(json.dumps(WRITTEN), path, lanes, here))
    assert found == {"programs": dict(zip(("same", "changed"), programs)), "facts": facts}


def test_without_a_file_the_references_are_those_that_were_written(tmp_path: pathlib.Path) -> None:
    """A new chapter's, on the oldest lane."""
    assert json.loads(packaged.with_others(json.dumps(WRITTEN), tmp_path / "none.json", ["1"], "1")) == WRITTEN
