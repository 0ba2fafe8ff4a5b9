"""A class graded by the real command, and everything that it may and may not leave behind."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import json
import os
import pathlib
import shutil
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Mapping

from .cases import MARK, NAME, POINTS, Case, Notebook, answered, save

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]
HONEST = ("aaa-honest", "zzz-honest")
WORK = "honest-work-9c2e41"
SECRET = "host-secret-7d1f08"
KEY = "key-that-only-the-judge-knows"
LAUNCHER = HERE / "launcher.py"
SECONDS = 5400.0


@dataclasses.dataclass(frozen=True)
class Ended:
    """How a command ended: status, output, the processes that it left, seconds, and the kilobytes of its largest process."""

    status: int
    said: str
    left: list[str]
    seconds: float
    kilobytes: int


@dataclasses.dataclass(frozen=True)
class Row:
    """One line of the report: state, points by question, and the reason."""

    state: str
    points: Mapping[str, float]
    reason: str


class Course:
    """A course directory for one class, with the environment that its commands get."""

    def __init__(self, folder: pathlib.Path, chapter: pathlib.Path | None) -> None:
        """With a chapter, its questions beside it are the only ones; without, the real course's."""
        self.folder, self.root = folder, folder / "course"
        self.repository, self.site, self.chapter = folder / "repository", folder / "site", chapter
        for name in ("home", "tmp", "site"):
            (folder / name).mkdir(parents=True)
        (folder / "home" / "secret").write_text(SECRET)

    def make(self) -> None:
        """Write the repository with the one chapter, and release it."""
        assert self.chapter is not None
        self.install()
        (self.repository / "solutions").mkdir(parents=True)
        (self.repository / "pyproject.toml").write_text('[project.urls]\nRepository = "https://github.com/owner/course"\n')
        shutil.copy(self.chapter, self.repository / "solutions")
        made = self.run("release", self.chapter.stem, "--repository", str(self.repository))
        assert made.status == 0, made.said

    def install(self) -> None:
        """Put the packages where commands find them, with the one chapter's questions."""
        assert self.chapter is not None
        others = shutil.ignore_patterns("__pycache__", "ch[0-9]*")
        shutil.copytree(ROOT / "src", self.site, ignore=others, dirs_exist_ok=True)
        declared = self.site / "shardlab_course" / f"ch{NAME[:2]}"
        declared.mkdir()
        (declared / "__init__.py").touch()
        questions = self.chapter.with_name("declared.py").read_text()
        for number in range(1, questions.count("Question(") + 1):
            (declared / f"ex{number:02}").mkdir()
            (declared / f"ex{number:02}" / "question.py").write_text(f"{questions}\nQUESTION = QUESTIONS[{number - 1}]\n")

    def copy(self, folder: pathlib.Path) -> Course:
        """The same, released already, in another folder."""
        # By cp, which leaves holes in files as holes: one that is handed in has 4 TiB of them.
        subprocess.run(["cp", "--archive", self.folder, folder], check=True)
        course = Course.__new__(Course)
        course.__dict__ |= self.__dict__ | {"folder": folder, "root": folder / "course", "site": folder / "site"}
        course.repository = folder / "repository"
        return course

    @property
    def released(self) -> Notebook:
        """The notebook that students were given."""
        notebook = json.loads((self.root / "release" / NAME / f"{NAME}.ipynb").read_text())
        for cell in notebook["cells"]:
            cell["source"] = "".join(cell["source"])
        return notebook

    @property
    def environment(self) -> dict[str, str]:
        """What commands find in their environment."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        path = os.pathsep.join([str(self.site), str(ROOT / "grader")])  # this tree's grader, whichever is installed
        own = {"HOME": str(self.folder / "home"), "TMPDIR": str(self.folder / "tmp"), "PYTHONPATH": path}
        return kept | own | {"HOST_SECRET": SECRET, "PYTHONDONTWRITEBYTECODE": "1", "IPYTHONDIR": str(self.folder / "home")}

    def command(self, *arguments: str) -> list[str]:
        """The command line of `shardlab-grader` on this course."""
        return [sys.executable, "-m", "shardlab_grader.cli", *arguments, "--course", str(self.root)]

    def run(self, *arguments: str, seconds: float = SECONDS) -> Ended:
        """One command, from start to end, or until it is killed after these seconds."""
        line = [sys.executable, str(LAUNCHER), str(seconds), *self.command(*arguments)]
        ran = subprocess.run(line, env=self.environment, cwd=self.folder, stdout=subprocess.PIPE, check=True)
        return Ended(**json.loads(ran.stdout.splitlines()[-1]))

    def nbgrader(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """One of nbgrader's own commands in the course directory, with both streams as one text."""
        line = [sys.executable, "-m", "nbgrader", *arguments]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return subprocess.run(line, env=self.environment, cwd=self.root, text=True, errors="replace", **streams)

    def place(self, student: str) -> pathlib.Path:
        """A student's folder of the assignment; made when it is missing."""
        place = self.root / "submitted" / student / NAME
        place.mkdir(parents=True, exist_ok=True)
        return place

    def hand_in(self, cases: Iterable[Case]) -> None:
        """Put the class into `submitted/`, an honest student before and after the others."""
        for student in HONEST:
            notebook = answered(self.released, "all")
            notebook["cells"][-1]["source"] += f"\n# {WORK}"
            save(self.place(student), notebook)
        for case in cases:
            case.hand_in(self.place(case.name), self.released)

    def rows(self) -> dict[str, Row]:
        """The report, by student."""
        table = self.folder / "scores.csv"
        ended = self.run("report", NAME, "--names", "--scores", str(table))
        assert ended.status == 0, ended.said
        with table.open(newline="") as file:
            rows = {line["student"].removeprefix("'"): line for line in csv.DictReader(file)}
        return {
            student: Row(line["state"], {q: float(line[q] or 0) for q in POINTS if q in line}, line["reason"])
            for student, line in rows.items()
        }

    def scores(self) -> dict[str, float]:
        """Points in nbgrader's own database, by student."""
        query = """
            select student.id, coalesce(sum(coalesce(grade.manual_score, grade.auto_score)), 0)
            from student left join submitted_assignment on submitted_assignment.student_id = student.id
            left join submitted_notebook on submitted_notebook.assignment_id = submitted_assignment.id
            left join grade on grade.notebook_id = submitted_notebook.id group by student.id
        """
        with contextlib.closing(sqlite3.connect(f"file:{self.root / 'gradebook.db'}?mode=ro", uri=True)) as gradebook:
            return dict(gradebook.execute(query).fetchall())

    def pages(self) -> dict[str, str]:
        """Feedback pages by student."""
        found = self.root.glob(f"feedback/*/{NAME}/{NAME}.html")
        return {path.parts[-3]: path.read_text(errors="replace") for path in found}

    def fixed(self) -> dict[str, tuple[int, int]]:
        """Size and time of every file that grading must leave alone."""
        places = [self.root / name for name in ("submitted", "release", "source")]
        places += [self.root / "nbgrader_config.py", self.site, self.repository, self.folder / "home"]
        kept = self.root / "shardlab"
        places += [*sorted(kept.glob("*.json")), *sorted((kept / "cache").glob("student-*"))]
        files = [path for place in places for path in ([place] if place.is_file() else _all(place))]
        return {str(path): _stamp(path) for path in files}


def _all(place: pathlib.Path) -> list[pathlib.Path]:
    return [pathlib.Path(top, name) for top, folders, names in os.walk(place) for name in [*names, *folders]]


def _stamp(path: pathlib.Path) -> tuple[int, int]:
    status = path.lstat()
    return (status.st_size, status.st_mtime_ns) if path.is_file() and not path.is_symlink() else (0, 0)


def open_port() -> socket.socket:
    """A server of the host that nobody must reach."""
    server = socket.create_server(("127.0.0.1", 0))
    server.setblocking(False)
    return server


def reached(server: socket.socket) -> bool:
    """Whether somebody has connected."""
    try:
        server.accept()[0].close()
    except BlockingIOError:
        return False
    return True


def sleeping() -> list[str]:
    """Command lines of this machine that hold the attacks' mark."""
    found = []
    for task in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            line = (task / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if MARK in line and "launcher" not in line:
            found.append(line)
    return found
