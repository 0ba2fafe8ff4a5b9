"""A pytest plugin: what nbval's cells printed is kept in `build/notebooks`, for the book; one execution serves both."""

from __future__ import annotations

import os
import pathlib
import time
from collections.abc import Iterator

import nbformat
import pytest
from nbval.plugin import IPyNbCell

from shardlab_authoring import executed

FOLDER = pathlib.Path("build", "notebooks")
STARTED = pytest.StashKey[float]()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Before the kernel of a notebook starts: its own record of progress, so that no page shows another's."""
    if isinstance(item, IPyNbCell) and STARTED not in item.parent.stash:
        item.parent.stash[STARTED] = time.monotonic()
        progress = FOLDER / f"{item.path.stem}.progress.json"
        progress.parent.mkdir(parents=True, exist_ok=True)
        progress.unlink(missing_ok=True)
        os.environ["SHARDLAB_PROGRESS"] = str(progress.absolute())
        os.environ |= executed.compiled(executed.COMPILED / item.path.name[:2], item.path.stem)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """After the last cell of a notebook: write it with its outputs, unless a cell failed or did not run."""
    yield
    if isinstance(item, IPyNbCell) and (nextitem is None or nextitem.parent is not item.parent):
        seconds = time.monotonic() - item.parent.stash[STARTED]
        cells = [other for other in item.session.items if other.parent is item.parent]
        if all(cell.test_outputs is not None and not _failed(cell) for cell in cells):
            _write(item.path, cells, seconds)


def _failed(cell: IPyNbCell) -> bool:
    return any(output.output_type == "error" for output in cell.test_outputs)


def _write(path: pathlib.Path, cells: list[IPyNbCell], seconds: float) -> None:
    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    if len(code) != len(cells):
        return
    for count, (cell, ran) in enumerate(zip(code, cells, strict=True), 1):
        cell.execution_count, cell.outputs = count, ran.test_outputs
    executed.keep(notebook, FOLDER / path.name, seconds)
