"""`shardlab-grader`: begin a chapter, release an assignment, grade a class, report, forget a student, a demonstration."""

from __future__ import annotations

import contextlib
import datetime
import functools
import io
import pathlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

import shardlab
from shardlab_grader import statuses
from shardlab_grader.by_hand.commands import mark
from shardlab_grader.classes import faults
from shardlab_grader.lms.commands import collect, export, feedback
from shardlab_grader.sandbox import box as sandbox
from shardlab_grader.sandbox.box import Mode
from shardlab_grader.term.commands import extend, settings
from shardlab_grader.terminal import (
    FILE,
    FOLDER,
    Steps,
    alone,
    console,
    course_option,
    mended,
    names_option,
    sandbox_option,
    typed,
    wait_option,
)
from shardlab_grader.viva.commands import viva

if TYPE_CHECKING:
    from shardlab_grader.records.changes import Change
    from shardlab_grader.releases.variants import By
    from shardlab_grader.reports.report import Row
    from shardlab_grader.sandbox.servers import Servers

ROOT = pathlib.Path(__file__).parents[2]
HEADS = {True: "student", False: "submission"}
"""Of the first column, by whether names are shown."""


@click.group(epilog=statuses.epilog())
@click.version_option(shardlab.__version__, prog_name="shardlab-grader")
def main() -> None:
    """Release and grade the assignments of Shardlab, on nbgrader's own course directory."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal's encoding may lack the letters of a name


main.add_command(collect)
main.add_command(export)
main.add_command(feedback)
main.add_command(mark)
main.add_command(settings)
main.add_command(extend)
main.add_command(viva)


@main.command()
@click.argument("folder", type=FOLDER)
def new(folder: pathlib.Path) -> None:
    """Begin a chapter of your own, in a folder such as 50_rings."""
    from shardlab_grader.own.new import write

    with mended():
        for path in write(folder):
            console.print(f"wrote {folder / path.relative_to(folder.resolve())}", soft_wrap=True)
        console.print(f"next: make it yours; then  shardlab-grader check {folder}", soft_wrap=True)


@main.command()
@click.argument("folder", type=FOLDER)
@click.option(
    "--only", "part", type=click.Choice(["questions", "solution", "notebook", "answers"]), help="Check only this part."
)
@click.option("--question", help="Check only the answers to this exercise, such as 50.1.")
@sandbox_option
def check(folder: pathlib.Path, part: str | None, question: str | None, mode: Mode) -> None:
    """Check whether a chapter of your own is ready for students."""
    from shardlab_grader.own.check import check as look

    if question and part not in (None, "answers"):
        raise click.UsageError("--question is about answers: leave --only out.")
    with mended():
        sandbox.probe(mode)
        good = True
        for name, faults in look(folder, mode, only=part, question=question, told=Steps()):
            good = good and not faults
            for line in [f"{name}: {'as it should be' if not faults else ''}".rstrip(), *(f"  {fault}" for fault in faults)]:
                console.print(line, soft_wrap=True)
        sys.exit(statuses.DONE if good else statuses.MEND)


@main.command()
@click.argument("assignment")
@course_option
@sandbox_option
@wait_option
@click.option("--core", is_flag=True, help="Omit the optional exercises.")
@click.option(
    "--variant-by", type=click.Choice(["year", "student"]), help="Give mesh axes other names: for all, or for each."
)
@click.option(
    "--year", type=int, default=lambda: datetime.date.today().year, show_default="this year", help="For --variant-by year."
)
@click.option("--repository", "root", type=FOLDER, default=ROOT, show_default="this one", help="Where solutions/ is.")
def release(
    assignment: str,
    course_dir: pathlib.Path,
    mode: Mode,
    wait: bool,
    core: bool,
    variant_by: By | None,
    year: int,
    root: pathlib.Path,
) -> None:
    """Make the notebook that students get and everything needed to grade it, from a chapter or a folder of your own.

    With another variant each year:  shardlab-grader release 04 --variant-by year --year 2027
    """
    from shardlab_grader.releases import places
    from shardlab_grader.releases.release import chapter
    from shardlab_grader.releases.release import release as make
    from shardlab_grader.releases.variants import Variants
    from shardlab_grader.releases.variants import told as told_of
    from shardlab_grader.term import applying, reading

    with mended():
        sandbox.probe(mode)
        name, steps = chapter(assignment, root).stem, Steps()
        vary = Variants(variant_by, year if variant_by == "year" else 0) if variant_by else None
        with alone(course_dir, f"release {name}", wait):
            made = make(assignment, course_dir, root, mode, core=core, vary=vary, told=steps)
            decided = reading.load(course_dir)
            applying.apply(course_dir, applying.pending(course_dir, decided, made.assignment))
        console.print(f"released {made.assignment}: {course_dir / 'release' / made.assignment}", soft_wrap=True)
        for line in told_of(made.vary, made.manifests):
            console.print(line, soft_wrap=True)
        if made.vary.by == "student":
            console.print(f"a notebook for each student: {places.variants(course_dir) / made.assignment}", soft_wrap=True)
        kept = course_dir / "shardlab"
        console.print(f"{len(made.manifests)} questions, seed {made.seed} (kept in {kept})", soft_wrap=True)


@main.command(epilog=statuses.epilog())
@click.argument("assignment")
@course_option
@sandbox_option
@names_option
@wait_option
@click.option("--dry-run", is_flag=True, help="Judge, and say what would change; write no score, page or verdict.")
@click.option("--verbose", is_flag=True, help="Also list unchanged rows, all missing students, and the limits.")
@click.option("--penalties", is_flag=True, help="Compute all penalties again, after a change of deadlines or rules.")
@click.option("--workers", type=click.IntRange(1), default=sandbox.usable_cores, help="How many notebooks to run at once.")
@click.option("--student", default="*", help="Only this student, by name or by key.")
@click.option("--scheduler", help="Run notebooks on this Dask cluster, for instance tcp://10.0.0.7:8786.")
def grade(
    assignment: str,
    course_dir: pathlib.Path,
    mode: Mode,
    names: bool,
    wait: bool,
    dry_run: bool,
    verbose: bool,
    penalties: bool,
    workers: int,
    student: str,
    scheduler: str | None,
) -> None:
    """Grade what is new, and list it with what is ungraded."""
    from shardlab_grader.releases import places
    from shardlab_grader.term import applying, reading

    if dry_run and (scheduler or penalties):
        raise click.UsageError("--dry-run judges on this machine and writes nothing: leave --scheduler and --penalties out.")
    with contextlib.ExitStack() as stack:
        stack.enter_context(mended("stopped; what was graded is kept, and the same command goes on from here."))
        course_dir = course_dir.resolve()
        if scheduler is None:
            sandbox.probe(mode)
        name = places.released(assignment, course_dir)
        decided = reading.load(course_dir)  # whose mistakes are told before anything runs
        stack.enter_context(alone(course_dir, f"grade {name}", wait))
        say_where(mode, scheduler, verbose)
        if not dry_run and (left := applying.due(course_dir, decided, name)):
            told = f"{reading.FILE} says otherwise than what is released: {'; '.join(left.lines(decided, names))}"
            console.print(f"{told}\nto change it: {typed('settings', course_dir)}", soft_wrap=True)
        servers = None if scheduler else stack.enter_context(started(course_dir, name, mode, workers))
        # Imported while the servers start.
        from shardlab_grader.classes import classroom
        from shardlab_grader.reports import live

        board, only = live.Board(console, names), classroom.wanted(course_dir, name, student)
        changes: list[Change] = []
        judge = functools.partial(classroom.grade, scheduler=scheduler, servers=servers, dry=dry_run, again=penalties)
        judge = functools.partial(judge, told=board.told, changed=changes.append)
        rows = judge(course_dir, name, mode, workers, board.progress, only)
        show_class(rows, changes, course_dir, name, names, verbose, everybody=only == "*")
        if dry_run:
            console.print("a dry run: no score, page or verdict was written.")
        if not names:
            told = typed(f"report {name} --names", course_dir)
            console.print(f"these are keys; for the names: {told}", soft_wrap=True)
        sys.exit(statuses.LOOK if any(row.status == "ungraded" for row in rows) else statuses.DONE)


@main.command("report")
@click.argument("assignment")
@course_option
@names_option
@click.option("--submissions", is_flag=True, help="Add a row for each submission, as --names does.")
@click.option(
    "--similar", "alike", is_flag=True, help="Add the pairs whose answers are equal after renaming, in the terminal only."
)
@click.option("--csv", "table", type=FILE, help="Write the figures of the exercises to this file.")
@click.option("--scores", type=FILE, help="Write the points of the submissions to this file.")
@click.option("--html", type=FILE, help="Write the whole report, with pictures, to this page.")
def show(
    assignment: str,
    course_dir: pathlib.Path,
    names: bool,
    submissions: bool,
    alike: bool,
    table: pathlib.Path | None,
    scores: pathlib.Path | None,
    html: pathlib.Path | None,
) -> None:
    """Show what happened in each exercise, as far as it is graded."""
    from shardlab_grader.classes import classroom
    from shardlab_grader.releases.places import released
    from shardlab_grader.releases.release import Release
    from shardlab_grader.reports import figures, report, report_page, similar

    with mended():
        course_dir = course_dir.resolve()
        name = released(assignment, course_dir)
        release = Release.load(course_dir, name)
        rows, points = classroom.rows(course_dir, name), classroom.points(release)
        kept = classroom.kept_changes(course_dir, name, rows)
        shown = {row.student: row.student if names else row.key for row in rows}
        named, keyed = rows, classroom.nameless(rows, course_dir)
        rows = named if names else keyed
        listed = rows if names or submissions else [row for row in rows if row.status == "ungraded"]
        found = figures.figures(classroom.records(course_dir, name), classroom.questions(release))
        observed = classroom.observed(release)
        if listed:
            console.print(report.table(listed, points, HEADS[names], observed, console.width), "")
        for part in report.tables(found):
            console.print(part, "")
        versions = report.graded_with(kept.versions)
        for line in (*report.sentences(found), *report.changed(kept.changes, names), *versions, report.summary(rows)):
            console.print(line)
        if alike:
            for told in similar.parts(classroom.answers(course_dir, name), shown, name):
                console.print(told)
        if table:
            report.write_csv(found, table)
        if scores:
            report.write_scores(rows, points, scores, HEADS[names], observed)
        if html:
            open_ = _asked_for("names")
            mailed = named if open_ else keyed if submissions else ()
            changed = [*report.changed(kept.changes, open_), *versions]
            html.write_text(report_page.page(name, found, mailed, points, changed))
        for path in filter(None, (table, scores, html)):
            console.print(f"wrote {path}", soft_wrap=True)


def _asked_for(option: str) -> bool:
    """Whether this command was typed with the option: a page that may be mailed has names for no other reason."""
    return click.get_current_context().get_parameter_source(option) is click.core.ParameterSource.COMMANDLINE


@main.command()
@click.argument("student")
@course_option
@wait_option
def forget(student: str, course_dir: pathlib.Path, wait: bool) -> None:
    """Delete what is kept about a student, and say what stays with nbgrader."""
    from shardlab_grader.nbgrader.course import Course
    from shardlab_grader.records import forgetting

    with mended():
        Course(course_dir)  # before a lock is made where there is none
        with alone(course_dir, "forget", wait):
            gone = forgetting.forget(course_dir.resolve(), student)
        verdicts = f"{gone.verdicts} verdict{'s' * (gone.verdicts != 1)}"
        pages = f"{len(gone.folders)} folder{'s' * (len(gone.folders) != 1)} of feedback pages"
        console.print(f"deleted: {verdicts}, the student's keys, {pages}.")
        if gone.stays:
            console.print("not deleted, because nbgrader or you made these; while they are there, grading uses them again:")
        for what, remove in gone.stays:
            console.print(f"  {what}\n    {remove}", soft_wrap=True)
        console.print("not searched: exported tables, pages written with --names, the exchange, backups.")


@main.command()
@course_option
@wait_option
@click.option("--dry-run", is_flag=True, help="Only say what would be deleted.")
def tidy(course_dir: pathlib.Path, wait: bool, dry_run: bool) -> None:
    """Delete verdicts that no longer belong to a submission: those of earlier releases, versions and answers."""
    from shardlab_grader.nbgrader.course import Course
    from shardlab_grader.records import tidying

    with mended():
        Course(course_dir)  # before a lock is made where there is none
        with alone(course_dir, "tidy", wait):
            swept = tidying.tidy(course_dir.resolve(), dry=dry_run)
        verdicts = f"{swept.verdicts} old verdict{'s' * (swept.verdicts != 1)}, {swept.bytes:,} bytes"
        console.print(f"{'would delete' if dry_run else 'deleted'}: {verdicts}; {swept.stay} stay.")


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


def say_where(mode: Mode, scheduler: str | None, verbose: bool) -> None:
    """Print where code will run; what is not the usual in any case, all limits when asked."""
    if scheduler:
        console.print(f"on the cluster at {scheduler}", soft_wrap=True)
    elif verbose or mode != "bubblewrap":
        from shardlab_grader.classes.notebook import Settings

        cell = f"{Settings.cell_seconds:g} s, {Settings.cell_cpu_seconds:g} s of CPU time"
        rows = sandbox.limits_in_force(sandbox.Sandbox(mode), ("one cell, one answer", cell, "raised inside"))
        console.print(rows, soft_wrap=True)
    else:
        console.print(f"sandbox: {mode}")


@contextlib.contextmanager
def started(course_dir: pathlib.Path, name: str, mode: Mode, workers: int) -> Iterator[Servers | None]:
    """Servers that start while everything else is imported; none where there seems to be nothing new."""
    from shardlab_grader.classes.notebook import Settings
    from shardlab_grader.classes.starting import starting
    from shardlab_grader.releases import places

    if not places.has_new(course_dir, name):
        yield None
        return
    faults.check(course_dir, name)
    found, chapter = places.references(course_dir, name), places.chapter(course_dir, name)
    settings = Settings(places.cache(course_dir), mode, references=found, chapter=chapter)
    with starting(settings, workers) as servers:
        yield servers


def show_class(
    rows: list[Row], changes: list[Change], course_dir: pathlib.Path, name: str, names: bool, verbose: bool, everybody: bool
) -> None:
    """Print the rows that are new or ungraded, or all, what changed, and if `everybody` was meant how many handed in."""
    from shardlab_grader.classes import classroom
    from shardlab_grader.releases.release import Release
    from shardlab_grader.reports import report

    release = Release.load(course_dir, name)
    shown = rows if names else classroom.nameless(rows, course_dir)
    listed = [row for row in shown if verbose or row.fresh or row.status == "ungraded"]
    if listed:
        points, observed = classroom.points(release), classroom.observed(release)
        console.print(report.table(listed, points, HEADS[names], observed, console.width))
    if len(listed) < len(rows):
        console.print(f"as before, and not listed without --verbose: {len(rows) - len(listed)}")
    lines = [*report.changed(changes, names), *report.finals(shown), report.summary(rows)]
    lines += report.old_points(classroom.outdated(release)) + report.old_questions(release.copy is not None)
    if everybody:
        absent = classroom.absent(course_dir, name, rows)
        lines.append(report.enrolment(len(rows), sorted(absent if names else absent.values()), verbose))
    for line in lines:
        console.print(line, soft_wrap=True)


if __name__ == "__main__":
    main()
