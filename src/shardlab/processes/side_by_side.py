"""What several processes wrote and returned, side by side: as text, and as HTML in the reader's own colours."""

from __future__ import annotations

import html
import json
import textwrap
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shardlab.processes.launching import Launched, Process

WIDTH = 120
MONO = "ui-monospace,SFMono-Regular,Menlo,Consolas,monospace"
ACROSS = 3
LONGEST = 400
STOPPED = {"time": "did not end", "peer": "stopped, as another process failed"}


def text(launched: Launched) -> str:
    """The processes from left to right, one below the other when there are many, and what went wrong."""
    across = min(len(launched.processes), ACROSS) if len(launched.processes) <= ACROSS else 1
    width = (WIDTH - 3 * (across - 1)) // across
    lines: list[str] = []
    for at in range(0, len(launched.processes), across):
        row = [_wrapped(process, width) for process in launched.processes[at : at + across]]
        height = max(map(len, row))
        padded = [[*column, *[""] * (height - len(column))] for column in row]
        lines += [" | ".join(f"{cell:{width}}" for cell in cells).rstrip() for cells in zip(*padded)]
    return "\n".join([*lines, *(["", str(launched.error)] if launched.error else [])])


def markup(launched: Launched) -> str:
    """The same as a piece of HTML that stands alone."""
    # Jupyter gives a <pre> within HTML output the font of its prose.
    plain = f"color:inherit;background:transparent;font:13px/1.4 {MONO};white-space:pre-wrap;overflow-wrap:anywhere"
    plain += ";word-break:normal"
    cards = "".join(
        f"<div style='flex:1 1 22em;min-width:0'><div style='font-weight:600'>{html.escape(_heading(process))}</div>"
        f"<pre style='{plain};margin:.3em 0;border-left:3px solid #8a8f98;padding:0 .8em'>"
        f"{html.escape(_shown(process))}</pre></div>"
        for process in launched.processes
    )
    told = f"<pre style='{plain};margin:.3em 0'>{html.escape(str(launched.error))}</pre>" if launched.error else ""
    row = "display:flex;flex-wrap:wrap;gap:.6em 2em;align-items:flex-start"
    return f"<div style='color:inherit;font-size:14px;margin:.4em 0'><div style='{row}'>{cards}</div>{told}</div>"


def brief(value: Any) -> Any:
    """A returned value with each array in a few words: its dtype, shape and spec, and this process's shards."""
    match value:
        case {"array": {"placement": placement, "held": held}}:
            spec = ", ".join("None" if entry is None else str(entry) for entry in placement["spec"] or ())
            shards = " ".join(f"{device}: {json.dumps(values)}" for device, values in held)
            return f"{placement['dtype']}{placement['shape']} P({spec}), shards {shards}"
        case Mapping():
            return {key: brief(part) for key, part in value.items()}
        case list():
            return [brief(part) for part in value]
    return value


def _heading(process: Process) -> str:
    state = STOPPED.get(process.stopped) or (f"exit status {process.status}" if process.status else "ended")
    return f"process {process.number}: {state}"


def _shown(process: Process) -> str:
    lines = [process.output.rstrip("\n")] if process.output.strip() else []
    if process.returned is not None:
        said = brief(process.returned)
        said = said if isinstance(said, str) else json.dumps(said)
        lines.append("returned " + textwrap.shorten(said, LONGEST, placeholder=" ..."))
    return "\n".join(lines) or "(no output)"


def _wrapped(process: Process, width: int) -> list[str]:
    heading = _heading(process)
    body: Iterator[str] = (
        piece
        for line in _shown(process).expandtabs().splitlines()
        for piece in textwrap.wrap(line, width, drop_whitespace=False, replace_whitespace=False) or [""]
    )
    return [heading, "-" * min(width, len(heading)), *body]
