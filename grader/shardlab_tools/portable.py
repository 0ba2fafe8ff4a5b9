"""The tests marked `stored`, on machines unlike this one: what was measured before is the same there.

Run as `python -m shardlab_tools.portable [OPTION...]` at the root of the repository; the options are pytest's. Each
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
MANY = 4


@dataclasses.dataclass(frozen=True)
class Round:
    """One run of the tests.

    Args:
        title: how it differs from this machine.
        cores: on how many it runs, or on all where there are fewer.
        folder: where the repository is.
        variables: what its environment has besides, or lacks, where the value is None.
        before: the command that starts it.
        without: a sentence for each thing that this machine cannot imitate.
    """

    title: str
    cores: int
    folder: pathlib.Path
    variables: Mapping[str, str | None]
    before: Sequence[str] = ()
    umask: int = -1
    without: tuple[str, ...] = ()


@contextlib.contextmanager
def bare(root: pathlib.Path) -> Iterator[Round]:
    """An old processor with one core, and little said by the environment."""
    with tempfile.TemporaryDirectory() as made:
        old, without = processor("AVX", root, pathlib.Path(made))
        said = {"HOME": None, "LANG": "C", "LC_ALL": None, "TZ": "Asia/Kathmandu", "XLA_FLAGS": isa("SSE4_2")}
        title = "a processor without AVX2, Kathmandu's time, LANG=C, umask 077, no HOME"
        yield Round(title, 1, root, {**said, **old}, umask=0o077, without=without)


@contextlib.contextmanager
def guest(root: pathlib.Path) -> Iterator[Round]:
    """A processor without AVX-512, and another user, in a folder whose name is no word of ASCII, a year from now."""
    with tempfile.TemporaryDirectory() as made:
        folder, home = pathlib.Path(made, "Übungen zu Shardlab"), pathlib.Path(made, "home")
        copy(root, folder)
        home.mkdir()
        old, without = processor("AVX2", root, pathlib.Path(made))
        before = list[str]()
        if os.geteuid():
            without += ("another user: only root can become one, and this user is unprivileged already.",)
        elif missing := [name for name in ("bwrap", "setpriv") if not shutil.which(name)]:
            without += (f"an unprivileged user: {' and '.join(missing)} would make root one.",)
        else:
            pathlib.Path(made).chmod(0o755)
            subprocess.run(["chown", "-R", f"{GUEST}:{GUEST}", made], check=True)
            before += unprivileged(GUEST, GUEST, pathlib.Path(sys.prefix), pathlib.Path(sys.base_prefix))
        if faketime := shutil.which("faketime"):
            before += [faketime, "--exclude-monotonic", "-f", "+365d"]
        else:
            without += ("a year ahead: the Debian package faketime would set the clock.",)
        said = {"HOME": str(home), "TMPDIR": str(home), "XLA_FLAGS": isa("AVX2")}
        title = f"a processor without AVX-512, an unprivileged user, a year ahead, in {folder.name!r}"
        yield Round(title, 2, folder, {**said, **old}, before, without=without)


def processor(name: str, root: pathlib.Path, folder: pathlib.Path) -> tuple[dict[str, str], tuple[str, ...]]:
    """Variables that make this processor look like another to every library, or the sentence that says why there are none.

    XLA's own flag binds what XLA compiles. The libraries that it calls ask the processor, as NumPy does.

    Args:
        name: as `tests/processor.c` has it.
        folder: where that is compiled.
    """
    library, source = folder / "processor.so", root / "tests" / "processor.c"
    variables = {"PROCESSOR": name, "LD_PRELOAD": str(library)}
    try:
        line = ["cc", "-O1", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"]
        subprocess.run(line, capture_output=True, text=True, check=True)
        subprocess.run(
            [sys.executable, "-c", "pass"], env=os.environ | variables, capture_output=True, text=True, check=True
        )
    except FileNotFoundError:
        return {}, ("another processor for all libraries: there is no C compiler. XLA has its flag.",)
    except subprocess.CalledProcessError as error:
        reason = (error.stderr.strip() or str(error)).splitlines()[-1]
        return {}, (f"another processor for all libraries: {reason}. XLA has its flag.",)
    return variables, ()


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
    seen = entered(*dict.fromkeys(needed))
    drop = [f"--reuid={user}", f"--regid={user}", f"--groups={group}", "--inh-caps=-all", "--bounding-set=-all"]
    return ["bwrap", "--cap-add", "ALL", "--dev-bind", "/", "/", *seen, "setpriv", *drop]


def entered(*paths: pathlib.Path) -> list[str]:
    """Arguments of bubblewrap that let everybody come to paths, which may be root's."""
    tops, words = list[pathlib.Path](), list[str]()
    for path in paths:
        closed = [above for above in path.parents if not above.stat().st_mode & stat.S_IXOTH]
        if not closed:
            continue
        if (top := closed[-1]) not in tops:  # once: it would hide what was brought into it before
            tops.append(top)
            words += ["--perms", "0755", "--tmpfs", str(top)]
        between = [above for above in reversed(path.parents) if above.is_relative_to(top) and above != top]
        words += [word for above in between for word in ("--perms", "0755", "--dir", str(above))]
        words += ["--ro-bind", str(path), str(path)]
    return words


def run(one: Round, options: Sequence[str]) -> int:
    """The status of pytest in one round, after saying what it is and what it cannot be."""
    cores = sorted(os.sched_getaffinity(0))[: one.cores]
    print(f"\n{one.title}; cores: {len(cores)}", flush=True)
    for sentence in one.without:
        print(f"  not here: {sentence}", flush=True)
    packages = os.pathsep.join(str(one.folder / name) for name in ("lens/src", "src", "grader"))
    wanted: dict[str, str | None] = {**os.environ, "PYTHONPATH": packages, "PYTHONDONTWRITEBYTECODE": "1", **one.variables}
    homes = (one.folder / "tests", one.folder / "lens" / "tests")
    found = (path for home in homes for path in sorted(home.rglob("*.py")))
    files = [path for path in found if MARK in path.read_text(encoding="utf-8")]
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "stored", *options, *map(str, files)]
    line = ["taskset", "--cpu-list", ",".join(map(str, cores)), *one.before, *tests]
    environment = {name: value for name, value in wanted.items() if value is not None}
    return subprocess.run(line, cwd=one.folder, env=environment, umask=one.umask, check=False).returncode


def main(options: Sequence[str]) -> int:
    """Run all rounds, and say in one line how they ended."""
    root = pathlib.Path.cwd()
    with bare(root) as first, guest(root) as second:
        rounds = [first, second]
        if (cores := len(os.sched_getaffinity(0))) < MANY:
            print(f"{MANY} cores: not here, where there are {cores}; a round less.")
        else:
            rounds.append(Round("this processor, as it is", MANY, root, {}))
        failed = [one.title for one in rounds if run(one, options)]
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    told = f"failed with {'; and with '.join(failed)}" if failed else "the same on every machine"
    print(f"\nWhat was measured before: {told} ({used.ru_utime + used.ru_stime:.0f} s of CPU).")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
