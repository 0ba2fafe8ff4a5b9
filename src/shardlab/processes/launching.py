"""Several JAX processes on this machine, as on several hosts: started together, watched, and ended together.

Each process has simulated CPU devices of its own, and finds the others by `jax.distributed.initialize`, which is called
for it, on a port of the loopback interface; collectives between them go by gloo.

JAX has no launcher for a laptop: on a cluster, Slurm, Kubernetes, MPI or the TPU's own tools start the processes. `mpirun`
must be installed besides, and leaves the ports, the limits and a hang to its user; the launcher of JAX's own tests is
private, keeps output in files, and ends nothing that hangs. So this one is our own.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import inspect
import json
import math
import os
import pathlib
import re
import reprlib
import sys
import tempfile
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

from shardlab.errors import ShardlabError
from shardlab.processes import peers
from shardlab.processes.launched import LATE, Launched, Process
from shardlab.processes.peers import Peer
from shardlab.recording import recording
from shardlens import drawing

_WAITED = re.compile(r"Gloo.*(DEADLINE_EXCEEDED|[Tt]imed out)", re.DOTALL)
"""How gloo says that it waited for another process in vain; it does so for half a minute."""
BY_DEF = "define it with `def` in a cell or a file"
BY_PATH = "give its path, or its text; a text of one line needs a newline at its end."
BY_ENCODING = "save it as UTF-8, or name its encoding in its first line: # coding: latin-1"


@dataclasses.dataclass(frozen=True)
class Sent:
    """A function as it is sent to processes: its name, and its source."""

    name: str
    source: str


Work = str | os.PathLike[str] | Callable[..., Any] | Sent


def launch(
    what: Work, processes: int = 2, devices: int = 4, seconds: float = 60.0, arguments: Sequence[Any] = ()
) -> Launched:
    """Run a program in several JAX processes at once, and collect what each writes and returns.

    Args:
        what: the path or the text of a script; one line is its text only if it ends with a newline. Or a function, which
            is called as `what(*arguments)` in each process. Its source is taken there, so it must bring its own imports,
            and use nothing from outside it.
        processes: how many.
        devices: simulated devices of each process.
        seconds: the time for the whole run, on a machine that has nothing else to do: while the processes wait for a
            processor, the clock stands still. A process that has not ended by then is asked where it is, and ended.
        arguments: for a function whatever JSON can hold; for a script its words.
    Raises:
        ShardlabError: this is no script and no function that can be sent, or this system has no such processes.
    """
    job = _job(what, processes, devices, seconds, [_listed(arguments)])
    return _Later(job, seconds) if recording() else _run(job, seconds)[0]


def launch_calls(
    what: Callable[..., Any] | Sent, calls: Sequence[Sequence[Any]], processes: int, devices: int, seconds: float
) -> list[Launched]:
    """One function called for several argument lists in turn, in the same processes: as many launches as it came to."""
    job = _job(what, processes, devices, seconds, [list(arguments) for arguments in calls])
    return _run(job, seconds)


def run_script(
    script: str, processes: int, devices: int, seconds: float, words: Sequence[str], heard: peers.Heard
) -> Launched:
    """A script launched; `heard` is told what each process writes as it comes."""
    return _run(_job(script, processes, devices, seconds, [list(words)]), seconds, heard)[0]


class _Later(Launched):
    """A launch that waits until someone asks how it was: while a class is graded, nobody looks at a page's pictures."""

    def __init__(self, job: dict[str, Any], seconds: float) -> None:
        vars(self)["_asked"] = job, seconds

    def __getattr__(self, name: str) -> Any:
        """A field that nobody has asked for yet: with it come all."""
        if name in ("processes", "seconds", "what"):
            vars(self).update(vars(_run(*self._asked)[0]))
        return object.__getattribute__(self, name)


def _run(job: dict[str, Any], seconds: float, heard: peers.Heard = lambda number, piece: None) -> list[Launched]:
    with tempfile.TemporaryDirectory(prefix="shardlab-") as made, peers.reserved_port() as port:
        folder = pathlib.Path(made).resolve()
        started = peers.start({**job, "address": f"127.0.0.1:{port}"}, folder)
        try:
            peers.watch(started, seconds, heard)
            for peer in started:
                heard(peer.number, peer.extra)
        finally:
            peers.end(started)
        return _told(job, seconds, started)


def _told(job: dict[str, Any], seconds: float, started: list[Peer]) -> list[Launched]:
    """A launch for each call, up to the first that some process did not come to the end of."""
    reached = min(len(job["calls"]), 1 + min(peer.calls for peer in started))
    return [Launched(tuple(_process(peer, n, job) for peer in started), seconds, job["title"]) for n in range(reached)]


def _process(peer: Peer, n: int, job: dict[str, Any]) -> Process:
    line = next((line for line in peer.lines if line.get("call") == n), None)
    if line is not None:
        error = line.get("error")
        if error and _WAITED.search(error["message"]):
            where = _place(peer.output, job["program"], job["source"], -1)
            return Process(peer.number, 1, peer.output, stopped="time", where=where)
        return Process(peer.number, int(error is not None), peer.output, line.get("value"), error, todo="todo" in line)
    where = _place(peer.where, job["program"], job["source"]) if peer.stopped in LATE else ""
    # What it reported, for one that is done is ended at once where another one has failed.
    status = peer.child.returncode if peer.end is None else peer.end
    return Process(peer.number, status, peer.output, stopped=peer.stopped, where=where)


def _job(what: Work, processes: int, devices: int, seconds: float, calls: list[list[Any]]) -> dict[str, Any]:
    # Windows: without process groups nothing makes sure that no process stays behind.
    if not hasattr(os, "killpg"):
        raise ShardlabError(
            "no-processes-here",
            "this system cannot run several JAX processes that work together.",
            where=f"sl.launch(..., processes={processes}) on {sys.platform}",
            mend="use Linux, macOS, WSL or Colab.",
        )
    _check_numbers(processes, devices, seconds)
    job = {"processes": processes, "devices": devices, "seconds": seconds, "path": sys.path, "calls": calls}
    what = sent(what) if callable(what) else what
    if not isinstance(what, Sent | str | os.PathLike):
        mend = "give a function, or the path or the text of a script"
        raise _cannot_send(reprlib.repr(what), "it is neither a function nor a script", mend)
    if isinstance(what, Sent):
        job |= {"program": f"<{what.name}>", "source": what.source, "name": what.name, "script": None, "title": what.name}
    else:
        job |= {"name": "", "script": list(map(str, calls[0])), **_script(os.fspath(what))}
    _check_json(job)
    return job


def _check_numbers(processes: int, devices: int, seconds: float) -> None:
    whole = all(isinstance(n, int) and not isinstance(n, bool) and n > 0 for n in (processes, devices))
    if not whole or isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < math.inf:
        raise ShardlabError(
            "nothing-to-launch",
            "a launch needs at least one process, one device for each, and some time, each as a number.",
            where=f"sl.launch(..., processes={processes!r}, devices={devices!r}, seconds={seconds!r})",
            mend="leave them out: the defaults are 2 processes, 4 devices each and 60 seconds.",
        )


def _listed(arguments: Sequence[Any]) -> list[Any]:
    if isinstance(arguments, Sequence) and not isinstance(arguments, str | bytes):
        return list(arguments)
    said = reprlib.repr(arguments)
    raise ShardlabError(
        "cannot-be-launched",
        f"the arguments are no list: {said}.",
        where=f"sl.launch(..., arguments={said})",
        mend=f"put them into a list, even one alone: arguments=[{said}].",
    )


def _script(text: str) -> dict[str, Any]:
    if "\n" in text:
        return {"program": "<script>", "source": text, "title": "the script"}
    try:
        # As Python reads it: without a byte order mark, and in the encoding that a first line names.
        source = importlib.util.decode_source(pathlib.Path(text).read_bytes())
    except (OSError, ValueError, SyntaxError) as error:
        why = getattr(error, "strerror", "") or getattr(error, "msg", "") or str(error)
        mend = BY_ENCODING if isinstance(error, UnicodeDecodeError | SyntaxError) else BY_PATH
        said = f"the script cannot be read: {why}."
        raise ShardlabError("no-such-script", said, where=drawing.plain(text), mend=mend) from error
    return {"program": os.path.abspath(text), "source": source, "title": os.path.basename(text)}


def sent(function: Callable[..., Any]) -> Sent:
    """A function's name, and its source, not indented.

    Raises:
        ShardlabError: the source cannot be had, or would not run elsewhere.
    """
    name = getattr(function, "__name__", repr(function))
    if getattr(function, "__closure__", None):
        names = ", ".join(function.__code__.co_freevars)
        raise _cannot_send(name, f"it uses {names} from the function around it", f"pass {names} in `arguments`")
    try:
        source = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError) as error:
        raise _cannot_send(name, f"its source cannot be read ({error})", BY_DEF) from error
    if not source.lstrip().startswith(("def ", "@")):
        raise _cannot_send(name, "it is not defined with `def`", BY_DEF)
    return Sent(function.__name__, source)


def _check_json(job: dict[str, Any]) -> None:
    try:
        json.dumps(job["calls"])
    except (TypeError, ValueError) as error:
        mend = "pass numbers, strings, lists and dicts, and make arrays of them inside"
        raise _cannot_send(job["title"], f"its arguments are not JSON ({error})", mend) from error


def _cannot_send(name: str, why: str, mend: str) -> ShardlabError:
    what = f"{name} cannot be sent to other processes: {why}."
    return ShardlabError("cannot-be-launched", what, where=f"sl.launch({name}, ...)", mend=f"{mend}.")


def _place(stack: str, program: str, source: str, which: int = 0) -> str:
    """The innermost line of the program, with its text: the first in what faulthandler wrote, the last in a traceback."""
    found = re.findall(rf'File "{re.escape(program)}", line (\d+),? in (\S+)', stack)
    if not found:
        return "not in the program: still starting, or already at its end"
    number, lines = int(found[which][0]), source.splitlines()
    text = lines[number - 1].strip() if number <= len(lines) else ""
    return f"line {number}, in {found[which][1]}: {text}"
