"""What the compiler made of a function: collectives, memory, FLOPs and output placements, as records and as a table."""

from __future__ import annotations

import collections
import dataclasses
import functools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from shardlab.errors import ShardlabError
from shardlab.placement import Axes, Placement
from shardlab.programs.compiler.handed import Handed
from shardlab.programs.reading.arithmetic import added_by_rounds, least
from shardlab.programs.reading.calls import calls, largest
from shardlab.programs.reading.collectives import Collective, price, read_collectives, total_bytes
from shardlab.programs.reading.depth import depth
from shardlab.programs.reading.hlo import parse
from shardlab.programs.reading.overlap import Overlap, overlaps
from shardlab.programs.said import heard, unused_donations
from shardlab.programs.terms import placed_of
from shardlab.tables import Table, shares

if TYPE_CHECKING:
    from shardlab.programs.chips import Chip
    from shardlab.programs.comparison import Comparison
    from shardlab.programs.cost import Cost

COLUMNS = ("collective", "per device", "axes", "group", "line", "payload bytes", "times", "total bytes", "price")
SIDES = ("left", "left", "left", "right", "left", "right", "right", "right", "right")
MEANING = (
    "payload: bytes of the output; total: times its rounds; price, which exercises limit: bytes that a device moves,"
    " the larger of input and output, times its rounds, twice for an all-reduce"
)


@dataclasses.dataclass(frozen=True)
class Memory:
    """Bytes on one device, as the compiler planned them.

    On CPU `argument`, `output` and `alias` mean what they say; `temp`, and so `peak`, follow the CPU's own scheduling and
    say nothing of an accelerator. Compile for a TPU to learn those.

    Args:
        argument: bytes of the arguments that the program uses.
        output: bytes of what it returns.
        temp: bytes of everything between.
        alias: bytes of outputs that take the place of donated arguments.
        peak: the largest sum alive at one time.
    """

    argument: int
    output: int
    temp: int
    alias: int
    peak: int


@dataclasses.dataclass(frozen=True, repr=False)
class Program:
    """A compiled program; everything in it is for one device.

    On the CPU backend a collective of bf16 arrays runs in f32, at twice the bytes, of f8 and f4 ones in f16, and of s4 ones
    in s8; on a TPU each stays as written.

    Args:
        collectives: in the order of the HLO text.
        flops: floating-point operations, as the compiler counts them, and a loop's as often as it runs; `None` when data
            decides how often.
        hlo: the compiled HLO text.
        output_placements: one for each output array, in the order of `jax.tree.leaves`.
        devices: how many devices run the program.
        platform: `"cpu"`, `"gpu"` or `"tpu"`.
        warnings: what JAX and XLA warned of as they compiled, a sentence each; none where it was compiled before.
    """

    collectives: tuple[Collective, ...]
    memory: Memory
    flops: float | None
    hlo: str = dataclasses.field(compare=False)
    output_placements: tuple[Placement, ...]
    devices: int
    platform: str
    warnings: tuple[str, ...] = dataclasses.field(default=(), compare=False)

    @property
    def least_flops(self) -> float:
        """`flops`, and where data decides how often a loop runs, those of a program that runs it once."""
        return self.flops if self.flops is not None else least(self.hlo)

    @property
    def payload_bytes(self) -> int:
        """Bytes of all collectives' outputs, times executions: see `shardlab.programs.reading.collectives.total_bytes`."""
        return total_bytes(self.collectives)

    @property
    def price(self) -> int:
        """Bytes that one device moves: see `shardlab.programs.reading.collectives.price`."""
        return price(self.collectives)

    @functools.cached_property
    def depth(self) -> int | None:
        """Collectives in the longest chain of those that wait for one another; `None` where loops hide it."""
        return depth(self.hlo, {c.name for c in self.collectives}) if self.collectives else 0

    @functools.cached_property
    def largest(self) -> int:
        """Bytes of the largest array that it makes, or is given, on a device: see `reading.calls.largest`."""
        return largest(self.hlo)

    @functools.cached_property
    def overlaps(self) -> tuple[Overlap, ...] | None:
        """Each run of a collective with the matrix products around it: see `shardlab.programs.reading.overlap`.

        For the CPU backend's programs; `None` where loops hide it.
        """
        return overlaps(self.hlo, {c.name for c in self.collectives}) if self.collectives else ()

    @functools.cached_property
    def chosen(self) -> tuple[Collective, ...]:
        """Those collectives that run if a conditional takes the branch that they are in; all branches are counted."""
        if not self.collectives or " conditional(" not in self.hlo:
            return ()
        module, found = parse(self.hlo), calls(self.hlo).chosen
        names = {name for computation in found for name in module.computations[computation]}
        return tuple(c for c in self.collectives if c.name in names)

    @property
    def kinds(self) -> frozenset[str]:
        """Kinds of collectives that run."""
        return frozenset(c.kind for c in self.collectives)

    def cost(self, on: Chip | str, rings: Collection[str] | None = None) -> Cost:
        """What a model of the chip says of this program's time: see `shardlab.programs.cost.cost`."""
        from shardlab.programs.cost import cost

        return cost(self, on, rings)

    def _table(self, width: int = 120) -> Table:
        """What is shown; where it would be wider than `width` lines of Python stand below, and then there are no bars."""
        rows, lines = tuple(map(cells_of, self.collectives)), tuple(self._lines())
        prices = [price((c,)) if c.executions is not None else 0 for c in self.collectives]
        table = Table(COLUMNS, SIDES, rows, lines, bars=shares(prices), after=self._on_a_device())
        if table.width <= width:
            return table
        places = collections.Counter((c.source, c.kind) for c in self.collectives if c.source)
        below = (f"{source}: {count} {kind}" for (source, kind), count in places.items())
        columns, sides, *narrow = (cells[:-5] + cells[-4:] for cells in (COLUMNS, SIDES, *rows))
        table = dataclasses.replace(table, columns=columns, sides=sides, rows=tuple(narrow), lines=(*lines, *below))
        return table if table.width <= width else dataclasses.replace(table, bars=())

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Table]:
        yield self._table(options.max_width)

    def __str__(self) -> str:
        return str(self._table())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self._table().html()

    def _lines(self) -> Iterator[str]:
        """What stands below the table."""
        where = f"{self.devices} {self.platform.upper()} device{'s' if self.devices > 1 else ''}"
        if count := len(self.chosen):
            yield f"{count} of them in branches of a conditional: all are counted as often as it is reached; one branch runs"
        if any(c.executions is None for c in self.collectives):
            yield "?: in a loop whose number of rounds depends on data"
        if "unknown" in self.kinds:
            yield "unknown: it has groups or a channel, and this version of shardlab does not read it; see .hlo"
        if self.collectives:
            payload, moved = (or_unknown(measure, self.collectives) for measure in (total_bytes, price))
            yield f"collectives: {len(self.collectives)}, payload {payload} bytes a device, price {moved}, {where}"
            yield MEANING
        else:
            yield f"no collectives: {where}" + (", and nothing moves between them" if self.devices > 1 else "")
        yield from self.warnings

    def _on_a_device(self) -> Table:
        m = self.memory
        sizes = {"arguments": m.argument, "outputs": m.output, "temporary": m.temp, "peak": m.peak}
        rows = tuple((name, f"{size:,}") for name, size in sizes.items())
        below = (f"FLOPs a device: {flops_text(self.flops)}",)
        return Table(("memory of a device", "bytes"), ("left", "right"), rows, below, bars=shares([*sizes.values()]))


@overload
def inspect(
    f: Callable[..., Any], *args: Any, targets: Sequence[str], axes: Mapping[str, int] | None = None, **kwargs: Any
) -> Comparison: ...
@overload
def inspect(
    f: Callable[..., Any], *args: Any, target: str | None = None, axes: Mapping[str, int] | None = None, **kwargs: Any
) -> Program: ...
def inspect(
    f: Callable[..., Any],
    *args: Any,
    target: str | None = None,
    targets: Sequence[str] | None = None,
    axes: Mapping[str, int] | None = None,
    **kwargs: Any,
) -> Program | Comparison:
    """Compiles `f` for its arguments and reads what the compiler did; nothing runs.

    Exceptions that `f` raises while JAX traces it come through, with a note that says what was inspected.

    Args:
        f: a function, or anything with a `lower` method, as `jax.jit`, `eqx.filter_jit` and `nnx.jit` return; or, without
            arguments, a `jax.stages.Traced`, `Lowered` or `Compiled`.
        args: arrays or `jax.ShapeDtypeStruct`s, with or without shardings, in any pytrees; a leading mesh stays as it is.
            What `jax.jit` holds static is given as it is called.
        target: a TPU slice to compile for instead of the devices here, as `"v5e:2x4"`; needs the extra `tpu`, and no TPU.
        targets: several of them, and `"cpu"` (or `"here"`) for this machine, side by side: see `Comparison`.
        axes: names and sizes of the mesh on the target, where they are not those of the arguments.
        kwargs: keyword arguments of `f`. Where it has a `target`, `targets` or `axes` of its own: `functools.partial`.
    Raises:
        ShardlabError: it cannot be compiled as it was handed in; the compiler lacks an operation, or died.
    Example:
        >>> import jax
        >>> inspect(lambda x: x + 1, jax.ShapeDtypeStruct((4,), "float32")).collectives
        ()
    """
    if targets is not None:
        from shardlab.programs.comparison import compare

        return compare(f, args, targets, axes, kwargs)
    try:
        with heard() as said:
            program = _inspected(f, args, kwargs, target, axes)
        return dataclasses.replace(program, warnings=(*said, *program.warnings))
    except ShardlabError:
        raise
    except Exception as error:
        # A note, and no error of ours around it: JAX's own type and message are what its documentation explains.
        error.add_note(f"while sl.inspect lowered and compiled {_call(f, args)}{f' for {target}' if target else ''}")
        raise


def _inspected(
    f: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], target: str | None, axes: Mapping[str, int] | None
) -> Program:
    import jax

    if target is not None:
        from shardlab.programs.targets import compile_for

        return read_program(*compile_for(f, args, target, axes, kwargs))
    if axes is not None:
        mend = "add target=; a function's own keyword is given by functools.partial(f, axes=...)."
        raise ShardlabError("axes-without-target", "axes= says sizes on a target.", where=f"axes={axes!r}", mend=mend)
    return read_program(Handed(f, args, kwargs).compiled(), _mesh_axes(jax.tree.leaves((args, kwargs))))


def _call(f: Callable[..., Any], args: tuple[Any, ...]) -> str:
    """The call in one line, arrays by type and shape."""
    said = (f"{a.dtype}{list(a.shape)}" if hasattr(a, "shape") and hasattr(a, "dtype") else type(a).__name__ for a in args)
    return f"{getattr(f, '__name__', type(f).__name__)}({', '.join(said)})"


def read_program(compiled: Any, mesh_axes: Axes | None = None, output_shapes: Sequence[Any] | None = None) -> Program:
    """What the compiler did, from what `jax.jit(f).lower(*args).compile()` returns.

    Args:
        compiled: a `jax.stages.Compiled`.
        mesh_axes: names and sizes of the mesh; those of the compiled inputs and outputs unless given.
        output_shapes: anything with `shape` and `dtype` for each output; those of the compiled outputs unless given. With
            `()` it is not read where outputs lie.
    """
    import jax

    shardings = [_concrete(s) for s in jax.tree.leaves((compiled.input_shardings, compiled.output_shardings))]
    text = compiled.as_text()
    axes = mesh_axes or _mesh_axes(shardings)
    sets = (list(s.device_set) for s in shardings)
    devices = getattr(compiled, "devices", ()) or max(sets, key=len, default=jax.devices()[:1])
    return Program(
        collectives=read_collectives(text, axes),
        memory=_memory(compiled.memory_analysis()),
        flops=_flops(compiled, text),
        hlo=text,
        output_placements=tuple(
            _placement(shape, _concrete(out.sharding), axes) for shape, out in _outputs(compiled, output_shapes)
        ),
        devices=len(devices),
        platform=devices[0].platform,
        warnings=(*getattr(compiled, "warnings", ()), *unused_donations(_donated(compiled), text)),
    )


def _outputs(compiled: Any, shapes: Sequence[Any] | None) -> list[tuple[Any, Any]]:
    import jax

    if shapes is not None and not shapes:
        return []  # and JAX is not asked: of an exported program whose output is cut and a term it cannot say
    outputs = jax.tree.leaves(compiled.out_info)
    return list(zip(outputs if shapes is None else shapes, outputs, strict=True))


def _donated(compiled: Any) -> list[bool]:
    import jax

    return [leaf.donated for leaf in jax.tree.leaves(compiled.args_info)]


def _concrete(sharding: Any) -> Any:
    """The sharding over the first devices, where JAX names one over an abstract mesh that it was compiled for."""
    import jax
    import numpy as np

    mesh = getattr(sharding, "mesh", None)
    if not isinstance(mesh, jax.sharding.AbstractMesh):
        return sharding
    # Not by `jax.make_mesh`, which may put accelerators into another order than that in which it was compiled.
    over = np.array(jax.devices()[: mesh.size]).reshape(mesh.axis_sizes)
    return jax.NamedSharding(jax.sharding.Mesh(over, mesh.axis_names, axis_types=mesh.axis_types), sharding.spec)


def _mesh_axes(carriers: Sequence[Any]) -> Axes | None:
    """Names and sizes of the first mesh found in meshes, shardings or arrays, or of the mesh in the context."""
    import jax

    for carrier in carriers:
        sharding = getattr(carrier, "sharding", carrier)
        mesh = getattr(sharding, "mesh", sharding)
        if isinstance(mesh, (jax.sharding.Mesh, jax.sharding.AbstractMesh)) and not mesh.empty:
            return tuple((str(name), int(size)) for name, size in mesh.shape.items())
    # Inside of `jit` the concrete mesh of the context cannot be asked for: `get_mesh` raises there.
    mesh = jax.sharding.get_abstract_mesh()
    return None if mesh.empty else tuple((str(name), int(size)) for name, size in mesh.shape.items())


def _placement(output: Any, sharding: Any, axes: Axes | None) -> Placement:
    """The placement of an output; partial sums count as copies, since every device holds the whole slice."""
    placed = sharding if isinstance(sharding, Placement) else placed_of(sharding, output.shape, axes)[0]
    return dataclasses.replace(placed, dtype=str(output.dtype))


def flops_text(flops: float | None) -> str:
    """FLOPs for a table."""
    return "? (data decides how often a loop runs)" if flops is None else f"{flops:,.0f}"


def _flops(compiled: Any, text: str) -> float | None:
    # `cost_analysis` and `memory_analysis` return None on backends that have none (JAX: `jax.stages.Compiled`).
    once = (compiled.cost_analysis() or {}).get("flops", 0.0)
    more = added_by_rounds(text)
    # XLA adds up in 32 bits, so that what is subtracted for loops that never run may be more than it counted.
    return None if more is None else max(float(once) + more, 0.0)


def _memory(stats: Any) -> Memory:
    # Read by name with a default: `peak_memory_in_bytes` is younger than the other fields, and `stats` may be None.
    fields = ("argument_size", "output_size", "temp_size", "alias_size", "peak_memory")
    return Memory(*(int(getattr(stats, f"{field}_in_bytes", 0)) for field in fields))


def cells_of(c: Collective) -> tuple[str, ...]:
    """One row of the table, under `COLUMNS`."""
    times = "?" if c.executions is None else str(c.executions)
    total = or_unknown(total_bytes, (c,))
    axes = ", ".join(c.axes) or "-"
    moved = or_unknown(price, (c,))
    return (c.kind, _shapes(c), axes, str(c.group_size), c.source, f"{c.payload_bytes:,}", times, total, moved)


def _shapes(c: Collective) -> str:
    """Output arrays, equal ones counted: `4 f32[8,16] + f32[]`."""
    counts = collections.Counter(c.arrays or ((c.dtype, c.shape),))
    return " + ".join(f"{n if n > 1 else ''} {dtype}{_dims(shape)}".strip() for (dtype, shape), n in counts.items())


def _dims(shape: tuple[int, ...]) -> str:
    return f"[{','.join(map(str, shape))}]"


def or_unknown(measure: Callable[[Sequence[Collective]], int], collectives: Sequence[Collective]) -> str:
    """Bytes for a table; a question mark where a loop's number of rounds is not known."""
    try:
        return f"{measure(collectives):,}"
    except ShardlabError:
        return "?"
