"""The forms of the page of playgrounds, and what its Python needs: Pyodide, and the package in an archive."""

from __future__ import annotations

import dataclasses
import html
import pathlib
import shutil
import zipfile
from collections.abc import Sequence

import playground

from shardlab import listings
from shardlens.costs.chips import CHIPS

KINDS = ("all-gather", "reduce-scatter", "all-reduce", "all-to-all")
PYODIDE = pathlib.Path(".venv/npm/node_modules/pyodide")
FILES = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
LEFT_OUT = ("records", "listings")
"""Folders of the package with data that no playground reads."""


@dataclasses.dataclass(frozen=True)
class Field:
    """One input of a form: choices, a text, or a number from a slider with (least, most, step)."""

    name: str
    label: str
    value: str
    choices: Sequence[str] = ()
    slider: tuple[float, float, float] | None = None
    rows: int = 0

    def html(self, form: str) -> str:
        """Label and input."""
        id = f"play-{form}-{self.name}"
        label = f'<label for="{id}">{html.escape(self.label)}</label>'
        value = html.escape(self.value)
        if self.choices:
            options = "".join(f"<option{' selected' * (c == self.value)}>{html.escape(c)}</option>" for c in self.choices)
            return f'<div>{label}<select id="{id}" name="{self.name}">{options}</select></div>'
        if self.slider:
            least, most, step = self.slider
            limits = f'min="{least:g}" max="{most:g}" step="{step:g}"'
            shown = f'<output for="{id}">{float(self.value):,.0f}</output>'
            return f'<div>{label} {shown}<input id="{id}" name="{self.name}" type="range" {limits} value="{value}"></div>'
        if self.rows:
            look = f'rows="{self.rows}" spellcheck="false" placeholder="HloModule jit_f, ..."'
            return f'<div class="play-whole">{label}<textarea id="{id}" name="{self.name}" {look}>\n{value}</textarea></div>'
        return f'<div>{label}<input id="{id}" name="{self.name}" type="text" spellcheck="false" value="{value}"></div>'


NAMES = tuple(chip.name for chip in CHIPS)
SPECS = ("P(None, None)", "P('x', None)", "P(None, 'x')", "P(None, 'y')", "P('x', 'y')", "P('y', 'x')")
CHIP = Field("on", "chip", "v5e", NAMES)
BOTH = Field("both", "both directions", "no", ("no", "yes"))
FORMS: dict[str, tuple[Field, ...]] = {
    "place": (
        Field("mesh", "mesh", "x=2, y=4"),
        Field("shape", "shape", "8, 16"),
        Field("said", "spec or expression", "rows columns -> rows@x columns@y"),
    ),
    "ring": (
        Field("kind", "collective", "all-gather", KINDS),
        Field("n", "devices", "4", tuple(map(str, range(2, 9)))),
        BOTH,
        Field("nbytes", "bytes of the array", "1000000"),
        CHIP,
        Field("step", "step", "0", slider=(0, 14, 1)),
        Field("speed", "speed", "2", slider=(1, 6, 1)),
    ),
    "cost": (
        CHIP,
        Field("kind", "collective", "all-gather", KINDS),
        Field("nbytes", "bytes", "1000000"),
        Field("n", "devices along the axis", "16", ("2", "4", "8", "16", "32", "64")),
        BOTH,
    ),
    "roof": (
        Field("on", "chip", "v5p", NAMES),
        Field("tokens", "tokens B", "2048", slider=(64, 16384, 64)),
        Field("d", "width D", "8192", slider=(512, 16384, 512)),
        Field("f", "hidden F", "32768", slider=(1024, 65536, 1024)),
        Field("n", "chips", "8", ("1", "2", "4", "8", "16", "32", "64")),
    ),
    "product": (
        Field("left", "A[I, J]", "P(None, 'x')", SPECS),
        Field("right", "B[J, K]", "P('x', None)", SPECS),
    ),
    "lens": (
        Field("text", "HLO text", listings.hlo("ring_tpu"), rows=9),
        Field("mesh", "mesh, to name axes (may be empty)", ""),
    ),
}  # fmt: skip


def form(name: str) -> str:
    """One playground as HTML."""
    fields = "".join(field.html(name) for field in FORMS[name])
    steps = '<button type="button" data-do="step">Step</button><button type="button" data-do="play">Play</button>'
    buttons = f'<p><button type="submit">Show</button>{steps * (name == "ring")}</p>'
    said = f'<div class="play-said" role="status" aria-live="polite">{begun(name)}</div>'
    inside = f'<div class="play-fields">{fields}</div>{buttons}{said}'
    return f'```{{raw}} html\n<form class="play" data-play="{name}" autocomplete="off">{inside}</form>\n```\n'


def begun(name: str) -> str:
    """What a playground shows before anything is changed: the answer to what stands in it."""
    given = {field.name: field.value for field in FORMS[name] if field.name != "speed"}
    return playground.answered(name, **given)


def bring(static: pathlib.Path, root: pathlib.Path) -> bool:
    """Put Pyodide and both packages beside the page; whether Pyodide is there (`make book` installs it by npm)."""
    with zipfile.ZipFile(static / "shardlab.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for home, package in ((root / "src", "shardlab"), (root / "lens" / "src", "shardlens")):
            for path in sorted((home / package).rglob("*.py*")):
                if path.suffix in (".py", ".pyi") and not set(LEFT_OUT) & set(path.relative_to(root).parts):
                    archive.write(path, path.relative_to(home))
        archive.write(pathlib.Path(__file__).with_name("playground.py"), "playground.py")
    if not (root / PYODIDE).is_dir():
        return False
    (static / "pyodide").mkdir(exist_ok=True)
    for name in FILES:
        shutil.copyfile(root / PYODIDE / name, static / "pyodide" / name)
    return True
