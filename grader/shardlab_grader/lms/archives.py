"""From an LMS's archive into `submitted/`: of each student the newest notebook, and when it was handed in.

Students choose the names of their files, and of folders in them. Only the beginning of a name, which the LMS wrote, says
whose a file is; where two names claim one student, neither is believed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import os
import pathlib
import re
import tempfile
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence

from shardlab.errors import ShardlabError
from shardlab_grader.lms.sheets import Preset
from shardlab_grader.records import recognising, store, strays
from shardlab_grader.records.files import MOST_BYTES, PACKED, READ
from shardlab_grader.records.recognising import Exercises

COPY = re.compile(r"(?:-\d+| \(\d+\))?\.[a-z]+", re.IGNORECASE)
"""What browsers and Canvas add to the name of a file that is handed in once more."""


@dataclasses.dataclass(frozen=True)
class Collected:
    """Students by what was done with what they handed in, and the files of the archive that are nobody's, or no notebook's.

    `times` are those of `same` whose time is another than was known. `other` are students whose file is of another chapter;
    it stays in the archive where they have handed in this one before. `twice` are files by whose names one student is
    claimed twice, and `large` those that are more than we read.
    """

    new: tuple[str, ...]
    replaced: tuple[str, ...]
    same: tuple[str, ...]
    times: tuple[str, ...]
    late: tuple[str, ...]
    other: tuple[str, ...]
    unknown: tuple[str, ...]
    twice: tuple[str, ...]
    large: tuple[str, ...]
    left: tuple[str, ...]


def collect(
    archive: pathlib.Path,
    preset: Preset,
    students: Mapping[str, str],
    times: Mapping[str, datetime.datetime],
    course_dir: pathlib.Path,
    assignment: str,
    known: Collection[str] = (),
) -> Collected:
    """Write each student's notebook where nbgrader expects it, once all of them have been looked at.

    Args:
        students: the course's id of each user, by the LMS's own number.
        times: when they handed in, by the same number.
        known: the ids of the gradebook, where it has any.
    Raises:
        ShardlabError: it is no archive, none of that LMS's, or one of other students or of another chapter.
    """
    done: dict[str, list[str]] = {field.name: [] for field in dataclasses.fields(Collected)}
    with opening(archive) as opened:
        chosen = _all_chosen(opened, preset, students, assignment, done)
        _check_ids([students[user] for user in chosen], known)
        ours = recognising.exercises(course_dir, assignment)
        others = _others(opened, chosen, ours)
        for user, info in chosen.items():
            place = course_dir / "submitted" / students[user] / assignment
            path = place / f"{assignment}{_ending(info.filename)}"
            before = [one for ending in (*READ, *PACKED) if (one := path.with_name(f"{assignment}{ending}")).is_file()]
            if user in others:
                done["other"].append(students[user])
                if before:
                    continue
            what = _put(path, before, opened.read(info))
            done[what].append(students[user])
            if _put_time(place / "timestamp.txt", times.get(user)) and what == "same":
                done["times"].append(students[user])
            if _named(info.filename, preset)["late"]:
                done["late"].append(students[user])
    collected = Collected(**{name: tuple(found) for name, found in done.items()})
    if not any(getattr(collected, name) for name in ("new", "replaced", "same", "other", "unknown", "twice", "large")):
        raise _strange(archive, preset)
    return collected


def names(archive: pathlib.Path, preset: Preset, students: Mapping[str, str], assignment: str) -> dict[str, str]:
    """What the LMS called the file of each user that is graded, by the LMS's own number.

    Raises:
        ShardlabError: it is no archive, or none of that LMS's.
    """
    with opening(archive) as opened:
        chosen = _all_chosen(
            opened, preset, students, assignment, {field.name: [] for field in dataclasses.fields(Collected)}
        )
    if not chosen:
        raise _strange(archive, preset)
    return {user: info.filename for user, info in chosen.items()}


def _strange(archive: pathlib.Path, preset: Preset) -> ShardlabError:
    what = f"no notebook in it is named as {preset.name} names them."
    mend = "download all submissions of the assignment (not anonymous), and name the LMS that they come from."
    return ShardlabError("lms-archive", what, where=str(archive), mend=mend)


@contextlib.contextmanager
def opening(archive: pathlib.Path) -> Iterator[zipfile.ZipFile]:
    """An archive, or the folder that a browser or a person unpacked it into; links in there are left alone.

    Raises:
        ShardlabError: it cannot be read.
    """
    try:
        if not archive.is_dir():
            with zipfile.ZipFile(archive) as opened:
                yield opened
            return
        with tempfile.TemporaryFile() as file, zipfile.ZipFile(file, "w", strict_timestamps=False) as packed:
            for path in sorted(archive.rglob("*")):
                if path.is_file() and not path.is_symlink() and path.resolve().is_relative_to(archive.resolve()):
                    name = os.fsencode(path.relative_to(archive).as_posix()).decode("utf-8", "replace")
                    packed.write(path, name)
            yield packed
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:  # the last of encrypted files, and methods
        raise ShardlabError("lms-archive", f"{error}.", where=str(archive), mend="download it once more.") from None


def _all_chosen(
    opened: zipfile.ZipFile, preset: Preset, students: Mapping[str, str], assignment: str, done: dict[str, list[str]]
) -> dict[str, zipfile.ZipInfo]:
    """The file of each user that is graded; only what the LMS wrote says whose it is."""
    found: dict[str, list[zipfile.ZipInfo]] = {}
    claims: dict[str, set[str]] = {}
    for info in opened.infolist():
        if _of_a_mac(info.filename):
            continue
        named = _named(info.filename, preset)
        fits = not info.is_dir() and _ending(named["title"])
        if not fits or not named["user"]:
            done["left"] += [info.filename] * (not info.is_dir())
            continue
        found.setdefault(named["user"], []).append(info)
        claims.setdefault(named["user"], set()).add(named["who"])
        # A name that ends in a number reads as a user's, and the user's then as a file's. No name has a slash.
        if named["next"] and named["file"] in students:
            for user in (named["user"], named["file"]):
                claims.setdefault(user, set()).update((named["who"], "/"))
    for user in list(found):
        if len(claims[user]) > 1 or user not in students:
            done["twice" if user in students else "unknown"] += [info.filename for info in found.pop(user)]
    made = {user: _chosen(infos, preset, assignment, done) for user, infos in sorted(found.items())}
    return {user: info for user, info in made.items() if info is not None}


def _of_a_mac(name: str) -> bool:
    """Whether macOS has put it beside a file, for itself, when an archive was packed again or lay on a foreign disk."""
    folders, _, last = name.rpartition("/")
    return last.startswith("._") or "__MACOSX" in folders.split("/")


def _named(name: str, preset: Preset) -> dict[str, str]:
    """What an entry's name tells; empty texts where it tells nothing. The first folder that names somebody does."""
    told = {"who": "", "user": "", "title": "", "file": "", "late": "", "next": ""}
    at = -1 if ".." in name.split("/") else 0  # no LMS wrote that
    while at >= 0:
        if match := preset.entry.fullmatch(name, at):
            return told | {key: value or "" for key, value in match.groupdict().items()}
        at = name.find("/", at) + 1 or -1
    return told


def _ending(name: str) -> str:
    """The ending of a file in which a notebook may be; nothing for any other."""
    return next((ending for ending in (*READ, *PACKED) if name.lower().endswith(ending)), "")


def _check_ids(found: Sequence[str], known: Collection[str]) -> None:
    """Do nothing where these students are those of the gradebook, or new ones beside them.

    Raises:
        ShardlabError: none of them is, or ids are spelled in another way than there, mostly without their first zeros.
    """
    other = [one for one in found if strays.misspelt(one, known)]
    strange = bool(known) and bool(found) and not set(found) & set(known)
    if other or strange:
        who = f"{other[0]} is spelled differently in the gradebook" if other else "none of them is in the gradebook"
        mend = (
            "name the column that has the gradebook's ids: --id COLUMN; if none has them, import a roster with the ids of "
            "the LMS's table. Spreadsheets change ids: then export the table again."
        )
        raise ShardlabError(
            "lms-ids", f"the gradebook has different ids: {who}; nothing was stored.", where=", ".join(found[:3]), mend=mend
        )


def _others(opened: zipfile.ZipFile, chosen: Mapping[str, zipfile.ZipInfo], ours: Exercises | None) -> set[str]:
    """The users whose file holds no exercises of this assignment.

    Raises:
        ShardlabError: that is so of most of them.
    """
    if ours is None:
        return set()
    notebooks = {user: info for user, info in chosen.items() if not info.filename.lower().endswith(PACKED)}
    others = {user for user, info in notebooks.items() if ours.chapter_of(opened.read(info)) not in ("", ours.assignment)}
    if len(others) * 2 > len(notebooks):
        what = (
            f"{len(others)} of {len(notebooks)} notebooks are of a chapter other than {ours.assignment}; nothing was stored."
        )
        raise ShardlabError("lms-archive", what, where="the archive", mend="name the assignment that the archive is of.")
    return others


def _chosen(
    infos: list[zipfile.ZipInfo], preset: Preset, assignment: str, done: dict[str, list[str]]
) -> zipfile.ZipInfo | None:
    """The one that is graded: of this assignment's name, the newest; any name will do where it is the only one.

    Other files than notebooks count where there is no notebook: they are converted when they are graded, or have a reason.
    """
    large = [info for info in infos if info.file_size > MOST_BYTES]
    done["large"] += [info.filename for info in large]
    infos = [info for info in infos if info not in large]
    notebooks = [info for info in infos if info.filename.lower().endswith(".ipynb")] or infos
    titles = {info.filename: _named(info.filename, preset) for info in infos}
    fitting = [info for info in notebooks if COPY.fullmatch(titles[info.filename]["title"].removeprefix(assignment))]
    candidates = fitting or (notebooks if len(notebooks) == 1 else [])
    newest = max(candidates, key=lambda info: (int(titles[info.filename]["file"] or 0), info.date_time), default=None)
    done["left"] += [info.filename for info in infos if info is not newest]
    return newest


def _put(path: pathlib.Path, before: Sequence[pathlib.Path], content: bytes) -> str:
    """Write a notebook where it is another one, in place of those of before; what was done, as a field of `Collected`."""
    if path in before and path.read_bytes() == content:
        return "same"
    store.write_bytes(path, content, 0o644)
    # One of another ending would be graded in its place, or beside it.
    for other in before:
        if other != path:
            other.unlink()
    return "replaced" if before else "new"


def _put_time(path: pathlib.Path, time: datetime.datetime | None) -> bool:
    """Write it in nbgrader's form; whether another one, or none, was there. Without one, an earlier one would be wrong."""
    before = path.read_bytes() if path.is_file() else b""
    said = f"{time.astimezone(datetime.UTC):%Y-%m-%d %H:%M:%S} UTC" if time else ""
    if said:
        store.write(path, said, 0o644)
    else:
        path.unlink(missing_ok=True)
    return before != said.encode()
