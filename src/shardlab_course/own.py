"""Chapters of an instructor's own: folders `NN_name`, from 50 on, that lie anywhere and are found as the course's are.

So are the chapters of the course as a release keeps them, once the course's own have changed: see `take_released`.

The environment names them, so that every process which a command starts finds the same ones. Nothing looks around for a
chapter but what a student calls: `take_beside`.
"""

from __future__ import annotations

import importlib
import os
import pathlib
import re
import sys
import traceback
import types
from typing import Any

from shardlab.errors import ShardlabError

VARIABLE = "SHARDLAB_CHAPTERS"
"""The environment's list of chapters' folders; of two with one number the first counts."""
NUMBER = r"[5-9]\d"
NAME = re.compile(rf"({NUMBER})_[A-Za-z0-9_]+")
RELEASED = re.compile(r"(\d\d)_.+")
EXERCISE = re.compile(r"ex(\d\d)")
QUESTION, ANSWERS = "question.py", "answers.py"
"""What declares the question of an exercise's folder, and the answers that it must tell apart, which judge nothing."""
MADE_OF = ("*.py", "*.json")
"""What else of a chapter's folder, and of its exercises', declares and judges its questions."""


def number(folder: pathlib.Path) -> int:
    """The number of the chapter in a folder, by its name.

    Raises:
        ShardlabError: the name is not that of a chapter of one's own.
    """
    if match := NAME.fullmatch(folder.name):
        return int(match[1])
    raise ShardlabError(
        "chapter-name",
        f"{folder.name!r} is no name for a chapter of your own.",
        where=str(folder),
        mend="name the folder by a number from 50 to 99 and a word, as in 50_rings; the course's chapters stay below 50.",
    )


def folders() -> dict[int, pathlib.Path]:
    """By number the folders that the environment names and that are there."""
    named = [pathlib.Path(text) for text in os.environ.get(VARIABLE, "").split(os.pathsep) if text]
    return {_number(folder): folder for folder in reversed(named) if folder.is_dir()}


def take(folder: pathlib.Path) -> int:
    """Have this process, and all that it starts, find the chapter in this folder before others of its number; the number.

    Raises:
        ShardlabError: the folder's name is not that of a chapter of one's own.
    """
    found = number(folder.resolve())
    take_released(folder)
    return found


def take_released(folder: pathlib.Path) -> None:
    """Have this process, and all that it starts, find a chapter's questions as they were released into this folder."""
    os.environ[VARIABLE] = os.pathsep.join([str(folder.resolve()), *_others(folder)])


def leave(folder: pathlib.Path) -> None:
    """Have this process find no questions in this folder any more."""
    os.environ[VARIABLE] = os.pathsep.join(_others(folder))
    text = str(folder.resolve())
    for package, module in [*sys.modules.items()]:
        if hasattr(module, "state") and list(getattr(module, "__path__", ())) == [text]:
            _forget(package)


def take_beside() -> None:
    """Take the chapters that lie in the working directory, where a student's notebook has its questions beside it.

    Only what a student calls may do so: who grades stands in a directory full of what others have handed in.
    """
    for path in sorted(pathlib.Path.cwd().glob("[5-9][0-9]_*")):
        if NAME.fullmatch(path.name) and exercises(path):
            take(path)


def exercises(folder: pathlib.Path) -> dict[int, pathlib.Path]:
    """By number the folders `exNN` of a chapter's exercises."""
    named = ((EXERCISE.fullmatch(path.parent.name), path.parent) for path in sorted(folder.glob(f"ex*/{QUESTION}")))
    return {int(name[1]): path for name, path in named if name}


def files(folder: pathlib.Path) -> list[pathlib.Path]:
    """The files of a chapter's folder, and of its exercises', that declare and judge its questions; no answer is one."""
    places = (folder, *exercises(folder).values())
    return sorted(path for place in places for pattern in MADE_OF for path in place.glob(pattern) if path.name != ANSWERS)


def state(folder: pathlib.Path) -> tuple[tuple[str, int, int], ...]:
    """What changes when one of these files does."""
    return tuple((str(path), path.stat().st_mtime_ns, path.stat().st_size) for path in files(folder))


def declared(package: str, folder: pathlib.Path, exercise: int) -> Any:
    """The question of an exercise in this folder, imported in this package, and anew once the folder has changed.

    Raises:
        ShardlabError: it cannot be imported, or declares no `QUESTION`.
    """
    now = state(folder)
    if getattr(sys.modules.get(package), "state", None) != now:
        _forget(package)
        importlib.invalidate_caches()
        made = types.ModuleType(package)
        made.__dict__.update(__path__=[str(folder)], state=now)
        sys.modules[package] = made
    try:
        return importlib.import_module(f"{package}.ex{exercise:02}.question").QUESTION
    except Exception as error:
        del sys.modules[package]
        lines = [
            f"{f.filename}, line {f.lineno}" for f in traceback.extract_tb(error.__traceback__) if folder.name in f.filename
        ]
        raise ShardlabError(
            "chapter-does-not-load",
            f"an exercise of a chapter cannot be read: {type(error).__name__}: {error}",
            where=(lines or [str(folder / f"ex{exercise:02}" / QUESTION)])[-1],
            mend="mend that line; question.py declares QUESTION = Question(...).",
        ) from error


def _number(folder: pathlib.Path) -> int:
    match = RELEASED.fullmatch(folder.name)
    return int(match[1]) if match else number(folder)


def _others(folder: pathlib.Path) -> list[str]:
    """The folders that the environment names, without this one."""
    return [text for text in os.environ.get(VARIABLE, "").split(os.pathsep) if text not in ("", str(folder.resolve()))]


def _forget(package: str) -> None:
    for module in [name for name in sys.modules if f"{name}.".startswith(f"{package}.")]:
        del sys.modules[module]
