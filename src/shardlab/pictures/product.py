"""What each device can multiply: its block of A, its block of B, and the block of C that they make."""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Iterator
from html import escape
from types import FrameType
from typing import Any

from shardlab.errors import ShardlabError
from shardlens import Picture, Placement, Slice, named, placement_of

WIDEST = 240.0
GAP = 10.0
LETTER = 14.0
COLOURS = {"A": "#8A7BC8", "B": "#B5793A", "C": "#5C8A4A"}
"""Of the three parts a matrix can have in a product; none is the colour of a device."""
Names = dict[str, str]


@dataclasses.dataclass(frozen=True)
class Share:
    """What some devices hold alike: rows and inner indices of A, inner indices and columns of B."""

    devices: tuple[int, ...]
    rows: Slice
    inner: Slice
    inner_b: Slice
    columns: Slice
    whole: bool

    @property
    def fits(self) -> bool:
        """Whether the blocks can be multiplied: their inner indices are the same."""
        return self.inner == self.inner_b

    @property
    def state(self) -> str:
        """What the product of the blocks is: finished, a term of a sum, or nothing because they do not fit."""
        return ("finished" if self.whole else "a term") if self.fits else "no fit"

    def said(self, names: Names) -> str:
        """In words, with the matrices called what their reader calls them."""
        a, b = f"[{_colon(self.rows)}, {_colon(self.inner)}]", f"[{_colon(self.inner_b)}, {_colon(self.columns)}]"
        return f"{named(self.devices)}: {names['A']}{a}  {names['B']}{b}  {self.state}"


def show_product(a: Any, b: Any) -> Picture:
    """The picture of what each device makes of its blocks of two matrices, without any communication.

    The picture calls them by the caller's names for them, or else A and B.

    Args:
        a: a matrix [I, J] with a sharding, or its placement.
        b: a matrix [J, K] on the same devices.
    Raises:
        ShardlabError: they are not two matrices that can be multiplied.
    """
    left, right = (x if isinstance(x, Placement) else placement_of(x) for x in (a, b))
    if len(left.shape) != 2 or len(right.shape) != 2 or left.shape[1] != right.shape[0]:
        raise ShardlabError(
            "no-product",
            "these are not two matrices that can be multiplied.",
            where=f"sl.show_product(a, b)   a: {list(left.shape)}, b: {list(right.shape)}",
            mend="give matrices [I, J] and [J, K].",
        )
    found, names = tuple(shares(left, right)), _names(sys._getframe(1), a, b)
    sizes = (*left.shape, right.shape[1])
    figures = "".join(_figure(sizes, share, names) for share in found)
    html = f'<div style="display:flex;flex-wrap:wrap;gap:1em 1.6em;font-size:13px;color:inherit">{figures}</div>'
    return Picture("\n".join(share.said(names) for share in found), html)


def _names(caller: FrameType, a: Any, b: Any) -> Names:
    """What the caller calls the matrices and so their product: C of A and B, else both names."""
    bound = {**caller.f_globals, **caller.f_locals}
    known = (
        next((name for name, value in bound.items() if value is matrix and re.fullmatch("[A-Za-z]\\w{0,7}", name)), letter)
        for letter, matrix in (("A", a), ("B", b))
    )
    left, right = known
    return {"A": left, "B": right, "C": "C" if (left, right) == ("A", "B") else f"{left} {right}"}


def shares(left: Placement, right: Placement) -> Iterator[Share]:
    """What devices hold of both matrices, those that hold the same together, in the order of their ids."""
    other = dict(right.shards)
    together: dict[tuple[Slice, ...], list[int]] = {}
    for device, block in left.shards:
        if device in other:
            together.setdefault((*block, *other[device]), []).append(device)
    for (rows, inner, inner_b, columns), devices in together.items():
        yield Share(tuple(devices), rows, inner, inner_b, columns, inner == (0, left.shape[1]))


def _figure(sizes: tuple[int, int, int], share: Share, names: Names) -> str:
    caption = f"{escape(named(share.devices))}<br>{share.state}"
    return (
        f'<figure role="img" aria-label="{escape(share.said(names))}" style="margin:0">{_drawing(sizes, share, names)}'
        f'<figcaption style="margin-top:.2em;color:inherit">{caption}</figcaption></figure>'
    )


def _drawing(sizes: tuple[int, int, int], share: Share, names: Names) -> str:
    """B above C, and A to the left of C, so that rows and columns meet where they are multiplied."""
    i, j, k = sizes
    unit = WIDEST / max(1, j + k, j + i)
    margins = {role: 6 + LETTER / 1.75 * len(name) for role, name in names.items()}
    # Right of A, and far enough from the left edge for B's name.
    across, down = max(LETTER + j * unit + GAP, margins["B"]), LETTER + j * unit + GAP
    frames = {"A": (across - GAP - j * unit, down, i, j), "B": (across, LETTER, j, k), "C": (across, down, i, k)}
    blocks = {"A": (share.rows, share.inner), "B": (share.inner_b, share.columns)}
    if share.fits:
        blocks["C"] = (share.rows, share.columns)
    faint = {"C"} if not share.whole else set()
    drawn = [_block(name, frames[name], block, unit, name in faint) for name, block in blocks.items()]
    drawn += [_frame(role, names[role], frame, unit) for role, frame in frames.items()]
    width, height = across + k * unit + margins["C"], down + i * unit + 2
    return f'<svg width="{width:.0f}" height="{height:.0f}" aria-hidden="true">{"".join(drawn)}</svg>'


def _block(name: str, frame: tuple[float, float, int, int], block: tuple[Slice, Slice], unit: float, faint: bool) -> str:
    x, y, _, _ = frame
    (top, bottom), (left, right) = block
    look = f'fill="{COLOURS[name]}"' + (' fill-opacity=".4"' if faint else "")
    return (
        f'<rect x="{x + left * unit:.1f}" y="{y + top * unit:.1f}" width="{(right - left) * unit:.1f}" '
        f'height="{(bottom - top) * unit:.1f}" {look}/>'
    )


def _frame(role: str, name: str, frame: tuple[float, float, int, int], unit: float) -> str:
    x, y, rows, columns = frame
    where = {
        "A": (x, y - 4, "start"),
        "B": (x - 4, y + 11, "end"),
        "C": (x + columns * unit + 4, y + 11, "start"),
    }[role]
    outline = 'fill="none" stroke="currentColor" stroke-opacity=".6"'
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{columns * unit:.1f}" height="{rows * unit:.1f}" {outline}/>'
        f'<text x="{where[0]:.1f}" y="{where[1]:.1f}" text-anchor="{where[2]}" font-size="13" '
        f'fill="currentColor">{escape(name)}</text>'
    )


def _colon(part: Slice) -> str:
    return f"{part[0]}:{part[1]}"
