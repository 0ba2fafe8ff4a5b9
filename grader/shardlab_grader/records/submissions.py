"""What lies in `submitted/`: for each student the notebook's cells, or the reason why there is nothing to grade.

Nothing else of a student's files goes further than the notebook's handed-in form, which is made once: see `forms`.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import re
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from typing import IO

from shardlab_grader.plain import plain
from shardlab_grader.records import recognising, strays
from shardlab_grader.records.files import MOST_BYTES, PACKED, is_file, read_file
from shardlab_grader.records.forms import Unreadable, handed_in, said
from shardlab_grader.records.recognising import Exercises

TIMESTAMP_BYTES = 200
MOST_OTHERS = 20
SECRET = re.compile(rb"[!-~]{1,200}")
"""What nbgrader's exchange puts beside a submission, so that its student alone finds the feedback again."""
NOTES = ("timestamp.txt", "submission_secret.txt")
MEMORY = 64 * 2**20
"""Bytes of a class that are held in memory, compressed: more than ordinary ones take."""


@dataclasses.dataclass(frozen=True)
class Submission:
    """One student's notebook of one assignment: its handed-in form, or the `problem` in one sentence.

    `key` is that of the verdict on it, where one was asked for. `note` says what beside the notebook could not be read. A
    `stray` is where nbgrader does not look, so that nobody's row in the gradebook is made of it.
    """

    student: str
    content: bytes = b""
    problem: str = ""
    key: str = ""
    note: str = ""
    stray: bool = False


class Contents:
    """Handed-in forms by key. What is more than `MEMORY` lies on the disk, in a file that has no name."""

    def __init__(self) -> None:
        self._file: IO[bytes] = tempfile.SpooledTemporaryFile(MEMORY)
        self._places: dict[str, tuple[int, int]] = {}

    def __enter__(self) -> Contents:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def keep(self, one: Submission) -> Submission:
        """The submission without its content."""
        if not one.problem and one.key not in self._places:
            packed = zlib.compress(one.content, 1)
            self._places[one.key] = self._file.seek(0, os.SEEK_END), len(packed)
            self._file.write(packed)
        return dataclasses.replace(one, content=b"")

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __getitem__(self, name: str) -> bytes:
        start, length = self._places[name]
        self._file.seek(start)
        return zlib.decompress(self._file.read(length))


def submissions(course_dir: pathlib.Path, assignment: str, student: str = "*") -> list[Submission]:
    """Every student's submission, by student; each ends up graded or with a reason."""
    return list(each(course_dir, assignment, student))


def each(course_dir: pathlib.Path, assignment: str, student: str = "*") -> Iterator[Submission]:
    """The same, read one at a time."""
    for folder in sorted((course_dir / "submitted").glob(f"{student}/{assignment}")):
        yield _submission(folder, assignment)
    if ours := recognising.exercises(course_dir, assignment):
        for name, problem in strays.strays(course_dir, ours, student):
            yield Submission(name, problem=problem, stray=True)


def stage(
    course_dir: pathlib.Path, assignment: str, student: str, target: pathlib.Path, content: bytes | None = None
) -> None:
    """Put the handed-in form, its time and the exchange's secret into a folder, and nothing else; no link.

    Args:
        content: the handed-in form; made now unless given.
    Raises:
        Unreadable: there is nothing to grade.
    """
    folder = course_dir / "submitted" / student / assignment
    _check_folders(folder)
    content = _content(folder, assignment) if content is None else content
    timestamp, _ = _timestamp(folder / "timestamp.txt")
    target.mkdir(parents=True)
    (target / f"{assignment}.ipynb").write_bytes(content)
    if timestamp:
        (target / "timestamp.txt").write_text(timestamp)
    if secret := _secret(folder / "submission_secret.txt"):
        (target / "submission_secret.txt").write_bytes(secret)


def _submission(folder: pathlib.Path, assignment: str) -> Submission:
    student = folder.parent.name
    try:
        content = _content(folder, assignment)
    except Unreadable as error:
        return Submission(student, problem=str(error))
    return Submission(student, content, note=_timestamp(folder / "timestamp.txt")[1])


def _content(folder: pathlib.Path, assignment: str) -> bytes:
    name = f"{assignment}.ipynb"
    _check_folders(folder)
    course_dir = folder.parents[2]
    ours = recognising.exercises(course_dir, assignment)
    others = [other for other in _files(folder) if other != folder / name]
    try:
        fitting = {} if is_file(folder / name) else _fitting(others, ours)
        if len(fitting) == 1:
            return next(iter(fitting.values()))
        if os.path.lexists(folder / name):
            form = handed_in(read_file(folder / name, MOST_BYTES))
            if ours:
                ours.check(form, sorted(path.name for path in (course_dir / "release").glob("*")))
                _check_for_work(folder, form, others, ours)
            return form
    except OSError as error:
        raise Unreadable(f"unreadable: {name}: {error.strerror}.") from None
    raise Unreadable(_instead(folder, others, name, len(fitting)))


def _files(folder: pathlib.Path) -> list[pathlib.Path]:
    """What was handed in, also in a folder inside; links are not followed."""
    inside = [place for place in sorted(folder.glob("*")) if place.is_dir() and not place.is_symlink()]
    paths = [path for place in (folder, *inside) for path in sorted(place.glob("*"))]
    return [path for path in paths if not path.is_dir() or path.is_symlink()]


def _fitting(others: Sequence[pathlib.Path], ours: Exercises | None) -> dict[pathlib.Path, bytes]:
    """The handed-in form of each file that holds exercises of this assignment, whatever it is called."""
    read = [path for path in others if path.name not in NOTES][:MOST_OTHERS]
    return {path: form for path in read if ours and (form := ours.form_of(path))}


def _check_for_work(folder: pathlib.Path, form: bytes, others: Sequence[pathlib.Path], ours: Exercises) -> None:
    """Raises where the notebook is as it was released, and a file beside it has been worked on."""
    if not ours.untouched(form):
        return
    worked = [path for path, other in _fitting(others, ours).items() if not ours.untouched(other)]
    if worked:
        name, told = f"{ours.assignment}.ipynb", plain(str(worked[0].relative_to(folder)))
        raise Unreadable(f"work in another file: {name} is as it was released, and {told} is not; keep that one, as {name}.")


def _instead(folder: pathlib.Path, others: Sequence[pathlib.Path], name: str, fitting: int) -> str:
    """What was handed in where no notebook is, and what to do with it."""
    named = [plain(str(other.relative_to(folder))) for other in others if other.name not in NOTES]
    told = ", ".join(named[:3]) + f" and {len(named) - 3} more" * (len(named) > 3)
    if not named:
        return f"missing notebook: there is no {name}."
    if fitting:
        return f"wrong name: {fitting} files hold its exercises ({told}); keep the one that counts, as {name}."
    packed = [path for path in named if path.lower().endswith(PACKED)]
    if packed:
        mend = f"unpack it in its folder below submitted/, and put its notebook there as {name}."
        return f"handed in as an archive: {packed[0]}; {mend}"
    if any(path.lower().endswith(".ipynb") for path in named):
        return f"wrong name: {told} instead of {name}."
    return f"handed in as another file: {told}, which holds none of its exercises as code; ask for {name}."


def _check_folders(folder: pathlib.Path) -> None:
    for place in (folder.parent, folder):
        if place.is_symlink():
            raise Unreadable(f"unreadable: the folder {plain(place.name)} is a link.")
    if os.path.exists(folder) and not os.access(folder, os.R_OK | os.X_OK):
        raise Unreadable(f"unreadable: nobody but its owner may look into the folder {plain(folder.name)}.")


def _timestamp(path: pathlib.Path) -> tuple[str, str]:
    """When it was handed in, or else why that cannot be said: then nothing is late."""
    # nbgrader drops a submission whose timestamp it cannot read, without saying so.
    from nbgrader.utils import parse_utc

    if not os.path.lexists(path):
        return "", ""
    try:
        text = read_file(path, TIMESTAMP_BYTES).decode().strip()
        if text:
            parse_utc(text)
    except Exception as error:
        return "", f"counted as in time; {plain(said(error))}" + " (timestamp.txt)" * (not isinstance(error, Unreadable))
    return text, ""


def _secret(path: pathlib.Path) -> bytes:
    try:
        found = read_file(path, 200) if os.path.lexists(path) else b""
    except (OSError, Unreadable):
        return b""
    return found if SECRET.fullmatch(found) else b""
