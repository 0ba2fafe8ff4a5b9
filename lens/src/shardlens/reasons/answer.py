"""`why`: for each collective the line that it serves, the shardings that met there, and changes that make it cheaper."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from shardlens.compilers.callables import Handed, need_arrays, need_function
from shardlens.compilers.topology import in_slices
from shardlens.errors import LensError
from shardlens.exceptions import told_shortly
from shardlens.programs.inspection import inspect
from shardlens.programs.program import Program
from shardlens.progress import step
from shardlens.reading.collectives import Collective, price
from shardlens.reading.hlo import parse_hlo
from shardlens.reading.names import operations
from shardlens.reasons.provenance import BATCHED, UNKNOWN, Edge, Provenance, Side, provenance
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
        others: more lines, where nobody can tell which one it is.
        turned: whether JAX put it there as it transposed that line, to make a gradient.
    """

    collective: Collective
    line: Line
    written: bool
    edges: tuple[Edge, ...]
    cheaper: tuple[Tried, ...] = ()
    tried: int = 0
    others: tuple[Line, ...] = ()
    turned: bool = False


@dataclasses.dataclass(frozen=True, repr=False)
class Why:
    """What `why` found; prints itself.

    Args:
        program: as `inspect` reads it.
        answers: one for each collective, in the program's order.
        compiler: which one made all of it.
        tried: how many changes were compiled.
        interrupted: whether Ctrl-C ended the search for changes.
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
    interrupted: bool = False

    def about(self, chosen: Collection[Collective]) -> Why:
        """The same, of some collectives only; of all where none of these is here."""
        kept = tuple(answer for answer in self.answers if answer.collective in chosen)
        return dataclasses.replace(self, answers=kept or self.answers)

    def _tables(self) -> Iterator[Table]:
        for answer in self.answers:
            yield Table(heading(answer.collective), ("left", "left"), tuple(_rows(answer, self.program)))
        ended = ", then interrupted" if self.interrupted else ""
        lines = [f"compiled by {self.compiler}; {self.tried} changes compiled too{ended}"]
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
    num_slices: int = 1,
    **kwargs: Any,
) -> Why:
    """Why each collective of a program is there, and what would be cheaper, tried by compiling; nothing runs.

    A change is shown if the program then moves fewer bytes, by `Program.price`, at about the same FLOPs.

    Args:
        f, args, target, axes, num_slices, kwargs: as for `inspect`; `f` is a function, since a compiled program does not
            hold what it was made from.
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
    need_function(f)
    if not hasattr(f, "lower"):
        need_arrays(args, kwargs)
    target = in_slices(target, num_slices)
    with told_shortly("while why compiled it", f):
        return _why(Source(f, args, kwargs), target, axes, tries)


def _why(source: Source, target: str | None, axes: Mapping[str, int] | None, tries: int) -> Why:
    jitted, leaves = source.built()
    program = inspect(jitted, *leaves, target=target, axes=axes)
    found, sizes = _provenance(Handed(jitted, tuple(leaves), {}), source, target, axes)
    answers = _answered(program, found, sizes)
    trials = _Trials(source, found, program, dict(target=target, axes=axes), tries)
    order = sorted(range(len(answers)), key=lambda i: -_moved(answers[i].collective))
    tried: dict[int, Answer] = {}
    with contextlib.suppress(KeyboardInterrupt):  # what is known by then is the answer
        for i in order:
            tried[i] = trials.of(answers[i])
    answers = [tried.get(i, answer) for i, answer in enumerate(answers)]
    return Why(program, tuple(answers), _compiler(program, target), len(trials.made), interrupted=len(tried) < len(answers))


def explained(
    program: Program,
    f: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    target: str | None,
    axes: Mapping[str, int] | None,
) -> Why:
    """Why each collective of a program is there that `f` became: no change is tried, and nothing compiled.

    Args:
        program: what `inspect` returned for the others.
        f, args, kwargs, target, axes: as for `inspect`.
    """
    handed = Handed(f, tuple(args), kwargs)
    found, sizes = _provenance(handed, Source(f, tuple(args), kwargs), target, axes)
    return Why(program, tuple(_answered(program, found, sizes)), _compiler(program, target), 0)


def _compiler(program: Program, target: str | None) -> str:
    return f"XLA for {target or program.platform.upper()}"


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
                with step(f"change {len(self.made) + 1} of at most {len(self.made) + 1 + self.left}: {change.text}"):
                    jitted, leaves = self.source.built(change)
                    self.made[change] = inspect(jitted, *leaves, **self.options)
            except Exception:  # what JAX or the compiler refuses is no suggestion
                self.made[change] = None
        return self.made.get(change)

    def _saves(self, program: Program) -> bool:
        target, same = self.options["target"], program.least_flops <= MORE_WORK * max(self.base.least_flops, 1.0)
        if not same or _cost(program)[0] >= _cost(self.base)[0]:
            return False
        # Fewer bytes may take longer ways.
        return not target or program.cost(target).upper <= self.base.cost(target).upper


def _cost(program: Program) -> tuple[int, int]:
    return sum(map(_moved, program.collectives)), program.memory.argument


def _moved(c: Collective) -> int:
    """The price of one collective; of one round where data decides their number; 0 where its bytes cannot be counted."""
    if c.uncounted:
        return 0
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
        names = operations(c.op_name.removeprefix(_EXPORTED))
        if written := _written(names, line, found):
            turned = any("transpose(" in name for name in names)
            answers.append(Answer(c, written[0], True, (), others=written[1:], turned=turned))
            continue
        # Of a combined collective XLA names the operations, equal names once, and one line.
        many = len(c.arrays) if len(names) == 1 and c.kind != "all-to-all" else 1
        near = line if len(names) * many == 1 else Line()
        own: tuple[Edge, ...] = ()
        others: tuple[Line, ...] = ()
        for name in names * many:
            best = _best(c, name, near, found, taken | {*own}, sizes) if found else ()
            own = (*own, *(edge for edge in best[:1] if edge not in own))
            others = (*others, *(edge.line for edge in best[1:]))
        taken |= {*own}
        # Newer XLA writes where the array that moves was made; the line that it serves is that of what asks for it.
        asks = own[0].line if len(own) == 1 and own[0].line.file else line
        unsure = tuple(dict.fromkeys(each for each in others if each.file and each != asks)) if len(own) == 1 else ()
        answers.append(Answer(c, asks, False, own, others=unsure))
    return answers


def _written(names: Sequence[str], line: Line, found: Provenance | None) -> tuple[Line, ...]:
    """The user's lines of a collective that the program holds already: one, or several that nobody can tell apart."""
    lines = dict.fromkeys(each for name in names for each in (found.written.get(name, ()) if found else ()))
    return (line,) if line in lines and len(names) == 1 else tuple(lines)


def _best(
    c: Collective, name: str, line: Line, found: Provenance, taken: set[Edge], sizes: Mapping[str, int]
) -> tuple[Edge, ...]:
    """The edge of a collective: one that no other has, before one that Shardy leaves to the partitioner.

    Others follow that fit as well.
    """
    groups = [[(_fit(alike[0], c, name, line, sizes), alike) for alike in each] for each in found.groups(name)]
    left = [[(fit, [e for e in alike if e not in taken]) for fit, alike in each] for each in groups]
    for each in (*left, *groups):
        most = max((fit for fit, alike in each if alike), default=0)
        if most:
            return tuple(edge for fit, alike in each if fit == most for edge in alike)
    return ()


def _fit(edge: Edge, c: Collective, name: str, line: Line, sizes: Mapping[str, int]) -> int:
    """How well a collective fits an edge; 0 if it cannot be the edge's: XLA need not do what Shardy has in mind."""
    named, near = name in edge.names or not name, line in edge.lines or not line.file
    if (c.axes and not edge.axes & set(c.axes)) or not (named and near and (name or line.file or edge.returned)):
        return 0
    # A gather makes an operand whole along the axes, or along those of an earlier gather too; what moves otherwise is as
    # large on a device as what it becomes.
    without = frozenset(c.axes) or edge.axes
    alike = [side for side in edge.has if _class(side.dtype) == _class(c.dtype)]
    if not alike and _class(edge.needs.dtype) != _class(c.dtype):
        return 0
    gathered = [side for side in alike if without & {axis for dim in side.dims for axis in dim}]
    whole = [_on_device(side, sizes, every) for side in gathered for every in dict.fromkeys((without, without | edge.axes))]
    scale = c.group_size if c.kind == "reduce-scatter" else 1
    shapes = [*(shape for _, shape in c.arrays), c.shape]
    made = {math.prod(shape) * scale for shape in shapes}
    wanted = whole if c.kind == "all-gather" else [_on_device(edge.needs, sizes, frozenset())]
    fits = bool(made & {*map(math.prod, wanted)})
    if not fits and (edge.kind == "met" or c.kind not in _PIECES):
        return 0
    exact = any(tuple(shape) in wanted for shape in shapes)
    return 1 + 3 * ((c.kind in _SUMS) == (edge.kind == "summed")) + 4 * fits + 2 * (name == edge.by) + exact


def _class(dtype: str) -> str:
    """What kind of number an element is, as HLO or as MLIR writes it; compilers change widths, never that."""
    return "complex" if dtype.startswith("c") else "float" if dtype.startswith(("f", "bf")) else "whole"


def _on_device(side: Side, sizes: Mapping[str, int], without: frozenset[str]) -> tuple[int, ...]:
    """The shape on a device of an array that is not cut along some axes."""
    parts = (math.prod(sizes.get(axis, 1) for axis in dim if axis not in without) for dim in side.dims)
    return tuple(size // part for size, part in zip(side.shape, parts))


def heading(c: Collective) -> tuple[str, str]:
    """One collective in words: its kind, and what it moves how often."""
    times = "once" if c.executions == 1 else f"{c.executions or '?'} times"
    shape = f"{c.dtype}[{','.join(map(str, c.shape))}]"
    if c.uncounted:
        return c.kind, f"{c.name}: {shape}, {times}"
    return c.kind, f"over {', '.join(c.axes) or 'groups'}: {shape}, {c.payload_bytes:,} bytes {times}"


def _rows(answer: Answer, base: Program) -> Iterator[tuple[str, str]]:
    line = answer.line
    lines = ", ".join(map(str, (line, *answer.others)))
    if answer.others:
        # What XLA has combined serves all of them.
        yield "line", lines if len(answer.collective.arrays) > 1 else f"one of {lines}"
    else:
        yield "line", f"{line}   {line.text}".rstrip() if line.file else "not known"
    if answer.written:
        yield "why", _transposed(answer, lines) if answer.turned else f"you wrote it: {lines}"
    elif answer.collective.uncounted:
        yield "why", f"its bytes cannot be counted: it is {answer.collective.uncounted}"
    elif not answer.edges:
        yield "why", f"{UNKNOWN}: no two shardings meet in {answer.collective.op_name or 'an operation that XLA made'}"
    for edge in answer.edges:
        before, after = _LABELS[edge.kind]
        yield from ((before, str(side)) for side in edge.has)
        yield after, str(edge.needs)
        if axes := _unbatched(edge):
            named = repr(axes[0] if len(axes) == 1 else axes)
            yield "why", f"vmap's own dimension is whole on each device unless vmap has spmd_axis_name={named}"
    for tried in answer.cheaper:
        yield "cheaper", _said(tried, base)
    if answer.tried and not answer.cheaper:
        yield "cheaper", f"none of {answer.tried} changes that were compiled moves fewer bytes with as many FLOPs"


def _unbatched(edge: Edge) -> tuple[str, ...]:
    """Axes that cut a dimension before `vmap` of `shard_map`, and nothing in it: as its own does by default."""
    if edge.kind != "moved" or BATCHED not in "".join(edge.needs.words):
        return ()
    kept = {axis for dim in edge.needs.dims for axis in dim}
    lost = (old for old, new in zip(edge.has[0].dims, edge.needs.dims) if not new and not kept & {*old})
    return next(filter(None, lost), ())


def _transposed(answer: Answer, lines: str) -> str:
    """Of a collective that nobody wrote: JAX put it into a shard_map as it made a gradient."""
    c = answer.collective
    if c.kind not in _SUMS or c.kind == "reduce-scatter":
        return f"JAX put it there for a gradient: it transposes {lines}"
    over = ", ".join(map(repr, c.axes)) or "its axes"
    again = f" It runs {c.executions or 'many'} times; pcast before the loop runs it once." if c.executions != 1 else ""
    return (
        f"JAX put it there for a gradient: in {lines} an array that is the same along {over} meets one that is not, and the"
        f" gradient of the first is a sum over {over}. jax.lax.pcast(array, ({over},), to='varying') says where it is added"
        f" up.{again}"
    )


def _said(tried: Tried, base: Program) -> str:
    after = tried.program
    memory = after.memory.argument - base.memory.argument
    takes = f", {memory:+,} bytes of arguments a device" if memory else ""
    kinds = ", ".join(sorted(after.kinds)) or "no collectives"
    return f"{tried.change.text}; the program moves {_cost(after)[0]:,} bytes instead of {_cost(base)[0]:,} ({kinds}){takes}"
