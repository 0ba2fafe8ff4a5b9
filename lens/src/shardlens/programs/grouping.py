"""A program's collectives in a few rows, the most expensive first: equal ones folded, or by line, scope, axis or kind.

No JAX here.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence

from shardlens.errors import LensError
from shardlens.programs.purposes import Flow
from shardlens.programs.table import or_unknown, shapes
from shardlens.reading.collectives import Collective, price
from shardlens.reading.hlo import HloModule, parse_hlo
from shardlens.reading.names import operations, scope
from shardlens.sources import is_users
from shardlens.tables import Table, shares

ROWS = 20
"""Rows of a table, with the one for all that is left."""
CHAIN = 3
"""Lines of a caller chain that are shown."""


@dataclasses.dataclass(frozen=True)
class Group:
    """Collectives that have a row in common.

    Args:
        name: what they have in common.
        collectives: in the program's order.
    Example:
        >>> gather = lens.Collective("all-gather", (8,), "f32", 32, 8, ("x",), 4)
        >>> Group("x", (gather, gather)).price
        64
    """

    name: tuple[str, ...]
    collectives: tuple[Collective, ...]

    @property
    def price(self) -> int | None:
        """Bytes that a device moves for all of them; `None` where nobody can count them."""
        try:
            return price(self.collectives)
        except LensError:
            return None


def grouped(collectives: Sequence[Collective], hlo: str, by: str) -> tuple[Group, ...]:
    """The collectives in groups, those of unknown price first, then the most expensive.

    Args:
        collectives: those of a program.
        hlo: its compiled text.
        by: "line" (of Python, with those that called it), "scope" (names of modules and of `jax.named_scope`, numbers of
            layers as `*`, and whether forward or backward), "leaf" (of the arguments, as `params['layers'][*]['up']`),
            "purpose" (forward, backward, optimizer, or data), "axis", "kind", or "equal" for those alike in all that a row
            shows.
    Raises:
        LensError: `by` is none of these.
    Example:
        >>> gather = lens.Collective("all-gather", (8,), "f32", 32, 8, ("x",), 4)
        >>> [(group.name, group.price) for group in grouped([gather, gather], "", "kind")]
        [(('all-gather',), 64)]
    """
    flow = functools.cache(lambda: Flow(hlo))
    keys: dict[str, Callable[[Collective], tuple[str, ...]]] = {
        "line": _Lines(hlo).chain,
        "scope": lambda c: (" + ".join(dict.fromkeys(map(scope, operations(c.op_name)))),),
        "leaf": lambda c: (flow().leaf(c.name.split(" ")[0]),),
        "purpose": lambda c: (flow().purpose(c.name.split(" ")[0], c.op_name),),
        "axis": lambda c: (", ".join(c.axes) or "-",),
        "kind": lambda c: (c.kind,),
        "equal": lambda c: (c.kind, shapes(c), ", ".join(c.axes) or "-", c.source, str(c.executions or "?")),
    }
    if by not in keys:
        mend = f"name one of {', '.join(keys)}."
        raise LensError("no-such-group", f"collectives are not grouped by {by!r}.", where=f"by={by!r}", mend=mend)
    found: dict[tuple[str, ...], list[Collective]] = {}
    for c in collectives:
        found.setdefault(keys[by](c), []).append(c)
    groups = (Group(name, tuple(each)) for name, each in found.items())
    return tuple(sorted(groups, key=lambda group: (group.price is not None, -(group.price or 0))))


def grouped_table(
    collectives: Sequence[Collective],
    hlo: str,
    by: str,
    lines: tuple[str, ...] = (),
    after: Table | None = None,
    width: int = 80,
) -> Table:
    """The groups as a table of at most `ROWS` rows that fits `width`, with the part that each has of all bytes.

    Example:
        >>> gather = lens.Collective("all-gather", (8,), "f32", 32, 8, ("x",), 4)
        >>> grouped_table([gather, gather], "", "kind")
        kind        number  price  part
        all-gather       2     64  100%  ██████████
    """
    groups = grouped(collectives, hlo, by)
    shown, left = groups[: ROWS - 1] if len(groups) > ROWS else groups, groups[ROWS - 1 :] if len(groups) > ROWS else ()
    rest = Group((f"{len(left)} more",), tuple(c for group in left for c in group.collectives))
    whole = sum(group.price or 0 for group in groups)
    # Of a group of nine that are alike but for their line, each tells what the others do not.
    columns = ("collective", "per device", "axes", "line", "times") if by == "equal" else (by,)
    rows = [_row(group, columns, whole) for group in (*shown, *([rest] if left else []))]
    prices = [group.price or 0 for group in (*shown, *([rest] if left else []))]
    sides = ("left",) * len(columns) + ("right",) * 3
    table = Table((*columns, "number", "price", "part"), sides, tuple(rows), lines, bars=shares(prices), after=after)
    return _fitted(table, width, len(columns))


class _Lines:
    """The user's lines that each collective came through."""

    def __init__(self, hlo: str) -> None:
        self.module: HloModule | None = parse_hlo(hlo) if "ENTRY" in hlo else None
        inside = self.module.computations.values() if self.module else ()
        self.instructions = {name: i for each in inside for name, i in each.items()}

    def chain(self, c: Collective) -> tuple[str, ...]:
        """`mlp.py:12 < model.py:40`, innermost first, as one cell."""
        made = self.instructions.get(c.name.split(" ")[0])
        if self.module is None or made is None:
            return (c.source or "-",)
        users = dict.fromkeys(str(line) for line in self.module.frames_of(made) if line.file and is_users(line.file))
        return (" < ".join([*users][:CHAIN]) or c.source or "-",)


def _row(group: Group, columns: Sequence[str], whole: int) -> tuple[str, ...]:
    name = (*group.name, *[""] * (len(columns) - len(group.name)))
    part = f"{group.price / whole:.0%}" if group.price is not None and whole else "?" if group.price is None else "-"
    return (*name, str(len(group.collectives)), or_unknown(price, group.collectives), part)


def _fitted(table: Table, width: int, named: int) -> Table:
    """Narrower by the bars, then by the ends of names, where it would be wider than `width`."""
    if table.width <= width:
        return table
    table = dataclasses.replace(table, bars=())
    while table.width > width:
        longest = max(range(named), key=lambda k: max(len(row[k]) for row in table.rows))
        most = max(len(row[longest]) for row in table.rows)
        if most <= 12:
            break
        most = max(12, most - (table.width - width))
        table = dataclasses.replace(table, rows=tuple(tuple(_cut(row, longest, most)) for row in table.rows))
    return table


def _cut(row: Sequence[str], column: int, most: int) -> Iterator[str]:
    for k, cell in enumerate(row):
        yield cell if k != column or len(cell) <= most else f"{cell[: most - 3]}..."
