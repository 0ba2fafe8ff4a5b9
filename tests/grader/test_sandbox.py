"""The sandbox against code that tries to leave it, starve the host or outlive its time. Each test starts a real one."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import os
import pathlib
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from typing import Any

import pytest

from shardlab.errors import ShardlabError
from shardlab_grader.sandbox import box as sandbox
from shardlab_grader.sandbox import mounts
from shardlab_grader.sandbox.box import Limits, MiB, Mount, Outcome, Sandbox, interpreter, limits_in_force, probe, run
from shardlab_grader.sandbox.mounts import NOBODY
from shardlab_grader.sandbox.servers import Servers
from where import names_in_tmp

pytestmark = pytest.mark.sandbox

SECRETS = ["/etc/shadow", "/etc/passwd", "/home", "/var", "/sys", str(pathlib.Path(__file__).resolve())]
PLACES = ["/x", "/usr/x", "/box/x", "/box/job.json", "/dev/x", f"{sys.prefix}/x"]


SCRIPT = """
import sys

def main(job, output):
    sys.argv = ["-c", job, output]
    exec(compile({source!r}, "<string>", "exec"), {{"__name__": "__main__"}})
"""


@pytest.fixture(params=["cold", "warm"])
def boxed(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> Iterator[Any]:
    """Runs Python source in a sandbox with the given limits: in a Python of its own, or in a child of a warm server."""

    def start(source: str, mode: sandbox.Mode = "bubblewrap", mounts: tuple[Mount, ...] = (), **limits: Any) -> Outcome:
        source, box = textwrap.dedent(source), tmp_path / "box"
        box.mkdir(mode=0o700)
        inside = Sandbox(mode, Limits(**limits), (*interpreter(), *mounts))
        if request.param == "cold" or mode == "none":
            return run([sys.executable, "-I", "-c", source], inside, box, b'{"a": 1}')
        script = tmp_path / "script.py"
        script.write_text(SCRIPT.format(source=source))
        inside = dataclasses.replace(inside, mounts=(*inside.mounts, Mount(script, "/script.py")))
        outcome = warm.run("/script.py", inside, box, b'{"a": 1}')
        assert not warm.cold
        return outcome

    with Servers() as warm:
        yield start


def command(task: pathlib.Path) -> str:
    """The command line of a task of the host, from its directory below /proc; empty when it is gone."""
    try:
        return (task / "cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""


MARK = f"963.{os.getpid():07}"
"""Seconds to sleep that nobody else on this machine sleeps, not even another run of these tests."""


def running(mark: str) -> list[str]:
    """Command lines of the host that hold `mark`."""
    return [line for line in map(command, pathlib.Path("/proc").glob("[0-9]*")) if mark in line]


def test_job_and_output(boxed: Any, tmp_path: pathlib.Path) -> None:
    """A command reads its job, writes its output, and prints."""
    outcome = boxed("import sys; print('hello'); open(sys.argv[2], 'w').write(open(sys.argv[1]).read() * 2)")
    assert (outcome.status, outcome.stopped, outcome.stdout, outcome.stderr) == (0, "", "hello\n", "")
    assert (tmp_path / "box" / "output").read_text() == '{"a": 1}{"a": 1}'


@pytest.mark.parametrize("path", SECRETS)
def test_host_files_are_not_visible(boxed: Any, path: str) -> None:
    """Files of the host, this test's own among them, do not exist inside."""
    assert boxed(f"import os; print(os.path.exists({path!r}))").stdout == "False\n"


def test_other_submissions_are_not_visible(boxed: Any, tmp_path: pathlib.Path) -> None:
    """A file beside the box cannot be named from inside it."""
    other = tmp_path / "other.ipynb"
    other.write_text("secret")
    source = f"import os; print(os.path.exists({str(other)!r}), os.listdir('/tmp'), sorted(os.listdir('/box')))"
    assert boxed(source).stdout == f"False {names_in_tmp()} ['job.json', 'output']\n"


@pytest.mark.parametrize("path", PLACES)
def test_nothing_else_can_be_written(boxed: Any, path: str) -> None:
    """Everything but the output file and the private scratch space is read-only."""
    assert "Read-only file system" in boxed(f"open({path!r}, 'w')").stderr


def test_output_cannot_become_a_link(boxed: Any, tmp_path: pathlib.Path) -> None:
    """The output file stays the file that we made."""
    boxed("import os, sys; os.symlink('/etc/shadow', '/tmp/l'); os.replace('/tmp/l', sys.argv[2])")
    boxed_output = tmp_path / "box" / "output"
    assert boxed_output.is_file() and not boxed_output.is_symlink()


def test_environment_is_ours(boxed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of the host is seen, neither in the command nor in the first task of its namespace."""
    monkeypatch.setenv("HOST_SECRET", "42")
    source = "import os; print(sorted(os.environ), 'HOST_SECRET' in open('/proc/1/environ').read())"
    assert boxed(source).stdout == "['HOME', 'LANG', 'MALLOC_ARENA_MAX', 'PATH', 'PWD', 'TMPDIR', 'USER'] False\n"


@pytest.mark.parametrize("address", ["127.0.0.1", "192.0.2.1"])
def test_no_network(boxed: Any, address: str) -> None:
    """Neither the host's own addresses nor others can be reached."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        outcome = boxed(f"import socket; socket.create_connection(({address!r}, {port}), timeout=3)")
    assert outcome.status == 1
    assert "ConnectionRefusedError" in outcome.stderr or "Network is unreachable" in outcome.stderr


def test_privileges_are_gone(boxed: Any) -> None:
    """No capability is left, in effect or in the bounding set, and none can be won back."""
    source = """
        lines = dict(line.split(":", 1) for line in open("/proc/self/status"))
        print(*(lines[name].split()[0].lstrip("0") or 0 for name in ("CapEff", "CapPrm", "CapBnd", "NoNewPrivs", "Uid")))
    """
    assert boxed(source).stdout == "0 0 0 1 65534\n"


@pytest.mark.skipif(os.getuid() != 0, reason="for root only")
def test_root_stays_outside(boxed: Any) -> None:
    """On the host too the command is nobody's, although root started it."""
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        pool.submit(boxed, "import subprocess; subprocess.run(['sleep', '5.0625'])")
        until, owners = time.monotonic() + 120, []
        while not owners and time.monotonic() < until:
            tasks = pathlib.Path("/proc").glob("[0-9]*")
            owners = [path.stat().st_uid for path in tasks if command(path) == "sleep\0005.0625\0"]
    assert owners == [NOBODY]


def test_no_nested_namespace(boxed: Any) -> None:
    """A new user namespace, where one would be root again, is refused."""
    source = "import subprocess; print(subprocess.run(['unshare', '--user', 'true'], stderr=-1).returncode)"
    assert boxed(source).stdout == "1\n"


def test_fork_bomb_is_bounded(boxed: Any) -> None:
    """No more tasks start than the limit says, for root's sandboxes too, and all are gone afterwards."""
    source = """
        import os, subprocess
        started = 0
        try:
            while started < 300:
                subprocess.Popen(["sleep", "MARK"])
                started += 1
        except OSError as error:
            print(20 < started < 40, error.strerror)
    """
    outcome = boxed(source.replace("MARK", MARK), processes=40)
    assert outcome.stdout == "True Resource temporarily unavailable\n"
    assert not running(MARK)


def test_neighbours_do_not_count(tmp_path: pathlib.Path) -> None:
    """The limit of processes is each sandbox's own."""
    started = subprocess.Popen([sys.executable, "-c", _NEIGHBOUR, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert started.stdout is not None
    with started, started.stdout:
        box = tmp_path / "mine"
        box.mkdir()
        source = "import subprocess; print(len([subprocess.Popen(['sleep', '1']) for _ in range(25)]))"
        time.sleep(0.5)
        outcome = run([sys.executable, "-I", "-c", source], Sandbox(limits=Limits(processes=40), mounts=interpreter()), box)
        assert outcome.stdout == "25\n"
        assert started.stdout.read() == "25\n"


_NEIGHBOUR = """
import pathlib, sys
from shardlab_grader.sandbox.box import Limits, Sandbox, interpreter, run
box = pathlib.Path(sys.argv[1], "theirs")
box.mkdir()
source = "import subprocess, time; print(len([subprocess.Popen(['sleep', '2']) for _ in range(25)])); time.sleep(2)"
inside = Sandbox(limits=Limits(processes=40), mounts=interpreter())
print(run([sys.executable, "-I", "-c", source], inside, box).stdout, end="")
"""


GRADER = """
import pathlib, sys, threading
from shardlab_grader.sandbox.box import Mount, Sandbox, cold, interpreter
from shardlab_grader.sandbox.servers import Servers
script, run_script = pathlib.Path(sys.argv[1], "script.py"), {"cold": cold, "warm": Servers().run}[sys.argv[2]]
script.write_text("import time\\ndef main(*_): time.sleep(60)\\nif __name__ == '__main__': main()")
box = script.with_name("box")
box.mkdir()
print("started", flush=True)
mounts = (*interpreter(), Mount(script, "/script.py"))
run_script("/script.py", Sandbox(mounts=mounts, environment=(("MARK", sys.argv[1]),)), box, b"")
"""


@pytest.mark.thorough(after=3)
@pytest.mark.parametrize("seconds", [0.0, 0.02, 0.05, 0.1, 0.3, 1.0])
@pytest.mark.parametrize("how", ["cold", "warm"])
def test_a_killed_grader_leaves_nothing(how: str, seconds: float, tmp_path: pathlib.Path) -> None:
    """Whenever the grader is killed, its sandboxes end with it."""
    started = subprocess.Popen([sys.executable, "-c", GRADER, str(tmp_path), how], stdout=subprocess.PIPE)
    assert started.stdout is not None
    with started, started.stdout:
        assert started.stdout.readline() == b"started\n"
        time.sleep(seconds)
        until = time.monotonic() + 60  # the last one is to be in its sandbox, however busy this machine is
        while (outside := seconds == 1 and len(running(str(tmp_path))) < 2) and time.monotonic() < until:
            time.sleep(0.05)
        assert not outside
        started.kill()
    time.sleep(1.0)  # a process that is ending may hand another one on
    until = time.monotonic() + 120
    while (left := running(str(tmp_path))) and time.monotonic() < until:
        time.sleep(0.05)
    assert not left


def test_memory_is_bounded(boxed: Any) -> None:
    """An allocation above the limit fails inside, and the host never sees it."""
    outcome = boxed("bytearray(600 * 2**20)", memory=512 * MiB)
    assert outcome.status == 1 and outcome.stderr.endswith("MemoryError\n")


HOGS = """
import os, time
for _ in range({count}):
    if os.fork() == 0:
        x = bytearray({size})
        time.sleep({seconds})
        os._exit(0)
for _ in range({count}): os.wait()
"""


def test_memory_of_all_is_bounded(boxed: Any) -> None:
    """Processes that are each within their limit are killed when together they hold too much."""
    outcome = boxed(HOGS.format(count=8, size=60 * MiB, seconds=MARK), together=256 * MiB)
    assert (outcome.stopped, outcome.ending) == ("memory", "more than 256 MB of memory in all its processes")
    assert outcome.seconds < 900 and not running(MARK)


def test_shared_pages_count_once(boxed: Any) -> None:
    """What forked processes only look at is not counted for each."""
    source = f"x = bytearray({100 * MiB})\n" + HOGS.format(count=8, size=0, seconds=1.5)
    assert boxed(source, together=300 * MiB).ending == "exit status 0"


def test_scratch_is_bounded(boxed: Any) -> None:
    """Many small files cannot fill the host's memory through the scratch space."""
    source = """
        for place in ("/tmp", "/dev/shm"):
            try:
                for i in range(40):
                    open(f"{place}/{i}", "wb").write(bytes(2**20))
            except OSError as error:
                print(error.strerror)
    """
    assert boxed(source, scratch=16 * MiB).stdout == "No space left on device\n" * 2


def test_file_size_is_bounded(boxed: Any, tmp_path: pathlib.Path) -> None:
    """The output file, the only one on the host's disk, cannot grow above the limit."""
    outcome = boxed("import sys; open(sys.argv[2], 'wb').write(bytes(9 * 2**20))", file_size=4 * MiB)
    assert "File too large" in outcome.stderr
    assert (tmp_path / "box" / "output").stat().st_size == 4 * MiB


@pytest.mark.parametrize("mode", ["bubblewrap", "none"])
def test_wall_time(boxed: Any, mode: sandbox.Mode) -> None:
    """A command that sleeps is killed at its time limit, with its children."""
    outcome = boxed(f"import subprocess; subprocess.run(['sleep', '{MARK}'])", mode=mode, wall=0.5)
    assert (outcome.stopped, outcome.ending) == ("time", "time limit of 0.5 s")
    assert outcome.seconds < 900 and not running(MARK)


def test_cpu_time(boxed: Any) -> None:
    """A command that computes is killed at its limit of CPU time, and the ending says so."""
    outcome = boxed("while True: pass", cpu=1)
    assert outcome.ending == "limit of 1 s of CPU time, or killed for lack of memory"


def test_flood_is_stopped(boxed: Any) -> None:
    """Endless printing is killed at its limit, and only the tail is kept."""
    outcome = boxed("while True: print('x' * 1000)", printed=MiB)
    assert (outcome.stopped, len(outcome.stdout)) == ("output", 4000)


def test_nothing_survives(boxed: Any) -> None:
    """A daemon in a session of its own ends with the command, and does not delay us."""
    outcome = boxed(f"import subprocess; subprocess.Popen(['setsid', 'sleep', '{MARK}'], start_new_session=True)")
    assert outcome.status == 0 and outcome.seconds < 900
    assert not running(MARK)


def test_signal_is_named(boxed: Any) -> None:
    """A crash in native code is told by its signal."""
    assert boxed("import os; os.kill(os.getpid(), 11)").ending == "SIGSEGV: Segmentation fault"


def test_mounts_are_read_only(boxed: Any, tmp_path: pathlib.Path) -> None:
    """A mounted directory is found under its inside name and cannot be changed."""
    given = tmp_path / "given"
    given.mkdir()
    (given / "a").write_text("1")
    outcome = boxed("print(open('/given/a').read()); open('/given/a', 'w')", mounts=(Mount(given, "/given"),))
    assert outcome.stdout == "1\n" and "Read-only" in outcome.stderr


@pytest.mark.parametrize("place", ["/tmp", "/dev/shm", "/proc"])
def test_no_device_and_no_rights_of_others(boxed: Any, place: str) -> None:
    """Where a submission can make files none is a device, and none runs as its owner."""
    source = f"""
        told = [line.split() for line in open("/proc/self/mountinfo")]
        print(*sorted([set(line[5].split(",")) & {{"nosuid", "nodev"}} for line in told if line[4] == {place!r}][-1]))
    """
    assert boxed(source).stdout == "nodev nosuid\n"


def test_probe_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without bubblewrap the probe refuses, and names the package and the way around."""
    monkeypatch.setattr(sandbox, "tool", mounts.tool.__wrapped__)
    monkeypatch.setattr(mounts.shutil, "which", lambda name, path: None)
    with pytest.raises(ShardlabError) as caught:
        probe.__wrapped__()
    assert str(caught.value) == (
        "[sandbox-unavailable] prlimit is not installed.\n"
        "  where: the sandbox is made of bwrap, prlimit, choom\n"
        "  mend:  apt-get install bubblewrap util-linux (bubblewrap 0.8 or newer), and allow unprivileged user namespaces;\n"
        "         or, for submissions that you trust as much as your own code, ask for no sandbox: --sandbox none"
    )


def test_probe_says_why_it_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where namespaces are refused, the probe shows bubblewrap's own words."""
    monkeypatch.setattr(mounts, "_system", lambda: ["--no-such-option"])
    with pytest.raises(ShardlabError, match="does not start in a sandbox") as caught:
        probe.__wrapped__()
    assert "--no-such-option" in caught.value.where


def test_probe_works_here() -> None:
    """On the machine that runs these tests sandboxes start."""
    probe()


def test_limits_in_force_without_a_sandbox() -> None:
    """The table says what mode `none` leaves open."""
    lines = limits_in_force(Sandbox("none")).splitlines()
    assert lines[0] == "sandbox: none"
    assert lines[-2:] == [
        "  network                  open                       not in force",
        "  files of the host        all                        not in force",
    ]
