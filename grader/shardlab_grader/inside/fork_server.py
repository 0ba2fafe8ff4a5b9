"""The fork server of a sandbox: imports once, then forks a child in namespaces of its own for each job.

    python -P fork_server.py SCRIPT

SCRIPT is loaded as a module; it has `main(job, output)`, what a child does, and may have `warm()`, what can be done once
for all of them. Nothing here is the grader's; this file imports the standard library only.

Standard input is a socket of whole messages. The server says `ready` and its seconds of CPU time. A request is JSON with
`box`, a folder below `/tmp/boxes`, `limits`, from the name of a resource to its soft and hard limit, `scratch` and `inodes`,
the bytes and files of `/tmp`, `buffers`, the bytes that a socket sends (`wmem`) and receives (`rmem`) without their being
fetched, `cores`, where the child may run (anywhere, if empty), and `kept`, read-only folders below `/tmp` that a child sees
too, with two descriptors for stdout and stderr. The reply, when all that the child started is gone, is its exit status and
the seconds of CPU time that they took, or `failed` when its namespaces could not be made, in which case nothing of the job
was run.

The server holds CAP_SYS_ADMIN, CAP_NET_ADMIN and CAP_SETPCAP of its own user namespace, where no further one can be made.
A child has its own processes, mounts, network and System V objects; `/tmp`, `/dev/shm`, `/proc` and the two files in `/box`
are its own. It has no capability, no descriptor but 0, 1 and 2, and no kernel keyrings, which would outlive it.
"""

from __future__ import annotations

import ctypes
import fcntl
import gc
import importlib.util
import json
import os
import resource
import signal
import socket
import struct
import sys
import time
import traceback
from types import ModuleType
from typing import Any, NoReturn

LIBC = ctypes.CDLL(None, use_errno=True)
NEW_MOUNTS, NEW_PROCESSES, NEW_IPC, NEW_NETWORK = 0x20000, 0x20000000, 0x8000000, 0x40000000
READ_ONLY, NO_SUID, NO_DEVICES, NO_EXEC, REMOUNT, BIND, ALL_BELOW, PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
NOT_TO_BE_LOST = NO_SUID | NO_DEVICES | NO_EXEC | 1024 | 2048
DROP_BOUNDING, NO_NEW_PRIVILEGES, AMBIENT, CLEAR_AMBIENT, SECCOMP, FILTER = 24, 38, 47, 4, 22, 2
GET_FLAGS, SET_FLAGS, UP = 0x8913, 0x8914, 1
REFUSED = {
    "x86_64": (0xC000003E, (248, 249, 250, 29, 64, 68, 319, 447, 425, 203), 54),
    "aarch64": (0xC00000B7, (217, 218, 219, 194, 190, 186, 279, 447, 425, 122), 208),
}
"""By architecture its audit number, the calls that fail in a child, and setsockopt: add_key, request_key, keyctl; shmget,
semget, msgget, memfd_create and memfd_secret, whose memory counts for no process; io_uring_setup; sched_setaffinity."""
SOCKET_LEVEL, SEND_BUFFER, RECEIVE_BUFFER = 1, 7, 8
HIGHEST = 1 << 16


def main(script: str) -> None:
    """Serve until the other end closes."""
    module = _load(script)
    getattr(module, "warm", lambda: None)()
    _check_that_forking_is_safe()
    gc.collect()
    gc.freeze()  # else the collector of each child writes to, and so copies, every page
    line = socket.socket(fileno=0)
    line.send(f"ready {time.process_time():.3f}".encode())
    while True:
        request, pipes, _, _ = socket.recv_fds(line, 65536, 2)
        if not request:
            return
        line.send(_turn(module, json.loads(request), pipes).encode())


def _load(script: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location("script", script)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _check_that_forking_is_safe() -> None:
    bridge: Any = sys.modules.get("jax._src.xla_bridge")
    if bridge is not None and bridge._backends:
        raise RuntimeError("JAX has started a backend; a forked child would hang")
    threads = os.listdir("/proc/self/task")
    if len(threads) != 1:
        raise RuntimeError(f"{len(threads)} threads are running; a forked child would miss their locks")


def _turn(module: ModuleType, request: dict[str, Any], pipes: list[int]) -> str:
    sound, told = os.pipe()
    child = os.fork()
    if child == 0:
        _separate(module, request, pipes, told)
    for descriptor in (*pipes, told):
        os.close(descriptor)
    started = os.read(sound, 1)
    os.close(sound)
    _, ended, used = os.wait4(child, 0)
    status = os.waitstatus_to_exitcode(ended)
    return f"{status} {used.ru_utime + used.ru_stime:.3f}" if started and status >= 0 else "failed"


def _separate(module: ModuleType, request: dict[str, Any], pipes: list[int], told: int) -> NoReturn:
    """The process between: outside the child's namespaces, it waits for all of them to be gone."""
    try:
        _call("unshare", NEW_MOUNTS | NEW_PROCESSES | NEW_IPC | NEW_NETWORK)
        _call("mount", b"none", b"/", None, ALL_BELOW | PRIVATE, None)
        first = os.fork()
        if first == 0:
            _first(module, request, pipes, told)
        os.closerange(0, HIGHEST)
        os._exit(_status(os.waitpid(first, 0)[1]))
    finally:
        os._exit(1)


def _first(module: ModuleType, request: dict[str, Any], pipes: list[int], told: int) -> NoReturn:
    """The first process of the namespaces: fills them; it goes when the child does, with all that the child started."""
    try:
        for target, source in enumerate((os.open(os.devnull, os.O_RDONLY), *pipes)):
            os.dup2(source, target)
        _loopback()
        _mounts(f"/tmp/boxes/{request['box']}".encode(), request["scratch"], request["inodes"], request["kept"])
        _bound_buffers(request["buffers"])
        for name, limits in request["limits"].items():
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), tuple(limits))
        if request["cores"]:
            os.sched_setaffinity(0, request["cores"])
        _drop_privileges()
        _forbid_calls()
        os.write(told, b"1")
        os.closerange(3, HIGHEST)
        child = os.fork()
        if child == 0:
            _run(module)
        while True:
            ended, status = os.waitpid(-1, os.WUNTRACED)
            if ended == child and os.WIFSTOPPED(status):
                os.kill(child, signal.SIGKILL)  # it has stopped itself, and nobody here would let it go on
            elif ended == child:
                os._exit(_status(status))
    finally:
        os._exit(1)


def _run(module: ModuleType) -> NoReturn:
    status = 1
    try:
        os.setsid()  # kill(0, ...) reaches a whole group, whatever the namespaces of its members
        module.main("/box/job.json", "/box/output")
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(status & 0xFF)


def _mounts(box: bytes, scratch: int, inodes: int, kept_folders: list[str]) -> None:
    quiet = NO_SUID | NO_DEVICES
    _call("mount", b"proc", b"/proc", b"proc", quiet | NO_EXEC, None)
    _call("mount", box + b"/output", b"/box/output", None, BIND, None)
    _call("mount", box + b"/job.json", b"/box/job.json", None, BIND, None)
    kept = os.statvfs("/box/job.json").f_flag & NOT_TO_BE_LOST
    _call("mount", None, b"/box/job.json", None, REMOUNT | BIND | READ_ONLY | quiet | kept, None)
    hidden = [(folder, os.open(folder, os.O_PATH | os.O_DIRECTORY)) for folder in kept_folders]
    for place in (b"/dev/shm", b"/tmp"):  # /tmp last: it hides /tmp/boxes
        _call("mount", b"tmpfs", place, b"tmpfs", quiet, f"size={scratch},nr_inodes={inodes},mode=0755".encode())
    for folder, descriptor in hidden:
        os.makedirs(folder)
        _call("mount", f"/proc/self/fd/{descriptor}".encode(), folder.encode(), None, BIND | ALL_BELOW, None)
        flags = os.statvfs(folder).f_flag & NOT_TO_BE_LOST
        _call("mount", None, folder.encode(), None, REMOUNT | BIND | READ_ONLY | quiet | flags, None)
    os.chdir("/tmp")


def _loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        flags = struct.unpack("16sH", fcntl.ioctl(any_socket, GET_FLAGS, struct.pack("16sH14x", b"lo", 0))[:18])[1]
        fcntl.ioctl(any_socket, SET_FLAGS, struct.pack("16sH14x", b"lo", flags | UP))


def _bound_buffers(most: dict[str, int]) -> None:
    """TCP grows a socket's buffers by itself; here they end where those of other sockets do, as the watch counts."""
    for name, bound in most.items():
        with open(f"/proc/sys/net/ipv4/tcp_{name}", "r+", encoding="ascii") as file:
            least, usual, _ = map(int, file.read().split())
            file.seek(0)
            file.write(f"{min(least, bound)} {min(usual, bound)} {bound}")


def _drop_privileges() -> None:
    _call("prctl", AMBIENT, CLEAR_AMBIENT, 0, 0, 0)
    with open("/proc/sys/kernel/cap_last_cap", encoding="ascii") as file:
        last = int(file.read())
    for capability in range(last + 1):
        _call("prctl", DROP_BOUNDING, capability, 0, 0, 0)
    _call("capset", (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)())
    _call("prctl", NO_NEW_PRIVILEGES, 1, 0, 0, 0)


def _forbid_calls() -> None:
    """A filter of system calls: the refused ones fail, those of another architecture kill, and no socket's buffer grows."""
    audit, refused, set_option = REFUSED[os.uname().machine]
    load, equal, at_least, answer = 0x20, 0x15, 0x35, 0x06
    program = [
        (load, 0, 0, 4),  # the architecture
        (equal, 1, 0, audit),
        (answer, 0, 0, 0x80000000),
        (load, 0, 0, 0),  # the number of the call
        (at_least, 0, 1, 0x40000000),  # x32 has the same calls under other numbers
        (answer, 0, 0, 0x00050001),
    ]
    for number in refused:
        program += [(equal, 0, 1, number), (answer, 0, 0, 0x00050001)]
    # A greater buffer is not refused but not given either, as above the kernel's limit: libraries ask without need.
    program += [
        (equal, 0, 6, set_option),
        (load, 0, 0, 24),  # its second argument
        (equal, 0, 4, SOCKET_LEVEL),
        (load, 0, 0, 32),
        (equal, 1, 0, SEND_BUFFER),
        (equal, 0, 1, RECEIVE_BUFFER),
        (answer, 0, 0, 0x00050000),
    ]
    program.append((answer, 0, 0, 0x7FFF0000))
    rows = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in program))
    whole = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program), ctypes.addressof(rows)))
    _call("prctl", SECCOMP, FILTER, whole, 0, 0)


def _call(name: str, *arguments: Any) -> None:
    if getattr(LIBC, name)(*(ctypes.c_ulong(a) if isinstance(a, int) else a for a in arguments)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def _status(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    main(*sys.argv[1:])
