"""`shardlab-grader`: release an assignment, grade a class, report, forget a student, and a demonstration."""

from __future__ import annotations

import contextlib
import os
import pathlib
import sys
from collections.abc import Iterator
from typing import get_args

import click
from rich.console import Console
from rich.markup import escape

from shardlab.errors import ShardlabError
from shardlab_grader.classes import faults
from shardlab_grader.sandbox import box as sandbox
from shardlab_grader.sandbox.box import Mode

FOLDER = click.Path(file_okay=False, path_type=pathlib.Path)
FILE = click.Path(dir_okay=False, path_type=pathlib.Path)
WIDTH = 140
"""Of tables that go to a file or a pipe."""
ROOT = pathlib.Path(__file__).parents[2]
HEADS = {True: "student", False: "submission"}
"""Of the first column, by whether names are shown."""
IN_BOX = "Where code runs; none has no walls and is written into every verdict."
NAMED = "Show students' names in place of the submissions' keys. (Always: set SHARDLAB_NAMES=1.)"
course_option = click.option(
    "--course", "course_dir", type=FOLDER, default=".", show_default=True, help="nbgrader's course directory."
)
sandbox_option = click.option(
    "--sandbox", "mode", type=click.Choice(get_args(Mode)), default="bubblewrap", show_default=True, help=IN_BOX
)
names_option = click.option("--names", is_flag=True, envvar="SHARDLAB_NAMES", help=NAMED)
console = Console(highlight=False, width=None if sys.stdout.isatty() else WIDTH)


@click.group()
def main() -> None:
    """Release and grade the assignments of Shardlab, on nbgrader's own course directory."""


@main.command()
@click.argument("assignment")
@course_option
@sandbox_option
@click.option("--repository", "root", type=FOLDER, default=ROOT, show_default="this one", help="Where solutions/ is.")
def release(assignment: str, course_dir: pathlib.Path, mode: Mode, root: pathlib.Path) -> None:
    """Make the notebook that students get, and what grading it needs."""
    from shardlab_grader.releases.release import release as make

    with mended():
        sandbox.probe(mode)
        with console.status(f"releasing {assignment}: running its solution and measuring it"):
            made = make(assignment, course_dir, root, mode)
        console.print(f"released {made.assignment}: {course_dir / 'release' / made.assignment}", soft_wrap=True)
        kept = course_dir / "shardlab"
        console.print(f"{len(made.manifests)} questions, seed {made.seed} (kept in {kept})", soft_wrap=True)


@main.command()
@click.argument("assignment")
@course_option
@sandbox_option
@names_option
@click.option("--workers", type=click.IntRange(1), default=os.cpu_count, help="Notebooks at once.")
@click.option("--student", default="*", help="Only this student, by name or by key.")
@click.option("--scheduler", metavar="ADDRESS", help="Run notebooks on this Dask cluster, for instance tcp://10.0.0.7:8786.")
def grade(
    assignment: str, course_dir: pathlib.Path, mode: Mode, names: bool, workers: int, student: str, scheduler: str | None
) -> None:
    """Grade what is new; the exit status is 1 when a submission stays ungraded."""
    from shardlab_grader.classes.notebook import Settings
    from shardlab_grader.classes.starting import starting
    from shardlab_grader.releases import places

    with contextlib.ExitStack() as stack:
        stack.enter_context(mended())
        course_dir = course_dir.resolve()
        if scheduler is None:
            sandbox.probe(mode)
        name = places.released(assignment, course_dir)
        where = f"on the cluster at {scheduler}" if scheduler else sandbox.limits_in_force(sandbox.Sandbox(mode))
        console.print(where, soft_wrap=True)
        servers = None
        if scheduler is None and places.has_new(course_dir, name):
            faults.check(course_dir)
            settings = Settings(places.cache(course_dir), mode, references=places.references(course_dir, name))
            servers = stack.enter_context(starting(settings, workers))
        # Imported while the servers start.
        from shardlab_grader.classes import classroom
        from shardlab_grader.records.roster import Roster
        from shardlab_grader.releases.release import Release
        from shardlab_grader.reports import live, report

        board, student = live.Board(console, names), Roster(course_dir).student(name, student) or student
        rows = classroom.grade(
            course_dir, name, mode, workers, board.progress, student, told=board.told, scheduler=scheduler, servers=servers
        )
        shown = rows if names else classroom.nameless(rows, course_dir)
        release = Release.load(course_dir, name)
        console.print(report.table(shown, classroom.points(release), HEADS[names], classroom.observed(release)))
        console.print(report.summary(rows))
        if not names:
            console.print(f"keys, not names; who is who: shardlab-grader report {name} --names", soft_wrap=True)
        sys.exit(any(row.status == "ungraded" for row in rows))


@main.command("report")
@click.argument("assignment")
@course_option
@names_option
@click.option("--submissions", is_flag=True, help="Add a row for each submission; --names does so too.")
@click.option("--csv", "table", type=FILE, help="Write the figures of the exercises to this file.")
@click.option("--scores", type=FILE, help="Write the points of the submissions to this file.")
@click.option("--html", type=FILE, help="Write all of it, with pictures, to this one page.")
def show(
    assignment: str,
    course_dir: pathlib.Path,
    names: bool,
    submissions: bool,
    table: pathlib.Path | None,
    scores: pathlib.Path | None,
    html: pathlib.Path | None,
) -> None:
    """Show what happened in each exercise, from what was graded."""
    from shardlab_grader.classes import classroom
    from shardlab_grader.releases.places import released
    from shardlab_grader.releases.release import Release
    from shardlab_grader.reports import figures, report, report_page

    with mended():
        course_dir = course_dir.resolve()
        name = released(assignment, course_dir)
        release = Release.load(course_dir, name)
        rows, points = classroom.rows(course_dir, name), classroom.points(release)
        rows = rows if names else classroom.nameless(rows, course_dir)
        listed = rows if names or submissions else [row for row in rows if row.status == "ungraded"]
        found = figures.figures(classroom.records(course_dir, name), classroom.questions(release))
        observed = classroom.observed(release)
        for part in (report.table(listed, points, HEADS[names], observed),) * bool(listed) + report.tables(found):
            console.print(part, "")
        for line in (*report.sentences(found), report.summary(rows)):
            console.print(line)
        if table:
            report.write_csv(found, table)
        if scores:
            report.write_scores(rows, points, scores, HEADS[names], observed)
        if html:
            html.write_text(report_page.page(name, found, rows if names or submissions else (), points))
        for path in filter(None, (table, scores, html)):
            console.print(f"wrote {path}", soft_wrap=True)


@main.command()
@click.argument("student")
@course_option
def forget(student: str, course_dir: pathlib.Path) -> None:
    """Delete what is kept of a student, and say what stays with nbgrader."""
    from shardlab_grader.records import forgetting

    with mended():
        gone = forgetting.forget(course_dir.resolve(), student)
        verdicts = f"{gone.verdicts} verdict{'s' * (gone.verdicts != 1)}"
        pages = f"{len(gone.folders)} folder{'s' * (len(gone.folders) != 1)} of feedback pages"
        console.print(f"deleted: {verdicts}, the student's keys, {pages}.")
        if gone.stays:
            console.print("not deleted, because nbgrader or you made it; while it is there, grading takes it up again:")
        for what, remove in gone.stays:
            console.print(f"  {escape(what)}\n    {escape(remove)}", soft_wrap=True)
        console.print("not known here: exported tables, pages written with --names, the exchange, backups.")


@main.command()
@click.argument("directory", type=FOLDER, default=ROOT / "build" / "demo")
@sandbox_option
def demo(directory: pathlib.Path, mode: Mode) -> None:
    """Grade a small sample class and compare each score with the one written beside its answers."""
    from shardlab_grader.demo.run import run
    from shardlab_grader.reports import live

    with mended():
        sandbox.probe(mode)
        sys.exit(run(directory, ROOT, mode, console, live.Board(console, names=True).progress))


@contextlib.contextmanager
def mended() -> Iterator[None]:
    """Show a mistake that its reader can mend without a traceback."""
    try:
        yield
    except ShardlabError as error:
        print(error, file=sys.stderr)
        sys.exit(1)
    except OSError as error:
        print(faults.refused(error), file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("stopped; what was graded is kept, and the same command goes on from here.", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
