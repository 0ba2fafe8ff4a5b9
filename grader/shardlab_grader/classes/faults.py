"""What the machine can refuse: room, permission to write, the gradebook. Said in a sentence, before anything is changed."""

from __future__ import annotations

import contextlib
import errno
import os
import pathlib
import shutil
import sqlite3
import tempfile

from shardlab.errors import ShardlabError
from shardlab_grader.releases.places import CONFIG

ROOM = 32 * 2**20
"""Bytes that must be free for a run to start: a submission's boxes, its pages, and the gradebook's journal."""
WRITTEN = (".", "shardlab", "shardlab/verdicts", "shardlab/cache", "autograded", "feedback", "gradebook.db")
LOCK_SECONDS = 5.0
FULL = (errno.ENOSPC, errno.EDQUOT)


def check(course_dir: pathlib.Path, assignment: str) -> None:
    """Look whether grading could write all that it has to.

    Raises:
        ShardlabError: a folder is read-only, there is no room, another program holds the gradebook, or it is not that in
            which the assignment was released.
    """
    places = [course_dir / name for name in WRITTEN]
    closed = [str(place.resolve()) for place in places if place.exists() and not os.access(place, os.W_OK)]
    if closed:
        what = f"{len(closed)} of the course's files and folders cannot be written; nothing was changed."
        mend = "mount the disk for writing, or: chmod u+rwX them as their owner. Then run the same command again."
        raise ShardlabError("read-only", what, where="\n".join(closed), mend=mend)
    for place in (course_dir, pathlib.Path(tempfile.gettempdir())):
        if (free := shutil.disk_usage(place).free) < ROOM:
            said = f"{free / 2**20:.1f} MB are free, but a run takes {ROOM // 2**20} MB; nothing was changed."
            raise full(str(place), said)
    if "db_url" not in (course_dir / CONFIG).read_text():  # else the gradebook is in another place
        _check_gradebook(course_dir / "gradebook.db", assignment)


def full(place: str, said: str = "what was graded before is kept.") -> ShardlabError:
    """The error for a disk without room."""
    mend = "free some space, then run the same command again: it continues where it stopped."
    return ShardlabError("disk-full", f"the disk is full: {said}", where=place, mend=mend)


def refused(error: OSError) -> ShardlabError:
    """The error for what the system refused in the middle of a run."""
    where = str(error.filename or tempfile.gettempdir())
    if error.errno in FULL:
        return full(where)
    said = error.strerror or type(error).__name__
    what = f"the system refused: {said}; what was graded before is kept."
    mend = "make sure that this can be read and written, then run the same command again: it continues where it stopped."
    return ShardlabError("system-refuses", what, where=where, mend=mend)


def ours() -> ShardlabError:
    """The error for an exception that nobody expected."""
    mend = "tell us, with the lines above; they may contain students' names and code. The same command can be tried again."
    what = "a fault of Shardlab's own; what was graded is kept, and no score was changed by it."
    return ShardlabError("our-fault", what, where="the last line of the traceback above", mend=mend)


def of_gradebook(error: Exception) -> ShardlabError:
    """The error for a gradebook that another program holds, that cannot be written, or that is no database."""
    said = str(getattr(error, "orig", error))
    if "full" in said:
        return full("gradebook.db")
    what = "another program holds the gradebook" if "locked" in said else f"the gradebook cannot be used ({said})"
    mend = "close the program that holds it (Formgrader, another grading run), then run the same command again."
    if "locked" not in said:
        mend = (
            "make sure that gradebook.db can be read and written, or restore it from a backup; "
            "then run the same command again."
        )
    reference = "gradebook-locked" if "locked" in said else "gradebook-damaged"
    return ShardlabError(reference, f"{what}; what was graded before is kept.", where="gradebook.db", mend=mend)


def stop_when_full(error: Exception) -> None:
    """Do nothing, unless the disk is full: then no submission is to be called ungraded.

    Raises:
        ShardlabError: it is.
    """
    if isinstance(error, OSError) and error.errno in FULL:
        raise refused(error) from None


def _check_gradebook(path: pathlib.Path, assignment: str) -> None:
    if not path.exists():
        raise _damaged(path, "it is not there")
    try:
        with contextlib.closing(sqlite3.connect(path, timeout=LOCK_SECONDS, isolation_level=None)) as gradebook:
            gradebook.execute("begin immediate")
            gradebook.execute("rollback")
            if not gradebook.execute("select 1 from assignment where name = ?", [assignment]).fetchone():
                raise _damaged(path, f"it has no assignment {assignment}")
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            mend = "close the program that holds it (Formgrader, another grading run), then run the same command again."
            what = f"another program has held the gradebook for {LOCK_SECONDS:g} s; nothing was changed."
            raise ShardlabError("gradebook-locked", what, where=str(path), mend=mend) from None
        raise _damaged(path, error) from None
    except sqlite3.DatabaseError as error:
        raise _damaged(path, error) from None


def _damaged(path: pathlib.Path, why: Exception | str) -> ShardlabError:
    mend = "restore it from a backup; the verdicts are kept apart, and the same command writes their points into it again."
    if isinstance(why, str) or "no such table" in str(why):
        mend = f"{mend} Without one, move it away and release again: marks by hand are lost, and the seed stays."
    return ShardlabError("gradebook-damaged", f"the gradebook cannot be used ({why}).", where=str(path), mend=mend)
