"""A launch that is over: how its processes fared, shown side by side as text, and as HTML in the reader's own colours."""

from __future__ import annotations

import dataclasses
import html
import itertools
import json
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from shardlab.errors import ShardlabError

WIDTH = 120
MONO = "ui-monospace,SFMono-Regular,Menlo,Consolas,monospace"
ACROSS = 3
LONGEST = 400
LATE = ("time", "computing")
"""Why the launcher ended those that had not come to an end in time: all waited, or some computed."""
STOPPED = {**dict.fromkeys(LATE, "did not end"), "peer": "stopped because another process failed"}


@dataclasses.dataclass(frozen=True)
class Process:
    """How one process fared.

    Args:
        number: `jax.process_index()`.
        status: the exit status, -n when signal n ended it.
        output: what it wrote to stdout and stderr, in order.
        returned: what the function returned, as JSON; arrays as `shardlab.processes.global_arrays.global_as_json` has them.
        error: `type` and `message` of the exception that ended the work, if any.
        stopped: why the launcher ended it: "time" where all waited, also where gloo gave up waiting first, "computing" where
            some computed when the time was over, or "peer" when another process had failed; else empty.
        where: the line of the program where it was when the time was over.
        todo: whether the function returned `...`, which stands for what is still to be written.
    """

    number: int
    status: int
    output: str
    returned: Any = None
    error: dict[str, str] | None = None
    stopped: str = ""
    where: str = ""
    todo: bool = False


@dataclasses.dataclass(frozen=True, repr=False)
class Launched:
    """A launch that is over. A terminal or a notebook shows what the processes wrote, side by side.

    Args:
        processes: in their order.
        seconds: the limit.
        what: the name of what ran.
    """

    processes: tuple[Process, ...]
    seconds: float
    what: str

    @property
    def ended(self) -> bool:
        """Whether every process came to an end of its own within the time: by its last line, or by an exception."""
        return not any(process.stopped in LATE for process in self.processes)

    @property
    def returned(self) -> list[Any]:
        """What the function returned in each process; `None` where it did not."""
        return [process.returned for process in self.processes]

    @property
    def error(self) -> ShardlabError | None:
        """What went wrong: some did not end in time, or one failed; `None` if all is well."""
        if not self.ended:
            return _hung(self)
        failed = [p for p in self.processes if p.status or p.error]
        return _failed(self, failed) if failed else None

    def __repr__(self) -> str:
        """The processes from left to right, one below the other when there are many, and what went wrong."""
        across = len(self.processes) if 0 < len(self.processes) <= ACROSS else 1
        width = (WIDTH - 3 * (across - 1)) // across
        columns = [_wrapped(process, width) for process in self.processes]
        lines: list[str] = []
        for at in range(0, len(columns), across):
            rows = itertools.zip_longest(*columns[at : at + across], fillvalue="")
            lines += [" | ".join(f"{cell:{width}}" for cell in cells).rstrip() for cells in rows]
        return "\n".join([*lines, *(["", str(self.error)] if self.error else [])])

    def _repr_html_(self) -> str:
        """The same as a piece of HTML that stands alone."""
        # Jupyter gives a <pre> within HTML output the font of its prose.
        plain = f"color:inherit;background:transparent;font:13px/1.4 {MONO};white-space:pre-wrap;overflow-wrap:anywhere"
        plain += ";word-break:normal"
        cards = "".join(
            f"<div style='flex:1 1 22em;min-width:0'><div style='font-weight:600'>{html.escape(_heading(process))}</div>"
            f"<pre style='{plain};margin:.3em 0;border-left:3px solid #8a8f98;padding:0 .8em'>"
            f"{html.escape(_shown(process))}</pre></div>"
            for process in self.processes
        )
        told = f"<pre style='{plain};margin:.3em 0'>{html.escape(str(self.error))}</pre>" if self.error else ""
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


def _hung(launched: Launched) -> ShardlabError:
    late = [p for p in launched.processes if p.stopped in LATE]
    what = f"{launched.what}: {len(late)} of {len(launched.processes)} processes did not end within {launched.seconds:g} s."
    if late[0].stopped == "computing":
        mend = "look for an endless loop at these lines, or give the processes more `seconds`."
        return ShardlabError("processes-hang", f"{what} Some are still computing.", where=_states(launched), mend=mend)
    mend = "all processes must reach the same collectives in the same order.\n"
    mend += "Look for what differs between them before these lines, or give them more `seconds`."
    return ShardlabError("processes-hang", what, where=_states(launched), mend=mend)


def _failed(launched: Launched, failed: list[Process]) -> ShardlabError:
    first = next((p for p in failed if not p.stopped), failed[0])
    said = f"exit status {first.status}"
    if first.error:
        said = f"{first.error['type']}: {textwrap.shorten(first.error['message'], 200, placeholder=' ...')}"
    what = f"{launched.what} failed in process {first.number}: {said}"
    mend = "read the end of what that process wrote."
    return ShardlabError("process-failed", what, where=_states(launched), mend=mend)


def _states(launched: Launched) -> str:
    return "\n".join(f"process {p.number}: {_state(p)}" for p in launched.processes)


def _state(process: Process) -> str:
    if process.stopped:
        return process.where or "stopped because another process had failed"
    if process.error:
        return f"raised {process.error['type']}"
    return f"ended with exit status {process.status}" if process.status else "had ended"
