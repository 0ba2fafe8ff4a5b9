"""`collect` and `export`: from an LMS's archive into `submitted/`, and scores into the LMS's own table."""

from __future__ import annotations

import dataclasses
import math
import pathlib
import zoneinfo
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from shardlab.errors import ShardlabError
from shardlab_grader.lms.sheets import PRESETS, Sheet
from shardlab_grader.terminal import FILE, alone, console, course_option, mended, names_option, typed, wait_option

if TYPE_CHECKING:
    from shardlab_grader.reports.report import Row

THERE = click.Path(exists=True, dir_okay=False, path_type=pathlib.Path)
MOST = 12
"""Names that a line lists."""
SAID = {
    "new": "new",
    "replaced": "replaced",
    "same": "as before",
    "times": "of them, handed in at another time than was known",
    "late": "marked late by the LMS, which gives no time",
    "other": "of another chapter; collected where there was nothing before",
    "unknown": "not in the table, or Canvas's test student, and not collected",
    "twice": "claimed for one student under two names, and not collected; check whose they are",
    "large": "larger than the limit, and not collected",
    "left": "other files, left alone",
}


def lms_option(flag: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The choice of the LMS."""
    return click.option(flag, "lms", type=click.Choice(list(PRESETS)), required=True, help="The LMS.")


id_option = click.option(
    "--id", "column", default="", help="The table's column with the names of the folders in submitted/."
)


@click.command()
@click.argument("assignment")
@click.argument("archive", type=click.Path(exists=True, path_type=pathlib.Path))
@lms_option("--from")
@click.option("--table", type=THERE, required=True, help="Canvas's exported gradebook, or Moodle's grading worksheet.")
@id_option
@click.option("--timezone", help="The time zone of the table, such as Europe/Berlin; without it, no submission is late.")
@course_option
@names_option
@wait_option
def collect(
    assignment: str,
    archive: pathlib.Path,
    lms: str,
    table: pathlib.Path,
    column: str,
    timezone: str | None,
    course_dir: pathlib.Path,
    names: bool,
    wait: bool,
) -> None:
    """Take each student's notebook out of an LMS's archive of submissions, packed or unpacked."""
    from shardlab_grader.lms import archives
    from shardlab_grader.records import roster
    from shardlab_grader.releases.places import released

    with mended():
        name, preset = released(assignment, course_dir), PRESETS[lms]
        sheet = Sheet(preset, table)
        students = sheet.students(column)
        times = sheet.times(zone(timezone)) if timezone else {}
        with alone(course_dir, f"collect {name}", wait):
            done = archives.collect(archive, preset, students, times, course_dir, name, roster.people(course_dir))
        for field, found in dataclasses.asdict(done).items():
            say(SAID[field], found, names)
        if not times:
            console.print("no times are known, so no submission is late.", soft_wrap=True)
        # What is graded already is not looked at again, unless penalties are counted anew.
        again = " --penalties" * bool(done.times)
        console.print(f"next: {typed(f'grade {name}{again}', course_dir)}", soft_wrap=True)


@click.command("feedback")
@click.argument("assignment")
@click.argument("archive", type=click.Path(exists=True, path_type=pathlib.Path))
@lms_option("--to")
@click.option("--table", type=THERE, required=True, help="Canvas's exported gradebook, or Moodle's grading worksheet.")
@id_option
@click.option("--output", type=FILE, help="The archive to upload.  [default: ASSIGNMENT-LMS-feedback.zip]")
@course_option
@names_option
def feedback(
    assignment: str,
    archive: pathlib.Path,
    lms: str,
    table: pathlib.Path,
    column: str,
    output: pathlib.Path | None,
    course_dir: pathlib.Path,
    names: bool,
) -> None:
    """Pack the feedback pages under the names that an LMS gave the submissions, to be uploaded there."""
    from shardlab_grader.lms import pages
    from shardlab_grader.releases.places import released

    with mended():
        course_dir = course_dir.resolve()
        name, preset = released(assignment, course_dir), PRESETS[lms]
        output = apart(output or pathlib.Path(f"{name}-{lms}-feedback.zip"), archive, "the archive of submissions itself.")
        done = pages.pack(archive, preset, Sheet(preset, table).students(column), course_dir, name, output)
        say("pages", done.packed, names)
        say("handed in, but without a page because not graded yet", done.without, names)
        console.print(f"wrote {output}", soft_wrap=True)


@click.command()
@click.argument("assignment")
@click.argument("table", type=THERE)
@lms_option("--to")
@click.option("--column", "title", default="", help="Canvas's title of the assignment.  [default: the assignment's name]")
@id_option
@click.option("--scale", is_flag=True, help="Scale the scores if the LMS counts a different number of points.")
@click.option("--comments", is_flag=True, help="Also say where points were lost, in Moodle's column of comments.")
@click.option("--marks", type=THERE, help="The marks.csv of a viva, filled in: write each student's sum in place of scores.")
@click.option("--output", type=FILE, help="The filled table.  [default: ASSIGNMENT-LMS.csv]")
@course_option
@names_option
def export(
    assignment: str,
    table: pathlib.Path,
    lms: str,
    title: str,
    column: str,
    scale: bool,
    comments: bool,
    marks: pathlib.Path | None,
    output: pathlib.Path | None,
    course_dir: pathlib.Path,
    names: bool,
) -> None:
    """Write the scores into a copy of an LMS's own table, to be uploaded there."""
    from shardlab_grader.releases.places import released
    from shardlab_grader.viva.marks import totals

    if marks and (scale or comments):
        raise click.UsageError("--marks goes with neither --scale nor --comments: the sums are written as they are.")
    with mended():
        course_dir = course_dir.resolve()
        name, preset = released(assignment, course_dir), PRESETS[lms]
        itself = "the table itself: the LMS's own copy is worth keeping."
        output = apart(output or pathlib.Path(f"{name}-{lms}.csv"), table, itself)
        sheet = Sheet(preset, table)
        (scores, open_), most, told = (totals(marks, course_dir, name), None, {}) if marks else final(course_dir, name)
        students = sheet.students(column)
        given = {user: scores[student] for user, student in students.items() if student in scores}
        said = {user: told[student] for user, student in students.items() if student in told} if comments else None
        output.write_text(sheet.filled(given, most, title or name, scale, said), "utf-8")
        console.print(f"scores: {len(given)} of {len(students)} students", soft_wrap=True)
        say("left empty, because ungraded or waiting for a person", sorted(open_ & set(students.values())), names)
        say("graded, but not in the table", sorted(set(scores) - set(students.values())), names)
        console.print(f"wrote {output}", soft_wrap=True)


def apart(output: pathlib.Path, read: pathlib.Path, itself: str) -> pathlib.Path:
    """Where to write, which is never the file that is read.

    Raises:
        click.UsageError: it is.
    """
    if output.exists() and output.samefile(read):
        raise click.UsageError(f"--output is {itself}")
    return output


def final(course_dir: pathlib.Path, name: str) -> tuple[tuple[dict[str, float], set[str]], float, dict[str, str]]:
    """The final score of each student, less the penalty, and who has none yet; the points of all; what a student is told."""
    from shardlab_grader.classes import classroom
    from shardlab_grader.nbgrader.course import Course
    from shardlab_grader.releases.release import Release

    course, rows, scores, told = Course(course_dir), classroom.rows(course_dir, name), dict[str, float](), dict[str, str]()
    points = classroom.points(Release.load(course_dir, name))
    most = sum(points.values())
    for row in rows:
        if row.status == "graded" and not row.waiting and row.total is not None:
            found = course.scored(name, row.student)
            scores[row.student] = max(0.0, row.total - found.penalty)
            parts = (f"{scores[row.student]:g} of {most:g} points", _lost(row, points), found.lateness.capitalize())
            told[row.student] = ". ".join(filter(None, parts)) + "."
    return (scores, {row.student for row in rows} - set(scores)), most, told


def _lost(row: Row, points: Mapping[str, float]) -> str:
    """In which exercises points were lost; nothing where a person changed some, as only their sum is known here."""
    found = [f"{one} ({row.points.get(one, 0):g} of {of:g})" for one, of in points.items() if row.points.get(one, 0) < of]
    judged = math.isclose(sum(row.points.values()), row.total or 0.0, abs_tol=0.01)
    return f"Points lost in {', '.join(found)}" if found and judged else ""


def zone(name: str) -> zoneinfo.ZoneInfo:
    """The time zone of this name.

    Raises:
        ShardlabError: there is none.
    """
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        mend = "write it as Europe/Berlin or America/New_York; UTC works, too."
        raise ShardlabError("lms-table", f"there is no time zone {name!r}.", where="--timezone", mend=mend) from None


def say(what: str, found: Sequence[str], names: bool) -> None:
    """How many there are, if any; with `names` the first of them too."""
    if found:
        more = f" and {len(found) - MOST} more" if len(found) > MOST else ""
        listed = f": {', '.join(found[:MOST])}{more}" if names else ""
        console.print(f"{what}: {len(found)}{listed}", soft_wrap=True)
