"""What the compiler made of a function: collectives, memory, FLOPs and output placements, as records and as a table."""

from __future__ import annotations

import collections
import dataclasses
import functools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shardlab.errors import ShardlabError
from shardlab.placement import Axes, Placement
from shardlab.programs.reading.calls import largest
from shardlab.programs.reading.collectives import Collective, price, read_collectives, total_bytes
from shardlab.programs.reading.depth import depth
from shardlab.programs.reading.overlap import Overlap, overlaps
from shardlab.programs.terms import placed_of
from shardlab.tables import Table

if TYPE_CHECKING:
    from shardlab.programs.chips import Chip
    from shardlab.programs.cost import Cost

COLUMNS = ("collective", "per device", "payload bytes", "axes", "group", "times", "total bytes")
SIDES = ("left", "left", "right", "left", "right", "right", "right")


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

    On the CPU backend a collective of bf16 or f16 arrays runs in f32, at twice the bytes; on a TPU it stays as written.

    Args:
        collectives: in the order of the HLO text.
        flops: floating-point operations, as the compiler counts them: a loop's body once, however often it runs.
        hlo: the compiled HLO text.
        output_placements: one for each output array, in the order of `jax.tree.leaves`.
        devices: how many devices run the program.
        platform: `"cpu"`, `"gpu"` or `"tpu"`.
    """

    collectives: tuple[Collective, ...]
    memory: Memory
    flops: float
    hlo: str = dataclasses.field(compare=False)
    output_placements: tuple[Placement, ...]
    devices: int
    platform: str

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

    @property
    def kinds(self) -> frozenset[str]:
        """Kinds of collectives that run."""
        return frozenset(c.kind for c in self.collectives)

    def cost(self, on: Chip | str, rings: Collection[str] | None = None) -> Cost:
        """What a model of the chip says of this program's time: see `shardlab.programs.cost.cost`."""
        from shardlab.programs.cost import cost

        return cost(self, on, rings)

    def __rich__(self) -> Table:
        return Table(COLUMNS, SIDES, tuple(map(_cells, self.collectives)), tuple(self._lines()))

    def __str__(self) -> str:
        return str(self.__rich__())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.__rich__().html()

    def _lines(self) -> Iterator[str]:
        """What stands below the table."""
        where = f"{self.devices} {self.platform.upper()} device{'s' if self.devices > 1 else ''}"
        if any(c.executions is None for c in self.collectives):
            yield "?: in a loop whose number of rounds the compiler does not know"
        if "unknown" in self.kinds:
            yield "unknown: it has groups or a channel, and this version of shardlab does not read it; see .hlo"
        if self.collectives:
            payload = _or_unknown(total_bytes, self.collectives)
            yield f"collectives: {len(self.collectives)}, payload {payload} bytes a device, {where}"
        else:
            yield f"no collectives: {where}" + (", and nothing moves between them" if self.devices > 1 else "")
        m = self.memory
        kinds = f"arguments {m.argument:,}, outputs {m.output:,}, temporary {m.temp:,}, peak {m.peak:,}"
        yield f"memory, bytes a device: {kinds}"
        yield f"FLOPs a device: {self.flops:,.0f}"


def inspect(f: Callable[..., Any], *args: Any, target: str | None = None, axes: Mapping[str, int] | None = None) -> Program:
    """Compiles `f` for `args` and reads what the compiler did; nothing runs.

    Exceptions that `f` raises while JAX traces it come through, with a note that says what was inspected.

    Args:
        f: a function, or anything with a `lower` method, as `jax.jit` returns.
        args: arrays or `jax.ShapeDtypeStruct`s, with or without shardings, in any pytrees; a leading mesh stays as it is.
        target: a TPU slice to compile for instead of the devices here, as `"v5e:2x4"`; needs the extra `tpu`, and no TPU.
        axes: names and sizes of the mesh on the target, where they are not those of the arguments.
    Example:
        >>> import jax
        >>> inspect(lambda x: x + 1, jax.ShapeDtypeStruct((4,), "float32")).collectives
        ()
    """
    try:
        return _inspected(f, args, target, axes)
    except ShardlabError:
        raise
    except Exception as error:
        # A note, and no error of ours around it: JAX's own type and message are what its documentation explains.
        error.add_note(f"while sl.inspect lowered and compiled {_call(f, args)}{f' for {target}' if target else ''}")
        raise


def _inspected(f: Callable[..., Any], args: tuple[Any, ...], target: str | None, axes: Mapping[str, int] | None) -> Program:
    import jax

    if target is not None:
        from shardlab.programs.targets import compile_for

        return read_program(*compile_for(f, args, target, axes))
    meshes = [a for a in args[:1] if isinstance(a, (jax.sharding.Mesh, jax.sharding.AbstractMesh))]
    if meshes and not hasattr(f, "lower"):
        f, args = functools.partial(f, *meshes), args[1:]
    lowerable = f if hasattr(f, "lower") else jax.jit(f)
    return read_program(lowerable.lower(*args).compile(), _mesh_axes([*meshes, *jax.tree.leaves(args)]))


def _call(f: Callable[..., Any], args: tuple[Any, ...]) -> str:
    """The call in one line, arrays by type and shape."""
    said = (f"{a.dtype}{list(a.shape)}" if hasattr(a, "shape") and hasattr(a, "dtype") else type(a).__name__ for a in args)
    return f"{getattr(f, '__name__', type(f).__name__)}({', '.join(said)})"


def read_program(compiled: Any, mesh_axes: Axes | None = None, output_shapes: Sequence[Any] | None = None) -> Program:
    """What the compiler did, from what `jax.jit(f).lower(*args).compile()` returns.

    Args:
        compiled: a `jax.stages.Compiled`.
        mesh_axes: names and sizes of the mesh; those of the compiled inputs and outputs unless given.
        output_shapes: anything with `shape` and `dtype` for each output; those of the compiled outputs unless given.
    """
    import jax

    shardings = jax.tree.leaves((compiled.input_shardings, compiled.output_shardings))
    outputs = jax.tree.leaves(compiled.out_info)
    shapes = outputs if output_shapes is None else output_shapes
    text = compiled.as_text()
    axes = mesh_axes or _mesh_axes(shardings)
    devices = max((list(s.device_set) for s in shardings), key=len, default=jax.devices()[:1])
    return Program(
        collectives=read_collectives(text, axes),
        memory=_memory(compiled.memory_analysis()),
        # `cost_analysis` and `memory_analysis` return None on backends that have none (JAX: `jax.stages.Compiled`).
        flops=float((compiled.cost_analysis() or {}).get("flops", 0.0)),
        hlo=text,
        output_placements=tuple(_placement(shape, out.sharding, axes) for shape, out in zip(shapes, outputs, strict=True)),
        devices=len(devices),
        platform=devices[0].platform,
    )


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
    return dataclasses.replace(placed_of(sharding, output.shape, axes)[0], dtype=str(output.dtype))


def _memory(stats: Any) -> Memory:
    # Read by name with a default: `peak_memory_in_bytes` is younger than the other fields, and `stats` may be None.
    fields = ("argument_size", "output_size", "temp_size", "alias_size", "peak_memory")
    return Memory(*(int(getattr(stats, f"{field}_in_bytes", 0)) for field in fields))


def _cells(c: Collective) -> tuple[str, ...]:
    times = "?" if c.executions is None else str(c.executions)
    total = _or_unknown(total_bytes, (c,))
    return (c.kind, _shapes(c), f"{c.payload_bytes:,}", ", ".join(c.axes) or "-", str(c.group_size), times, total)


def _shapes(c: Collective) -> str:
    """Output arrays, equal ones counted: `4 f32[8,16] + f32[]`."""
    counts = collections.Counter(c.arrays or ((c.dtype, c.shape),))
    return " + ".join(f"{n if n > 1 else ''} {dtype}{_dims(shape)}".strip() for (dtype, shape), n in counts.items())


def _dims(shape: tuple[int, ...]) -> str:
    return f"[{','.join(map(str, shape))}]"


def _or_unknown(measure: Callable[[Sequence[Collective]], int], collectives: Sequence[Collective]) -> str:
    try:
        return f"{measure(collectives):,}"
    except ShardlabError:
        return "?"
