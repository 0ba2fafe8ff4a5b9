"""Items whose answers are sharding expressions, as text; the judge reads them, and no code of the student's runs there."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Mapping
from typing import Any

from shardlab.placement import Axes, Placement, Spec
from shardlab_judge.question import Item

Shape = tuple[int, ...]
AS_VALUE = {"kind": "value", "predicted": False}


@dataclasses.dataclass(frozen=True)
class ExpressionItem(Item):
    """The text of an expression that must put `target`'s slices on `target`'s devices.

    Args:
        target: where what should lie; its shape is the one that the expression is applied to.
        axes: the mesh whose axes it may name; without it, the numbers are for `devices` in their order.
        devices: how many there are.
    """

    target: Placement = dataclasses.field(kw_only=True)
    axes: Axes | None = dataclasses.field(default=None, kw_only=True)
    devices: int = dataclasses.field(default=8, kw_only=True)
    kind = "expression"

    def asks(self, question: str, seed: int | None) -> dict[str, Any]:
        """Recorded as a value."""
        return AS_VALUE


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
    A miss is recognised by `like`, a predicate over {path: how many parts each dimension is cut into}.

    Args:
        wanted: the spec of a leaf, from its path.
        trees: the public trees.
        draw: one further tree from a random generator.
        drawn: how many further trees the grader draws.
    """

    wanted: Callable[[str], Spec] = dataclasses.field(kw_only=True)
    trees: tuple[Tree, ...] = dataclasses.field(kw_only=True)
    draw: Callable[[random.Random], Tree] | None = dataclasses.field(default=None, kw_only=True)
    drawn: int = dataclasses.field(default=2, kw_only=True)
    kind = "rules"

    def trees_of(self, question: str, seed: int | None) -> tuple[Tree, ...]:
        """The public trees, then those drawn from `seed`."""
        if seed is None or self.draw is None:
            return self.trees
        rng = random.Random(f"{seed}/{question}/{self.name}")
        return self.trees + tuple(self.draw(rng) for _ in range(self.drawn))

    def asks(self, question: str, seed: int | None) -> dict[str, Any]:
        """The paths of each tree."""
        return {"calls": [[[path for path, _ in tree.leaves]] for tree in self.trees_of(question, seed)]}


@dataclasses.dataclass(frozen=True)
class Situation:
    """The arrays that a layout is for, by name, and the mesh, or how many devices there are."""

    shapes: tuple[tuple[str, Shape], ...]
    axes: Axes | None = None
    devices: int = 8

    @property
    def title(self) -> str:
        """The situation in a few words, for messages."""
        sizes = ", ".join(f"{name} {list(shape)}" for name, shape in self.shapes)
        mesh = f"{self.devices} devices" if self.axes is None else f"mesh ({', '.join(f'{n}={s}' for n, s in self.axes)})"
        return f"{mesh}, {sizes}"


@dataclasses.dataclass(frozen=True)
class LayoutItem(Item):
    """An expression or a spec for each argument of a function that is given, judged by what the function then compiles to.

    `S` is for the output's placement, `H` for the price of the collectives, `M` for argument and output bytes, `F` for the
    FLOPs of a device; none may be above those of `reference`. Misses are recognised by `when`.

    Args:
        function: of JAX arrays; ours.
        reference: the expressions, or specs as lists, that set the budget.
        cases: at least two.
        draw: one further situation from a random generator.
    """

    function: Callable[..., Any] = dataclasses.field(kw_only=True)
    reference: Mapping[str, Any] = dataclasses.field(kw_only=True)
    cases: tuple[Situation, ...] = dataclasses.field(kw_only=True)
    draw: Callable[[random.Random], Situation] | None = dataclasses.field(default=None, kw_only=True)
    kind = "layout"

    def cases_of(self, question: str, seed: int | None) -> tuple[Situation, ...]:
        """The public situations, then one drawn from `seed`."""
        if seed is None or self.draw is None:
            return self.cases
        return (*self.cases, self.draw(random.Random(f"{seed}/{question}/{self.name}")))

    def asks(self, question: str, seed: int | None) -> dict[str, Any]:
        """Recorded as a value."""
        return AS_VALUE
