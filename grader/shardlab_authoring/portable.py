"""The tests marked `stored`, on machines unlike this one: what was measured before is the same there.

Run as `python -m shardlab_authoring.portable [OPTION...]` at the root of the repository; the options are pytest's. Each
round differs from this machine in several things that cannot hide each other. It says what this machine cannot imitate.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
import platform
import resource
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence

MARK = "pytest.mark.stored"
GUEST = 61_000
"""A user that no system gives to anybody."""


@dataclasses.dataclass(frozen=True)
class Round:
    """One run of the tests.

    Args:
        title: how it is unlike this machine.
        cores: on how many it runs, or on all where there are fewer.
        variables: what its environment has besides, or not, where the value is None.
        folder: where the repository lies.
        before: the command that starts it.
        without: a sentence for each thing that this machine cannot be.
    """

    title: str
    cores: int
    variables: Mapping[str, str | None]
    folder: pathlib.Path
    before: Sequence[str] = ()
    umask: int = -1
    without: tuple[str, ...] = ()


def bare(root: pathlib.Path) -> Round:
    """Little is said by the environment, and the processor is an old one."""
    variables = {
        "HOME": None,
        "LANG": "C",
        "LC_ALL": None,
        "TZ": "Asia/Kathmandu",
        "XLA_FLAGS": isa("SSE4_2"),
    }
    return Round("SSE4.2, Kathmandu's time, LANG=C, umask 077, no HOME", 1, variables, root, umask=0o077)


@contextlib.contextmanager
def guest(root: pathlib.Path) -> Iterator[Round]:
    """Another user, in a folder whose name is no word of ASCII, a year from now."""
    with tempfile.TemporaryDirectory() as made:
        folder, home = pathlib.Path(made, "Übungen zu Shardlab"), pathlib.Path(made, "home")
        copy(root, folder)
        home.mkdir()
        before, without = list[str](), list[str]()
        if os.geteuid():
            without.append("another user: only root can become one, and this user is unprivileged already.")
        elif missing := [name for name in ("bwrap", "setpriv") if not shutil.which(name)]:
            without.append(f"an unprivileged user: {' and '.join(missing)} would make root one.")
        else:
            pathlib.Path(made).chmod(0o755)
            subprocess.run(["chown", "-R", f"{GUEST}:{GUEST}", made], check=True)
            before += unprivileged(GUEST, GUEST, pathlib.Path(sys.prefix), pathlib.Path(sys.base_prefix))
        if faketime := shutil.which("faketime"):
            before += [faketime, "--exclude-monotonic", "-f", "+365d"]
        else:
            without.append("a year ahead: the Debian package faketime would set the clock.")
        variables = {"HOME": str(home), "TMPDIR": str(home), "XLA_FLAGS": isa("AVX2")}
        title = f"AVX2, an unprivileged user, a year ahead, in {folder.name!r}"
        yield Round(title, 2, variables, folder, before, without=tuple(without))


@contextlib.contextmanager
def older(root: pathlib.Path) -> Iterator[Round]:
    """A processor without AVX2, as every library sees it: `--xla_cpu_max_isa` binds only what XLA itself compiles."""
    with tempfile.TemporaryDirectory() as made:
        library, variables, without = pathlib.Path(made, "processor.so"), dict[str, str | None](), tuple[str, ...]()
        try:
            line = ["cc", "-O1", "-shared", "-fPIC", "-o", str(library), str(root / "tests" / "processor.c"), "-ldl"]
            subprocess.run(line, capture_output=True, text=True, check=True)
            variables = {"PROCESSOR": "AVX", "LD_PRELOAD": str(library)}
            tried = os.environ | {name: value for name, value in variables.items() if value}
            subprocess.run([sys.executable, "-c", "pass"], env=tried, capture_output=True, text=True, check=True)
        except FileNotFoundError:
            without = ("a processor without AVX2 for all libraries: there is no C compiler here.",)
        except subprocess.CalledProcessError as error:
            without = (f"a processor without AVX2 for all libraries: {error.stderr.strip().splitlines()[-1]}.",)
        yield Round("a processor without AVX2", 4, {} if without else variables, root, without=without)


def isa(name: str) -> str | None:
    """XLA's flag that keeps it to the instructions of a processor; only those of x86 have such names."""
    return f"--xla_cpu_max_isa={name}" if platform.machine() == "x86_64" else None


def copy(root: pathlib.Path, folder: pathlib.Path) -> None:
    """The files that belong to the repository, at another place."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root, capture_output=True, check=True
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (root / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, folder / name)


def unprivileged(user: int, group: int, *needed: pathlib.Path) -> list[str]:
    """How a command of root's begins that runs as another user, who can read what is needed, wherever it lies."""
    seen = [word for path in dict.fromkeys(needed) for word in entered(path)]
    drop = [f"--reuid={user}", f"--regid={user}", f"--groups={group}", "--inh-caps=-all", "--bounding-set=-all"]
    return ["bwrap", "--cap-add", "ALL", "--dev-bind", "/", "/", *seen, "setpriv", *drop]


def entered(path: pathlib.Path) -> list[str]:
    """Arguments of bubblewrap that let everybody come to a path, which may be root's."""
    closed = [above for above in path.parents if not above.stat().st_mode & stat.S_IXOTH]
    if not closed:
        return []
    top = closed[-1]
    between = [above for above in reversed(path.parents) if above.is_relative_to(top) and above != top]
    made = [word for above in between for word in ("--perms", "0755", "--dir", str(above))]
    return ["--perms", "0755", "--tmpfs", str(top), *made, "--ro-bind", str(path), str(path)]


def run(one: Round, options: Sequence[str]) -> int:
    """The status of pytest in one round, after saying what it is and what it cannot be."""
    cores = sorted(os.sched_getaffinity(0))[: one.cores]
    few = "" if len(cores) == one.cores else f"{one.cores} cores: this machine has {len(cores)}."
    print(f"\n{one.title}; cores: {len(cores)}", flush=True)
    for sentence in filter(None, (*one.without, few)):
        print(f"  not here: {sentence}", flush=True)
    packages = os.pathsep.join(str(one.folder / name) for name in ("src", "grader"))
    wanted: dict[str, str | None] = {**os.environ, "PYTHONPATH": packages, "PYTHONDONTWRITEBYTECODE": "1", **one.variables}
    files = [path for path in sorted((one.folder / "tests").rglob("*.py")) if MARK in path.read_text(encoding="utf-8")]
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "stored", *options, *map(str, files)]
    line = ["taskset", "--cpu-list", ",".join(map(str, cores)), *one.before, *tests]
    environment = {name: value for name, value in wanted.items() if value is not None}
    return subprocess.run(line, cwd=one.folder, env=environment, umask=one.umask, check=False).returncode


def main(options: Sequence[str]) -> int:
    """Run all rounds, and say in one line how they ended."""
    root = pathlib.Path.cwd()
    failed = []
    with guest(root) as second, older(root) as third:
        for one in (bare(root), second, third):
            if run(one, options):
                failed.append(one.title)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    told = f"{'; '.join(failed)}: failed" if failed else "the same on every machine"
    print(f"\nWhat was measured before: {told} ({used.ru_utime + used.ru_stime:.0f} s of CPU).")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
