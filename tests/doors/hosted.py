"""The notebooks on a copy of a hosted platform, from their first cell to the bottom, as somebody runs them there.

`make test-doors` runs it; by hand, at the root of the repository: `python tests/doors/hosted.py [--platform colab]
[--python python3.13] [CHAPTER...]`. Each notebook gets a machine of its own with the packages that platforms.toml lists, and
Shardlab is not among them. Two wheels made from this checkout lie beside the notebook, from which the first cell installs as
long as the repository has no address; else it takes the address's place there. So a real service has still to be seen. What
was found is written to build/doors/PLATFORM.json.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import datetime
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from shardlab_course.editions import edition, header

PLATFORMS = tomllib.loads(pathlib.Path(__file__).with_name("platforms.toml").read_text())
FOLDER = pathlib.Path("build", "doors")
CELL_SECONDS = 600
OURS = ("JAX_", "JUPYTER", "PYTHON", "SHARDLAB_", "TPU_", "VIRTUAL_ENV", "XLA_")
DISTRIBUTION = re.compile(r"(?P<name>.+)-(?P<version>[^-]+)\.dist-info")


@dataclasses.dataclass(frozen=True)
class Visit:
    """One notebook's run: what its first cell said, changed and took (also after restarts), and how it ended."""

    notebook: str
    cells: int
    seconds: int
    first: int
    said: str
    changed: tuple[str, ...]
    restarts: int
    rich: int
    progress: dict[str, int]
    fault: str

    def __str__(self) -> str:
        seen = f"{self.cells} cells, {self.rich} with HTML or a picture, {self.restarts} restarts"
        seen += f", {self.seconds} s, of these the first cell {self.first} s"
        end = self.fault or f"{seen}; checks: {self.progress}"
        return f"{self.notebook}: {end}\n  {self.said}\n  {', '.join(self.changed)}"


@dataclasses.dataclass(frozen=True)
class Machine:
    """A copy of a platform: its folder, and the command that starts Python there."""

    platform: str
    folder: pathlib.Path
    launch: tuple[str, ...]

    @property
    def python(self) -> list[str]:
        """The command of its Python, as a kernel needs it; `launch` may enter another file system first."""
        return [*self.launch[:-1], str(self.folder / "machine" / "bin" / "python")]

    def packages(self) -> dict[str, str]:
        """The installed version of each package."""
        names = (path.name for path in (self.folder / "machine").glob("lib/python*/site-packages/*.dist-info"))
        found = (DISTRIBUTION.fullmatch(name) for name in names)
        return {match["name"].lower(): match["version"] for match in found if match}


def built(root: pathlib.Path, folder: pathlib.Path) -> tuple[pathlib.Path, ...]:
    """The wheels of this checkout: the course's, and the lens's."""
    shutil.rmtree(folder, ignore_errors=True)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder)]
    subprocess.run([*command, str(root), str(root / "lens")], check=True)
    return tuple(wheel.absolute() for wheel in sorted(folder.glob("*.whl")))


def machine(platform: str, launch: Sequence[str]) -> Machine:
    """The platform with its packages, made once for each list of them."""
    wanted = PLATFORMS[platform]["packages"]
    name = hashlib.sha256(f"{wanted}{launch}".encode()).hexdigest()[:8]
    folder = FOLDER.absolute() / f"{platform}-{name}"
    if not (folder / "whole").exists():
        print(f"Making {folder} with {shlex.join(launch)} and {platform}'s packages (a few minutes)", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "packages.txt").write_text(wanted)
        subprocess.run([*launch, "-m", "venv", str(folder / "base")], check=True, env=environment())
        python = [*launch[:-1], str(folder / "base" / "bin" / "python")]
        install = [*python, "-m", "pip", "install", "--quiet", "--requirement", str(folder / "packages.txt")]
        subprocess.run(install, check=True, env=environment())
        (folder / "whole").touch()
    return Machine(platform, folder, tuple(launch))


def environment() -> dict[str, str]:
    """The variables of a platform: nothing that this checkout has set, and no packages that pip keeps from earlier."""
    return {name: value for name, value in os.environ.items() if not name.startswith(OURS)} | {"PIP_NO_CACHE_DIR": "1"}


def fresh(here: Machine) -> None:
    """A machine as the platform hands it out: hard links to the packages' files, which pip replaces."""
    shutil.rmtree(here.folder / "machine", ignore_errors=True)
    shutil.copytree(here.folder / "base", here.folder / "machine", symlinks=True, copy_function=os.link)
    kernel = here.folder / "kernels" / "hosted"
    kernel.mkdir(parents=True, exist_ok=True)
    command = [*here.python, "-m", "ipykernel_launcher", "-f", "{connection_file}", *PLATFORMS[here.platform]["kernel"]]
    (kernel / "kernel.json").write_text(json.dumps({"argv": command, "display_name": here.platform, "language": "python"}))


@contextlib.contextmanager
def only(variables: dict[str, str]) -> Iterator[None]:
    """These environment variables and no others, for the kernels that start meanwhile."""
    kept = dict(os.environ)
    os.environ.clear()
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(kept)


def notebooks(
    root: pathlib.Path, wheels: Sequence[pathlib.Path], chapters: Sequence[int]
) -> Iterator[tuple[str, NotebookNode]]:
    """Each committed `.ipynb` and its solution, with the wheels in place of the address."""
    given = header.syllabus(root)
    for path in edition.chapters(root, chapters):
        yield path.stem, addressed(nbformat.read(root / "notebooks" / f"{path.stem}.ipynb", as_version=4), given, wheels)
        yield f"{path.stem} (solution)", addressed(edition.solution(edition.unfilled(path, given)), given, wheels)


def addressed(notebook: NotebookNode, given: header.Syllabus, wheels: Sequence[pathlib.Path]) -> NotebookNode:
    """The notebook, its first cell installing the wheels."""
    first = next(cell for cell in notebook.cells if cell.cell_type == "code")
    installs = f"git+{given.address}@v{given.version}"
    assert (first.source.count(installs) == 1) != (given.address == header.UNSET)
    course, lens = (wheel.as_uri() for wheel in wheels)
    first.source = first.source.replace("{at}#subdirectory=lens", lens).replace("{at}", course)
    return notebook


def visit(name: str, notebook: NotebookNode, here: Machine) -> Visit:
    """What happens to somebody who opens the notebook there and runs all, and again after each restart that is asked for."""
    fresh(here)
    before, start = here.packages(), time.monotonic()
    work = here.folder / "work"
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(here.folder / "wheel", work)
    restarts, fault, code = 0, run(notebook, here, work), [cell for cell in notebook.cells if cell.cell_type == "code"]
    first = seconds(code[0])
    while "[kernel-is-older]" in fault and restarts < 2:
        restarts, fault = restarts + 1, run(notebook, here, work)
        first += seconds(code[0])
    after = here.packages()
    new = sorted(after.items() - before.items())
    changed = [f"{package} {before.get(package, 'new')} -> {version}" for package, version in new]
    took, checks = round(time.monotonic() - start), progress(work)
    fault = fault or surprise(name, restarts, PLATFORMS[here.platform]["restarts"], checks)
    shown = sum(map(rich, code))
    return Visit(name, len(code), took, round(first), said(code[0]), tuple(changed), restarts, shown, checks, fault)


def surprise(name: str, restarts: int, expected: int, checks: dict[str, int]) -> str:
    """What is wrong with a run that reached the bottom, or the empty text."""
    if restarts != expected:
        return f"{restarts} restarts instead of {expected}"
    solved = not name.endswith("(solution)") or set(checks) == {"passed"}
    return "" if solved else f"a solution's checks say {checks}"


def run(notebook: NotebookNode, here: Machine, work: pathlib.Path) -> str:
    """The error that stopped the notebook, or the empty text."""
    runtime = {"JUPYTER_PATH": str(here.folder), "JUPYTER_RUNTIME_DIR": str(here.folder / "runtime")}
    where = {"metadata": {"path": str(work)}}
    client = NotebookClient(notebook, timeout=CELL_SECONDS, kernel_name="hosted", resources=where)
    with only({**environment(), **runtime}):
        try:
            client.execute()
        except CellExecutionError as error:
            return f"{error.ename}: {error.evalue}"
    return ""


def seconds(cell: NotebookNode) -> float:
    """From a cell's start to its end, as the kernel dated them; 0 for one that was not run."""
    dated = cell.metadata.get("execution", {})
    if "shell.execute_reply" not in dated:
        return 0.0
    start, end = (datetime.datetime.fromisoformat(dated[name]) for name in ("iopub.execute_input", "shell.execute_reply"))
    return (end - start).total_seconds()


def said(cell: NotebookNode) -> str:
    """The last line that a cell shows as text."""
    texts = [output.get("data", {}).get("text/plain", output.get("text", "")) for output in cell.outputs]
    return "\n".join(texts).strip().split("\n")[-1]


def rich(cell: NotebookNode) -> bool:
    """Whether a cell shows HTML or a picture."""
    kinds = {kind for output in cell.outputs for kind in output.get("data", {})}
    return bool(kinds & {"text/html", "image/png", "image/svg+xml"})


def progress(work: pathlib.Path) -> dict[str, int]:
    """How many questions passed, failed, and so on, by the progress file."""
    path = work / "shardlab-progress.json"
    kept: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    counts: dict[str, int] = {}
    for entry in kept.get("questions", kept).values():
        if isinstance(entry, dict) and "status" in entry:
            counts[entry["status"]] = counts.get(entry["status"], 0) + 1
    return counts


def main(arguments: Sequence[str]) -> int:
    """Visit, write down and say what happened; 1 if a notebook did not reach its bottom, or a solution did not pass."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--platform", choices=PLATFORMS, default="colab")
    parser.add_argument("--python", help="the command of its Python; it may be several words")
    parser.add_argument("chapters", nargs="*", type=int)
    given = parser.parse_args(arguments)
    platform, root = PLATFORMS[given.platform], pathlib.Path.cwd()
    here = machine(given.platform, shlex.split(given.python or f"python{platform['python']}"))
    wheels, visits = built(root, here.folder / "wheel"), []
    for name, notebook in notebooks(root, wheels, given.chapters):
        visits.append(visit(name, notebook, here))
        print(visits[-1], flush=True)
    fresh(here)
    version = subprocess.run([*here.python, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    found = {
        "platform": given.platform,
        "title": platform["title"],
        "date": datetime.date.today().isoformat(),
        "versions": {"python": version, **here.packages()},
        "visits": [dataclasses.asdict(one) for one in visits],
    }
    (FOLDER / f"{given.platform}.json").write_text(json.dumps(found, indent=1) + "\n")
    return int(any(one.fault for one in visits))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
