"""The judge in one long-lived child on simulated CPU devices, so that TPU arrays and CPU devices never meet in one process.

Protocol: the child reads one JSON line a question, `{"question": id, "answer": ...}`, and writes one line, a verdict's JSON.
With `"passed": true` in the line it writes a list of sentences instead: what the answer, which has passed, reached. With
`"module"` in the line it writes what `shardlab_course.viva.facts.examined` returns.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import subprocess
import sys
import tempfile
import time
from typing import IO, Any

import shardlens
from shardlab.errors import ShardlabError
from shardlab_course.chapters import asked as find
from shardlab_course.checking.limits import PROCESS, TimeUp, watched
from shardlab_course.checking.local import judge_here
from shardlab_course.checking.moment import reached
from shardlab_course.viva.facts import examined
from shardlab_judge.verdict import Verdict

STOPPED = "stopped"
VARIABLE = "SHARDLAB_CHECK_SECONDS"
"""The environment's seconds of processor time for a question, in place of `PROCESS`."""
WAIT = 10
"""Seconds after which XLA for CPU reports a collective that waits for devices, and then seconds until it ends its process;
else 20 and 40."""
_LIMITS = " ".join(f"--xla_cpu_collective_call_{what}_timeout_seconds={WAIT}" for what in ("warn_stuck", "terminate"))


class Deadlock(Exception):
    """A collective waited for devices that never came, and XLA ended the process. Its text is what XLA said of it."""


@functools.cache
def _child() -> tuple[subprocess.Popen[str], IO[str]]:
    """The process, and what it writes besides replies."""
    # TPU arrays beside eight CPU devices in one process end in a KeyError of `device_put` (jax-ml/jax issue 33353), and this
    # child must not take the TPU, which one process alone can hold.
    flags = f"{os.environ.get('XLA_FLAGS', '')} {_LIMITS}".lstrip()
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags}
    command = [sys.executable, "-m", "shardlab_course.checking.elsewhere"]
    # In a session of its own: who interrupts the kernel does not interrupt the judge.
    written = tempfile.TemporaryFile("w+", errors="replace")
    child = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=written,
        text=True,
        env=environment,
        start_new_session=True,
    )
    return child, written


def end_child() -> None:
    """Ends the child, if there is one; the next question starts another."""
    if _child.cache_info().currsize:
        child, written = _child()
        child.kill()
        with contextlib.suppress(OSError), written, child:  # what was not yet written to a pipe that nobody reads
            pass
    _child.cache_clear()


atexit.register(end_child)


def judge_elsewhere(question: str, answer: dict[str, Any]) -> Verdict:
    """The verdict on an answer to the public cases.

    Raises:
        ShardlabError: the child ended; the next call starts another.
        TimeUp: the answer's program does not end.
        Deadlock: some devices wait in a collective that others never enter.
    """
    return Verdict.from_json(_reply({"question": question, "answer": answer}))


def reached_elsewhere(question: str, answer: dict[str, Any]) -> list[str]:
    """What an answer that has passed reached, in sentences; it raises as `judge_elsewhere` does."""
    return list(_reply({"question": question, "answer": answer, "passed": True}))


def examined_elsewhere(program: dict[str, Any]) -> dict[str, Any]:
    """The facts of a program, or why there are none; a program that ends the child or does not end itself has none."""
    try:
        return dict(_reply(program))
    except (ShardlabError, TimeUp) as ended:
        return {"refused": type(ended).__name__}


def _reply(asked: dict[str, Any]) -> Any:
    child, written = _child()
    try:
        line = _asked(child, asked)
        if line == f"{STOPPED}\n":
            raise TimeUp
        if not line:
            raise _ended(asked["question"], child.wait(), written)
    except BaseException:  # it has ended, or still works on what nobody waits for
        end_child()
        raise
    return json.loads(line)


def _ended(question: str, status: int, written: IO[str]) -> Exception:
    written.seek(0)
    known = shardlens.diagnose(written.read()).found
    if hang := [each for each in known if each.message.name == "hang"]:
        return Deadlock(hang[0].said)
    said = "".join(f"\nit wrote: {each.said}" for each in known)
    return ShardlabError(
        "judge-ended",
        f"the judge ended with status {status} while it looked at {question}.",
        where=f"a child of this kernel, on 8 simulated CPU devices{said}",
        mend="run the cell again.",
    )


def _asked(child: subprocess.Popen[str], question: dict[str, Any]) -> str:
    """The child's line of reply; empty when it has ended."""
    assert child.stdin and child.stdout
    try:
        child.stdin.write(json.dumps(question) + "\n")
        child.stdin.flush()
        return child.stdout.readline()
    except OSError:
        return ""


def main() -> None:
    """Judge line by line until the parent is gone."""
    import jax

    jax.config.update("jax_num_cpu_devices", 8)
    # XLA and libraries write to descriptor 1 too, past `sys.stdout`.
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # nothing but verdicts may reach the parent

    def reply(text: str) -> None:
        replies.write(f"{text}\n")
        replies.flush()

    def stop() -> None:
        reply(STOPPED)
        os._exit(1)  # XLA's own threads go on computing, and nothing else ends them

    for line in sys.stdin:
        asked = json.loads(line)
        with watched(float(os.environ.get(VARIABLE, PROCESS)), time.process_time, stop):
            told = _told(asked)
        reply(json.dumps(told))


def _told(asked: dict[str, Any]) -> Any:
    question = find(asked["question"])
    if "module" in asked:
        return examined(asked, asked["seed"])
    if asked.get("passed"):
        return list(reached(question, asked["answer"]))
    return judge_here(asked["question"], asked["answer"]).to_json()


if __name__ == "__main__":
    main()
