"""Rubrics: what a cell that a person grades earns points for, line by line, and comments by name."""

from __future__ import annotations

import dataclasses
import math
import pathlib
import re
import tomllib
from collections.abc import Mapping

from shardlab.errors import ShardlabError

REFERENCE = re.compile(r"#([\w-]+)")
COURSE = pathlib.Path(__file__).parents[1] / "rubrics"
"""Rubrics of the course's own chapters."""
ONE_LINE = "Points"
HEAD = """\
# What earns points in each cell that a person grades; the points of the lines add up to those of the cell.
# In a sheet of `shardlab-grader mark`, #name in a comment stands for the comment of this name.
"""


@dataclasses.dataclass(frozen=True)
class Rubric:
    """The lines of each cell, by its grade id, each with its most points; and comments by name."""

    lines: Mapping[str, Mapping[str, float]]
    comments: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def said(self, comment: str, where: str) -> str:
        """A comment with the named ones put in.

        Raises:
            ShardlabError: there is no comment of a name.
        """
        for name in REFERENCE.findall(comment):
            if name not in self.comments:
                mend = f"write one of these, or add it: {', '.join(sorted(self.comments)) or 'there is none yet'}."
                raise ShardlabError("bad-rubric", f"there is no comment #{name}.", where=where, mend=mend)
        return REFERENCE.sub(lambda found: self.comments[found[1]], comment)


def place(course_dir: pathlib.Path, assignment: str) -> pathlib.Path:
    """The instructor's own rubric of an assignment."""
    return course_dir / "rubrics" / f"{assignment}.toml"


def begin(course_dir: pathlib.Path, assignment: str, cells: Mapping[str, float]) -> bool:
    """Put a rubric there if there is none: the course's own, or one line a cell; whether it is new."""
    path, ours = place(course_dir, assignment), COURSE / f"{assignment}.toml"
    if path.exists():
        return False
    path.parent.mkdir(exist_ok=True)
    tables = (f'\n[{name}]\n"{ONE_LINE}" = {points:g}\n' for name, points in cells.items())
    path.write_text(ours.read_text() if ours.exists() else HEAD + "".join(tables) + "\n[comments]\n")
    return True


def read(path: pathlib.Path, cells: Mapping[str, float]) -> Rubric:
    """The rubric of a file.

    Args:
        cells: the points of each cell, by its grade id.
    Raises:
        ShardlabError: it is no TOML, a comment is no text, a cell has no lines, or their points are not those of the cell.
    """
    try:
        raw = tomllib.loads(path.read_text())
    except ValueError as error:
        raise ShardlabError("bad-rubric", f"{error}.", where=str(path), mend="a rubric is TOML; mend that line.") from None
    comments = raw.pop("comments", {})
    if not all(isinstance(table, dict) for table in (comments, *raw.values())):
        what, mend = (
            "not all of it is in tables.",
            "put each cell's lines below its id, as in [q15-6-why], and comments below [comments].",
        )
        raise ShardlabError("bad-rubric", what, where=str(path), mend=mend)
    if odd := [name for name, said in comments.items() if not isinstance(said, str)]:
        mend = 'a comment is: units = "A number has a unit."'
        raise ShardlabError("bad-rubric", f"these comments are no text: {', '.join(odd)}.", where=str(path), mend=mend)
    for name, points in cells.items():
        lines = raw.get(name, {})
        if not all(isinstance(most, int | float) and most > 0 for most in lines.values()):
            mend = 'a line is: "What earns the points" = 0.5'
            raise ShardlabError("bad-rubric", f"a line of [{name}] has no points.", where=str(path), mend=mend)
        if not math.isclose(sum(lines.values()), points):
            what = f"the lines of [{name}] have {sum(lines.values()):g} points together, but the cell has {points:g}."
            raise ShardlabError("bad-rubric", what, where=str(path), mend="change the lines' points.")
    return Rubric({name: raw[name] for name in cells}, comments)
