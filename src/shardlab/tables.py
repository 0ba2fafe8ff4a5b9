"""One table, for terminals and for notebooks: columns, rows, and lines of text below."""

from __future__ import annotations

import dataclasses
import html
import io
from collections.abc import Sequence
from typing import Any


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
    """

    columns: tuple[str, ...]
    sides: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[str, ...] = ()
    title: str = ""
    totals: tuple[str, ...] = ()

    def __rich__(self) -> Any:
        from rich.console import Group
        from rich.table import Table as RichTable
        from rich.text import Text

        table = RichTable(box=None, pad_edge=False, show_footer=bool(self.totals))
        totals = self.totals or ("",) * len(self.columns)
        for column, total, side in zip(self.columns, totals, self.sides, strict=True):
            table.add_column(column, total, justify="right" if side == "right" else "left", overflow="fold")
        for row in self.rows:
            table.add_row(*map(Text, row))
        head = [Text(self.title)] if self.title else []
        return Group(*head, *([table] if self.rows else []), *map(Text, self.lines))

    def __str__(self) -> str:
        return plain(self)

    __repr__ = __str__

    def html(self) -> str:
        """The table in the reader's own colours, headings marked as such."""
        head = f"<thead>{self._row('th', self.columns)}</thead>"
        body = "".join(self._row("td", row) for row in self.rows)
        foot = f"<tfoot>{self._row('td', self.totals)}</tfoot>" if self.totals else ""
        caption = f"<caption style='color: inherit; text-align: left'>{html.escape(self.title)}</caption>"
        title = caption if self.title else ""
        table = f"<table>{title}{head}<tbody>{body}</tbody>{foot}</table>" if self.rows else html.escape(self.title)
        lines = "".join(f"<div>{html.escape(line)}</div>" for line in self.lines)
        return f'<div style="color: inherit; overflow-x: auto">{table}{lines}</div>'

    _repr_html_ = html

    def _row(self, tag: str, cells: Sequence[str]) -> str:
        scope = ' scope="col"' if tag == "th" else ""
        made = (
            f'<{tag}{scope} style="color: inherit; text-align: {side}">{html.escape(cell)}</{tag}>'
            for cell, side in zip(cells, self.sides, strict=True)
        )
        return f'<tr style="background: transparent">{"".join(made)}</tr>'


def seconds(value: float) -> str:
    """A time in the unit that suits it: `3.2 us`.

    Example:
        >>> seconds(0.00056), seconds(2e-9), seconds(0.0)
        ('560 us', '2 ns', '0 us')
    """
    if value == 0:
        return "0 us"
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= scale * 0.9995:
            return f"{value / scale:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def plain(renderable: Any) -> str:
    """What rich draws, in plain characters."""
    from rich.console import Console

    sink = io.StringIO()
    Console(file=sink, width=120, color_system=None, force_jupyter=False).print(renderable)
    return "\n".join(line.rstrip() for line in sink.getvalue().splitlines())
