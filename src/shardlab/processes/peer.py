"""One of several processes that `shardlab.launch` starts: joins the others, runs the program, and reports.

    python -u -P peer.py JOB NUMBER REPORT LEASH RELEASE STACK

JOB is a JSON file: `address` of the coordinator, `processes`, `devices` of each, `seconds`, `path` (the parent's
`sys.path`), `program` (its name in tracebacks), `source`, `script` (its arguments, or null for a function), `name` of the
function, and `calls`, its argument lists. NUMBER is this process's.

To the descriptor REPORT go JSON lines, `{"call": n, "value": ...}` or `{"call": n, "error": {...}}`
for each call in turn, and at last `{"end": status}`. A script is one call, and has no value. From the descriptor RELEASE
comes one byte when all have reported, and only then does this process end: JAX ends the others when one of them is gone.
When LEASH closes, the parent is gone, and all of this process group ends at once. On SIGUSR1 it writes to the file STACK
where each of its threads is. What Python prints goes to stderr, and to stdout what native code writes.

This file imports nothing of Shardlab before its path is set.
"""

from __future__ import annotations

import faulthandler
import functools
import json
import linecache
import os
import signal
import sys
import traceback
from typing import Any


def main(job_file: str, number: str, report: str, leash: str, release: str, stack: str) -> None:
    """Run the job and end as it did."""
    # By faulthandler, in C: a thread that waits in gloo for another process runs no Python signal handler.
    faulthandler.register(signal.SIGUSR1, file=open(stack, "w"), all_threads=True)
    _bind_life(int(leash))
    for descriptor in map(int, (report, release)):
        os.set_inheritable(descriptor, False)
    with open(job_file, encoding="utf-8") as file:
        job = json.load(file)
    out = os.fdopen(int(report), "w", encoding="utf-8")
    # Next to stderr, in order; to the descriptor of stdout gloo writes what nobody wants to read.
    sys.stdout = open(os.dup(2), "w", encoding="utf-8", errors="backslashreplace", buffering=1)
    sys.path[:] = job["path"]
    _join(job, int(number))
    status = _script(job, out) if job["script"] is not None else _function(job, out)
    sys.stdout.flush()
    _say(out, {"end": status})
    os.read(int(release), 1)
    # Else no goodbye: it waits for all, and one that has failed will not come.
    if status == 0:
        import jax

        jax.distributed.shutdown()
    # Not `sys.exit`: exit handlers and threads of the program may wait for processes that are gone.
    os._exit(status)


def _bind_life(leash: int) -> None:
    """A second process, which ends the whole group when the parent is gone, whatever this one is busy with then."""
    if os.fork():
        os.close(leash)
        return
    os.dup2(leash, 0)
    # It must not hold the pipes open: their end is how the parent sees that the process is gone.
    os.closerange(1, 256)
    os.read(0, 1)
    os.killpg(0, signal.SIGKILL)


def _join(job: dict[str, Any], number: int) -> None:
    """Start JAX as one process of several, which meet on the loopback interface only."""
    import jax

    # Private: JAX has no option for the host name that gloo listens on.
    from jaxlib import _jax

    from shardlab.processes.clock import LEAST

    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", job["devices"])
    # JAX's own frames know which axes there were; `_told` leaves them out of what is printed.
    jax.config.update("jax_traceback_filtering", "off")
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    # Else gloo takes the address of this machine's name, which may be another network's, or none.
    _jax.make_gloo_tcp_collectives = functools.partial(_jax.make_gloo_tcp_collectives, hostname="127.0.0.1")
    seconds = max(1, int(job["seconds"] / LEAST))
    jax.distributed.initialize(
        job["address"],
        job["processes"],
        number,
        coordinator_bind_address=job["address"],
        initialization_timeout=seconds,
        shutdown_timeout_seconds=seconds,
    )
    # A program for a cluster says this itself; here it is done already.
    jax.distributed.initialize = lambda *args, **kwargs: None


def _script(job: dict[str, Any], out: Any) -> int:
    sys.argv = [job["program"], *job["script"]]
    sys.path.insert(0, os.path.dirname(os.path.abspath(job["program"])))
    main_module = type(sys)("__main__")
    main_module.__dict__.update(__file__=job["program"], __builtins__=__builtins__)
    sys.modules["__main__"] = main_module
    try:
        exec(_compiled(job), main_module.__dict__)
    except SystemExit as end:
        return _exit_status(end)
    except BaseException as error:
        _say(out, {"call": 0, "error": _told(error)})
        return 1
    _say(out, {"call": 0, "value": None})
    return 0


def _function(job: dict[str, Any], out: Any) -> int:
    from shardlab.processes.global_arrays import global_as_json

    namespace: dict[str, Any] = {"__name__": "launched"}
    try:
        exec(_compiled(job), namespace)
    except BaseException as error:
        told = _told(error)
        for n in range(len(job["calls"])):
            _say(out, {"call": n, "error": told})
        return 1
    status = 0
    for n, arguments in enumerate(job["calls"]):
        try:
            returned = namespace[job["name"]](*arguments)
            line = {"call": n, "todo": True} if returned is ... else {"call": n, "value": global_as_json(returned)}
        except BaseException as error:
            line, status = {"call": n, "error": _told(error)}, 1
        _say(out, line)
    return status


def _compiled(job: dict[str, Any]) -> Any:
    program, source = job["program"], job["source"]
    # So that tracebacks show lines of a source that is in no file.
    linecache.cache[program] = (len(source), None, source.splitlines(keepends=True), program)
    # A script is compiled as Python does it. A function inherits this file's `annotations`: the names in its own may be of
    # the notebook, and do not travel with it.
    return compile(source, program, "exec", dont_inherit=job["script"] is not None)


def _told(error: BaseException) -> Any:
    """The exception for the report; its traceback, without our own and JAX's frames, goes to stderr."""
    from shardlab.exceptions import error as entry

    said = traceback.TracebackException.from_exception(error)
    hidden = [os.path.dirname(__file__), *(os.path.dirname(sys.modules[name].__file__ or "-") for name in ("jax", "jaxlib"))]
    said.stack[:] = [frame for frame in said.stack if not frame.filename.startswith(tuple(hidden))]
    said.__cause__ = said.__context__ = None
    sys.stderr.write("".join(said.format()))
    sys.stderr.flush()
    return entry(error)["error"]


def _exit_status(end: SystemExit) -> int:
    if isinstance(end.code, str):
        print(end.code, file=sys.stderr)
    return end.code & 0xFF if isinstance(end.code, int) else int(end.code is not None)


def _say(out: Any, line: dict[str, Any]) -> None:
    out.write(json.dumps(line) + "\n")
    out.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
