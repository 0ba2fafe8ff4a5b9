"""Warm servers: what one child leaves for the next, what it can do to its server, and what happens when a server fails."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import signal
import textwrap
from collections.abc import Callable, Iterator

import pytest

from shardlab_grader.sandbox import servers as module
from shardlab_grader.sandbox.box import Limits, Mount, Outcome, Sandbox, interpreter
from shardlab_grader.sandbox.servers import Servers
from shardlab_grader.sandbox.watch import buffers

pytestmark = pytest.mark.sandbox

SCRIPT = """
def main(job, output):
    with open(job) as file:
        exec(compile(file.read(), "<job>", "exec"), {"__name__": "__main__"})
"""
Run = Callable[..., Outcome]


@pytest.fixture
def servers() -> Iterator[Servers]:
    """Servers of one test."""
    with Servers() as started:
        yield started


@pytest.fixture
def run(servers: Servers, tmp_path: pathlib.Path) -> Run:
    """Runs Python source in a child of one warm server; `script` is what the server is given instead."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    sandbox = Sandbox(mounts=(*interpreter(), Mount(script, "/script.py")))
    (tmp_path / "boxes").mkdir()

    def start(source: str, **limits: float) -> Outcome:
        box = tmp_path / "boxes" / str(len(list((tmp_path / "boxes").iterdir())))
        box.mkdir()
        within = dataclasses.replace(sandbox, limits=Limits(**limits))
        return servers.run("/script.py", within, box, textwrap.dedent(source).encode())

    return start


def started(servers: Servers) -> list[int]:
    """Process ids of the idle servers' outermost commands."""
    return [server._child.pid for idle in servers._idle.values() for server in idle]


TRACES = {
    "file": ("open('/tmp/left', 'w')", "import os; print(os.path.exists('/tmp/left'))", "False"),
    "shared-memory": ("open('/dev/shm/left', 'w')", "import os; print(os.listdir('/dev/shm'))", "[]"),
    "output": ("open('/box/output', 'w').write('secret')", "print(repr(open('/box/output').read()))", "''"),
    "attribute": (
        "import os; os.setxattr('/box/output', 'user.left', b'secret')",
        "import os; print(os.listxattr('/box/output'))",
        "[]",
    ),
    "daemon": (
        "import subprocess; subprocess.Popen(['setsid', 'sleep', '65.5'], start_new_session=True)",
        "import os; print(len([name for name in os.listdir('/proc') if name.isdigit()]))",
        "2",
    ),
    "listener": (
        "import socket; s = socket.create_server(('127.0.0.1', 5000)); c = socket.create_connection(s.getsockname())",
        "import socket; s = socket.socket(); s.bind(('127.0.0.1', 5000)); print('free')",
        "free",
    ),
    "module": ("import json; json.left = 1", "import json; print(hasattr(json, 'left'))", "False"),
    "environment": ("import os; os.environ['LEFT'] = '1'", "import os; print('LEFT' in os.environ)", "False"),
}


@pytest.mark.parametrize(("first", "second", "said"), TRACES.values(), ids=TRACES)
def test_nothing_is_left_for_the_next(run: Run, servers: Servers, first: str, second: str, said: str) -> None:
    """What one child writes, starts or changes is not seen by the next child of the same server."""
    run(first)
    server = started(servers)
    assert run(second).stdout == f"{said}\n"
    assert started(servers) == server and servers.cold == 0


def test_a_prepared_server_is_taken(tmp_path: pathlib.Path) -> None:
    """It starts while something else is done; one that nobody took is stopped with the others."""
    script, box = tmp_path / "script.py", tmp_path / "box"
    script.write_text(SCRIPT)
    box.mkdir()
    sandbox = Sandbox(mounts=(*interpreter(), Mount(script, "/script.py")))
    with Servers() as servers:
        servers.prepare("/script.py", sandbox)
        servers.prepare("/script.py", sandbox)
        waiting = [one.result() for one in servers._coming["/script.py", dataclasses.replace(sandbox, limits=Limits())]]
        assert servers.run("/script.py", sandbox, box, b"print(1)").stdout == "1\n"
        assert started(servers) == [waiting[0]._child.pid] and servers.cold == 0
    assert not any(server.alive for server in waiting)
    assert all(server._child.poll() is not None for server in waiting)


def test_a_prepared_server_that_does_not_start(tmp_path: pathlib.Path) -> None:
    """The job gets a Python of its own, which fails for the same reason and says so."""
    box = tmp_path / "box"
    box.mkdir()
    sandbox = Sandbox(mounts=interpreter())
    with Servers() as servers:
        servers.prepare("/missing.py", sandbox)
        outcome = servers.run("/missing.py", sandbox, box, b"")
    assert outcome.status and "missing.py" in outcome.stderr and servers.cold == 1


DENIED = {
    "keyring": "import ctypes; print(ctypes.CDLL(None, use_errno=True).syscall({add_key}, b'user', b'k', b'v', 1, -4))",
    "shared-memory": "import ctypes; print(ctypes.CDLL(None).shmget(0, 4096, 0o1600))",
    "semaphores": "import ctypes; print(ctypes.CDLL(None).semget(0, 32000, 0o1600))",
    "messages": "import ctypes; print(ctypes.CDLL(None).msgget(0, 0o1600))",
    "memory-file": "import ctypes; print(ctypes.CDLL(None).memfd_create(b'x', 0))",
    "cores": "import ctypes; print(ctypes.CDLL(None).sched_setaffinity(0, 8, ctypes.byref(ctypes.c_ulong(1))))",
    "user-namespace": "import ctypes; print(ctypes.CDLL(None).unshare(0x10000000))",
    "mounts": "import ctypes; print(ctypes.CDLL(None).unshare(0x20000))",
    "unmount-boxes": "import ctypes; print(ctypes.CDLL(None).umount2(b'/tmp', 2))",
    "unmount-proc": "import ctypes; print(ctypes.CDLL(None).umount2(b'/proc', 2))",
    "remount": "import ctypes; print(ctypes.CDLL(None).mount(None, b'/', None, 32 | 4096, None))",
}


@pytest.mark.parametrize("source", DENIED.values(), ids=DENIED)
def test_mounts_cannot_be_changed(run: Run, source: str) -> None:
    """The calls with which a server makes them, and those that would outlive a child, fail in the child."""
    number = {"x86_64": 248, "aarch64": 217}[os.uname().machine]
    assert run(source.replace("{add_key}", str(number))).stdout == "-1\n"


FULL = """
import socket
server = socket.create_server(("127.0.0.1", 0))
ours, theirs = ({pair})
for one, option in ((ours, socket.SO_SNDBUF), (theirs, socket.SO_RCVBUF)):
    before = one.getsockopt(socket.SOL_SOCKET, option)
    one.setsockopt(socket.SOL_SOCKET, option, 2**22)
    assert one.getsockopt(socket.SOL_SOCKET, option) == before
ours.settimeout(0.5)
sent = 0
try:
    while True: sent += ours.send(bytes(2**14))
except TimeoutError: print(sent)
"""
PAIRS = {
    "unix": "socket.socketpair()",
    "tcp": "socket.create_connection(server.getsockname()), server.accept()[0]",
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_a_socket_holds_what_the_watch_counts(run: Run, pair: str) -> None:
    """What is sent and not fetched is no more than two buffers of the default size, whatever is asked for."""
    sent = int(run(FULL.format(pair=pair)).stdout)
    assert 2**14 <= sent <= sum(buffers().values())


def test_sockets_count_as_memory(run: Run) -> None:
    """A child whose own memory is small, and whose sockets could hold more than it may, is ended."""
    source = "import socket, time; kept = [socket.socket() for _ in range({})]; time.sleep(1); print(len(kept))"
    together = 200 * sum(buffers().values())
    assert run(source.format(50), together=together).stdout == "50\n"
    assert run(source.format(220), together=together).stopped == "memory"


ATTACKS = {
    "all": "import os; os.kill(-1, 9)",
    "group": "import os; os.kill(0, 9)",
    "parent": "import os; os.kill(os.getppid(), 9)",
    "low-numbers": "import os\nfor n in range(2, 100):\n    try: os.kill(n, 9)\n    except OSError: pass",
    "descriptors": "import os\nfor n in range(3, 1000):\n    try: os.write(n, b'ready')\n    except OSError: pass",
}


@pytest.mark.parametrize("source", ATTACKS.values(), ids=ATTACKS)
def test_server_is_out_of_reach(run: Run, servers: Servers, source: str) -> None:
    """Signals and stray writes end the child itself, and its server goes on with the next."""
    run("pass")
    server = started(servers)
    run(source)
    assert run("print(1)").stdout == "1\n"
    assert started(servers) == server and servers.cold == 0


def test_files_are_counted(run: Run) -> None:
    """Empty files take the kernel's memory too; a scratch space holds only so many."""
    source = """
        import os
        try:
            for n in range(1000): os.close(os.open(f"/tmp/{n}", os.O_CREAT))
        except OSError as error:
            print(90 < n <= 100, error.strerror)
    """
    assert run(source, inodes=100).stdout == "True No space left on device\n"


def test_output_closed_to_its_owner(run: Run, tmp_path: pathlib.Path) -> None:
    """A child that takes away its own permission to read the output has not taken ours."""
    run("import os; open('/box/output', 'w').write('1'); os.chmod('/box/output', 0)")
    assert (tmp_path / "boxes" / "0" / "output").read_text() == "1"


SHARES = {
    (2, 1): [],
    (2, 2): [[0], [1]],
    (8, 3): [[0, 3, 6], [1, 4, 7], [2, 5]],
    (2, 3): [[0], [1], [0]],
    (1, 2): [[0], [0]],
}


@pytest.mark.parametrize(("given", "dealt"), SHARES.items())
def test_cores_are_dealt_out(given: tuple[int, int], dealt: list[list[int]]) -> None:
    """Each worker has cores of its own where there are enough."""
    assert module.shares(range(given[0]), given[1]) == dealt


def test_a_job_keeps_to_its_cores(tmp_path: pathlib.Path) -> None:
    """A job of one of two workers sees its share, and has no call to leave it."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    source = b"import os; print(len(os.sched_getaffinity(0)))"
    with Servers(workers=len(os.sched_getaffinity(0))) as servers:
        outcome = servers.run("/script.py", Sandbox(mounts=(*interpreter(), Mount(script, "/script.py"))), tmp_path, source)
    assert outcome.stdout == "1\n"


def test_descriptors(run: Run) -> None:
    """A child holds the three standard descriptors and what it opened itself."""
    # 3 is the job that this script has open, 4 is the directory that is listed.
    assert run("import os; print(sorted(map(int, os.listdir('/proc/self/fd'))))").stdout == "[0, 1, 2, 3, 4]\n"
    assert run("import os; print(os.readlink('/proc/self/fd/0'))").stdout == "/dev/null\n"
    assert run("import os; print([n for n in os.listdir('/proc/1/fd') if int(n) > 2])").stdout == "[]\n"


def test_no_shared_memory(run: Run) -> None:
    """No page is mapped that a child could write and its server or a later child would see."""
    source = "print([line for line in open('/proc/self/maps') if {'w', 's'} <= set(line.split()[1])])"
    assert run(source).stdout == "[]\n"


def test_time_limit_ends_the_server(run: Run, servers: Servers) -> None:
    """A child at its limit is killed with its server, and the next job gets a fresh one."""
    assert run("import time; time.sleep(66.5)", wall=0.5).stopped == "time"
    assert started(servers) == []
    assert run("print(1)").stdout == "1\n" and servers.cold == 0


def test_dead_server_is_replaced(run: Run, servers: Servers) -> None:
    """When a server has died between two jobs, a fresh one does the next."""
    run("pass")
    os.kill(started(servers)[0], signal.SIGKILL)
    assert run("print(1)").stdout == "1\n" and servers.cold == 0


BROKEN = {
    "raises": "raise ImportError('broken')",
    "thread": "import threading, time\nthreading.Thread(target=time.sleep, args=(9,), daemon=True).start()",
    "backend": "import sys, types\nsys.modules['jax._src.xla_bridge'] = types.SimpleNamespace(_backends={'cpu': 1})",
}


@pytest.mark.parametrize("warm", BROKEN.values(), ids=BROKEN)
def test_unsafe_server_takes_the_cold_road(servers: Servers, tmp_path: pathlib.Path, warm: str) -> None:
    """A server that cannot fork safely does not start, and its jobs run in sandboxes of their own."""
    script = tmp_path / "script.py"
    body = textwrap.indent(warm, "    ")
    script.write_text(f"import sys\ndef warm():\n{body}\nif __name__ == '__main__':\n    print(open('/proc/1/comm').read())")
    sandbox = Sandbox(mounts=(*interpreter(), Mount(script, "/script.py")))
    outcome = servers.run("/script.py", sandbox, tmp_path, b"")
    assert (outcome.stdout, servers.cold) == ("bwrap\n\n", 1)


def test_unmade_mounts_give_a_cold_start(servers: Servers, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When a child's namespaces cannot be made, nothing of its job runs in it."""
    monkeypatch.setattr(module, "CAPABILITIES", ("CAP_SETPCAP",))
    script = tmp_path / "script.py"
    script.write_text(f"{SCRIPT}\nif __name__ == '__main__':\n    print('cold')")
    sandbox = Sandbox(mounts=(*interpreter(), Mount(script, "/script.py")))
    outcome = servers.run("/script.py", sandbox, tmp_path, b"print('warm')")
    assert (outcome.stdout, servers.cold) == ("cold\n", 1)
