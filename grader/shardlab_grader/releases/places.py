"""Where things lie in a course directory: what can be said of a release without reading it."""

from __future__ import annotations

import os
import pathlib
import re
from collections.abc import Sequence

from shardlab.errors import ShardlabError

CONFIG = "nbgrader_config.py"


def kept(course_dir: pathlib.Path, assignment: str) -> pathlib.Path:
    """What a release must keep: its seed and its manifests."""
    return course_dir / "shardlab" / f"{assignment}.json"


def references(course_dir: pathlib.Path, assignment: str) -> pathlib.Path:
    """File of the reference programs, for public and drawn cases."""
    return kept(course_dir, assignment).with_suffix(".references.json")


def unfinished(course_dir: pathlib.Path, assignment: str) -> pathlib.Path:
    """A file that is there while a release is made, and stays where its maker was killed."""
    return kept(course_dir, assignment).with_suffix(".unfinished")


def chapter(course_dir: pathlib.Path, assignment: str) -> pathlib.Path | None:
    """The questions of an instructor's own chapter, as they were released and are judged by; none for one of the course."""
    folder = kept(course_dir, assignment).parent / "chapters" / assignment
    return folder.resolve() if folder.is_dir() else None


def questions(course_dir: pathlib.Path, assignment: str) -> pathlib.Path:
    """The questions of a chapter of the course, as they were released; of a release made before, nothing is there."""
    return kept(course_dir, assignment).parent / "questions" / assignment


def variants(course_dir: pathlib.Path) -> pathlib.Path:
    """By assignment and student the notebooks of releases that vary by student."""
    return course_dir / "variants"


def cache(course_dir: pathlib.Path) -> pathlib.Path:
    """What can be made again."""
    return course_dir / "shardlab" / "cache"


def has_new(course_dir: pathlib.Path, assignment: str) -> bool:
    """Whether more have handed in than were graded: a guess, made before anything is read."""
    handed, graded = (len(list((course_dir / step).glob(f"*/{assignment}"))) for step in ("submitted", "autograded"))
    return handed > graded


def released(assignment: str, course_dir: pathlib.Path) -> str:
    """The name of the released assignment whose name is, or begins with, `assignment`.

    Raises:
        ShardlabError: there is none, or more than one, or this is no course directory.
    """
    check_course(course_dir)
    return named(assignment, releases(course_dir), course_dir / "shardlab")


def check_course(course_dir: pathlib.Path) -> None:
    """Do nothing where there is a course directory.

    Raises:
        ShardlabError: there is none; names those that lie around it. Or nbgrader cannot use its path.
    """
    check_path(course_dir)
    if os.path.exists(course_dir / CONFIG):
        return
    around = [*course_dir.resolve().parents, *course_dir.resolve().glob("*/")]
    # By `os.path`, which takes a folder that cannot be looked into for one without a course.
    courses = sorted({place for place in around if os.path.exists(place / CONFIG) and os.path.isdir(place / "shardlab")})
    mend = "release an assignment into it first: shardlab-grader release ASSIGNMENT --course DIR."
    if courses:
        mend = "name the course, which may be this:\n" + "\n".join(f"--course {place}" for place in courses)
    raise ShardlabError("no-course-directory", f"there is no {CONFIG}.", where=str(course_dir), mend=mend)


def check_path(course_dir: pathlib.Path) -> None:
    """Do nothing where nbgrader finds a course directory by its path.

    Raises:
        ShardlabError: it would have its gradebook, or look for its configuration, in another folder.
    """
    text = str(course_dir.resolve())
    odd = next((sign for sign in "?$" if sign in text and (sign == "?" or os.path.expandvars(text) != text)), "")
    if odd:
        what = f"nbgrader cannot use a course directory with {odd!r} in its path."
        raise ShardlabError("course-path", what, where=text, mend="rename the folder, or take another one.")


def foreign(course_dir: pathlib.Path) -> ShardlabError:
    """The error for a configuration of somebody else's."""
    ours = pathlib.Path(__file__).parents[1] / "nbgrader" / CONFIG
    mend = "add to it:\n" + "\n".join(line for line in ours.read_text().splitlines() if "configure" in line)
    what = "the course directory has a configuration that does not call Shardlab's."
    return ShardlabError("foreign-config", what, where=str(course_dir / CONFIG), mend=mend)


def releases(course_dir: pathlib.Path) -> list[str]:
    """The names of what was released, in order."""
    paths = sorted((course_dir / "shardlab").glob("*.json"))
    return [path.stem for path in paths if not path.name.endswith(".references.json")]


def named(assignment: str, names: Sequence[str], folder: pathlib.Path) -> str:
    """The one of these names that is, or begins with, `assignment`; a number is a chapter's: `4` is `04`, and never `40`.

    Raises:
        ShardlabError: there is none, or more than one.
    """
    fits = fitting(assignment, names)
    if len(fits) == 1:
        return fits[0]
    begins = "number" if assignment.isdecimal() else "beginning"
    what = f"'{assignment}' is the {begins} of {len(fits) or 'no'} assignment{'s' * (len(fits) > 1)}."
    where = f"{folder}: {', '.join(names) or 'nothing'}"
    raise ShardlabError("unknown-assignment", what, where=where, mend="name one of these; to grade one, release it first.")


def fitting(assignment: str, names: Sequence[str]) -> list[str]:
    """Those of these names that are, or else begin with, `assignment`; or have it as their number, if it is one."""
    if fits := [name for name in names if name == assignment]:
        return fits
    if assignment.isdecimal():
        return [name for name in names if re.match(rf"0*{int(assignment)}(?!\d)", name)]
    return [name for name in names if name.startswith(assignment)]
