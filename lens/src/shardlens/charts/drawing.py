"""What all pictures are made of: their record, colours of devices, words for slices, devices and bytes. No JAX here."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Sequence

from shardlens.placement import Index

PALETTE = ("#77AADD", "#EE8866", "#EEDD88", "#44BB99", "#FFAABB", "#99DDFF", "#BBCC33", "#DDDDDD")
"""Fills told apart under the common kinds of colour blindness, made for dark labels: Paul Tol's "light" scheme."""
INK = "#111111"
MONO = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
PREFERRED, GAP = 80, "   "
"""Characters in a line that a terminal shows well, and what is between columns."""


@dataclasses.dataclass(frozen=True, repr=False)
class Picture:
    """A picture: `text` for terminals, `html` for notebooks and pages.

    Example:
        >>> Picture(text="0 -> 1", html="<b>0 &rarr; 1</b>")
        0 -> 1
    """

    text: str
    html: str

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.html


def framed(inner: str) -> str:
    """The outermost element."""
    return f'<div style="color:inherit;background:transparent;font-size:14px;line-height:1.45;margin:.4em 0">{inner}</div>'


def figure(
    width: float, height: float, inner: str, left: float = 0.0, top: float = 0.0, attributes: str = "", scale: float = 1.0
) -> str:
    """The `<svg>` element around `inner`: centred dark text on light fills, unless its parts say otherwise.

    Args:
        scale: how many times as large it is shown as it is drawn, where there is room.
    """
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {attributes}aria-hidden="true" '
        f'width="{scale * width:.0f}" height="{scale * height:.0f}" '
        f'viewBox="{left:.0f} {top:.0f} {width:.0f} {height:.0f}" font-family="{MONO}" font-size="10.5" fill="{INK}" '
        f'text-anchor="middle" style="display:block;max-width:100%;min-width:{0.7 * width:.0f}px;height:auto;'
        f'background:transparent">{inner}</svg>'
    )


def fill(device: int) -> str:
    """The colour of a device; from the ninth on the palette returns in paler tints.

    Example:
        >>> fill(0), fill(8)
        ('#77AADD', '#BBD4EE')
    """
    pale = (0.0, 0.5, 0.25)[device // len(PALETTE) % 3]
    colour = PALETTE[device % len(PALETTE)]
    return "#" + "".join(f"{round(v + (255 - v) * pale):02X}" for v in bytes.fromhex(colour[1:]))


def size(count: int) -> str:
    """A number of bytes: exact below 10,000 and else in binary units.

    Example:
        >>> size(4096), size(65536), size(3 << 29)
        ('4,096 B', '64 KiB', '1.5 GiB')
    """
    if count < 10_000:
        return f"{count:,} B"
    power = min((count.bit_length() - 1) // 10, 5)
    return f"{count / 1024**power:,.4g} {('B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB')[power]}"


def ids(block: Sequence[int]) -> tuple[str, ...]:
    """Device ids as short texts; runs of consecutive ids are joined when there are more than 16."""
    if len(block) <= 16:
        return tuple(map(str, block))
    runs: list[list[int]] = []
    for device in block:
        if runs and device == runs[-1][-1] + 1:
            runs[-1].append(device)
        else:
            runs.append([device])
    return tuple(f"{run[0]}–{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def named(block: Sequence[int]) -> str:
    """Device ids in words.

    Example:
        >>> named([3]), named([1, 3, 5])
        ('device 3', 'devices 1, 3, 5')
    """
    return f"device{'s' * (len(block) != 1)} {', '.join(ids(block))}"


def brackets(parts: Iterable[object]) -> str:
    """Parts in brackets, as a shape is written: `[16, 8]`.

    Example:
        >>> brackets((16, 8))
        '[16, 8]'
    """
    return f"[{', '.join(map(str, parts))}]"


def written(index: Index) -> str:
    """A slice as NumPy writes it: `[0:8, 4:8]`."""
    return brackets(f"{start}:{stop}" for start, stop in index)


def subscript(axes: Sequence[str]) -> str:
    """Mesh axes as the Scaling Book writes them: `xy` for letters, `data,model` for words."""
    return ("," if max(map(len, axes), default=0) > 1 else "").join(map(plain, axes))


def plain(text: str) -> str:
    """The text with everything that does not print (control characters, escapes) spelled out."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def beside(columns: Sequence[list[str]], most: int) -> list[str]:
    """The columns of lines from left to right, as many in a row as fit and at most `most`."""
    rows: list[list[list[str]]] = []
    for column in columns:
        width = sum(len(GAP) + max(map(len, other)) for other in [*(rows[-1] if rows else ()), column])
        if rows and len(rows[-1]) < most and width <= PREFERRED:
            rows[-1].append(column)
        else:
            rows.append([column])
    return [line for row in rows for line in _joined(row)]


def _joined(columns: Sequence[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in columns]
    return [
        GAP.join(part.ljust(width) for part, width in zip(parts, widths)).rstrip()
        for parts in itertools.zip_longest(*columns, fillvalue="")
    ]
