"""A student's own folder: a copy of each notebook, and new versions taken over without losing a word.

Run as `python -m shardlab_course.checking.work [--update] NOTEBOOKS WORK` (`make lab`, `make update`). What a copy was made
from is kept in `WORK/.shardlab/`, so that what the student wrote can be told from what we changed.
"""

from __future__ import annotations

import argparse
import copy
import dataclasses
import pathlib
import shutil
import sys
from collections.abc import Iterable, Iterator

import nbformat
from nbformat import NotebookNode

from shardlab_course.checking.progress_file import NAME as PROGRESS

KEPT, BEFORE = ".shardlab", "before"
PAGES = ("errors.md", "messages.md", "practices.md", "old_to_new.md")
"""What messages and `sl.diagnose` point to, beside the notebooks that they are read in."""


def begin(notebooks: pathlib.Path, work: pathlib.Path) -> list[str]:
    """Copy the chapters that are not there yet, their progress, and the newest `PAGES`; names of chapters that are newer."""
    kept = work / KEPT
    kept.mkdir(parents=True, exist_ok=True)
    progress = notebooks / PROGRESS
    if progress.exists() and not (work / PROGRESS).exists():
        shutil.copy(progress, work / PROGRESS)
    for page in PAGES:
        if (found := notebooks.parent / "jupyter_book" / page).is_file():
            shutil.copy(found, work / page)
    newer = []
    for given in sorted(notebooks.glob("*.ipynb")):
        own, first = work / given.name, kept / given.name
        if not own.exists():
            shutil.copy(given, own)
            shutil.copy(given, first)
        elif not first.exists() or first.read_bytes() != given.read_bytes():
            newer.append(given.name)
    return newer


@dataclasses.dataclass
class Taken:
    """What an update did: chapters taken over; of each the cells that both sides changed; those that could not be read."""

    chapters: list[str] = dataclasses.field(default_factory=list)
    both: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    unread: list[str] = dataclasses.field(default_factory=list)


def update(notebooks: pathlib.Path, work: pathlib.Path) -> Taken:
    """Take newer versions over: the student's answers, edits, cells and outputs stay; the copy of before is kept."""
    done = Taken()
    for name in begin(notebooks, work):
        given, own, first = (folder / name for folder in (notebooks, work, work / KEPT))
        new = nbformat.read(given, as_version=4)
        try:
            base = nbformat.read(first, as_version=4) if first.exists() else new
            mine = _with_ids(nbformat.read(own, as_version=4), base)
        except (ValueError, nbformat.ValidationError, AttributeError, KeyError, TypeError):
            done.unread.append(name)
            continue
        before = work / KEPT / BEFORE / name
        before.parent.mkdir(exist_ok=True)
        shutil.copy(own, before)
        own.write_text(nbformat.writes(merged(mine, base, new)) + "\n", encoding="utf-8")
        shutil.copy(given, first)
        done.chapters.append(name)
        if both := _changed(mine, base) & _changed(new, base):
            done.both[name] = sorted(both)
    return done


def _with_ids(notebook: NotebookNode, base: NotebookNode) -> NotebookNode:
    """The notebook with an id in each cell: editors that write an older form leave them out, or keep them elsewhere.

    A cell without one is known by what it has of nbgrader, or by its text. What is known by neither is the student's own.
    """
    names = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell.id for cell in base.cells}
    texts = {cell.source: cell.id for cell in base.cells}
    known = {cell.id for cell in base.cells}
    for n, cell in enumerate(notebook.cells):
        if "id" not in cell:
            elsewhere, name = cell.metadata.get("id"), cell.metadata.get("nbgrader", {}).get("grade_id")
            found = elsewhere if elsewhere in known else names[name] if name in names and name else texts.get(cell.source)
            cell.id = found or f"own-{n}"
    notebook.nbformat_minor = max(5, notebook.nbformat_minor)
    return notebook


def _changed(notebook: NotebookNode, base: NotebookNode) -> set[str]:
    """Ids of the cells with another text than in `base`, but of grade cells, which are always the newest."""
    given = {cell.id: cell.source for cell in base.cells if not cell.metadata.get("nbgrader", {}).get("grade")}
    return {cell.id for cell in notebook.cells if given.get(cell.id, cell.source) != cell.source}


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


def _named(names: Iterable[str]) -> str:
    return ", ".join(name.removesuffix(".ipynb") for name in names)


def _begun(newer: list[str]) -> Iterator[str]:
    if newer:
        yield f"New versions: {_named(newer)}. `make update` takes them over and keeps all that you wrote."


def _updated(done: Taken, work: pathlib.Path) -> Iterator[str]:
    before = work / KEPT / BEFORE
    if done.chapters:
        yield f"Taken over, with all that you wrote: {_named(done.chapters)}. What you had before is in {before}/."
    for name, cells in done.both.items():
        yield f"Changed by you and by the new version, and yours stays, in {_named([name])}: cells {', '.join(cells)}."
    for name in done.unread:
        yield f"{work / name} is no notebook that can be read, and stays as it is. Open it as text (<<<<<<< are marks of"
        yield f"git), or move it away: `make lab` then begins that chapter anew. An earlier copy may be in {before}/."
    if not done.chapters and not done.unread:
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
    if not any(asked.notebooks.glob("*.ipynb")):
        print(f"There are no chapters in {asked.notebooks}/. Run this in the folder that you were given.")
        return 1
    try:
        notebooks, work = asked.notebooks, asked.work
        told = _updated(update(notebooks, work), work) if asked.update else _begun(begin(notebooks, work))
        print(*(f"{line}\n" for line in told), sep="", end="")
    except OSError as error:
        print(f"The copies in {asked.work}/ cannot be brought up to date: {error.strerror}, {error.filename}.")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
