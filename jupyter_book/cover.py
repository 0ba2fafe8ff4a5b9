"""The pictures of the book, drawn from placements: a product of sharded matrices, and a mark of eight devices.

Run as `python jupyter_book/cover.py FILE.svg` to have the cover as a file.
"""

from __future__ import annotations

import dataclasses
import pathlib
import sys

from shardlens.charts.drawing import fill
from shardlens.placement import Placement, place

MESH = {"x": 2, "y": 4}
ROWS, COLUMNS, INNER = 8, 16, 12
CELL, GAP = 15, 2
SQUARE = f'width="{CELL - GAP}" height="{CELL - GAP}" rx="2.5"'
SIGN, TOP, LEFT = 44, 34, 6
INK = "currentColor"
WORDS = (
    "A matrix of 8 rows, cut in two over mesh axis x, times a matrix of 16 columns, cut in four over mesh axis y, "
    "is a matrix in eight blocks: each of the eight devices, in its own colour, computes one block from what it holds."
)


@dataclasses.dataclass(frozen=True)
class Matrix:
    """A matrix of the picture: its name as the Scaling Book writes it, and who holds what.

    `label` pairs each size with the mesh axis that cuts it.
    """

    name: str
    label: tuple[tuple[str, str], tuple[str, str]]
    placement: Placement

    @property
    def width(self) -> int:
        """Pixels from left to right."""
        return self.placement.shape[1] * CELL


MATRICES = (
    Matrix("A", (("I", "x"), ("J", "")), place((ROWS, INNER), MESH, ("x", None))),
    Matrix("B", (("J", ""), ("K", "y")), place((INNER, COLUMNS), MESH, (None, "y"))),
    Matrix("C", (("I", "x"), ("K", "y")), place((ROWS, COLUMNS), MESH, ("x", "y"))),
)


def svg(ink: str = INK) -> str:
    """The cover: A[I_x, J] · B[J, K_y] = C[I_x, K_y] on eight devices, one colour each."""
    width = 2 * LEFT + sum(m.width for m in MATRICES) + 2 * SIGN
    height = TOP + INNER * CELL + 6
    parts, x = [], float(LEFT)
    for matrix, sign in zip(MATRICES, ("·", "=", ""), strict=True):
        y = TOP + (INNER - matrix.placement.shape[0]) * CELL / 2
        parts += [_label(matrix, x, y - 11, ink), *_cells(matrix.placement, x, y)]
        x += matrix.width
        if sign:
            parts.append(_text(sign, x + SIGN / 2, TOP + INNER * CELL / 2 + 9, 26, ink, anchor="middle"))
            x += SIGN
    return _svg(width, height, f"<title>{WORDS}</title>{''.join(parts)}", label=WORDS)


def framed() -> str:
    """The cover as a page takes it: inline, so that its ink is the page's."""
    caption = f"<figcaption>{WORDS}</figcaption>"
    return f'```{{raw}} html\n<figure class="cover">{svg()}{caption}</figure>\n```\n'


def mark() -> str:
    """The mark of the book: eight devices, two by four, in a square."""
    cells = [
        f'<rect x="{2 + 15 * column}" y="{3 + 30 * row}" width="13" height="28" rx="2.5" fill="{fill(4 * row + column)}"/>'
        for row in range(2)
        for column in range(4)
    ]
    return _svg(62, 64, "".join(cells), label="")


def _cells(placement: Placement, x: float, y: float) -> list[str]:
    """One square an element; in a block with several holders their colours take turns along the diagonals."""
    holders = placement.holders()
    drawn = []
    for index, devices in holders.items():
        (top, bottom), (left, right) = index
        drawn += [
            f'<rect x="{x + j * CELL + GAP / 2:g}" y="{y + i * CELL + GAP / 2:g}" {SQUARE} '
            f'fill="{fill(devices[(i + j) % len(devices)])}"/>'
            for i in range(top, bottom)
            for j in range(left, right)
        ]
    return drawn


def _label(matrix: Matrix, x: float, y: float, ink: str) -> str:
    low = '<tspan dy="4" font-size="15">{}</tspan><tspan dy="-4">&#8203;</tspan>'
    sizes = ", ".join(
        f'<tspan font-style="italic">{size}</tspan>{low.format(axis) if axis else ""}' for size, axis in matrix.label
    )
    return _text(f'<tspan font-style="italic">{matrix.name}</tspan>[{sizes}]', x + 1, y, 20, ink)


def _text(inner: str, x: float, y: float, size: int, ink: str, anchor: str = "start") -> str:
    family = "'Source Serif 4 Variable', 'Source Serif 4', Georgia, serif"
    place_ = f'x="{x:g}" y="{y:g}" text-anchor="{anchor}"'
    return f'<text {place_} font-size="{size}" font-family="{family}" fill="{ink}">{inner}</text>'


def _svg(width: float, height: float, inner: str, *, label: str) -> str:
    spoken = f'role="img" aria-label="{label}"' if label else 'aria-hidden="true"'
    box = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {spoken} {box}>{inner}</svg>'


if __name__ == "__main__":
    pathlib.Path(sys.argv[1]).write_text(svg(ink="#22252b") + "\n")
