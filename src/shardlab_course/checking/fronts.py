"""`show_front`: a design exercise's Pareto front, and where your design is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shardlab.errors import ShardlabError
from shardlab_course.checking.naming import exercise
from shardlab_course.checking.pareto import Map, drawn
from shardlab_judge.costs import Cost
from shardlab_judge.items.design import DesignItem, front_of, measured


def show_front(question: str | float, design: Mapping[str, Any] | None = None) -> Any:
    """The Pareto front of a design exercise, in each of its cases, and your design's place: bytes moved, bytes held.

    Both axes are logarithmic, so that a factor has the same length everywhere.

    Args:
        question: as in the exercise's heading, `"15.6"`.
        design: your answer, a dict with `layout` and `step`; without it, or while it is open, the front alone is shown.
    Raises:
        ShardlabError: the question asks for no design, or yours has no program to measure.
    """
    return drawn(maps(exercise(question).id, design))


def maps(question: str, design: Mapping[str, Any] | None) -> tuple[Map, ...]:
    """A map for each case, measured here as the judge measures.

    Raises:
        ShardlabError: as for `show_front`.
    """
    item = _item(question)
    found = []
    for case, (mine, note) in zip(item.cases, _measured(question, item, design)):
        shape = ", ".join(f"{name}={size}" for name, size in case.axes)
        reached = tuple(front_of(item, case).values())
        found.append(Map(f"mesh ({shape})", reached, mine, item.limit(case), note))
    return tuple(found)


def _item(question: str) -> DesignItem:
    from shardlab_course.chapters import asked as find

    for item in find(question).items:
        if isinstance(item, DesignItem):
            return item
    raise ShardlabError(
        "no-front",
        f"question {question} asks for no design.",
        where=f"sl.show_front({question!r})",
        mend="name a question whose answer is a design, as '15.6'.",
    )


def _measured(question: str, item: DesignItem, design: Any) -> list[tuple[Cost | None, str]]:
    from shardlab.answers.record import record

    if design is None or design is ...:
        return [(None, "")] * len(item.cases)
    manifest = {"variable": None, "items": [item.manifest(question, None)]}
    entry = record(manifest, {item.name: design}, {})["items"][item.name]
    programs = entry.get("programs", [entry] * len(item.cases))
    error = next((e["error"] for e in programs if "error" in e), None)
    if error is not None:
        raise ShardlabError(
            "no-program",
            f"the design has no program to measure: {error['type']}: {error['message']}",
            where=f"sl.show_front({question!r}, design)",
            mend=f"let it run first: sl.check({question!r}, design) says more.",
        )
    if any("module" not in each for each in programs):
        return [(None, "")] * len(item.cases)
    return [measured(item, case, entry["layout"], each) for case, each in zip(item.cases, programs)]
