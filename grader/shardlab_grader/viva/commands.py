"""`viva`: sheets with questions about what each student handed in."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from shardlab.errors import ShardlabError
from shardlab_grader.sandbox import box
from shardlab_grader.sandbox.box import Mode
from shardlab_grader.terminal import FOLDER, alone, console, course_option, mended, names_option, sandbox_option, wait_option

if TYPE_CHECKING:
    from shardlab_grader.viva.sitting import Sitting


@click.command()
@click.argument("assignment")
@course_option
@sandbox_option
@names_option
@wait_option
@click.option("--student", default="*", help="Only this student, by name or by key.")
@click.option("--seed", type=int, help="Another seed draws other questions.  [default: the release's]")
@click.option("--bank", is_flag=True, help="Ask about the solution's programs instead: for an exam without submissions.")
@click.option("--to", "folder", type=FOLDER, help="Where the sheets go.  [default: COURSE/viva/ASSIGNMENT]")
def viva(
    assignment: str, course_dir: pathlib.Path, mode: Mode, names: bool, wait: bool, student: str, seed: int | None,
    bank: bool, folder: pathlib.Path | None,
) -> None:  # fmt: skip
    """Ask each student about their own submission: up to four questions on paper, with answer keys."""
    from shardlab_course.chapters import QUESTIONS
    from shardlab_course.viva.changes import programs
    from shardlab_grader.releases.places import released
    from shardlab_grader.releases.release import Release
    from shardlab_grader.viva import sheets

    with mended():
        box.probe(mode)
        course_dir = course_dir.resolve()
        name = released(assignment, course_dir)
        if not any(programs(QUESTIONS[question]) for question in Release.load(course_dir, name).manifests):
            what, mend = f"no exercise of {name} asks for a program on a mesh.", "choose an assignment that has programs."
            raise ShardlabError("no-viva", what, where=str(course_dir), mend=mend)
        with alone(course_dir, f"viva {name}", wait):
            made = [_bank(course_dir, name, mode, seed)] if bank else _class(course_dir, name, mode, names, student, seed)
        folder = folder or course_dir / "viva" / name
        shown, keys = sheets.students(name, made), sheets.instructor(name, made)
        if bank:
            files = {"bank.html": shown, "bank-keys.html": keys}
        else:
            files = {"students.html": shown, "keys.html": keys, "marks.csv": _marks(folder, course_dir, name, made)}
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            (folder / file).write_text(text)
            console.print(f"wrote {folder / file}", soft_wrap=True)
        texts = [(asked.text, asked.key) for one in made for asked in one.asked]
        if bank:
            console.print(f"{len(set(texts))} questions about programs of the solution")
            return
        students = sum(bool(one.asked) for one in made)
        console.print(f"{len(texts)} questions ({len(set(texts))} different ones) for {students} students")
        silent = [one for one in made if not one.asked]
        for problem in dict.fromkeys(one.problem for one in silent):
            who = ", ".join(one.student for one in silent if one.problem == problem)
            console.print(f"not asked: {who}: {problem}", soft_wrap=True)


def _marks(folder: pathlib.Path, course_dir: pathlib.Path, name: str, made: Sequence[Sitting]) -> str:
    """The table of marks. Whoever has a mark in the one that is there keeps all rows, and so does whoever is not asked."""
    from shardlab_grader.records.roster import Roster
    from shardlab_grader.viva import marks, sheets

    titles, before = _before(folder / "marks.csv", course_dir, name)
    students, roster = {*(row["student"] for row in before), *(one.student for one in made)}, Roster(course_dir)
    who = {one: roster.student(name, one) or one for one in students}
    mine = [title for title in titles if title not in marks.COLUMNS[:-1]]
    filled = {who[row["student"]] for row in before if any(row[title] for title in mine)}
    if filled:
        console.print(f"kept, as they were filled in: the marks of {len(filled)} student{'s' * (len(filled) != 1)}")
    new = [one for one in made if who[one.student] not in filled]
    asked = {who[one.student] for one in new}
    rows = [row for row in before if who[row["student"]] not in asked]
    rows += csv.DictReader(io.StringIO(sheets.marks(name, new), newline=""))
    written = io.StringIO()
    table = csv.DictWriter(written, list(dict.fromkeys([*marks.COLUMNS, *titles])), restval="")
    table.writeheader()
    table.writerows(sorted(rows, key=lambda row: row["student"]))
    return written.getvalue()


def _before(path: pathlib.Path, course_dir: pathlib.Path, name: str) -> tuple[list[str], list[dict[str, str]]]:
    """The titles and rows of the table of marks that is there.

    Raises:
        ShardlabError: it is no table of marks of this assignment, and would be overwritten.
    """
    from shardlab_grader.records import tables
    from shardlab_grader.viva import marks

    if not path.exists():
        return [], []
    try:
        marks.totals(path, course_dir, name)
    except ShardlabError as error:
        mend = f"{error.mend}\nOr write into another folder: --to FOLDER."
        raise ShardlabError(error.reference, error.what, where=error.where, mend=mend) from None
    return tables.rows(path)


def _bank(course_dir: pathlib.Path, name: str, mode: Mode, seed: int | None) -> Sitting:
    """All questions about the solution that the assignment was released from."""
    import nbformat

    from shardlab_course.editions import edition
    from shardlab_grader.classes.stages import Grading
    from shardlab_grader.releases.release import Release
    from shardlab_grader.sandbox.servers import Servers
    from shardlab_grader.viva.sitting import bank

    grading = Grading(Release.load(course_dir, name), mode)
    source = nbformat.read(course_dir / "source" / name / f"{name}.ipynb", as_version=4)
    solved = json.dumps(edition.solution(source)).encode()
    with Servers() as servers, console.status("running the solution's programs in other situations"):
        return bank(grading, solved, grading.release.seed if seed is None else seed, servers.run)


def _class(course_dir: pathlib.Path, name: str, mode: Mode, names: bool, student: str, seed: int | None) -> list[Sitting]:
    """What each student of a class is asked, less what all are asked; students go by their keys without `names`."""
    from shardlab_course.viva.questions import of_everyone
    from shardlab_grader.classes import classroom, stages
    from shardlab_grader.classes.stages import Grading
    from shardlab_grader.records.roster import Roster
    from shardlab_grader.records.submissions import Contents
    from shardlab_grader.releases.release import Release
    from shardlab_grader.sandbox.servers import Servers
    from shardlab_grader.viva.sitting import sittings

    grading, step = Grading(Release.load(course_dir, name), mode), "running programs in other situations"
    seed = grading.release.seed if seed is None else seed
    made = []
    with Contents() as contents, Servers() as servers, console.status(step) as status:
        wanted = classroom.wanted(course_dir, name, student)
        found = [contents.keep(one) for one in stages.found(grading.release, wanted)]
        keys = Roster(course_dir).enter(name, {one.student: one.key for one in found})
        for one in sittings(grading, contents, found, seed, servers.run):
            made.append(one if names else dataclasses.replace(one, student=keys[one.student]))
            status.update(f"{step}: {len(made)} of {len(found)}")
    common = of_everyone(one.asked for one in made)
    left = ([asked for asked in one.asked if (asked.text, asked.key) not in common] for one in made)
    return [dataclasses.replace(one, asked=asked) for one, asked in zip(made, left)]
