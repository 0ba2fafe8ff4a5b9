"""Rules: an ordered table of path patterns and expressions, judged by where it puts the leaves of trees."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from shardlab.errors import ShardlabError
from shardlab_judge.findings import OPEN, explained, raised, shown
from shardlab_judge.items.calls import admit_calls
from shardlab_judge.question import Draw, Item, Judged, Response, Setting
from shardlab_judge.reading import Shape, placed, unread
from shardlab_judge.verdict import Finding
from shardlens import Axes, Placement, Spec, place

ITEMSIZE = 4


@dataclasses.dataclass(frozen=True)
class Tree:
    """Parameters by their path, and the mesh that they are to be sharded over. Elements have 4 bytes."""

    axes: Axes
    leaves: tuple[tuple[str, Shape], ...]


@dataclasses.dataclass(frozen=True)
class RulesItem(Item):
    """An ordered table of (path pattern, expression) pairs, judged by where it puts the leaves of trees.

    The student's process matches the patterns, which are regular expressions and may take any time; the judge gets the
    expression that each path was given. Letter `S` is for every leaf in its place, `M` for the bytes that a device holds.
    A misconception is recognised by `like`, a predicate over {path: how many parts each dimension is cut into}.

    Args:
        wanted: the spec of a leaf, from its path.
        trees: the public trees.
        draw: one further tree from a random generator.
        drawn: how many further trees the grader draws.
    """

    wanted: Callable[[str], Spec] = dataclasses.field(kw_only=True)
    trees: tuple[Tree, ...] = dataclasses.field(kw_only=True)
    draw: Draw[Tree] | None = dataclasses.field(default=None, kw_only=True)
    drawn: int = dataclasses.field(default=2, kw_only=True)
    kind = "rules"
    form = "a list of pairs: a path pattern and an expression"
    parts = "calls"

    def trees_of(self, question: str, seed: int | None) -> tuple[Tree, ...]:
        """The public trees, then those drawn from `seed`."""
        return self.with_drawn(self.trees, self.draw, self.drawn, question, seed)

    def asks(self, question: str, seed: int | None) -> dict[str, Any]:
        """The paths of each tree."""
        return {"calls": [[[path for path, _ in tree.leaves]] for tree in self.trees_of(question, seed)]}

    @classmethod
    def admit(cls, asked: Mapping[str, Any], raw: Any) -> Response:
        """A value for each tree."""
        return admit_calls(asked, raw)

    def judge(self, response: Response, setting: Setting) -> Judged:
        """Full points for each letter where it holds in every tree; the first finding of each letter."""
        findings: dict[str, Finding] = {}
        for tree, one in zip(self.trees_of(setting.question, setting.seed), response["calls"], strict=True):
            for finding in _tree_findings(self, tree, one):
                if not finding.letter:
                    return {}, [dataclasses.replace(finding, letter=self.first)]
                findings.setdefault(finding.letter, finding)
        return {letter: 1.0 for letter in self.points if letter not in findings}, list(findings.values())


def _tree_findings(item: RulesItem, tree: Tree, one: Response) -> list[Finding]:
    """The findings in one tree; one without a letter costs all points."""
    if "value" not in one:
        error = one.get("error", OPEN)
        return [dataclasses.replace(raised(item, error, "The table does not fit the tree.", _title(tree)), letter="")]
    texts = one["value"]
    if not isinstance(texts, list) or len(texts) != len(tree.leaves):
        return [Finding(item.name, "", f"{item.name} is not a table.", item.form, shown(texts))]
    wanted = {path: place(shape, tree.axes, item.wanted(path)) for path, shape in tree.leaves}
    got: dict[str, Placement] = {}
    for (path, shape), text in zip(tree.leaves, texts):
        try:
            got[path] = placed(text, shape, tree.axes, 0)
        except ShardlabError as error:
            return [dataclasses.replace(unread(item, error), letter="", where=f"{path}   {_title(tree)}")]
    cuts = {path: _cuts(placement) for path, placement in got.items()}
    known = next((m for m in item.misconceptions if m.like is not None and m.like(cuts)), None)
    return [explained(finding, known) for finding in _misplaced(item, tree, wanted, got)]


def _misplaced(
    item: RulesItem, tree: Tree, wanted: Mapping[str, Placement], got: Mapping[str, Placement]
) -> Iterator[Finding]:
    wrong = [path for path in wanted if not got[path].same_as(wanted[path])]
    if wrong and "S" in item.points:
        first = wrong[0]
        shown = dataclasses.replace(wanted[first], axes=None, spec=None)
        what = f"{len(wrong)} of {len(wanted)} leaves are in the wrong place. The first is {first}."
        shards = f"shards {list(wanted[first].shard_shape)}", f"shards {list(got[first].shard_shape)}"
        pictures = (shown, got[first]) if len(shown.shape) == 2 else None
        yield Finding(item.name, "S", what, *shards, where=_title(tree), pictures=pictures)
    held, most = _bytes(got), _bytes(wanted)
    if held > most and "M" in item.points:
        what = "A device holds more than it needs to."
        yield Finding(item.name, "M", what, f"at most {most:,} B", f"{held:,} B", where=_title(tree))


def _cuts(placement: Placement) -> tuple[int, ...]:
    return tuple(n // s for n, s in zip(placement.shape, placement.shard_shape))


def _bytes(placements: Mapping[str, Placement]) -> int:
    return sum(ITEMSIZE * math.prod(placement.shard_shape) for placement in placements.values())


def _title(tree: Tree) -> str:
    return f"{len(tree.leaves)} leaves on the mesh ({', '.join(f'{name}={size}' for name, size in tree.axes)})"
