"""One table, for terminals and for notebooks: columns, rows, and lines of text below."""

from __future__ import annotations

import abc
import dataclasses
import html
import io
import re
from collections.abc import Sequence
from typing import Any

TINT = "color-mix(in oklab, currentColor 20%, transparent)"
"""Of bars: the page's own colour of text, so that it suits light and dark."""


@dataclasses.dataclass(frozen=True, repr=False)
class Table:
    """Cells of text.

    Args:
        columns: headings.
        sides: "left" or "right", one for each column.
        rows: as many cells in each as there are columns.
        lines: what stands below.
        title: what stands above.
        totals: a last row, below the others.
        bars: lengths, 0 to 1, one for each row: drawn after the last cell, in a notebook behind it.
        after: another table, below the lines.
    Example:
        >>> Table(("chip", "FLOPs/s"), ("left", "right"), (("v5e", "1.97e14"), ("v5p", "4.59e14")))
        chip  FLOPs/s
        v5e   1.97e14
        v5p   4.59e14
    """

    columns: tuple[str, ...]
    sides: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[str, ...] = ()
    title: str = ""
    totals: tuple[str, ...] = ()
    bars: tuple[float, ...] = ()
    after: Table | None = None

    def __rich__(self) -> Any:
        from rich.console import Group
        from rich.table import Table as RichTable
        from rich.text import Text

        table = RichTable(box=None, pad_edge=False, show_footer=bool(self.totals))
        totals = self.totals or ("",) * len(self.columns)
        for column, total, side in zip(self.columns, totals, self.sides, strict=True):
            table.add_column(column, total, justify="right" if side == "right" else "left", overflow="fold")
        if self.bars:
            table.add_column("", "", no_wrap=True)
        for row, length in zip(self.rows, self.bars or (None,) * len(self.rows), strict=True):
            table.add_row(*map(Text, row), *([] if length is None else [_bar(length)]))
        head = [Text(self.title)] if self.title else []
        below = [self.after] if self.after else []
        return Group(*head, *([table] if self.rows else []), *map(Text, self.lines), *below)

    def __str__(self) -> str:
        return plain(self)

    __repr__ = __str__

    @property
    def width(self) -> int:
        """Characters that the cells take in a terminal, side by side."""
        columns = zip(self.columns, *self.rows, *([self.totals] if self.totals else []))
        return sum(max(map(len, column)) + 2 for column in columns) - 2 + 12 * bool(self.bars)

    def without(self, *columns: str) -> Table:
        """The same with fewer columns, named by their headings.

        Example:
            >>> Table(("chip", "FLOPs/s"), ("left", "right"), (("v5e", "1.97e14"),)).without("FLOPs/s")
            chip
            v5e
        """
        kept = [n for n, column in enumerate(self.columns) if column not in columns]
        every = (self.columns, self.sides, self.totals or self.columns, *self.rows)
        heads, sides, totals, *rows = (tuple(cells[n] for n in kept) for cells in every)
        return dataclasses.replace(self, columns=heads, sides=sides, totals=totals if self.totals else (), rows=tuple(rows))

    def html(self) -> str:
        """The table in the reader's own colours, headings marked as such."""
        head = f"<thead>{self._row('th', self.columns)}</thead>"
        body = "".join(
            self._row("td", row, length) for row, length in zip(self.rows, self.bars or (0.0,) * len(self.rows), strict=True)
        )
        foot = f"<tfoot>{self._row('td', self.totals)}</tfoot>" if self.totals else ""
        caption = f"<caption style='color: inherit; text-align: left'>{html.escape(self.title)}</caption>"
        title = caption if self.title else ""
        table = f"<table>{title}{head}<tbody>{body}</tbody>{foot}</table>" if self.rows else html.escape(self.title)
        lines = "".join(f"<div>{html.escape(line)}</div>" for line in self.lines)
        below = self.after.html() if self.after else ""
        # Who has no mouse scrolls a wide table with the keys, once it can have the focus.
        return f'<div tabindex="0" style="color: inherit; overflow-x: auto">{table}{lines}{below}</div>'

    _repr_html_ = html

    def _row(self, tag: str, cells: Sequence[str], bar: float = 0.0) -> str:
        scope = ' scope="col"' if tag == "th" else ""
        wide = "; min-width: 9em" if self.bars else ""
        filled = f"; background: linear-gradient(to right, {TINT} {bar:.1%}, transparent {bar:.1%})" if bar else ""
        looks = [*[""] * (len(cells) - 1), wide + filled][: len(cells)]
        made = (
            f'<{tag}{scope} style="color: inherit; text-align: {side}{look}">{html.escape(cell)}</{tag}>'
            for cell, side, look in zip(cells, self.sides, looks, strict=True)
        )
        return f'<tr style="background: transparent">{"".join(made)}</tr>'


class Tabled(abc.ABC):
    """What shows itself as a table, in terminals and in notebooks."""

    @abc.abstractmethod
    def _table(self) -> Table: ...

    def __rich__(self) -> Table:
        return self._table()

    def __str__(self) -> str:
        return str(self._table())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self._table().html()


def shares(counts: Sequence[float]) -> tuple[float, ...]:
    """Each as a part of the largest, for `Table.bars`.

    Example:
        >>> shares([1, 4, 0]), shares([2e-6, 1e-6]), shares([0, 0])
        ((0.25, 1.0, 0.0), (1.0, 0.5), (0.0, 0.0))
    """
    most = max(counts, default=0) or 1
    return tuple(count / most for count in counts)


def _bar(length: float) -> str:
    """A bar of up to ten characters, in eighths of one; the least of what is not nothing is drawn too."""
    eighths = max(round(80 * length), length > 0)
    parts: tuple[str, ...] = ("", *"\u258f\u258e\u258d\u258c\u258b\u258a\u2589")
    return "\u2588" * (eighths // 8) + parts[eighths % 8]


def seconds(value: float) -> str:
    """A time in the unit that suits it: `3.2 us`.

    Example:
        >>> seconds(0.00056), seconds(2e-9), seconds(0.0)
        ('560 us', '2 ns', '0 us')
    """
    if value == 0:
        return "0 us"
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        # Three digits round 999.6 us to 1e+03 us: from 0.9995 on the next unit writes it shorter.
        if value >= scale * 0.9995:
            return f"{value / scale:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def read_bytes(text: str | int) -> int:
    """A number of bytes: `1048576`, `1MB` (10**6), `1MiB` (2**20).

    Raises:
        ValueError: the text is of another form.
    Example:
        >>> read_bytes("1.5MB"), read_bytes("2 KiB"), read_bytes(0)
        (1500000, 2048, 0)
    """
    found = re.fullmatch(r"\s*([\d_]+(?:\.\d+)?)\s*(?:([kKMGT])(i?)B|B)?\s*", str(text))
    if not found:
        raise ValueError(f"{text!r} is not a number of bytes: write 1048576, 1MB or 1MiB")
    base, power = 1024 if found[3] else 1000, " KMGT".index(found[2].upper()) if found[2] else 0
    return round(float(found[1]) * float(base) ** power)


def plain(renderable: Any) -> str:
    """What rich draws, in plain characters."""
    from rich.console import Console

    sink = io.StringIO()
    Console(file=sink, width=120, color_system=None, force_jupyter=False).print(renderable)
    return "\n".join(line.rstrip() for line in sink.getvalue().splitlines())
