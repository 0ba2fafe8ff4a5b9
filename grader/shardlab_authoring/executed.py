"""The solution editions, run from top to bottom, with their outputs: for nbval, and to read.

Run as `python -m shardlab_authoring.executed [--numbers] [--half N] [FOLDER] [CHAPTER...]` at the repository's root, into
`build/solutions` unless told. It stops where a number in prose is not what the page says; `--numbers` keeps what it says.
"""

from __future__ import annotations

import argparse
import ast
import functools
import hashlib
import importlib.metadata
import os
import pathlib
import platform
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import nbformat
from jupyter_core.utils import ensure_async
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

import shardlab
import shardlens
from shardlab import listings, records
from shardlab.errors import ShardlabError
from shardlab_authoring import quoted
from shardlab_course import dependence
from shardlab_course.chapters import CHAPTERS, folder
from shardlab_course.editions import edition, header, numbers
from shardlab_course.editions.stub import unmark

FOLDER = pathlib.Path("build", "solutions")
COMPILED = pathlib.Path("build", "compiled")
"""What XLA compiled for each chapter's pages, in a folder `NN`. The open edition of a chapter, which compiles much the same,
runs when its solution has run, and not beside it: JAX would read what another process has half written."""
ANEW = ("00_first_light", "05_sharding_expressions", "practices")
"""Pages that compile what they show: a clock shows that a first call compiles, and a program that a cell compiled itself
would name the lines of another run."""
VERSIONS = ("jax", "jaxlib", "matplotlib", "numpy", "rich")
# How a page names what it uses: `sl.show`, `sl.pictures.show_mesh`, `from shardlab.programs import alphabeta`.
CALLED = re.compile(r"\bsl\.(?:pictures\.)?(\w+)")
IMPORTED = re.compile(r"^import (shard(?:lab|lens)[\w.]+)", re.MULTILINE)
FROM = re.compile(r"^from (shard(?:lab|lens)[\w.]*) import ([\w, ]+)", re.MULTILINE)
CELL_SECONDS = 600
CODE = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
COLOUR = re.compile(r"\x1b\[[\d;]*m")
# IPython names the line of the cell first, and then those of the functions that it has called.
LINE = re.compile(r"(?:Cell|Input) In ?\[\d+\], line (\d+)")
# Given each chapter's file and what its placeholders say.
Told = Callable[[pathlib.Path, numbers.Texts], None]


class CellRaises(CellExecutionError):
    """A cell of a solution raises: the line of the chapter's source, and what it raises."""

    where = ""

    def __str__(self) -> str:
        what = f"a cell raises {self.ename}: {self.evalue.strip().splitlines()[-1] if self.evalue.strip() else ''}"
        return str(ShardlabError("cell-raises", what, where=self.where, mend="mend the cell, and run the chapter again."))


class Page(NotebookClient):
    """A client that fills the placeholders of each text with what they say when the cells above have run.

    Raises:
        CellRaises: a cell raises.
        ShardlabError: a placeholder is broken or raises.
    """

    name = ""
    kept: numbers.Texts
    source: pathlib.Path
    texts: dict[str, list[str]]

    async def async_execute_cell(self, cell: NotebookNode, cell_index: int, *args: Any, **options: Any) -> NotebookNode:
        if cell.cell_type == "markdown" and (asked := numbers.expressions(cell.source, self.name)):
            said = [await self._text(expression) for expression in asked]
            left = iter(said)
            cell.source = numbers.replaced(cell.source, lambda _: next(left))
        try:
            return await super().async_execute_cell(cell, cell_index, *args, **options)
        except CellExecutionError as error:
            raises = CellRaises(error.traceback, error.ename, error.evalue)
            raises.where = where(self.source, cell.source, error.traceback)
            raise raises from None

    async def _text(self, expression: str) -> str:
        """What an expression says now; or, in a sentence about another JAX, what is kept of it."""
        before = self.texts.setdefault(expression, [])
        if numbers.holds_on(expression, importlib.metadata.version("jax")):
            text = await self._said(expression)
        elif len(kept := self.kept.get(expression, ())) > len(before):
            text = kept[len(before)]
        else:
            what = "what a placeholder says of another version of JAX is not kept."
            where = f"{self.name}: {{{{ {expression} }}}}"
            raise ShardlabError("number-not-measured", what, where=where, mend="run `make numbers` by that lane's Python.")
        before.append(text)
        return text

    async def _said(self, expression: str) -> str:
        # A silent request with nothing to run leaves the page's history and its counts of cells alone.
        asked = {"text": f"str(({expression}\n))"}
        assert self.kc is not None
        message = await ensure_async(self.kc.execute("", silent=True, user_expressions=asked))
        reply = await self.async_wait_for_reply(message)
        said: Any = reply["content"]["user_expressions"]["text"] if reply else {"ename": "TimeoutError", "evalue": ""}
        if "data" in said:
            return str(ast.literal_eval(said["data"]["text/plain"]))
        what = f"a placeholder raises {said['ename']}: {said['evalue']}"
        mend = "use names that the code cells above it have made."
        where = f"{self.name}: {{{{ {expression} }}}}"
        raise ShardlabError("placeholder-raises", what, where=where, mend=mend)


def run(path: pathlib.Path, given: header.Syllabus, folder: pathlib.Path) -> tuple[NotebookNode, numbers.Texts]:
    """A chapter's solution with its outputs, run in `folder`, and what its placeholders say.

    Raises:
        CellRaises: a cell raises.
        ShardlabError: a placeholder is broken or raises, or a cell writes to stderr.
    """
    notebook = edition.solution(edition.unfilled(path, given))
    page = Page(notebook, timeout=CELL_SECONDS, resources={"metadata": {"path": str(folder)}})
    page.name, page.source, page.kept, page.texts = path.name, path, numbers.load(path), {}
    page.execute(env=os.environ | compiled(COMPILED / path.name[:2], path.stem))
    quiet(path, notebook)
    return notebook, page.texts


def quiet(source: pathlib.Path, notebook: NotebookNode) -> None:
    """Raise a ShardlabError if a cell has written to stderr: the book takes no such page."""
    for cell in notebook.cells:
        for said in (output.text for output in cell.get("outputs", ()) if output.get("name") == "stderr"):
            what = f"a cell writes to stderr: {said.strip().splitlines()[0]}"
            raise ShardlabError("cell-warns", what, where=where(source, cell.source, ""), mend="mend what it says.")


def where(source: pathlib.Path, cell: str, traceback: str) -> str:
    """The line of a chapter's source in which a cell of its solution has raised, and what stands there."""
    raised = LINE.search(COLOUR.sub("", traceback))
    within = int(raised[1]) - 1 if raised else 0
    for block in CODE.finditer(text := source.read_text()):
        lines = list(enumerate(block[1].split("\n"), text.count("\n", 0, block.start(1)) + 1))
        kept = [(number, line) for number, line in lines if unmark(line) or not line]
        for begin in (n for n, (_, line) in enumerate(kept) if line):
            if "\n".join(line for _, line in kept[begin:]).strip() == cell.strip():
                number, line = kept[min(begin + within, len(kept) - 1)]
                return f"{source.parent.name}/{source.name}:{number}: {line.strip()}"
    return f"{source.parent.name}/{source.name}, the cell that begins {cell.strip().splitlines()[0]}"


def compiled(folder: pathlib.Path, page: str) -> dict[str, str]:
    """The environment in which JAX keeps in `folder` all that XLA compiles for a page, and compiles nothing twice."""
    return {
        "JAX_ENABLE_COMPILATION_CACHE": str(page not in ANEW),
        "JAX_COMPILATION_CACHE_DIR": str(folder.absolute()),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }


def write(root: pathlib.Path, folder: pathlib.Path, chapters: Sequence[int] = (), told: Told = numbers.compare) -> None:
    """Execute every chapter's solution into `folder/NN_name.ipynb`, or those named.

    Raises:
        CellRaises: a cell raises.
        ShardlabError: a chapter has a mistake, or its prose says what its page does not.
    """
    folder.mkdir(parents=True, exist_ok=True)
    given = header.syllabus(root)
    for path in edition.chapters(root, chapters):
        start = time.monotonic()
        # Else a page would show the progress of whoever ran the chapters before, or beside it.
        with tempfile.TemporaryDirectory() as own:
            notebook, texts = run(path, given, pathlib.Path(own))
        told(path, texts)
        seconds, count = time.monotonic() - start, sum(map(len, texts.values()))
        keep(notebook, folder / f"{path.stem}.ipynb", seconds)
        quoted.compare(path, [cell.source for cell in edition.unfilled(path, given).cells], notebook)
        print(f"{path.stem}: {len(notebook.cells)} cells and {count} numbers in {seconds:.0f} s", flush=True)


def keep(notebook: NotebookNode, path: pathlib.Path, seconds: float) -> None:
    """Write an executed notebook, with what its outputs depend on; the book shows them while that is as it was."""
    notebook.metadata["shardlab"] = {"fingerprint": fingerprint(path.stem), "seconds": round(seconds, 1)}
    nbformat.write(notebook, path)


@functools.cache
def fingerprint(stem: str) -> str:
    """Short hash of what a page's outputs depend on besides its own text: versions, and the sources that it imports.

    Args:
        stem: a chapter's name, `NN_name`; any other page depends on all that a student can call.
    """
    versions = [platform.python_version(), *(importlib.metadata.version(name) for name in VERSIONS)]
    source = pathlib.Path("solutions", f"{stem}.md")
    text = source.read_text() if source.exists() else " ".join(f"sl.{name}" for name in dir(shardlab))
    digest = hashlib.sha256(" ".join(versions).encode())
    for path in sorted(_depended(text, int(stem[:2]) if source.exists() else None)):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _depended(text: str, chapter: int | None) -> Iterator[pathlib.Path]:
    """Files that a page's cells read: modules that its names lead to, its chapter's folder, its stored programs."""
    roots = {dependence.handed_on(name) for name in CALLED.findall(text)} | set(IMPORTED.findall(text))
    roots |= {f"{package}.{name}" for package, names in FROM.findall(text) for name in names.split(", ")}
    roots |= {package for package, _ in FROM.findall(text)}
    roots |= {shardlens.home(name) for _, names in FROM.findall(text) for name in names.split(", ")}
    if chapter is not None:
        roots.update(dependence.declarations(chapter))
        yield from folder(chapter).rglob("*.json")
        yield from records.FOLDER.glob(f"{chapter}-*.json")
    reached = dependence.reached(roots)
    yield from (path for module in reached if (path := dependence.source(module)) is not None)
    if listings.__name__ in reached:
        yield from listings.FOLDER.rglob("*.txt")


def main(arguments: Sequence[str]) -> int:
    """Run the solutions; the exit status."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--numbers", action="store_true", help="keep what the placeholders say, instead of comparing")
    parser.add_argument("--half", type=int, choices=(0, 1), help="every second chapter, from the first or the second on")
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=FOLDER)
    parser.add_argument("chapters", nargs="*", type=int)
    asked = parser.parse_args(arguments)
    chapters = asked.chapters if asked.half is None else list(CHAPTERS)[asked.half :: 2]
    try:
        write(pathlib.Path.cwd(), asked.folder, chapters, numbers.save if asked.numbers else numbers.compare)
    except (CellRaises, ShardlabError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
