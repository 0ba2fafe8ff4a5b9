"""A student's own folder: a copy of each notebook, and new versions taken over without losing a word.

Run as `python -m shardlab_course.checking.work [--update] NOTEBOOKS WORK` (`make lab`, `make update`). What a copy was made
from is kept in `WORK/.shardlab/`, so that what the student wrote can be told from what we changed.
"""

from __future__ import annotations

import argparse
import copy
import pathlib
import shutil
import sys
from collections.abc import Iterator

import nbformat
from nbformat import NotebookNode

from shardlab_course.checking.progress_file import NAME as PROGRESS

KEPT, BEFORE = ".shardlab", "before"


def begin(notebooks: pathlib.Path, work: pathlib.Path) -> list[str]:
    """Copy the chapters that are not there yet, and the progress kept beside them; names of those that are newer."""
    kept = work / KEPT
    kept.mkdir(parents=True, exist_ok=True)
    progress = notebooks / PROGRESS
    if progress.exists() and not (work / PROGRESS).exists():
        shutil.copy(progress, work / PROGRESS)
    newer = []
    for given in sorted(notebooks.glob("*.ipynb")):
        own, first = work / given.name, kept / given.name
        if not own.exists():
            shutil.copy(given, own)
            shutil.copy(given, first)
        elif not first.exists() or first.read_bytes() != given.read_bytes():
            newer.append(given.name)
    return newer


def update(notebooks: pathlib.Path, work: pathlib.Path) -> list[str]:
    """Take newer versions over: the student's answers, edits, cells and outputs stay; the copy of before is kept."""
    taken = begin(notebooks, work)
    for name in taken:
        given, own, first = (folder / name for folder in (notebooks, work, work / KEPT))
        mine, new = (nbformat.read(path, as_version=4) for path in (own, given))
        base = nbformat.read(first, as_version=4) if first.exists() else new
        before = work / KEPT / BEFORE / name
        before.parent.mkdir(exist_ok=True)
        shutil.copy(own, before)
        own.write_text(nbformat.writes(merged(mine, base, new)) + "\n", encoding="utf-8")
        shutil.copy(given, first)
    return taken


def merged(mine: NotebookNode, base: NotebookNode, new: NotebookNode) -> NotebookNode:
    """The new version of a notebook with what the student made of the old one.

    Cells are known by their ids. Of a cell that the student changed the student's text stays, but of grade cells; cells of
    the student's own, and changed ones that the new version no longer has, follow the cell that they followed.

    Args:
        mine: the student's notebook.
        base: what the student was given.
        new: what is given now.
    """
    given = {cell.id: cell.source for cell in base.cells}
    there = {cell.id: cell for cell in mine.cells}
    following = _own(mine, given, {cell.id for cell in new.cells})
    made = copy.deepcopy(new)
    made.cells = [*following.get("", ())]
    for cell in new.cells:
        found = there.get(cell.id)
        wrote = (
            found is not None and found.source != given.get(cell.id) and not cell.metadata.get("nbgrader", {}).get("grade")
        )
        if found is not None and (wrote or found.source == cell.source):
            cell = nbformat.from_dict({**found, "metadata": cell.metadata})
        made.cells += [cell, *following.get(cell.id, ())]
    return made


def _own(mine: NotebookNode, given: dict[str, str], stay: set[str]) -> dict[str, list[NotebookNode]]:
    """What the student wrote and the new version does not have, by the id of the cell before it ("" for none)."""
    following: dict[str, list[NotebookNode]] = {}
    last = ""
    for cell in mine.cells:
        if cell.id in stay:
            last = cell.id
        elif cell.source.strip() and cell.source != given.get(cell.id):
            following.setdefault(last, []).append(cell)
    return following


def _told(newer: list[str], updated: bool, work: pathlib.Path) -> Iterator[str]:
    names = ", ".join(name.removesuffix(".ipynb") for name in newer)
    if newer and updated:
        yield f"Taken over, with all that you wrote: {names}. What you had before is in {work / KEPT / BEFORE}/."
    elif newer:
        yield f"New versions: {names}. `make update` takes them over and keeps all that you wrote."
    elif updated:
        yield "Nothing is newer than what you have."


def main() -> int:
    """Bring the folder up to date, and say what was done; the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m shardlab_course.checking.work", description="A student's own folder of notebooks."
    )
    parser.add_argument("--update", action="store_true", help="take newer versions over")
    parser.add_argument("notebooks", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    asked = parser.parse_args()
    done = update if asked.update else begin
    print(*_told(done(asked.notebooks, asked.work), asked.update, asked.work), sep="\n", end="\n" * asked.update)
    return 0


if __name__ == "__main__":
    sys.exit(main())
