"""Layouts: an expression or a spec for each argument of our function, judged by what that then compiles to."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shardlab.errors import ShardlabError
from shardlab.expressions.resolution import Resolution
from shardlab_judge.cases import Case, Input, Observed
from shardlab_judge.costs import excess
from shardlab_judge.findings import describe, explained, shown
from shardlab_judge.question import Draw, Item, Judged, Misconception, Response, Setting
from shardlab_judge.reading import AS_VALUE, Shape, resolved, unread
from shardlab_judge.verdict import Finding
from shardlens import Axes, Placement

if TYPE_CHECKING:
    from shardlens import Program


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
    FLOPs of a device; none may be above those of `reference`. Misconceptions are recognised by `when`.

    Args:
        function: of JAX arrays; ours.
        reference: the expressions, or specs as lists, that set the budget.
        cases: at least two.
        draw: one further situation from a random generator.
    """

    function: Callable[..., Any] = dataclasses.field(kw_only=True)
    reference: Mapping[str, Any] = dataclasses.field(kw_only=True)
    cases: tuple[Situation, ...] = dataclasses.field(kw_only=True)
    draw: Draw[Situation] | None = dataclasses.field(default=None, kw_only=True)
    kind = "layout"
    sees = ("when", "error")
    form = "a dict with a spec, or an expression as text, for each array"

    def cases_of(self, question: str, seed: int | None) -> tuple[Situation, ...]:
        """The public situations, then one drawn from `seed`."""
        return self.with_drawn(self.cases, self.draw, 1, question, seed)

    def asks(self, question: str, seed: int | None) -> dict[str, Any]:
        """Recorded as a value."""
        return AS_VALUE

    def judge(self, response: Response, setting: Setting) -> Judged:
        """Full points for each letter where it holds in every situation; the first finding of each letter."""
        got, names = response["value"], list(self.reference)
        if not isinstance(got, Mapping) or set(got) != set(names):
            what, wanted = f"{self.name} does not have the right entries.", f"a dict with {names}"
            return {}, [Finding(self.name, self.first, what, wanted, shown(got))]
        findings: dict[str, Finding] = {}
        for case in self.cases_of(setting.question, setting.seed):
            try:
                found = _case_findings(self, case, tuple(got[name] for name in names))
            except ShardlabError as error:
                return {}, [dataclasses.replace(unread(self, error), where=case.title)]
            for finding in found:
                findings.setdefault(finding.letter, finding)
        return {letter: 1.0 for letter in self.points if letter not in findings}, list(findings.values())


def _case_findings(item: LayoutItem, case: Situation, texts: tuple[Any, ...]) -> list[Finding]:
    """The findings of the letters that count, with the cause where it is known.

    Raises:
        ShardlabError: as for `shardlab_judge.reading.resolved`.
    """
    observed = compiled(item, case, texts)
    wanted = compiled(item, case, tuple(item.reference.values()))
    found = [f for f in _differences(item, observed, wanted) if f.letter in item.points]
    return [explained(dataclasses.replace(f, where=case.title), _when(item, observed, f.letter)) for f in found]


def compiled(item: LayoutItem, case: Situation, texts: tuple[Any, ...]) -> Observed:
    """What the item's function costs for arguments that are placed by these expressions; nothing runs.

    Raises:
        ShardlabError: as for `resolved`.
    """
    pairs = zip(texts, case.shapes, strict=True)
    found = tuple(resolved(text, shape, case.axes, case.devices) for text, (_, shape) in pairs)
    return _measured(item.function, case, found)


@functools.lru_cache(maxsize=512)
def _measured(function: Callable[..., Any], case: Situation, found: tuple[Resolution, ...]) -> Observed:
    axes = case.axes or max((resolution.axes for resolution in found), key=len)
    try:
        program = _program(function, case, found, axes)
    except ValueError:  # JAX names the output on one argument's mesh, which may be too coarse for it
        program = _program(function, case, _on_one_mesh(found), axes)
    inputs = tuple(Input(shape, resolution.spec) for (_, shape), resolution in zip(case.shapes, found))
    return Observed(
        Case(axes, inputs),
        placements=program.output_placements,
        collectives=program.collectives,
        flops=program.flops,
        memory=program.memory.argument + program.memory.output,
    )


def _program(function: Callable[..., Any], case: Situation, found: tuple[Resolution, ...], axes: Axes) -> Program:
    # Here and not above: declarations are read where there is no JAX.
    import jax

    from shardlab.answers.context import situation
    from shardlens import read_program

    given = (Case(each.axes, (Input(shape, each.spec),)) for (_, shape), each in zip(case.shapes, found))
    specs = [situation(one.to_json())[1][0] for one in given]  # each on a mesh of its own
    return read_program(jax.jit(function, keep_unused=True).lower(*specs).compile(), axes)


def _on_one_mesh(found: tuple[Resolution, ...]) -> tuple[Resolution, ...]:
    """The same slices over axes that all share: each axis becomes the steps between its ends.

    Where no common steps exist, or all have one mesh already, nothing changes.
    """
    ends = sorted({end for resolution in found for end in _ends(resolution.axes)})
    if len({resolution.axes for resolution in found}) == 1 or any(b % a for a, b in itertools.pairwise(ends)):
        return found
    axes = tuple((f"axis{i}", b // a) for i, (a, b) in enumerate(itertools.pairwise(ends)))
    return tuple(Resolution(axes, tuple(_refined(entry, r.axes, ends) for entry in r.spec)) for r in found)


def _ends(axes: Axes) -> list[int]:
    return list(itertools.accumulate((size for _, size in axes), operator.mul, initial=1))


def _refined(entry: Any, axes: Axes, ends: Sequence[int]) -> tuple[str, ...] | None:
    """The fine axes that make up the coarse ones of a spec's entry."""
    if entry is None:
        return None
    spans = dict(zip((name for name, _ in axes), itertools.pairwise(_ends(axes))))
    coarse = [spans[name] for name in ((entry,) if isinstance(entry, str) else entry)]
    return tuple(f"axis{i}" for first, last in coarse for i in range(ends.index(first), ends.index(last)))


def _differences(item: LayoutItem, observed: Observed, wanted: Observed) -> Iterator[Finding]:
    moved = f"{observed.price:,} B a device: {describe(observed.collectives)}"
    if not all(map(Placement.same_as, observed.placements, wanted.placements)):
        yield Finding(item.name, "S", "The output has the wrong sharding.", _shard(wanted), _shard(observed))
    if observed.price > wanted.price:
        yield Finding(item.name, "H", "More bytes move than need to.", f"at most {wanted.price:,} B a device", moved)
    yield from excess(item.name, observed.memory, observed.flops, wanted.cost)


def _shard(observed: Observed) -> str:
    return ", ".join(f"shards {list(p.shard_shape)} of {list(p.shape)}" for p in observed.placements)


def _when(item: Item, observed: Observed, letter: str) -> Misconception | None:
    return next((m for m in item.misconceptions if m.when and m.explains(letter) and m.when(observed)), None)
