"""From an LMS's archive into `submitted/`: of each student the newest notebook, and when it was handed in."""

from __future__ import annotations

import dataclasses
import datetime
import pathlib
import re
import zipfile
import zlib
from collections.abc import Mapping

from shardlab.errors import ShardlabError
from shardlab_grader.lms.sheets import Preset
from shardlab_grader.records import store
from shardlab_grader.records.files import MOST_BYTES

COPY = re.compile(r"(?:-\d+| \(\d+\))?\.ipynb", re.IGNORECASE)
"""What browsers and Canvas add to the name of a file that is handed in once more."""


@dataclasses.dataclass(frozen=True)
class Collected:
    """Students by what was done with what they handed in, and the files of the archive that nobody's notebook is."""

    new: tuple[str, ...]
    replaced: tuple[str, ...]
    same: tuple[str, ...]
    late: tuple[str, ...]
    unknown: tuple[str, ...]
    left: tuple[str, ...]


def collect(
    archive: pathlib.Path,
    preset: Preset,
    students: Mapping[str, str],
    times: Mapping[str, datetime.datetime],
    course_dir: pathlib.Path,
    assignment: str,
) -> Collected:
    """Write each student's notebook where nbgrader expects it; only notebooks come out of the archive.

    Args:
        students: the course's id of each user, by the LMS's own number.
        times: when they handed in, by the same number.
    Raises:
        ShardlabError: it is no archive, or none of that LMS's.
    """
    done: dict[str, list[str]] = {field.name: [] for field in dataclasses.fields(Collected)}
    try:
        with zipfile.ZipFile(archive) as opened:
            for user, infos in sorted(_by_user(opened, preset, done["left"]).items()):
                student = students.get(user)
                if student is None:
                    done["unknown"] += [info.filename for info in infos]
                    continue
                chosen = _chosen(infos, preset, assignment, done["left"])
                if chosen is not None:
                    place = course_dir / "submitted" / student / assignment
                    done[_put(place / f"{assignment}.ipynb", opened.read(chosen))].append(student)
                    _put_time(place / "timestamp.txt", times.get(user))
                    if _named(chosen, preset)["late"]:
                        done["late"].append(student)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:  # the last of encrypted files, and methods
        raise ShardlabError("lms-archive", f"{error}.", where=str(archive), mend="download it once more.") from None
    collected = Collected(**{name: tuple(found) for name, found in done.items()})
    if not (collected.new or collected.replaced or collected.same or collected.unknown):
        what = f"no notebook in it is named as {preset.name} names them."
        mend = "download all submissions of the assignment (not anonymous), and name the LMS that they come from."
        raise ShardlabError("lms-archive", what, where=str(archive), mend=mend)
    return collected


def _by_user(opened: zipfile.ZipFile, preset: Preset, left: list[str]) -> dict[str, list[zipfile.ZipInfo]]:
    """The notebooks of each user; what else there is goes to `left`."""
    found: dict[str, list[zipfile.ZipInfo]] = {}
    for info in opened.infolist():
        if info.is_dir():
            continue
        named = _named(info, preset)
        if named["user"] and named["title"].lower().endswith(".ipynb") and info.file_size <= MOST_BYTES:
            found.setdefault(named["user"], []).append(info)
        else:
            left.append(info.filename)
    return found


def _named(info: zipfile.ZipInfo, preset: Preset) -> dict[str, str]:
    """What the entry's name tells; empty texts where it tells nothing."""
    match = preset.entry.fullmatch(info.filename)
    told = {name: value or "" for name, value in match.groupdict().items()} if match else {}
    return {"user": "", "title": "", "file": "", "late": ""} | told


def _chosen(infos: list[zipfile.ZipInfo], preset: Preset, assignment: str, left: list[str]) -> zipfile.ZipInfo | None:
    """The one that is graded: of this assignment's name, the newest; any name will do where it is the only one."""
    fitting = [info for info in infos if COPY.fullmatch(_named(info, preset)["title"].removeprefix(assignment))]
    candidates = fitting or (infos if len(infos) == 1 else [])
    newest = max(candidates, key=lambda info: (int(_named(info, preset)["file"] or 0), info.date_time), default=None)
    left += [info.filename for info in infos if info is not newest]
    return newest


def _put(path: pathlib.Path, content: bytes) -> str:
    """Write a notebook where it is another one; what was done, as a field of `Collected`."""
    before = path.read_bytes() if path.is_file() else None
    if before == content:
        return "same"
    store.write_bytes(path, content, 0o644)
    return "new" if before is None else "replaced"


def _put_time(path: pathlib.Path, time: datetime.datetime | None) -> None:
    """In nbgrader's form. Without one, an earlier submission's time would be wrong."""
    if time is None:
        path.unlink(missing_ok=True)
    else:
        store.write(path, f"{time.astimezone(datetime.UTC):%Y-%m-%d %H:%M:%S} UTC", 0o644)
