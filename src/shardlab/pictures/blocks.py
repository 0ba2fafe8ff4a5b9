"""What each device gets and gives in a `shard_map`: its blocks of the arguments, and its block of the outputs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import Any, TypeVar

import numpy as np

from shardlab.errors import ShardlabError
from shardlens import INK, MONO, Axes, Index, Picture, drawing, fill, place, placement_of

Piece = TypeVar("Piece")
MOST_DEVICES, MOST_ELEMENTS = 16, 64
LETTER, EDGE, PAGE = 6.0, 6.0, 740.0
CALLS = frozenset({"jit", "pjit", "closed_call"})


@dataclasses.dataclass(frozen=True)
class Blocks:
    """One array inside: its type there, the slice that each device has of the global array, and the values.

    Args:
        side: `"in"` or `"out"`.
        type: as JAX writes it, `f32[2,4]{V:x}`.
        held: for each device the slice and its values.
    """

    side: str
    type: str
    held: tuple[tuple[Index, np.ndarray], ...]

    @property
    def unequal(self) -> tuple[int, ...]:
        """Places of the devices whose values differ from those of the first device with the same slice."""
        first: dict[Index, np.ndarray] = {}
        pairs = [(block, first.setdefault(index, block)) for index, block in self.held]
        return tuple(k for k, (block, known) in enumerate(pairs) if not np.array_equal(block, known, equal_nan=True))


def show_blocks(f: Callable[..., Any], *arrays: Any) -> Picture:
    """The picture of a `shard_map` from inside: for each device its blocks of the arguments, and what it returns.

    Blocks of one colour are the same slice of the global array. Devices that return other values for a slice than the first
    one that has it are marked with ≠: then what `out_specs` promised is not true.

    Args:
        f: what `jax.shard_map` returns, or a function of the arrays that does nothing else but call it.
        arrays: its arguments; they may be large, and only small blocks are written out.
    Raises:
        ShardlabError: `f` is not one `shard_map` of its arguments.
    """
    import jax

    closed = jax.make_jaxpr(f)(*arrays)
    equation, arguments = _mapped(closed.jaxpr, dict(zip(closed.jaxpr.invars, jax.tree.leaves(arrays))))
    mesh, body = equation.params["mesh"], equation.params["jaxpr"]
    axes = tuple((str(name), int(size)) for name, size in mesh.shape.items())
    inside = [
        Blocks("in", _type(inner), tuple(_cut(np.asarray(arguments[outer]), axes, tuple(spec))))
        for outer, inner, spec in zip(equation.invars, body.invars, equation.params["in_specs"])
        if not hasattr(outer, "val") and outer in arguments
    ]
    outputs = jax.tree.leaves(f(*arrays))
    # The mesh of `jax.set_mesh` is traced without its devices.
    concrete = mesh if isinstance(mesh, jax.sharding.Mesh) else outputs[0].sharding.mesh
    order = [device.id for device in concrete.devices.flat]
    inside += [Blocks("out", _type(inner), _shards(x, order)) for inner, x in zip(body.outvars, outputs)]
    return _picture(inside, axes, order)


def _mapped(jaxpr: Any, known: dict[Any, Any]) -> tuple[Any, dict[Any, Any]]:
    """The one `shard_map` in a jaxpr, and the values of its operands that are arguments."""
    if len(jaxpr.eqns) == 1:
        (equation,) = jaxpr.eqns
        if equation.primitive.name == "shard_map":
            return equation, known
        if equation.primitive.name in CALLS:
            inner = equation.params["jaxpr"].jaxpr
            passed = zip(inner.invars, equation.invars)
            return _mapped(inner, {var: known[x] for var, x in passed if not hasattr(x, "val") and x in known})
    found = ", ".join(equation.primitive.name for equation in jaxpr.eqns[:6]) or "nothing"
    raise ShardlabError(
        "no-shard-map",
        "this function is not a single shard_map of its arguments.",
        where=f"sl.pictures.show_blocks(f, ...)   f does: {found}",
        mend="give the function that jax.shard_map(body, ...) returns, and do all other work outside of it.",
    )


def _type(variable: Any) -> str:
    return str(variable.aval.str_short(short_dtypes=True))


def _cut(array: np.ndarray, axes: Axes, spec: tuple[Any, ...]) -> Iterator[tuple[Index, np.ndarray]]:
    for _, index in place(array.shape, axes, spec).shards:
        yield index, array[tuple(slice(*part) for part in index)]


def _shards(x: Any, order: Sequence[int]) -> tuple[tuple[Index, np.ndarray], ...]:
    indices = dict(placement_of(x).shards)
    values = {shard.device.id: np.asarray(shard.data) for shard in x.addressable_shards}
    return tuple((indices[device], values[device]) for device in order)


def _picture(inside: Sequence[Blocks], axes: Axes, order: Sequence[int]) -> Picture:
    shown = range(min(len(order), MOST_DEVICES))
    rest = len(order) - len(shown)
    types = (", ".join(blocks.type for blocks in inside if blocks.side == side) for side in ("in", "out"))
    head = "one device: " + " -> ".join(types)
    notes = [f"and {rest} more devices"] * (rest > 0) + [_note(blocks, order) for blocks in inside if blocks.unequal]
    names = [_named(k, axes, order) for k in shown]
    rows = [_columns(names[k], inside, k) for k in shown]
    text = "\n".join([head, *_lines(rows), *notes])
    cards = "".join(_card(names[k], inside, k) for k in shown)
    wide = f"display:grid;grid-template-columns:repeat({_across(rows)},max-content);gap:.7em 1.2em;margin:.4em 0"
    said = "".join(f'<div style="font-size:13px">{escape(note)}</div>' for note in notes)
    title = f'<div style="font:13px {MONO}">{escape(head)}</div>'
    inner = f'<div role="img" tabindex="0" aria-label="{escape(text)}" style="{wide};overflow-x:auto">{cards}</div>'
    return Picture(text, drawing.framed(title + inner + said))


def _named(k: int, axes: Axes, order: Sequence[int]) -> str:
    coordinates = np.unravel_index(k, [size for _, size in axes])
    return f"device {order[k]}  " + " ".join(f"{drawing.plain(name)}={c}" for (name, _), c in zip(axes, coordinates))


def _note(blocks: Blocks, order: Sequence[int]) -> str:
    devices = [order[k] for k in blocks.unequal]
    verb = "s" * (len(devices) == 1)
    who = drawing.named(devices)
    return f"≠ {who} return{verb} values for a slice that differ from those of the first device that has it"


def _lines(rows: Sequence[Sequence[Sequence[str]]]) -> Iterator[str]:
    """The columns of all devices as lines, equally wide for each."""
    widths = [max(len(line) for cell in column for line in cell) for column in zip(*rows)]
    for row in rows:
        for k in range(max(map(len, row))):
            cells = (cell[k] if k < len(cell) else "" for cell in row)
            yield "   ".join(map(str.ljust, cells, widths)).rstrip()


def _columns(name: str, inside: Sequence[Blocks], k: int) -> list[list[str]]:
    """The blocks of one device, an arrow between those that go in and those that come out."""
    written = [["≠ " * (k in blocks.unequal) + line for line in _written(blocks.held[k][1])] for blocks in inside]
    return [[name], *_with_arrow(inside, written, ["->"])]


def _across(rows: Sequence[Sequence[Sequence[str]]]) -> int:
    """How many devices stand side by side on a page: a power of two, so that a mesh of them keeps its columns."""
    wide = sum(max(len(line) for cell in column for line in cell) * LETTER + EDGE for column in list(zip(*rows))[1:])
    return max(c for c in (1, 2, 4, 8) if c == 1 or (c <= len(rows) and c * wide <= PAGE))


def _with_arrow(inside: Sequence[Blocks], pieces: list[Piece], arrow: Piece) -> list[Piece]:
    """A piece for each array, and an arrow between those that go in and those that come out, which are last."""
    into = sum(blocks.side == "in" for blocks in inside)
    return [*pieces[:into], *[arrow] * (into < len(pieces)), *pieces[into:]]


def _written(block: np.ndarray) -> list[str]:
    if block.size > MOST_ELEMENTS or block.ndim > 2:
        return [f"{block.dtype}{drawing.brackets(block.shape)}"]
    return np.array2string(block, precision=3, suppress_small=True).splitlines()


def _card(name: str, inside: Sequence[Blocks], k: int) -> str:
    parts = _with_arrow(inside, [_table(blocks, k) for blocks in inside], '<span style="opacity:.8">→</span>')
    row = f'<div style="display:flex;align-items:center;gap:.4em">{"".join(parts)}</div>'
    return f'<div aria-hidden="true"><div style="font-size:12px;opacity:.85">{escape(name)}</div>{row}</div>'


def _table(blocks: Blocks, k: int) -> str:
    """One block as cells in the colour of the first device that has this slice."""
    index, values = blocks.held[k]
    first = next(j for j, (other, _) in enumerate(blocks.held) if other == index)
    edge = f"2px dashed {INK}" if k in blocks.unequal else f"1px solid {INK}66"
    look = f"background:{fill(first)};color:{INK};border:{edge};border-radius:3px;font:12px {MONO};padding:1px 4px"
    if values.size > MOST_ELEMENTS or values.ndim > 2:
        return f'<div style="{look}">{escape(_written(values)[0])}</div>'
    grid = np.atleast_2d(values)
    cells = "".join(f"<span>{escape(_written(np.asarray(value))[0])}</span>" for value in grid.flat)
    mark = "≠ " * (k in blocks.unequal)
    columns = f"display:grid;grid-template-columns:repeat({max(1, grid.shape[1])},auto);gap:0 .5em;text-align:right"
    return f'<div style="display:flex;align-items:center;gap:.3em;{look}">{mark}<div style="{columns}">{cells}</div></div>'
