"""`mark`: a sheet of the answers that wait for a person, and what was filled into it."""

from __future__ import annotations

import pathlib

import click

from shardlab.errors import ShardlabError
from shardlab_grader.terminal import FILE, alone, console, course_option, mended, wait_option


@click.command()
@click.argument("assignment")
@click.option("--write", "to", type=FILE, help="Write the answers that wait for a person into this sheet, a CSV file.")
@click.option("--read", "filled", type=FILE, help="Enter the points and comments of this sheet.")
@click.option("--all", "everything", is_flag=True, help="Also write answers that already have points.")
@course_option
@wait_option
def mark(
    assignment: str,
    to: pathlib.Path | None,
    filled: pathlib.Path | None,
    everything: bool,
    course_dir: pathlib.Path,
    wait: bool,
) -> None:
    """Grade by hand in a spreadsheet, by the lines of a rubric and with comments that you can reuse."""
    from shardlab_grader.by_hand import marks, rubric
    from shardlab_grader.nbgrader.course import Course
    from shardlab_grader.releases.places import released
    from shardlab_grader.releases.release import Release

    if (to is None) == (filled is None):
        raise click.UsageError("say --write SHEET, or --read SHEET.")
    with mended():
        course_dir = course_dir.resolve()
        name = released(assignment, course_dir)
        cells = Release.load(course_dir, name).by_hand
        if not cells:
            what, mend = f"a person grades nothing in {name}.", "the judge gives all of its points."
            raise ShardlabError("bad-rubric", what, where=str(course_dir), mend=mend)
        course, path = Course(course_dir), rubric.place(course_dir, name)
        with alone(course_dir, f"mark {name}", wait):
            if rubric.begin(course_dir, name, cells):
                console.print(f"wrote {path}: a rubric to begin with; change it before you mark.", soft_wrap=True)
            lines = rubric.read(path, cells)
            if to is not None:
                answers = marks.waiting(course, name, [*cells], everything)
                kept = marks.filled(to, marks.waiting(course, name, [*cells], everything=True)) if to.is_file() else {}
                marks.write(to, answers, lines, kept)
                rows, before = len({*answers, *kept}), f", {len(kept)} of them as filled in before" * bool(kept)
                console.print(f"wrote {to}: {rows} answer{'s' * (rows != 1)}{before}", soft_wrap=True)
            elif filled is not None:
                given = marks.read(filled, marks.waiting(course, name, [*cells], everything=True), lines)
                errors = [error for error in marks.give(course, name, given) if error]
                console.print(f"points given: {len(given)}", soft_wrap=True)
                for error in errors:
                    console.print(f"no feedback page: {error}", soft_wrap=True)
