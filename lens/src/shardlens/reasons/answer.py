"""`why`: for each collective the line that it serves, the shardings that met there, and changes that make it cheaper."""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from shardlens.compilers.callables import Handed
from shardlens.errors import LensError
from shardlens.exceptions import told_shortly
from shardlens.programs.inspection import inspect
from shardlens.programs.program import Program
from shardlens.reading.collectives import Collective, price
from shardlens.reading.hlo import parse_hlo
from shardlens.reasons.provenance import UNKNOWN, Edge, Provenance, Side, provenance
from shardlens.reasons.trials import Change, Source
from shardlens.sources import Line
from shardlens.tables import Table, plain

_SUMS = ("all-reduce", "reduce-scatter")
_PIECES = ("all-to-all", "collective-permute")
"""Several of these may make one move, each of a part of the array."""
_LABELS = {"moved": ("has", "needs"), "summed": ("sums", "into"), "met": ("takes", "makes")}
_EXPORTED = "jit(call)/call_exported/"
TRIES = 16
EACH = 10
"""Changes that are compiled for the whole program, and for one collective."""
MORE_WORK = 1.25
"""A change with that many times the FLOPs is none that saves: each device computes what another one has."""


@dataclasses.dataclass(frozen=True)
class Tried:
    """A change that was made and compiled, and what it became."""

    change: Change
    program: Program


@dataclasses.dataclass(frozen=True, repr=False)
class Answer:
    """Why one collective is there.

    Args:
        collective: as the program has it.
        line: of the user's Python, that it serves.
        written: whether that line asks for it itself, inside of `shard_map`.
        edges: the shardings that meet there, and their origins; one for each collective that XLA combined, none where
            these are not known.
        cheaper: the change that moves least, then, where that takes more memory, the best that does not.
        tried: how many changes were compiled for it.
    """

    collective: Collective
    line: Line
    written: bool
    edges: tuple[Edge, ...]
    cheaper: tuple[Tried, ...] = ()
    tried: int = 0


@dataclasses.dataclass(frozen=True, repr=False)
class Why:
    """What `why` found; prints itself.

    Args:
        program: as `inspect` reads it.
        answers: one for each collective, in the program's order.
        compiler: which one made all of it.
        tried: how many changes were compiled.
    Example:
        >>> mesh = jax.make_mesh((8,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
        >>> x = jax.ShapeDtypeStruct((8, 4), "float32", sharding=jax.NamedSharding(mesh, jax.P("x")))
        >>> found = lens.why(lambda x: x.sum(0), x, tries=0)
        >>> found.compiler, found.tried, found.program.price
        ('XLA for CPU', 0, 32)
    """

    program: Program
    answers: tuple[Answer, ...]
    compiler: str
    tried: int

    def about(self, chosen: Collection[Collective]) -> Why:
        """The same, of some collectives only; of all where none of these is here."""
        kept = tuple(answer for answer in self.answers if answer.collective in chosen)
        return dataclasses.replace(self, answers=kept or self.answers)

    def _tables(self) -> Iterator[Table]:
        for answer in self.answers:
            yield Table(_heading(answer.collective), ("left", "left"), tuple(_rows(answer, self.program)))
        lines = [f"compiled by {self.compiler}; {self.tried} changes compiled too"]
        if not self.answers:
            lines = [f"no collectives, compiled by {self.compiler}"]
        yield Table((), (), (), (*lines, *self.program.warnings))

    def __rich__(self) -> Any:
        from rich.console import Group

        return Group(*self._tables())

    def __str__(self) -> str:
        return plain(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return "".join(table.html() for table in self._tables())


def why(
    f: Callable[..., Any],
    *args: Any,
    target: str | None = None,
    axes: Mapping[str, int] | None = None,
    tries: int = TRIES,
    **kwargs: Any,
) -> Why:
    """Why each collective of a program is there, and what would be cheaper, tried by compiling; nothing runs.

    A change is shown if the program then moves fewer bytes, by `Program.price`, at about the same FLOPs.

    Args:
        f, args, target, axes, kwargs: as for `inspect`; `f` is a function, since a compiled program does not hold
            what it was made from.
        tries: how many changes may be compiled; 0 for none.
    Raises:
        LensError: `f` is a compiled or lowered program.
    Example:
        >>> mesh = jax.make_mesh((8,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
        >>> x = jax.ShapeDtypeStruct((8, 4), "float32", sharding=jax.NamedSharding(mesh, jax.P("x")))
        >>> [answer.collective.kind for answer in why(lambda x: x.sum(0), x, tries=0).answers]
        ['all-reduce']
    """
    if not callable(f) or hasattr(f, "compiler_ir") or hasattr(f, "as_text"):
        raise LensError(
            "why-needs-a-function",
            f"a {type(f).__name__} does not hold the function that it was made from.",
            where="why(f, *args)",
            mend="pass the function, or what jax.jit returned, and its arguments.",
        )
    with told_shortly("while why compiled it", f):
        return _why(Source(f, args, kwargs), target, axes, tries)


def _why(source: Source, target: str | None, axes: Mapping[str, int] | None, tries: int) -> Why:
    jitted, leaves = source.built()
    program = inspect(jitted, *leaves, target=target, axes=axes)
    found, sizes = _provenance(Handed(jitted, tuple(leaves), {}), source, target, axes)
    answers = _answered(program, found, sizes)
    trials = _Trials(source, found, program, dict(target=target, axes=axes), tries)
    order = sorted(range(len(answers)), key=lambda i: -_moved(answers[i].collective))
    tried = {i: trials.of(answers[i]) for i in order}
    answers = [tried[i] for i in range(len(answers))]
    where = f" for {target}" if target else ""
    return Why(program, tuple(answers), f"XLA{where or f' for {program.platform.upper()}'}", len(trials.made))


class _Trials:
    """Compiles changes, each once."""

    def __init__(
        self, source: Source, found: Provenance | None, base: Program, options: Mapping[str, Any], tries: int
    ) -> None:
        self.source, self.found, self.base, self.options, self.left = source, found, base, options, tries
        self.made: dict[Change, Program | None] = {}

    def of(self, answer: Answer) -> Answer:
        """With the cheapest change for a collective, and the cheapest that takes no more memory."""
        if not answer.edges or self.found is None or not self.source.sizes:
            return answer
        every = (change for edge in answer.edges for change in self.source.changes(edge, self.found))
        changes = itertools.islice(every, EACH)
        tried = [Tried(c, p) for c in dict.fromkeys(changes) if (p := self._program(c))]
        best = sorted((one for one in tried if self._saves(one.program)), key=lambda one: _cost(one.program))
        slim = [one for one in best if one.program.memory.argument <= self.base.memory.argument]
        cheaper = best[:1] if best[:1] == slim[:1] else [*best[:1], *slim[:1]]
        return dataclasses.replace(answer, cheaper=tuple(cheaper), tried=len(tried))

    def _program(self, change: Change) -> Program | None:
        if change not in self.made and self.left > 0:
            self.left -= 1
            try:
                jitted, leaves = self.source.built(change)
                self.made[change] = inspect(jitted, *leaves, **self.options)
            except Exception:  # what JAX or the compiler refuses is no suggestion
                self.made[change] = None
        return self.made.get(change)

    def _saves(self, program: Program) -> bool:
        return _cost(program)[0] < _cost(self.base)[0] and program.least_flops <= MORE_WORK * max(self.base.least_flops, 1.0)


def _cost(program: Program) -> tuple[int, int]:
    return sum(map(_moved, program.collectives)), program.memory.argument


def _moved(c: Collective) -> int:
    """The price of one collective; of one round where data decides their number."""
    return price([c if c.executions is not None else dataclasses.replace(c, executions=1)])


def _provenance(
    handed: Handed, source: Source, target: str | None, axes: Mapping[str, int] | None
) -> tuple[Provenance | None, Mapping[str, int]]:
    """What Shardy says of the program as it is lowered for its target, and the sizes that mesh axes have there."""
    import jax

    if target:
        from shardlens.compilers.targets import lowered_for

        lowered, named = lowered_for(handed, target, axes)
    else:
        lowered, named = handed.lowered(jax.default_backend()), None
    return provenance(lowered.compiler_ir("stablehlo"), source.names), dict(named) if named else source.sizes


def _answered(program: Program, found: Provenance | None, sizes: Mapping[str, int]) -> list[Answer]:
    """For each collective its line, and the edges that it fits best: several where XLA combined several collectives."""
    module, answers, taken = parse_hlo(program.hlo), [], set[Edge]()
    instructions = {name: i for inside in module.computations.values() for name, i in inside.items()}
    for c in program.collectives:
        line = module.line(instructions[c.name]) if c.name in instructions else Line()
        names = _names(c.op_name.removeprefix(_EXPORTED))
        written = next((found.written[name] for name in names if name in found.written), None) if found else None
        # Of a combined collective XLA names the operations, equal names once, and one line.
        many = len(c.arrays) if len(names) == 1 and c.kind != "all-to-all" else 1
        near = line if len(names) * many == 1 else Line()
        own: tuple[Edge, ...] = ()
        for name in names * many if not written else ():
            best = _best(c, name, near, found, taken | {*own}, sizes) if found else None
            own = (*own, best) if best and best not in own else own
        taken |= {*own}
        # Newer XLA writes where the array that moves was made; the line that it serves is that of what asks for it.
        asks = own[0].line if len(own) == 1 and own[0].line.file else line
        answers.append(Answer(c, written or asks, written is not None, own))
    return answers


def _names(name: str) -> list[str]:
    """The operations that a collective serves: XLA joins the names of combined ones, `jit(f)/(psum:transpose(jvp())/dot)`.

    Example:
        >>> _names("jit(f)/(psum:transpose(jvp())/dot)"), _names("jit(f)/jvp()/dot")
        (['jit(f)/psum', 'jit(f)/transpose(jvp())/dot'], ['jit(f)/jvp()/dot'])
    """
    joined = re.fullmatch(r"(.*/)?\((.*:.*)\)", name)
    if not joined:
        return [name]
    parts, depth = [""], 0
    for character in joined[2]:
        depth += (character == "(") - (character == ")")
        parts = [*parts, ""] if character == ":" and depth == 0 else [*parts[:-1], parts[-1] + character]
    return [(joined[1] or "") + part for part in parts]


def _best(
    c: Collective, name: str, line: Line, found: Provenance, taken: set[Edge], sizes: Mapping[str, int]
) -> Edge | None:
    """The edge of a collective: one that no other has, before one that Shardy leaves to the partitioner."""
    fits = [{edge: _fit(edge, c, name, line, sizes) for edge in edges} for edges in (found.edges, found.met(name))]
    for left in ([{e: n for e, n in each.items() if e not in taken} for each in fits], fits):
        for each in left:
            best = max(each, key=lambda edge: each[edge], default=None)
            if best is not None and each[best]:
                return best
    return None


def _fit(edge: Edge, c: Collective, name: str, line: Line, sizes: Mapping[str, int]) -> int:
    """How well a collective fits an edge; 0 if it cannot be the edge's: XLA need not do what Shardy has in mind."""
    named, near = name in edge.names or not name, line in edge.lines or not line.file
    if (c.axes and not edge.axes & set(c.axes)) or not (named and near and (name or line.file)):
        return 0
    # A gather makes an operand whole along the axes; what moves otherwise is as large on a device as what it becomes.
    without = frozenset(c.axes) or edge.axes
    whole = [_elements(s, sizes, without) for s in edge.has if without & {axis for dim in s.dims for axis in dim}]
    scale = c.group_size if c.kind == "reduce-scatter" else 1
    made = {math.prod(shape) * scale for _, shape in (*c.arrays, (c.dtype, c.shape))}
    fits = bool(made & ({*whole} if c.kind == "all-gather" else {_elements(edge.needs, sizes, frozenset())}))
    if not fits and (edge.kind == "met" or c.kind not in _PIECES):
        return 0
    return 1 + 3 * ((c.kind in _SUMS) == (edge.kind == "summed")) + 4 * fits + 2 * (name == edge.by)


def _elements(side: Side, sizes: Mapping[str, int], without: frozenset[str]) -> int:
    """Elements on a device of an array that is not cut along some axes."""
    parts = math.prod(sizes.get(axis, 1) for dim in side.dims for axis in dim if axis not in without)
    return math.prod(side.shape) // parts


def _heading(c: Collective) -> tuple[str, str]:
    times = "once" if c.executions == 1 else f"{c.executions or '?'} times"
    shape = f"{c.dtype}[{','.join(map(str, c.shape))}]"
    return f"{c.kind}", f"over {', '.join(c.axes) or 'groups'}: {shape}, {c.payload_bytes:,} bytes {times}"


def _rows(answer: Answer, base: Program) -> Iterator[tuple[str, str]]:
    line = answer.line
    yield "line", f"{line}   {line.text}".rstrip() if line.file else "not known"
    if answer.written:
        yield "why", f"you wrote it: {line}"
    elif not answer.edges:
        yield "why", f"{UNKNOWN}: no two shardings meet in {answer.collective.op_name or 'an operation that XLA made'}"
    for edge in answer.edges:
        before, after = _LABELS[edge.kind]
        yield from ((before, str(side)) for side in edge.has)
        yield after, str(edge.needs)
    for tried in answer.cheaper:
        yield "cheaper", _said(tried, base)
    if answer.tried and not answer.cheaper:
        yield "cheaper", f"none of {answer.tried} changes that were compiled moves fewer bytes with as many FLOPs"


def _said(tried: Tried, base: Program) -> str:
    after = tried.program
    memory = after.memory.argument - base.memory.argument
    takes = f", {memory:+,} bytes of arguments a device" if memory else ""
    kinds = ", ".join(sorted(after.kinds)) or "no collectives"
    return f"{tried.change.text}; the program moves {_cost(after)[0]:,} bytes instead of {_cost(base)[0]:,} ({kinds}){takes}"
