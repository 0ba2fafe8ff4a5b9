"""`settings` and `extend`: a course's own settings, looked at and applied, and more days for single students."""

from __future__ import annotations

import pathlib

import click

from shardlab.errors import ShardlabError
from shardlab_grader.terminal import alone, console, course_option, mended, names_option, typed, wait_option

THERE = click.Path(exists=True, dir_okay=False, path_type=pathlib.Path)
BEGINNING = 'timezone = "Europe/Berlin"\n[assignments.04]\ndeadline = 2027-03-01T18:00:00'


@click.command()
@course_option
@names_option
@wait_option
@click.option("--dry-run", is_flag=True, help="Only say what would change.")
@click.option("--sections", "gradebook", type=THERE, help="Only print the sections of Canvas's exported gradebook, as TOML.")
@click.option("--id", "column", default="", help="With --sections: the column with the names of the folders in submitted/.")
def settings(
    course_dir: pathlib.Path, names: bool, wait: bool, dry_run: bool, gradebook: pathlib.Path | None, column: str
) -> None:
    """Check the course's shardlab.toml, show the term, and change what is already released."""
    from shardlab_grader.lms.sheets import PRESETS, Sheet
    from shardlab_grader.releases import places
    from shardlab_grader.term import applying, reading, showing

    with mended():
        if gradebook:
            console.print(showing.sections(Sheet(PRESETS["canvas"], gradebook).sections(column)), soft_wrap=True)
            return
        course_dir = course_dir.resolve()
        if not (course_dir / reading.FILE).exists():
            mend = f"write one that begins with:\n{BEGINNING}"
            raise ShardlabError("bad-settings", f"there is no {reading.FILE}.", where=str(course_dir), mend=mend)
        found = reading.load(course_dir)
        released = places.releases(course_dir) if (course_dir / places.CONFIG).exists() else []
        console.print(showing.term(found, released))
        for line in showing.rules(found):
            console.print(line, soft_wrap=True)
        with alone(course_dir, "settings", wait):
            for change in [applying.pending(course_dir, found, name) for name in released]:
                for line in change.lines(found, names):
                    console.print(f"{change.assignment}: {line}", soft_wrap=True)
                if change and not dry_run:
                    applying.apply(course_dir, change)
                    console.print(f"done{showing.following(course_dir, change)}", soft_wrap=True)
        if dry_run:
            console.print("a dry run: nothing was changed.")


@click.command()
@click.argument("assignment")
@click.argument("students", nargs=-1)
@click.option(
    "--days", type=click.FloatRange(0, 3650), help="How many extra days, counted from the deadline; 0 takes them back."
)
@click.option("--csv", "table", type=THERE, help="Take students and days from this table, with columns student and days.")
@course_option
@wait_option
def extend(
    assignment: str,
    students: tuple[str, ...],
    days: float | None,
    table: pathlib.Path | None,
    course_dir: pathlib.Path,
    wait: bool,
) -> None:
    """Give students extra days after the common deadline, or after the deadline of their section."""
    if (days is None) == bool(students) or not (students or table):
        raise click.UsageError("name students and --days, or a table: extend 04 gus hana --days 3")
    from shardlab_grader.releases.places import released
    from shardlab_grader.term import extensions, reading, showing

    with mended():
        course_dir = course_dir.resolve()
        name = released(assignment, course_dir)
        wanted = extensions.table(table, name) if table else {}
        wanted |= dict.fromkeys(students, days or 0.0)
        with alone(course_dir, f"extend {name}", wait):
            extensions.extend(course_dir, decided := reading.load(course_dir), name, wanted)
            for line in showing.deadlines(course_dir, decided, name, wanted):
                console.print(line, soft_wrap=True)
        console.print(f"if it is already graded: {typed(f'grade {name} --penalties', course_dir)}", soft_wrap=True)
