"""The page of JAX's messages, made of the lens's table and of the texts that its tests keep: `python jupyter_book/messages.py`."""

from __future__ import annotations

import functools
import json
import pathlib
import re
import textwrap

from chapters import label, plain

from shardlab_course.clinic.diagnosis import CASES, page_of
from shardlab_course.clinic.trained import TRAINED
from shardlens import Message, diagnose, known_messages

HERE = pathlib.Path(__file__).parent
PAGE = HERE / "messages.md"
TEXTS = HERE.parent / "lens/tests/messages/texts.json"
PARTS = {
    "placing": "Meshes, specs and shardings",
    "mapping": "shard_map and collectives",
    "explicit": "Explicit axes",
    "compiling": "jit, memory, devices and processes",
    "running": "Warnings, hangs and crashes",
    "tracing": "Traced values and Python",
    "old": "What is old",
}
WIDTH, LINES = 110, 4
BEGIN = """\
# Messages of JAX and XLA

<!-- Written by jupyter_book/messages.py. -->

This page explains {rows} messages: errors, warnings, and what is printed where a process ends or hangs. You need not search it. `sl.diagnose("...")`
finds the entry for a text, and in a notebook the explanation stands below the traceback; `sl.explain_errors(False)` turns that off. Shardlab's own
messages, which begin with a name in brackets, are [a page of their own](errors.md).

{programs} small programs provoke JAX's messages, on JAX {versions}. Each message below was written by one of them, if it is quoted.
"""


def text() -> str:
    """The whole page."""
    rows = known_messages()
    quoted, programs, versions = _quoted()
    begin = BEGIN.format(rows=len(rows), programs=programs, versions=" and ".join(versions))
    parts = [begin, "\n".join(KNOWN_WRONG)]
    for part, title in PARTS.items():
        entries = [_entry(row, quoted.get(row.name, "")) for row in rows if row.file == part]
        parts.append(f"## {title}\n\n" + "\n".join(entries))
    return "\n".join(parts)


def _entry(row: Message, quoted: str) -> str:
    lines = [f"### {row.name}", "", f"{plain(row.means)}."]
    if quoted:
        lines += ["", "```text", quoted, "```"]
    mistake = re.sub(r"'?\\\d'?", "...", row.mistake)
    lines += ["", f"{plain(mistake)} {plain(row.cure)}", "", "```python", row.code, "```", ""]
    exercise = f"[Exercise {TRAINED[row.name]}](#{label(TRAINED[row.name])}) trains it." if row.name in TRAINED else ""
    more = f"[A program that provokes it]({page_of(row.name)})." if row.name in CASES else ""
    return "\n".join([*lines, *filter(None, [" ".join(filter(None, [exercise, more])), ""])])


@functools.cache
def _quoted() -> tuple[dict[str, str], int, list[str]]:
    """Of each row a message that it explains; how many programs there are, and on which versions they ran."""
    kept = json.loads(TEXTS.read_text(encoding="utf-8"))
    quoted: dict[str, str] = {}
    for said in kept.values():
        for one in said.values():
            message = one["text"] if one.get("type") == "Written" else f"{one['type']}: {one['text']}" if one else ""
            found = diagnose(message).found
            if len(found) == 1:
                quoted.setdefault(found[0].message.name, _short(message, found[0].said))
    return quoted, len(kept), sorted({version for said in kept.values() for version in said})


def _short(message: str, said: str) -> str:
    """The part of a message that is known by its words, in a few lines."""
    flat = " ".join(message.split())
    at = max(flat.find(said[:40]), 0)
    start = 0 if at < WIDTH * 2 else at
    lines = textwrap.wrap(flat[start:], WIDTH, break_on_hyphens=False)
    return "\n".join([*lines[: LINES - 1], *([lines[LINES - 1] + " ..."] if len(lines) > LINES else lines[LINES - 1 :])])


KNOWN_WRONG: list[str] = []


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
