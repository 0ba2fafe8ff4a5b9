"""The instructor's guide, word for word: from an empty directory to exported grades."""

from __future__ import annotations

import csv
import os
import pathlib
import re
import subprocess
import sys
import zipfile

import nbformat
import pytest

from shardlab_course.editions import edition

ROOT = pathlib.Path(__file__).parents[2]
GUIDE = (ROOT / "jupyter_book" / "instructors.md").read_text()
NAME = "04_four_matmul_cases"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ARCHIVES = {
    "submissions.zip": {
        "gus": f"lindgrengus_4711_90210_{NAME}.ipynb",
        "hana": f"novakhana_LATE_4712_90211_{NAME}-1.ipynb",
    },
    "PAR101-Four matmul cases-912.zip": {
        "gus": f"Gus Lindgren_657701_assignsubmission_file/{NAME}.ipynb",
        "hana": f"Hana Novak_657702_assignsubmission_file/{NAME}.ipynb",
    },
}
"""What each LMS calls the files of those of the guide's roster who hand in; ivo never does."""
TABLES = {
    "id,": "mycourse/roster.csv",
    "timezone": "mycourse/shardlab.toml",
    "Student,": "gradebook.csv",
    "Identifier,": "worksheet.csv",
}
"""Where the guide's tables are put, by how they begin."""


def section(title: str) -> list[tuple[str, str]]:
    """The blocks below a heading of the guide, each with its kind."""
    (text,) = re.findall(rf"^##+ {title}\n(.*?)(?=^##+ )", GUIDE, re.MULTILINE | re.DOTALL)
    return BLOCK.findall(text)


class Instructor:
    """Somebody in an empty directory, with the commands that `make` has installed."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder, self.course = folder, folder / "mycourse"
        commands = folder / ".venv" / "bin"
        commands.mkdir(parents=True)
        (commands / "shardlab-grader").write_text(f'#!/bin/sh\nexec {sys.executable} -m shardlab_grader.cli "$@"\n')
        (commands / "shardlab-grader").chmod(0o755)
        (commands / "nbgrader").symlink_to(pathlib.Path(sys.executable).with_name("nbgrader"))
        path = os.pathsep.join([str(commands), os.environ["PATH"]])
        packages = os.pathsep.join([str(ROOT / "src"), str(ROOT / "grader")])
        self.environment = {**os.environ, "PATH": path, "PYTHONPATH": packages, "JAX_PLATFORMS": "cpu"}
        self.said: dict[str, str] = {}

    def follow(self, title: str) -> None:
        """Do what the blocks of a section say: settings go to the end of the configuration, nbgrader runs in the course."""
        for kind, text in section(title):
            if kind == "python":
                with (self.course / "nbgrader_config.py").open("a") as file:
                    file.write(f"\n{text}")
            elif places := [place for head, place in TABLES.items() if text.startswith(head)]:
                (self.folder / places[0]).write_text(text)
            elif kind == "sh":
                for line in text.splitlines():
                    self.run(line, self.course if line.startswith("nbgrader") else self.folder)

    def run(self, line: str, where: pathlib.Path) -> None:
        """One line of the guide in a shell."""
        done = subprocess.run(["bash", "-ec", line], cwd=where, env=self.environment, capture_output=True, text=True)
        self.said[line] = done.stdout + done.stderr
        assert done.returncode == 0, f"{line}\n{self.said[line]}"

    def download(self) -> None:
        """What the LMSs give: an archive with a notebook of each who has handed in; hana has left exercise 4.2 open."""
        solved = edition.solution(nbformat.read(self.course / "source" / NAME / f"{NAME}.ipynb", as_version=4))
        given = nbformat.read(self.course / "release" / NAME / f"{NAME}.ipynb", as_version=4)
        open = {cell.id: cell.source for cell in given.cells if cell.id.startswith("q4-2-answer")}
        texts = {"gus": nbformat.writes(solved)}
        for cell in solved.cells:
            cell.source = open.get(cell.id, cell.source)
        texts["hana"] = nbformat.writes(solved)
        for name, files in ARCHIVES.items():
            with zipfile.ZipFile(self.folder / name, "w") as archive:
                for student, path in files.items():
                    archive.writestr(path, texts[student])


@pytest.mark.thorough
@pytest.mark.sandbox
@pytest.mark.notebook
def test_from_an_empty_directory_to_exported_grades(tmp_path: pathlib.Path) -> None:
    """Scores, lateness and who is missing come out as the guide says."""
    instructor = Instructor(tmp_path)
    instructor.follow("Release")
    instructor.follow("Name and roster")
    instructor.follow("Your course's own settings")
    instructor.follow("Late submissions")
    instructor.download()
    for title in ("An archive of an LMS", "Grade", "Report", "Export"):
        instructor.follow(title)
    from_canvas, from_moodle = (said for line, said in instructor.said.items() if " collect " in line)
    assert from_canvas.startswith(
        "new: 2\nmarked late by the LMS, which gives no time: 1\nno times are known, so no submission is late.\n"
    )
    assert from_moodle.startswith("as before: 2\nof them, handed in at another time than was known: 2\nnext: ")
    shown = instructor.said[".venv/bin/shardlab-grader settings --course mycourse --dry-run"]
    assert "deadline: none -> 2027-03-01 19:00 Europe/Berlin" in shown and "deadlines of 1 student\n" in shown
    extended = instructor.said[".venv/bin/shardlab-grader extend 04 gus ivo --days 2 --course mycourse"]
    assert "2027-03-03 19:00 Europe/Berlin for 1 of 2 students" in extended
    assert "3 enrolled, 2 handed in, missing: " in instructor.said[".venv/bin/shardlab-grader grade 04 --course mycourse"]
    assert "4.2" in (tmp_path / "report.html").read_text()
    with (instructor.course / "grades.csv").open(newline="") as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file)}
    assert {student: row["last_name"] for student, row in rows.items()} == {
        "gus": "Lindgren",
        "hana": "Novak",
        "ivo": "Petrov",
    }
    most = float(rows["gus"]["max_score"])
    left_open = next(float(c.metadata.nbgrader.points) for c in cells(instructor) if c.id == "q4-2")
    raw = {"gus": most, "hana": most - left_open, "ivo": 0.0}
    penalty = {"gus": 0.0, "hana": 0.1 * raw["hana"], "ivo": 0.0}
    for student, row in rows.items():
        assert (float(row["raw_score"]), float(row["late_submission_penalty"] or 0)) == pytest.approx(
            (raw[student], penalty[student])
        )
        assert float(row["score"]) == pytest.approx(raw[student] - penalty[student])
    assert (rows["ivo"]["timestamp"], rows["hana"]["timestamp"]) == ("", "2027-03-02 09:00:00")
    final = {student: f"{round(raw[student] - penalty[student], 2):g}" for student in raw} | {"ivo": ""}
    canvas, moodle = (list(csv.reader((tmp_path / name).read_text().splitlines())) for name in ("canvas.csv", "moodle.csv"))
    assert canvas[0] == ["Student", "ID", "SIS Login ID", "Section", "Four matmul cases (8801)"]
    assert {row[2]: row[4] for row in canvas[1:]} == {"": f"{most:g}"} | final
    assert {row[2]: row[4] for row in moodle[1:]} == final


def cells(instructor: Instructor) -> list[nbformat.NotebookNode]:
    """Those of the notebook that students were given which nbgrader knows."""
    given = nbformat.read(instructor.course / "release" / NAME / f"{NAME}.ipynb", as_version=4)
    return [cell for cell in given.cells if "nbgrader" in cell.metadata]
