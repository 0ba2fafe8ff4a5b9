"""The drawing of the architecture page, made from the imports that the code has: who is built on whom.

Run as `python jupyter_book/architecture.py FILE.svg` to have it as a file.
"""

from __future__ import annotations

import ast
import collections
import dataclasses
import html
import pathlib
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence

import shardlens
from shardlab_course import own

ROOT = pathlib.Path(__file__).parent.parent
PACKAGES = {
    "shardlens": ROOT / "lens" / "src" / "shardlens",
    **{name: ROOT / "src" / name for name in ("shardlab", "shardlab_judge", "shardlab_course")},
    **{name: ROOT / "grader" / name for name in ("shardlab_grader", "shardlab_authoring")},
}
ROOMS = {
    "shardlab_judge": "judge",
    "shardlab_course": "chapters",
    "shardlab_grader": "grader",
    "shardlab_authoring": "authoring",
}
"""The box of a room; the packages of lens and helper, and two of the course, have boxes of their own."""
FIRST = {
    "shardlens": {
        "ground": "errors exceptions placement progress sources tables",
        "command": "__main__ apart arguments command doctor",
    },
    "shardlab": {
        "basics": "as_json axes cells devices errors exceptions recording",
        "commands": "__main__ command launch listings programs records testing",
    },
}
"""Modules of the first level of lens and helper. Of the helper's, `programs` and `testing` are doors for old notebooks."""
OWN = ("checking", "editions")
WIDTH, ROW, BOX = 960, 118, 52
CHARACTER = 7.4
LEGIBLE = 720
"""On a narrower window the drawing scrolls in its own box."""
ASIDE = 14
"""How far from the last box of a row a line goes down beside it."""
Place = tuple[float, float, float]
"""Middle, top and width of a box."""


@dataclasses.dataclass(frozen=True)
class Group:
    """A box of the drawing: a package, its modules and how many lines they have."""

    name: str
    modules: int
    lines: int


def modules() -> dict[str, pathlib.Path]:
    """Every module of ours by its dotted name; what exercises must tell apart is read, and never imported."""
    found: dict[str, pathlib.Path] = {}
    for package, folder in PACKAGES.items():
        for path in (path for path in sorted(folder.rglob("*.py")) if not path.match(f"ex*/{own.ANSWERS}")):
            parts = path.relative_to(folder).with_suffix("").parts
            found[".".join([package, *parts]).removesuffix(".__init__")] = path
    return found


def imports(ours: Mapping[str, pathlib.Path]) -> dict[str, set[str]]:
    """The modules of ours that each imports when it is imported itself; what only type checkers read does not count."""
    return {name: {other for other in _named(path) if other in ours and other != name} for name, path in ours.items()}


def _named(path: pathlib.Path) -> Iterator[str]:
    all_nodes = list(ast.walk(ast.parse(path.read_text())))
    skipped = {id(n) for node in all_nodes if _for_types(node) for n in ast.walk(node)}
    for node in all_nodes:
        if isinstance(node, ast.ImportFrom) and node.module and id(node) not in skipped:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
            if node.module == "shardlens":
                yield from (shardlens.home(alias.name) for alias in node.names)


def _for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def grouped(ours: Mapping[str, pathlib.Path]) -> dict[str, str]:
    """The box of each module, but for `shardlens` and `shardlab` themselves, which only say where their names are.

    Raises:
        KeyError: a module of lens or helper is in no box.
    """
    boxes: dict[str, str] = {}
    for package, first in FIRST.items():
        mine = [name for name in ours if name.startswith(f"{package}.")]
        inside = {name.split(".")[1]: name.split(".")[1] for name in mine if name.count(".") > 1}
        inside |= {module: box for box, modules in first.items() for module in modules.split()}
        boxes |= {name: inside[name.split(".")[1]] for name in mine}
    for name in ours:
        room, _, rest = name.partition(".")
        if room in ROOMS:
            part = rest.split(".")[0]
            boxes[name] = part if room == "shardlab_course" and part in OWN else ROOMS[room]
    return boxes


def edges(needs: Mapping[str, set[str]], boxes: Mapping[str, str]) -> dict[tuple[str, str], int]:
    """How many imports go from each box to each other one."""
    pairs = [(boxes[a], boxes[b]) for a, others in needs.items() if a in boxes for b in others if b in boxes]
    return dict(collections.Counter(pair for pair in pairs if pair[0] != pair[1]))


def levels(names: set[str], drawn: Mapping[tuple[str, str], int]) -> dict[str, int]:
    """The row of each box, counted from the ground: one above the highest that it stands on, by most of its imports."""
    main = {(a, b) for (a, b), n in drawn.items() if n > drawn.get((b, a), 0)}
    found = dict.fromkeys(names, 0)
    for _ in names:
        found = {name: 1 + max((found[b] for a, b in main if a == name), default=-1) for name in names}
    return found


def direct(drawn: Mapping[tuple[str, str], int], rows: Mapping[str, int]) -> set[tuple[str, str]]:
    """The pairs that are drawn: of two ways down to the same box only the longer one."""
    down = {(a, b) for a, b in drawn if rows[a] > rows[b]}
    below = {a: {b for c, b in down if c == a} for a in rows}
    for _ in rows:
        below = {a: others | {c for b in others for c in below[b]} for a, others in below.items()}
    return {(a, b) for a, b in down if not any(b in below[c] for d, c in down if d == a)}


def words(drawn: Mapping[tuple[str, str], int]) -> str:
    """The drawing in words, for those who do not see it."""
    said = collections.defaultdict(list)
    for (a, b), n in sorted(drawn.items(), key=lambda entry: (entry[0][0], -entry[1])):
        said[a].append(f"{b} ({n})")
    return "; ".join(f"{a} imports from {', '.join(others)}" for a, others in said.items()) + "."


def svg() -> str:
    """The drawing: boxes in rows, each above what it is built on, with a line for every pair that imports."""
    ours = modules()
    needs = imports(ours)
    boxes = grouped(ours)
    drawn = edges(needs, boxes)
    rows = levels(set(boxes.values()), drawn)
    groups = [_group(name, ours, boxes) for name in rows]
    places = _places(groups, rows)
    height = (max(rows.values()) + 1) * ROW
    lines = [_line(way(places[a], places[b], places.values()), drawn[a, b]) for a, b in sorted(direct(drawn, rows))]
    parts = [*lines, *(_box(group, *places[group.name]) for group in groups)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" font-family="inherit" '
        f'aria-label="{html.escape(words(drawn))}" style="max-width:{WIDTH}px;width:100%;min-width:{LEGIBLE}px">'
        f"{''.join(parts)}</svg>"
    )


def framed() -> str:
    """The drawing as a block of a page."""
    return f'```{{raw}} html\n<figure tabindex="0" style="overflow-x:auto">{svg()}</figure>\n```\n'


def _group(name: str, ours: Mapping[str, pathlib.Path], boxes: Mapping[str, str]) -> Group:
    inside = [path for module, path in ours.items() if boxes.get(module) == name]
    return Group(name, len(inside), sum(len(path.read_text().splitlines()) for path in inside))


def _places(groups: list[Group], rows: Mapping[str, int]) -> dict[str, Place]:
    """Middle, top and width of each box."""
    top = max(rows.values())
    places: dict[str, Place] = {}
    for row in range(top + 1):
        inside = sorted((group for group in groups if rows[group.name] == row), key=lambda group: group.name)
        for number, group in enumerate(inside):
            width = max(len(group.name), 20) * CHARACTER + 26
            places[group.name] = (WIDTH * (number + 0.5) / len(inside), (top - row) * ROW + 8, width)
    return places


def way(a: Place, b: Place, places: Collection[Place]) -> list[tuple[float, float]]:
    """Where a line turns: below the one box, above and below each row between, in a gap near its aim, above the other."""
    (x, y, _), (u, v, _) = a, b
    turns = [(x, y + BOX)]
    for top in sorted({top for _, top, _ in places if y < top < v}):
        sides = [(middle - width / 2, middle + width / 2) for middle, at, width in sorted(places) if at == top]
        ends = [(sides[0][0] - ASIDE,) * 2, *sides, (sides[-1][1] + ASIDE,) * 2]
        gaps = [(left[1] + right[0]) / 2 for left, right in zip(ends, ends[1:])]
        aim = x + (u - x) * (top - y) / (v - y)
        gap = min(gaps, key=lambda at: abs(at - aim))
        turns += [(gap, top), (gap, top + BOX)]
    return [*turns, (u, v)]


def _line(turns: Sequence[tuple[float, float]], count: int) -> str:
    """Bent between the rows, straight down beside their boxes."""
    path = "M{:.0f},{:.0f}".format(*turns[0])
    for (x, y), (u, v) in zip(turns, turns[1:]):
        bend = (v - y) / 2
        path += f" C{x:.0f},{y + bend:.0f} {u:.0f},{v - bend:.0f} {u:.0f},{v:.0f}"
    width = 0.8 + count**0.5 / 2
    return f'<path d="{path}" fill="none" stroke="currentColor" stroke-opacity=".35" stroke-width="{width:.1f}"/>'


def _box(group: Group, x: float, y: float, width: float) -> str:
    below = f"{group.modules} module{'s' * (group.modules > 1)}, {group.lines:,} lines"
    middle = f'x="{x:.0f}" text-anchor="middle" fill="currentColor"'
    return (
        f'<rect x="{x - width / 2:.0f}" y="{y:.0f}" width="{width:.0f}" height="{BOX}" rx="8" '
        'fill="var(--pst-color-surface, #f4f4f4)" stroke="currentColor" stroke-opacity=".6"/>'
        f'<text {middle} y="{y + 22:.0f}" font-size="15" font-weight="600">{group.name}</text>'
        f'<text {middle} y="{y + 41:.0f}" font-size="12.5">{below}</text>'
    )


if __name__ == "__main__":
    pathlib.Path(sys.argv[1]).write_text(svg())
