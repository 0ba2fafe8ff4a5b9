"""Where things lie in a course directory: what can be said of a release without reading it."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence

from shardlab.errors import ShardlabError


def kept(course_dir: pathlib.Path, assignment: str) -> pathlib.Path:
    """What a release must keep: its seed and its manifests."""
    return course_dir / "shardlab" / f"{assignment}.json"


def references(course_dir: pathlib.Path, assignment: str) -> pathlib.Path:
    """File of the reference programs, for public and drawn cases."""
    return kept(course_dir, assignment).with_suffix(".references.json")


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
        ShardlabError: there is none, or more than one.
    """
    folder = course_dir / "shardlab"
    names = [path.stem for path in sorted(folder.glob("*.json")) if not path.name.endswith(".references.json")]
    return named(assignment, names, folder)


def named(assignment: str, names: Sequence[str], folder: pathlib.Path) -> str:
    """The one of these names that is, or begins with, `assignment`.

    Raises:
        ShardlabError: there is none, or more than one.
    """
    fits = [name for name in names if name == assignment] or [name for name in names if name.startswith(assignment)]
    if len(fits) == 1:
        return fits[0]
    what = f"'{assignment}' is the beginning of {len(fits) or 'no'} assignment{'s' * (len(fits) > 1)}."
    where = f"{folder}: {', '.join(names) or 'nothing'}"
    raise ShardlabError("unknown-assignment", what, where=where, mend="name one of these; to grade one, release it first.")
