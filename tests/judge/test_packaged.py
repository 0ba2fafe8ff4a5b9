"""What reference solutions cost, as it comes with the package for the JAX of either lane."""

from __future__ import annotations

import dataclasses
import json
import pathlib

import jax
import pytest

from shardlab.devices import PINNED_JAX
from shardlab_authoring import packaged
from shardlab_course.chapters import CHAPTERS, folder
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.references import References

FILES = {chapter: path for chapter in CHAPTERS if (path := folder(chapter) / "references.json").exists()}


@pytest.mark.parametrize("chapter", FILES)
def test_facts_are_those_of_this_jax(chapter: int) -> None:
    """A chapter's first and last program cost here what is on file, if anything is.

    The programs on file are the pinned JAX's; what they cost on another is that of the programs which it writes itself
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
        if jax.__version__ != PINNED_JAX:
            assert kept_cost.flops == pytest.approx(cost.flops, rel=0.05)
            cost = dataclasses.replace(cost, flops=kept_cost.flops)
        assert kept_cost == cost, f"python -m shardlab_authoring.packaged --measure {chapter}"


def test_what_is_known_for_another_jax_stays_with_its_program(tmp_path: pathlib.Path) -> None:
    """New references keep the facts of unchanged programs alone; those of their own JAX are the new ones."""
    here, other = jax.__version__, "0.0.1"
    old = {"programs": {"same": "A", "changed": "B"}, "facts": {here: {"same": 1}, other: {"same": 2, "changed": 3}}}
    new = {"programs": {"same": "A", "changed": "C"}, "facts": {here: {"same": 4, "changed": 5}}}
    path = tmp_path / "references.json"
    assert json.loads(packaged.with_others(json.dumps(new), path)) == new
    path.write_text(json.dumps(old))
    assert json.loads(packaged.with_others(json.dumps(new), path))["facts"] == new["facts"] | {other: {"same": 2}}
