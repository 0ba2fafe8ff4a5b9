"""`sl.launch` and `python -m shardlab.launch`: several processes start together, are heard, and end together."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
from typing import Any

import pytest

import shardlab as sl
from shardlab.processes import clock, launching, peers
from shardlab.processes.launched import Launched, Process, brief
from shardlab.processes.launching import launch_calls

TWO = {"processes": 2, "devices": 2}


def total(rows: int, shift: float) -> Any:
    """A global array from each process's rows, and its sum."""
    import jax
    import numpy as np

    print("I am", jax.process_index(), "of", jax.process_count())
    mesh = jax.make_mesh((4,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
    mine = np.arange(rows, dtype="float32") + shift + rows * jax.process_index()
    x = jax.make_array_from_process_local_data(jax.NamedSharding(mesh, jax.P("x")), mine)
    return {"x": x, "sum": float(jax.jit(lambda x: x.sum())(x)), "low": x.astype("bfloat16")}


def waits(folder: str) -> None:
    """Process 0 waits for a meeting to which process 1 does not come; both leave a program behind."""
    import os
    import pathlib
    import subprocess

    import jax
    from jax.experimental import multihost_utils

    children = [os.getpid(), subprocess.Popen(["sleep", "600"]).pid]
    pathlib.Path(folder, str(jax.process_index())).write_text(" ".join(map(str, children)))
    if jax.process_index() == 0:
        multihost_utils.sync_global_devices("meeting")


def fails(how: str) -> None:
    """Process 1 fails, and process 0 waits for it; or both raise."""
    import os

    import jax
    from jax.experimental import multihost_utils

    print("well so far", flush=True)
    if jax.process_index() == (how != "first") or how == "both":
        if how in ("abort", "first"):
            os.abort()
        raise ValueError("not today")
    multihost_utils.sync_global_devices("meeting")


def third(n: int) -> int:
    """Fails in the second of several calls, in one process."""
    import jax

    if n == 2 and jax.process_index() == 1:
        raise KeyError(n)
    return n + jax.process_index()


SCRIPT = """
import os, subprocess, sys
import jax
jax.distributed.initialize()
print("words", sys.argv[1:], __name__, jax.device_count())
print("on stderr", file=sys.stderr)
subprocess.run(["echo", "from a program"])
if "leave" in sys.argv:
    sys.exit(3)
while "stay" in sys.argv:
    pass
"""


BUSY = (8, 25)
"""Seconds for processes that are to hang: more where this machine is so busy that they have not got so far."""


def gone(folder: pathlib.Path) -> bool:
    """Whether all processes whose numbers lie there have ended."""
    pids = [int(pid) for file in folder.iterdir() for pid in file.read_text().split()]
    assert len(pids) == 4

    def alive(pid: int) -> bool:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        status = pathlib.Path(f"/proc/{pid}/stat")
        return not status.exists() or status.read_text().rpartition(")")[2].split()[0] != "Z"

    return not any(map(alive, pids))


def soon(condition: Any, seconds: float = 10.0) -> bool:
    """Whether it holds within this time."""
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return bool(condition())


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize(("rows", "shift"), [(4, 0.5), (6, -3.0)])
def test_a_function_returns_from_each_process(rows: int, shift: float) -> None:
    """Arguments go in; output, values and each process's shards of global arrays come back."""
    launched = sl.launch(total, **TWO, arguments=(rows, shift))
    assert launched.ended and launched.error is None and [p.status for p in launched.processes] == [0, 0]
    assert [p.output for p in launched.processes] == [f"I am {n} of 2\n" for n in range(2)]
    values = [i + shift for i in range(2 * rows)]
    part = rows // 2
    for n, returned in enumerate(launched.returned):
        assert returned["sum"] == sum(values)
        array = returned["x"]["array"]
        assert array["placement"]["shape"] == [2 * rows] and array["placement"]["dtype"] == "float32"
        assert array["placement"]["shards"] == [[d, [[d * part, (d + 1) * part]]] for d in range(4)]
        assert array["held"] == [[d, values[d * part : (d + 1) * part]] for d in (2 * n, 2 * n + 1)]
        assert returned["low"]["array"]["placement"]["dtype"] == "bfloat16"


@pytest.mark.thorough
def test_a_hang_is_ended_and_nothing_is_left(tmp_path: pathlib.Path) -> None:
    """The error says which process was where; what the processes had started is gone too."""
    for seconds in BUSY:
        launched = sl.launch(waits, **TWO, seconds=seconds, arguments=(str(tmp_path),))
        if "still starting" not in launched.error.where:
            break
    assert not launched.ended and [p.stopped for p in launched.processes] == ["time", ""]
    assert launched.error is not None and launched.error.reference == "processes-hang"
    assert 'process 0: line 13, in waits: multihost_utils.sync_global_devices("meeting")' in launched.error.where
    assert "process 1: had ended" in launched.error.where
    assert soon(lambda: gone(tmp_path))


def endless(process: int) -> None:
    """One process never ends; the other waits for it."""
    import jax
    from jax.experimental import multihost_utils

    while jax.process_index() == process:
        pass
    multihost_utils.sync_global_devices("meeting")


@pytest.mark.thorough
def test_a_loop_without_end_is_no_hang() -> None:
    """What computes is told as such, with its line."""
    for seconds in BUSY:
        launched = sl.launch(endless, **TWO, seconds=seconds, arguments=(1,))
        if "still starting" not in launched.error.where:
            break
    assert not launched.ended and {p.stopped for p in launched.processes} == {"computing"}
    assert launched.error.what == f"endless: 2 of 2 processes did not end within {seconds} s. Some are still computing."
    assert "process 1: line 6, in endless: while jax.process_index() == process:" in launched.error.where
    assert launched.error.mend.startswith("look for an endless loop")


PASSED: dict[str, tuple[tuple[int, int], float, bool]] = {
    "all wait": ((0, 0), 0.25, False),
    "one computes": ((250, 0), 0.25, True),
    "one waits for a processor half the time": ((125, 125), 0.125, True),
    "one hardly gets a processor": ((1, 249), 0.025, True),
    "a heartbeat": ((5, 5), 0.245, False),
}


@pytest.mark.parametrize("name", PASSED)
def test_the_clock_of_processes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stands still while the busiest thread waits for a processor, but for a tenth, and while nobody reads it."""
    (ran, waited), seconds, computing = PASSED[name]
    task, idle, now = pathlib.Path("/proc/1/task/2"), pathlib.Path("/proc/1/task/1"), [7.0]
    counts = {task: (0, 0), idle: (0, 0)}
    monkeypatch.setattr(clock, "_counts", lambda pids: dict(counts))
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    one = clock.Clock([1])
    counts[task], now[0] = (ran * 10**6, waited * 10**6), 7.25
    assert one.seconds() == pytest.approx(seconds) and one.computing == computing
    now[0] = 137.25
    assert one.seconds() == pytest.approx(seconds + 2 * clock.SAMPLE)


def test_the_counts_of_a_thread() -> None:
    """Linux counts in nanoseconds what a thread has run; one that has ended has no counts."""
    before = sum(ran for ran, _ in clock._counts([os.getpid()]).values())
    begun = time.process_time()
    while time.process_time() < begun + 0.05:
        pass
    assert sum(ran for ran, _ in clock._counts([os.getpid()]).values()) - before >= 4e7
    assert clock._counts([2**22 + 1]) == {}


def test_a_killed_parent_leaves_nothing(tmp_path: pathlib.Path) -> None:
    """The processes end when the one that launched them is killed."""
    code = f"import sys; sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r}); import test_launch as t\n"
    code += f"t.sl.launch(t.waits, processes=2, devices=2, seconds=60, arguments=({str(tmp_path)!r},))"
    parent = subprocess.Popen([sys.executable, "-c", code])
    try:
        assert soon(lambda: len([f for f in tmp_path.iterdir() if f.read_text()]) == 2, 40)
    finally:
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    assert soon(lambda: gone(tmp_path))


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize(("how", "statuses"), [("raise", [-9, 1]), ("abort", [-9, -6])])
def test_the_failure_of_one_ends_the_other(how: str, statuses: list[int]) -> None:
    """Long before the time is over; what each had written is there."""
    started = time.monotonic()
    launched = sl.launch(fails, **TWO, seconds=120, arguments=(how,))
    assert time.monotonic() - started < 100
    assert launched.ended and [p.status for p in launched.processes] == statuses
    assert [p.stopped for p in launched.processes] == ["peer", ""]
    assert all(p.output.startswith("well so far\n") for p in launched.processes)
    assert launched.error is not None and launched.error.reference == "process-failed"
    assert ("ValueError: not today" in launched.error.what) == (how == "raise")


@pytest.mark.thorough
def test_the_first_may_go_first() -> None:
    """JAX ends the others then, if their collective has not raised before, and says much that none of them has said."""
    launched = sl.launch(fails, **TWO, arguments=("first",))
    other = launched.processes[1]
    assert (other.status, other.stopped, other.output) == (-6, "peer", "well so far\n") or other.error is not None
    assert other.output.startswith("well so far\n") and "Terminating process" not in other.output
    assert launched.processes[0].stopped == "" and launched.error is not None
    assert launched.error.what.startswith("fails failed in process 0: exit status -6")


@pytest.mark.thorough
def test_both_may_fail() -> None:
    """Each traceback is there, from the function's own lines on."""
    launched = sl.launch(fails, **TWO, arguments=("both",))
    for process in launched.processes:
        line = f'line 12 of fails\n    raise ValueError("not today")\n    {"^" * 29}'
        assert process.error == {"type": "ValueError", "message": "not today", "line": line} and process.status == 1
        assert 'File "<fails>", line 12, in fails' in process.output and "peer.py" not in process.output


ROWS = 3


def defaulted(n: int = ROWS) -> int:
    """Fails while it is defined, for `ROWS` does not travel with it."""
    return n


@pytest.mark.thorough
def test_a_function_may_fail_while_it_is_defined() -> None:
    """Its exception is told as one that it raises, for each call."""
    for launched in launch_calls(defaulted, [[], [4]], 2, 1, 60.0):
        assert launched.error is not None
        assert launched.error.what == "defaulted failed in process 0: NameError: name 'ROWS' is not defined"
        assert [process.status for process in launched.processes] == [1, 1]
        assert all('File "<defaulted>", line 1, in <module>' in process.output for process in launched.processes)
        assert not any("peer.py" in process.output for process in launched.processes)


def test_a_process_that_is_gone_has_a_moment_to_end(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its exit status is its own, not that of the launcher's kill."""
    program = "import os, sys, time\nos.close(int(sys.argv[3]))\ntime.sleep(0.3)\nprint('bye')\nsys.exit(3)\n"
    monkeypatch.setattr(peers, "PEER", tmp_path / "peer.py")
    peers.PEER.write_text(program)
    started = peers.start({"processes": 1}, tmp_path)
    try:
        peers.watch(started, 60.0, lambda number, piece: None)
    finally:
        peers.end(started)
    assert (started[0].child.returncode, started[0].output) == (3, "bye\n")


@pytest.mark.thorough
def test_several_calls_share_the_processes() -> None:
    """A call that fails in one process is over when the others are through it; the next ones still run."""
    first, second, last = launch_calls(third, [[1], [2], [3]], 2, 1, 60.0)
    assert (first.returned, last.returned) == ([1, 2], [3, 4])
    line = f"line 6 of third\n    raise KeyError(n)\n    {'^' * 17}\nwith n = 2"
    error = {"type": "KeyError", "message": "2", "line": line}
    assert second.returned == [2, None] and second.processes[1].error == error


@pytest.mark.thorough
def test_a_script_by_path_and_by_text(tmp_path: pathlib.Path) -> None:
    """Its words arrive, its own `jax.distributed.initialize()` does no harm, and all that it writes is collected."""
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    for what in (path, SCRIPT):
        launched = sl.launch(what, **TWO, arguments=("a", 7))
        assert launched.error is None and launched.returned == [None, None]
        for process in launched.processes:
            assert process.output == "words ['a', '7'] __main__ 4\non stderr\nfrom a program\n"


@pytest.mark.thorough
def test_annotations_of_a_script_are_those_of_python() -> None:
    """They are evaluated; those of a function are not, for `Any` of this file does not travel with it."""
    launched = sl.launch("def f(x: int) -> None: ...\nprint(f.__annotations__)\n", processes=1, devices=1)
    assert launched.processes[0].output == "{'x': <class 'int'>, 'return': None}\n"


SAID = {"go": [], "leave": ["process-failed"], "stay": ["processes-hang"]}


@pytest.mark.thorough(after=2)
@pytest.mark.parametrize(("word", "status"), [("go", 0), ("leave", 3), ("stay", 124)])
def test_the_command(tmp_path: pathlib.Path, word: str, status: int) -> None:
    """Lines come with the number of their process; the exit status tells a failure from a hang."""
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    for seconds in BUSY:
        limits = ["-n", "2", "--devices", "1", "--seconds", str(seconds)]
        command = [sys.executable, "-m", "shardlab.launch", *limits, str(path), word]
        ran = subprocess.run(command, capture_output=True, text=True)
        if ran.stdout.count("from a program") == 2:
            break
    assert ran.returncode == status
    assert {f"[{n}] words ['{word}'] __main__ 2" for n in range(2)} <= set(ran.stdout.splitlines())
    assert "[0] from a program" in ran.stdout and "Gloo" not in ran.stdout
    assert [fault for fault in ("process-failed", "processes-hang") if fault in ran.stderr] == SAID[word]


def test_the_module_can_be_called() -> None:
    """`sl.launch` works whether or not the command's module was imported before."""
    import shardlab.launch  # noqa: F401

    assert callable(sl.launch)
    with pytest.raises(sl.ShardlabError, match="no-such-script"):
        sl.launch("/nowhere/script.py")


def test_a_port_is_nobody_elses() -> None:
    """A reserved port is taken for others until it is given back, and two launches have two."""
    with peers.reserved_port() as port, peers.reserved_port() as other:
        assert port != other
        with socket.socket() as third, pytest.raises(OSError):
            third.bind(("127.0.0.1", port))
    with socket.socket() as third:
        third.bind(("127.0.0.1", port))


def test_what_cannot_be_sent() -> None:
    """Functions that would not run elsewhere, and arguments that are not JSON, are refused before anything starts."""
    outside = 3

    def closure() -> int:
        return outside

    round_about: list[Any] = []
    round_about.append(round_about)
    for what, arguments, said in (
        (closure, (), "it uses outside from the function around it"),
        (lambda: 1, (), "it is not defined with `def`"),
        (len, (), "its source cannot be read"),
        (total, ({1, 2},), "its arguments are not JSON"),
        (total, (round_about,), "its arguments are not JSON"),
        (total, 5, "the arguments are no list: 5."),
        ("pass\n", "words", "the arguments are no list: 'words'."),
        (None, (), "None cannot be sent to other processes: it is neither a function nor a script."),
        (b"pass\n", (), "it is neither a function nor a script"),
    ):
        with pytest.raises(sl.ShardlabError, match="cannot-be-launched") as caught:
            sl.launch(what, arguments=arguments)
        assert said in caught.value.what


NUMBERS = [(name, value) for name in ("processes", "devices", "seconds") for value in (0, "2", None, True)]


@pytest.mark.parametrize(("name", "value"), [*NUMBERS, ("processes", 2.0), ("seconds", float("inf"))])
def test_nothing_to_launch(name: str, value: Any) -> None:
    """No processes, no devices, no time, and what is no number, are refused before anything starts."""
    with pytest.raises(sl.ShardlabError, match="nothing-to-launch") as caught:
        sl.launch("pass\n", **{name: value})
    assert f"{name}={value!r}" in caught.value.where


UNREAD = {
    "a text of one line": ("print('hello')", None, "No such file or directory"),
    "a null": ("a\0b.py", None, "embedded null byte"),
    "Latin-1": ("script.py", "# é".encode("latin-1"), "invalid or missing encoding declaration"),
    "Latin-1 below": ("script.py", "\n\n# é".encode("latin-1"), "'utf-8' codec can't decode byte 0xe9"),
    "another encoding than it says": ("script.py", b"# coding: nonesuch\n", "unknown encoding"),
}


@pytest.mark.parametrize(("name", "content", "said"), UNREAD.values(), ids=UNREAD)
def test_what_is_no_script(
    name: str, content: bytes | None, said: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its text or its bytes are not what Python reads, and the message says how they could be."""
    monkeypatch.chdir(tmp_path)
    if content is not None:
        pathlib.Path(name).write_bytes(content)
    with pytest.raises(sl.ShardlabError, match="no-such-script") as caught:
        sl.launch(name)
    assert caught.value.what.startswith(f"the script cannot be read: {said}")
    assert caught.value.mend == (launching.BY_PATH if content is None else launching.BY_ENCODING)


@pytest.mark.parametrize("content", ["é\n".encode("utf-8-sig"), "# coding: latin-1\né\n".encode("latin-1")])
def test_a_script_is_read_as_python_reads_it(content: bytes, tmp_path: pathlib.Path) -> None:
    """Without its byte order mark, and in the encoding that it names."""
    path = tmp_path / "script.py"
    path.write_bytes(content)
    assert launching._script(str(path))["source"].endswith("é\n")
    assert not launching._script(str(path))["source"].startswith("\ufeff")


@pytest.mark.thorough
def test_gloo_gives_up_first() -> None:
    """Half a minute in vain at a collective is a hang as well, and its line is known, whatever the time limit."""
    said = "UNKNOWN: Gloo context initialization failed: DEADLINE_EXCEEDED: GetKeyValue() timed out"
    source = f"""if True:
    def wait():
        import jax
        if jax.process_index() == 0:
            raise RuntimeError({said!r})
    wait()
"""
    launched = sl.launch(source, **TWO)
    assert not launched.ended and launched.processes[0].stopped == "time"
    assert launched.processes[0].where.startswith("line 5, in wait: raise RuntimeError(")
    assert launched.error is not None and launched.error.reference == "processes-hang"
    assert launched.processes[1].stopped == "" and "coordination" not in launched.processes[1].output


def test_no_processes_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there are no process groups, it says so."""
    monkeypatch.delattr(os, "killpg")
    with pytest.raises(sl.ShardlabError, match="no-processes-here"):
        sl.launch(total)


def test_nothing_runs_while_recording_unless_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the sandbox a page's launches wait until something reads what came of them."""
    ran = Launched((Process(0, 0, "out", returned=5),), 60.0, "total")
    calls: list[Any] = []
    monkeypatch.setattr(launching, "_run", lambda *given: calls.append(given) or [ran])
    monkeypatch.setenv("SHARDLAB_RECORD", "1")
    launched = sl.launch(total)
    assert isinstance(launched, Launched) and not calls
    assert launched.returned == [5] and launched.ended and len(calls) == 1


def test_the_environment_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """What decides over devices here does not decide there; nor do all of them write one folder of compiled programs."""
    monkeypatch.setenv("XLA_FLAGS", "--xla_force_host_platform_device_count=8 --xla_dump_hlo_as_text")
    monkeypatch.setenv("JAX_PLATFORMS", "tpu")
    monkeypatch.setenv("https_proxy", "http://nowhere")
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "programs")
    kept = peers.environment()
    assert kept["XLA_FLAGS"] == "--xla_dump_hlo_as_text"
    assert not {"JAX_PLATFORMS", "https_proxy", "JAX_COMPILATION_CACHE_DIR"} & set(kept)


def test_side_by_side() -> None:
    """Outputs from left to right in a terminal, and escaped in a page; arrays in a few words."""
    array = {"placement": {"shape": [2], "dtype": "float32", "spec": ["x"]}, "held": [[0, [1.5]]]}
    failed = Process(1, 1, "<b>\n", error={"type": "E", "message": "m"})
    processes = (Process(0, 0, "left\n", {"x": {"array": array}}), failed)
    launched = Launched(processes, 5.0, "work")
    lines = repr(launched).splitlines()
    assert [cell.strip() for cell in lines[0].split("|")] == ["process 0: ended", "process 1: exit status 1"]
    assert [cell.strip() for cell in lines[2].split("|")] == ["left", "<b>"]
    assert 'returned {"x": "float32[2] P(x), shards 0: [1.5]"}' in " ".join(repr(launched).split("|")[0:9])
    page = launched._repr_html_()
    assert "&lt;b&gt;" in page and "<b>" not in page and "process-failed" in page
    assert json.dumps(brief([1, "a"])) == '[1, "a"]'
    assert len(repr(Launched(processes * 2, 5.0, "work")).splitlines()) > 8


def test_long_output_keeps_both_ends() -> None:
    """What a process writes without end takes no more memory than this."""
    said = b""
    for n in range(40):
        said = peers._cut(said + b"%d " % n + b"x" * 20_000)
    assert said.startswith(b"0 x") and said.rstrip(b"x").endswith(b"39 ") and len(said) < 3 * peers.HALF + 20_100
