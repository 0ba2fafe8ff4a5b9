"""What lies in `submitted/` where nbgrader does not look: beside its folder, in one of another name, or under another id."""

from __future__ import annotations

import fnmatch
import os
import pathlib
import re
import unicodedata
from collections.abc import Collection, Iterator

from shardlab_grader.plain import plain
from shardlab_grader.records.recognising import Exercises

DIGITS = re.compile(r"\d+(?:[.,]0+)?")
MOST = 20
"""Files that are looked at in one student's folders."""


def strays(course_dir: pathlib.Path, ours: Exercises, student: str = "*") -> Iterator[tuple[str, str]]:
    """Each student who handed in beside the assignment's folder, or the file of nobody, with the reason and what to do.

    Args:
        ours: the exercises by which a file is known.
        student: a pattern of names.
    """
    submitted, name = course_dir / "submitted", ours.assignment
    releases = {path.name for path in (course_dir / "release").glob("*")}
    for place in sorted(submitted.glob("*")):
        if place.name == name and _is_folder(place):
            for inside in sorted(place.glob("*")):
                there = os.path.exists(submitted / inside.name / name)
                if fnmatch.fnmatchcase(inside.name, student) and _is_folder(inside) and not there:
                    yield inside.name, _told(inside, submitted, f"submitted/{plain(inside.name)}/{name}")
        elif fnmatch.fnmatchcase(place.name, student) and _is_folder(place) and not os.access(place, os.R_OK | os.X_OK):
            yield place.name, f"unreadable: nobody but its owner may look into the folder submitted/{plain(place.name)}."
        elif fnmatch.fnmatchcase(place.name, student) and not os.path.exists(place / name):
            files = [place] if place.is_file() else _files(place, releases)
            found = next((file for file in files[:MOST] if ours.form_of(file)), None)
            if found is not None:
                whose = "STUDENT" if place.is_file() else plain(place.name)
                yield place.name, _told(found, submitted, f"submitted/{whose}/{name}/{name}.ipynb")


def _plainly(student: str) -> str:
    """An id without what spreadsheets, archives and keyboards change: zeros, a decimal point, case, composed letters."""
    found = unicodedata.normalize("NFKC", student).strip().casefold()
    return re.sub(r"0*(\d+)(?:[.,]0+)?", r"\1", found) if DIGITS.fullmatch(found) else found


def _twin(student: str, known: Collection[str]) -> str:
    """The student of the gradebook whose id this one is in another spelling; nothing unless there is exactly one."""
    if student in known:
        return ""
    fits = [one for one in known if _plainly(one) == _plainly(student)]
    return fits[0] if len(fits) == 1 else ""


def misspelt(student: str, known: Collection[str]) -> str:
    """Why a folder is nobody's, where its name is a student's in another spelling, or no student's."""
    if not _is_text(student):
        return f"unknown student: the name of the folder submitted/{plain(student)} is not UTF-8; rename it."
    if one := _twin(student, known):
        return f"unknown student: the gradebook has {one}, not {student}; rename the folder submitted/{student}."
    if student != student.strip():
        return f"unknown student: the name of the folder submitted/{student} begins or ends with a blank; rename it."
    return ""


def _is_text(name: str) -> bool:
    """Whether the name of a folder is UTF-8, as nbgrader's gradebook needs it."""
    try:
        return bool(name.encode())
    except UnicodeEncodeError:
        return False


def _told(found: pathlib.Path, submitted: pathlib.Path, place: str) -> str:
    return f"in the wrong place: submitted/{plain(str(found.relative_to(submitted)))}; move it to {place}."


def _files(place: pathlib.Path, releases: Collection[str]) -> list[pathlib.Path]:
    if not _is_folder(place):
        return []
    inside = [folder for folder in sorted(place.glob("*")) if _is_folder(folder) and folder.name not in releases]
    return [path for folder in (place, *inside) for path in sorted(folder.glob("*")) if not path.is_dir()]


def _is_folder(path: pathlib.Path) -> bool:
    return path.is_dir() and not path.is_symlink()
