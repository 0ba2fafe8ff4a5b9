"""Editions of a chapter, all made from `solutions/NN_name.md`: nbgrader's source, the solution, and the student's notebook.

Run as `python -m shardlab_course.editions.edition [--check] [CHAPTER...]` at the root of the repository.
"""

from __future__ import annotations

import copy
import hashlib
import pathlib
import re
import sys
from collections.abc import Callable, Collection, Mapping

import nbformat
from nbformat import NotebookNode

from shardlab.errors import ShardlabError
from shardlab_course.editions import header, numbers
from shardlab_course.editions.stub import has_region, stub, unmark

MYST = {"extension": ".md", "format_name": "myst"}
NOTEBOOKS, TWINS = "notebooks", "notebooks/myst"
"""Where students find each chapter once, and the same notebooks as MyST text: for `git diff`, editors and the book."""
HEADER = """\
---
jupytext:
  text_representation: {extension: .md, format_name: myst}
kernelspec: {display_name: Python 3 (ipykernel), language: python, name: python3}
---

"""
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python", "pygments_lexer": "ipython3"},
}
EXERCISE = re.compile(r"## Exercise (\d+\.\d+):")
UNCOUNTED = "does not count in your course · "
HEAD = re.compile(rf"^(?P<head>## Exercise (?P<id>\d+\.\d+): .*\n\n)(?:{UNCOUNTED})?", re.MULTILINE)
SECTIONS = re.compile(r"^(?=## )", re.MULTILINE)
GRADE = re.compile(r"""\s*sl\.check\(\s*["']([^"']+)["']""")


def source(path: pathlib.Path, given: header.Syllabus) -> NotebookNode:
    """The chapter as nbgrader's source: regions kept, nbgrader metadata added, generated cells and numbers filled in.

    Raises:
        ShardlabError: a marker, a region, a grade cell or a question does not fit the others, or a number is not measured.
    """
    return numbers.fill(unfilled(path, given), numbers.load(path), path.name)


def unfilled(path: pathlib.Path, given: header.Syllabus) -> NotebookNode:
    """The same, with the placeholders of its numbers as they are written.

    Raises:
        ShardlabError: a marker, a region, a grade cell or a question does not fit the others.
    """
    import jupytext  # it brings a notebook server, and grading needs none of it

    text = header.expand(path.read_text(encoding="utf-8"), path.stem, given, path.name)
    read = jupytext.reads(text, fmt=MYST)
    notebook = nbformat.v4.new_notebook(metadata=copy.deepcopy(METADATA), cells=read.cells)
    _name_cells(notebook, path.name, given)
    _number_cells(notebook, path.stem)
    for cell, where in _code_cells(notebook, path.name):
        if has_region(cell.source):
            stub(cell.source, where)
    return notebook


def student(notebook: NotebookNode) -> NotebookNode:
    """What a student opens: every solution region is a stub, and no cell that counts is deleted by a slip of the hand."""
    edition = _edited(notebook, lambda text, where: stub(text, where) if has_region(text) else text)
    for cell in edition.cells:
        if "nbgrader" in cell.metadata:
            cell.metadata["deletable"] = False  # as nbgrader's LockCells does in a release
    return edition


def solution(notebook: NotebookNode) -> NotebookNode:
    """The worked chapter: solutions kept, markers gone."""
    return _edited(notebook, lambda text, where: unmark(text))


def without(notebook: NotebookNode, left_out: Collection[str]) -> NotebookNode:
    """The chapter without these exercises: each from its heading to the next one of that rank."""
    edition = nbformat.v4.new_notebook(metadata=copy.deepcopy(notebook.metadata))
    skipped = False
    for cell in notebook.cells:
        parts = SECTIONS.split(cell.source) if cell.cell_type == "markdown" else [cell.source]
        kept = []
        for part in parts:
            if cell.cell_type == "markdown" and part.startswith("## "):
                exercise = EXERCISE.match(part)
                skipped = exercise is not None and exercise[1] in left_out
            if not skipped:
                kept.append(part)
        if "".join(kept):
            edition.cells.append(nbformat.from_dict({**cell, "source": "".join(kept)}))
    return edition


def worth(notebook: NotebookNode, points: Mapping[str, float]) -> NotebookNode:
    """The notebook with these points, by question, in its grade cells; the head of an exercise without points says so."""

    def head(match: re.Match[str]) -> str:
        return match["head"] + (UNCOUNTED if not points[match["id"]] else "") if match["id"] in points else match[0]

    edition = copy.deepcopy(notebook)
    for cell in edition.cells:
        if cell.cell_type == "code" and (match := GRADE.match(cell.source)) and match[1] in points:
            cell.metadata["nbgrader"]["points"] = _plain(points[match[1]])
        elif cell.cell_type == "markdown":
            cell.source = HEAD.sub(head, cell.source)
    return edition


def questions(notebook: NotebookNode) -> tuple[str, ...]:
    """Ids of the questions that have a grade cell, in notebook order."""
    return tuple(match[1] for cell in notebook.cells if cell.cell_type == "code" and (match := GRADE.match(cell.source)))


def to_md(notebook: NotebookNode) -> str:
    """The notebook as MyST text."""
    import jupytext

    text = jupytext.writes(notebook, fmt=MYST)
    return HEADER + re.sub(r"\A---\n.*?\n---\n+", "", text, flags=re.DOTALL)


def to_ipynb(notebook: NotebookNode) -> str:
    """The notebook as `.ipynb` text."""
    return nbformat.writes(notebook, version=nbformat.NO_CONVERT) + "\n"


def chapters(root: pathlib.Path, wanted: Collection[int] = ()) -> list[pathlib.Path]:
    """The sources of all chapters, or of those wanted, in course order."""
    found = sorted((root / "solutions").glob("[0-9]*.md"))
    return [path for path in found if not wanted or int(path.name[:2]) in wanted]


def twin(root: pathlib.Path, name: str) -> pathlib.Path:
    """The MyST text of a chapter's notebook."""
    return root / TWINS / f"{name}.md"


def twins(root: pathlib.Path) -> list[pathlib.Path]:
    """Those of all chapters, in course order."""
    return sorted((root / TWINS).glob("[0-9]*.md"))


def editions(root: pathlib.Path, wanted: Collection[int] = ()) -> dict[pathlib.Path, str]:
    """Every generated file of `notebooks/` with its text, or those of the chapters wanted."""
    syllabus = header.syllabus(root)
    texts: dict[pathlib.Path, str] = {}
    for path in chapters(root, wanted):
        notebook = student(source(path, syllabus))
        texts[root / NOTEBOOKS / f"{path.stem}.ipynb"] = to_ipynb(notebook)
        texts[twin(root, path.stem)] = to_md(notebook)
    return texts


def stale(root: pathlib.Path, wanted: Collection[int] = ()) -> list[pathlib.Path]:
    """Files of `notebooks/` that differ from what `solutions/` generates, are missing, or are generated from nothing.

    Args:
        wanted: the only chapters to look at; all without it.
    """
    return _stale(root, editions(root, wanted), wanted)


def write(root: pathlib.Path, wanted: Collection[int] = ()) -> list[pathlib.Path]:
    """Bring `notebooks/` up to date, or the files of the chapters wanted; the files that changed."""
    texts = editions(root, wanted)
    changed = _stale(root, texts, wanted)
    for path in changed:
        if path in texts:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(texts[path], encoding="utf-8")
        else:
            path.unlink()
    return changed


def _stale(root: pathlib.Path, texts: dict[pathlib.Path, str], wanted: Collection[int]) -> list[pathlib.Path]:
    found = {path for folder in (NOTEBOOKS, TWINS) for path in (root / folder).glob("*") if path.suffix in (".md", ".ipynb")}
    differing = {path for path, text in texts.items() if not path.exists() or path.read_text(encoding="utf-8") != text}
    return sorted(differing | (set() if wanted else found - set(texts)))


def _edited(notebook: NotebookNode, edit: Callable[[str, str], str]) -> NotebookNode:
    edition = copy.deepcopy(notebook)
    for cell, where in _code_cells(edition, "notebook"):
        cell.source = edit(cell.source, where)
    return edition


def _code_cells(notebook: NotebookNode, name: str) -> list[tuple[NotebookNode, str]]:
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [(cell, _where(name, number, cell)) for number, cell in enumerate(cells, 1)]


def _where(name: str, number: int, cell: NotebookNode) -> str:
    first = next((line for line in cell.source.split("\n") if line.strip()), "")
    return f"{name}, code cell {number} ({first[:60]})"


def _name_cells(notebook: NotebookNode, name: str, given: header.Syllabus) -> None:
    """Give solution and grade cells their nbgrader metadata, and check that questions, cells and regions fit."""
    waiting: list[tuple[NotebookNode, str]] = []
    graded: list[str] = []
    for cell, where in _code_cells(notebook, name):
        match = GRADE.match(cell.source)
        if has_region(cell.source) and not match:
            waiting.append((cell, where))
        if not match:
            continue
        question = header.known(match[1], given.questions, where)
        if question.id in graded or has_region(cell.source):
            what = "has two grade cells" if question.id in graded else "has a solution region in its grade cell"
            mend = "write one grade cell a question, with nothing but sl.check(...) in it."
            raise ShardlabError("not-a-grade-cell", f"question {question.id} {what}.", where=where, mend=mend)
        graded.append(question.id)
        for number, (answer, _) in enumerate(waiting, 1):
            suffix = "-answer" if number == 1 else f"-answer-{number}"
            answer.metadata["nbgrader"] = _nbgrader(question.grade_id + suffix, solution=True)
        cell.metadata["nbgrader"] = _nbgrader(question.grade_id, points=question.points)
        waiting = []
    _complain(waiting, graded, name, given)


def _complain(waiting: list[tuple[NotebookNode, str]], graded: list[str], name: str, given: header.Syllabus) -> None:
    if waiting:
        what = "a solution region belongs to no grade cell."
        mend = 'end the exercise with a cell that starts with sl.check("N.M", ...).'
        raise ShardlabError("region-without-grade-cell", what, where=waiting[0][1], mend=mend)
    chapter = str(int(name[:2]))
    missing = [q for q in given.questions if q.split(".")[0] == chapter and q not in graded]
    if missing:
        what = f"no grade cell for question {', '.join(missing)}."
        mend = f'write a cell that starts with sl.check("{missing[0]}", ...), or take the question out of the declarations.'
        raise ShardlabError("question-without-grade-cell", what, where=name, mend=mend)


def _nbgrader(grade_id: str, *, points: float | None = None, solution: bool = False) -> dict[str, object]:
    kind: dict[str, object] = {"grade": not solution, "grade_id": grade_id, "locked": not solution}
    if points is not None:
        kind["points"] = _plain(points)
    return {**kind, "schema_version": 3, "solution": solution, "task": False}


def _plain(points: float) -> float:
    return int(points) if points == int(points) else points


def _number_cells(notebook: NotebookNode, chapter: str) -> None:
    """Ids that stay as they are while the cell does: from the grade id, else from the text."""
    seen: dict[str, int] = {}
    for cell in notebook.cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
        text = grade_id or f"{chapter}/{cell.cell_type}/{cell.source}"
        seen[text] = seen.get(text, 0) + 1
        cell["id"] = grade_id or hashlib.sha256(f"{text}/{seen[text]}".encode()).hexdigest()[:12]


def main(arguments: list[str]) -> int:
    """Write or check `notebooks/`; the exit status."""
    root = pathlib.Path.cwd()
    check = "--check" in arguments
    wanted = [int(word) for word in arguments if word.isdigit()]
    try:
        changed = stale(root, wanted) if check else write(root, wanted)
    except ShardlabError as error:
        print(error, file=sys.stderr)
        return 1
    for path in changed:
        print(f"{'stale' if check else 'wrote'} {path.relative_to(root)}")
    if check and changed:
        print("run `make notebooks`: these files are not what solutions/ generates.", file=sys.stderr)
    return int(check and bool(changed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
