"""The page of JAX's messages, made of the lens's table and of the texts that its tests keep.

`python jupyter_book/explained.py` writes it.
"""

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

<!-- Written by jupyter_book/explained.py. -->

This page explains {rows} messages: errors, warnings, and what is printed where a process ends or hangs. You do not have
to search it. `sl.diagnose("...")` finds the entry for a text. In a notebook the explanation appears below the traceback, and
`sl.explain_errors(False)` turns that off. Shardlab's own messages begin with a name in brackets and have [their own
page](errors.md).

{programs} small programs provoke these messages on JAX {versions}. Each message that is quoted here was written by one
of them.
"""


def text() -> str:
    """The whole page."""
    rows = known_messages()
    quoted, programs, versions = _quoted()
    begin = BEGIN.format(rows=len(rows), programs=programs, versions=" and ".join(versions))
    parts = [begin, *KNOWN_WRONG]
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
    trained = TRAINED.get(row.name)
    exercise = f"You can practise this in [exercise {trained}](#{label(trained)})." if trained else ""
    more = f"[A program that provokes it]({page_of(row.name)})." if row.name in CASES else ""
    return "\n".join([*lines, " ".join(filter(None, [exercise, more]))]).rstrip() + "\n"


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


KNOWN_WRONG = [
    """\
## What no message tells you

Two public reports describe wrong values without any message. Tests of this repository compare programs of both kinds
with NumPy.

- [openxla/xla#42481](https://github.com/openxla/xla/issues/42481): the gradient of a lookup in a sharded table. The tests
  cut the table in five ways and the tokens in four, along `Auto` and along `Explicit` axes. All gradients agreed with
  NumPy's.
- [jax#40830](https://github.com/jax-ml/jax/issues/40830): `psum_scatter` between processes, over gloo, with chunks of 4 MiB,
  on one development version. The test runs two processes with chunks from 1 KiB to 8 MiB, including
  4 MiB and the sizes next to it. All sums agreed with NumPy's.

Compare a sharded program with the same program on one device before you trust a new version. One step is enough:
`np.testing.assert_allclose`.
"""
]


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
