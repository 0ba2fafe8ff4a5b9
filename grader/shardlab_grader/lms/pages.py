"""Feedback pages as an LMS takes them back: an archive in which each is named as the file that it is about was."""

from __future__ import annotations

import dataclasses
import pathlib
import zipfile
from collections.abc import Mapping

from shardlab_grader.lms import archives
from shardlab_grader.lms.sheets import Preset
from shardlab_grader.nbgrader.course import Course


@dataclasses.dataclass(frozen=True)
class Packed:
    """Students whose page is in the archive, and those who have handed in and have no page yet."""

    packed: tuple[str, ...]
    without: tuple[str, ...]


def pack(
    archive: pathlib.Path,
    preset: Preset,
    students: Mapping[str, str],
    course_dir: pathlib.Path,
    assignment: str,
    target: pathlib.Path,
) -> Packed:
    """Write the pages of those whose files are in an LMS's archive of submissions into one of the same names.

    Args:
        students: the course's id of each user, by the LMS's own number.
    Raises:
        ShardlabError: it is no archive of that LMS's.
    """
    course = Course(course_dir)
    found = {students[user]: name for user, name in archives.names(archive, preset, students, assignment).items()}
    pages = {who: course.folder("feedback", assignment, who) / f"{assignment}.html" for who in found}
    there = [who for who in found if pages[who].is_file()]
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as written:
        for who in there:
            # Only the ending is another one: by the rest of the name the LMS finds the student and the submission.
            written.write(pages[who], pathlib.PurePosixPath(found[who]).with_suffix(".html").as_posix())
    return Packed(tuple(there), tuple(who for who in found if who not in there))
