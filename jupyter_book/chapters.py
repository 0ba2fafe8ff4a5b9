"""The chapters as pages of the book: doors to their notebooks, hints folded under each exercise, solutions apart."""

from __future__ import annotations

import functools
import pathlib
import re

import cutting
import forms
import jupytext
import nbformat
import racing
import sending
import sliders
import takeaway
from nbformat import NotebookNode

from shardlab_course.chapters import QUESTIONS
from shardlab_course.clinic import cases, old
from shardlab_course.editions import edition, header

COLAB = "https://colab.research.google.com/github/"
KAGGLE = "https://www.kaggle.com/kernels/welcome?src="
EXERCISE = re.compile(r"^## Exercise (?P<question>[\d.]+): (?P<title>.*)$", re.MULTILINE)
PREDICT = re.compile(r"^sl\.predict\(\"([\d.]+)\"", re.MULTILINE)
KEYS = "Click into the cell below and press Shift and Enter. The cell runs, and the next one is selected."
NO_KEYS = "In the notebook you click into a cell and press Shift and Enter, which runs it. On this page all cells have run."
TITLE = re.compile(r"^# .+$", re.MULTILINE)
PLAYGROUNDS = {
    1: "who-holds-which-slice",
    2: "what-a-collective-costs",
    4: "four-cases-of-a-product",
    5: "who-holds-which-slice",
    8: "a-collective-step-by-step",
    9: "when-more-chips-help-less",
}
"""Chapters, and what of the page of playgrounds belongs to each."""
LAPTOP = """\
::::{{dropdown}} On your own machine: three lines
:class-container: laptop
Unpack *Notebooks and packages*, and type these lines in its folder `shardlab`. Python 3.11 or newer is enough.

```sh
python -m venv .venv
.venv/bin/python -m pip install ./*.whl jupyterlab
.venv/bin/jupyter lab {name}.ipynb
```
::::"""
HINTS = ("a nudge", "the idea", "nearly there")


def names(root: pathlib.Path) -> list[str]:
    """The chapters that there are, in course order."""
    return [path.stem for path in edition.twins(root)]


def title(root: pathlib.Path, name: str) -> str:
    """The heading of a chapter."""
    found = re.search(r"^# (.+)$", edition.twin(root, name).read_text(), re.MULTILINE)
    return found[1] if found else name


def purposes(root: pathlib.Path) -> dict[int, str]:
    """What one will do in each chapter, as the README says it."""
    rows = re.findall(r"^\| \[(\d+) (.*?)\]\(.*?\) \| (.*) \|$", (root / "README.md").read_text(), re.MULTILINE)
    return {int(number): f"{name}: {said[0].upper()}{said[1:].replace('`', '')}." for number, name, said in rows}


def pages(root: pathlib.Path, address: str, solutions: bool) -> dict[str, str]:
    """The text of every chapter page by its name: the student editions, and the solutions if wanted."""
    made = {f"notebooks/{name}.md": _student(root, name, address) for name in names(root)}
    if solutions:
        made |= {f"solutions/{name}.md": _solution(root, name, address) for name in names(root)}
    return made


def doors(name: str, address: str) -> str:
    """Where the notebook of a chapter can be opened: with what it needs beside it, or where that is there already."""
    notebook = f"{address}/blob/main/notebooks/{name}.ipynb"
    links = [
        f"{{download}}`Notebooks and packages <../{takeaway.NAME}>`",
        f"{{download}}`This notebook alone <{name}.ipynb>`",
    ]
    if address.startswith(header.GITHUB):
        colab = COLAB + notebook.removeprefix(header.GITHUB)
        links = [f"[Open in Colab]({colab})", f"[Open in Kaggle]({KAGGLE}{notebook})", *links]
    if playground := PLAYGROUNDS.get(int(name[:2])):
        links.append(f"[Try it on a page](../playground.md#{playground})")
    return "\n".join([":::{div} doors", *links, ":::", "", LAPTOP.format(name=name)])


def hints(question: str) -> str:
    """The hints of a question, each folded."""
    told = zip(HINTS, QUESTIONS[question].hints, strict=True)
    return "\n\n".join(
        f"::::{{dropdown}} Hint {number} for {question}: {what}\n:class-container: hint\n{plain(text)}\n::::"
        for number, (what, text) in enumerate(told, 1)
    )


def met(question: str) -> str:
    """Links to what this exercise trains for: mistakes in other people's programs, and code from before; empty if none."""
    found = [case for case in (*cases.CASES, *old.CASES) if case.exercise == question]
    links = (f"[{plain(case.row.means)}](../{case.page})" for case in found)
    return f":::{{div}} met\nElsewhere you meet this as: {'; '.join(links)}.\n:::" if found else ""


def clinic() -> str:
    """A table of what `sl.diagnose` knows: the words that people ask in, what trains it, and a thread."""
    rows = ["| What is wrong | People say | Exercise | Thread |", "|:--|:--|:--|:--|"]
    for case in cases.CASES:
        _, name, _, number = case.thread.split("/")
        wrong = f"[{plain(case.row.means)}](#{case.page.partition('#')[2]})"
        trains = f"[{case.exercise}](#{label(case.exercise)})"
        thread = f"[{name}#{number}](https://github.com/{case.thread})"
        rows.append(f"| {wrong} | {plain('; '.join(case.asked))} | {trains} | {thread} |")
    return "\n".join(rows) + "\n"


def label(question: str) -> str:
    """The name by which pages refer to an exercise."""
    return f"exercise-{question.replace('.', '-')}"


def fold(notebook: NotebookNode) -> None:
    """Let a page show the first cell, which installs the course where it is missing, as one line that opens."""
    for cell in notebook.cells:
        if cell.source.startswith(header.FIRST_CELL.partition(":")[0]):
            cell.metadata["tags"] = [*cell.metadata.get("tags", []), "hide-input"]


def plain(text: str) -> str:
    """A plain text with pieces of code in it as Markdown that shows it as it is written, straight quotes included."""
    return re.sub(r"""([\\`*_{}\[\]<>#$|~'"])""", r"\\\1", text)


FIGURES = {
    "01_meshes_and_shardings": {"## Two shapes: global and local": cutting.figure},
    "02_what_communication_costs": {"### Rows do not always help": sliders.rows, "### Adding on the way": racing.figure},
    "04_four_matmul_cases": {"## One line, four prices": sliders.cases},
    "08_collectives": {"## Round the ring": sending.figure},
    "11_fsdp_and_memory": {"## First on paper: one parameter": sliders.stages},
    "12_overlap": {"## What XLA for TPU makes of it": sliders.moments},
    "15_capstone": {"## Which mesh?": sliders.meshes},
}
"""What a chapter's page has before headings, and its notebook has not."""


def _student(root: pathlib.Path, name: str, address: str) -> str:
    notebook = jupytext.reads(edition.twin(root, name).read_text(), fmt=edition.MYST)
    cells = []
    waiting = dict(forms.forms())
    for cell in notebook.cells:
        for heading, figure in FIGURES.get(name, {}).items():
            if cell.cell_type == "markdown" and heading in cell.source.splitlines():
                cell.source = cell.source.replace(heading, f"{figure()}\n{heading}")
        graded = edition.GRADE.match(cell.source) if cell.cell_type == "code" else None
        predicted = PREDICT.search(cell.source) if cell.cell_type == "code" else None
        asked = graded or predicted
        form = waiting.pop(asked[1], "") if asked else ""
        shown = [nbformat.v4.new_markdown_cell(f"```{{raw}} html\n{form}```")] if form else []
        # Before what shows that which was to be predicted: the next cell, or what a check says in a solved notebook.
        cells += [cell, *shown] if predicted else [*shown, cell]
        if graded:
            cells.append(nbformat.v4.new_markdown_cell(f"{hints(graded[1])}\n\n{met(graded[1])}"))
    return _text(notebook, cells, header.badges(name, address), doors(name, address), labelled=True)


def _solution(root: pathlib.Path, name: str, address: str) -> str:
    notebook = edition.solution(edition.source(root / "solutions" / f"{name}.md", header.syllabus(root)))
    for cell in notebook.cells:
        cell.metadata.pop("nbgrader", None)
    note = f":::{{div}} doors\n[The chapter without its solutions](../notebooks/{name}.md)\n:::"
    text = _text(notebook, notebook.cells, header.badges(name, address), note, labelled=False)
    return re.sub(r"^# ", "# Solutions ", text, count=1, flags=re.MULTILINE)


def _text(notebook: NotebookNode, cells: list[NotebookNode], badges: str, top: str, *, labelled: bool) -> str:
    for cell in cells:
        if cell.cell_type == "markdown":
            cell.source = cell.source.replace(badges, top) if badges else TITLE.sub(rf"\g<0>\n\n{top}", cell.source, count=1)
            cell.source = cell.source.replace(KEYS, NO_KEYS)
            cell.source = EXERCISE.sub(functools.partial(_heading, labelled), cell.source)
    notebook.cells = cells
    fold(notebook)
    return edition.to_md(notebook)


def _heading(labelled: bool, match: re.Match[str]) -> str:
    heading = f"## Exercise {match['question']}: {plain(match['title'])}"
    return f"({label(match['question'])})=\n{heading}" if labelled else heading
