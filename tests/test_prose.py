"""The prose of the chapters: a number with a unit is measured by its page, or its paragraph names a source.

Not looked at: code, where given sizes belong; and the hints and explanations of the questions, which are plain text in the
helper package and speak of the sizes that their exercise gives.
"""

from __future__ import annotations

import ast
import collections
import pathlib
import re
import symtable
from collections.abc import Iterator

import jupytext
import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode

import asked
from shardlab_course.chapters import CHAPTERS
from shardlab_course.editions import edition, header, numbers
from shardlab_course.editions.stub import BEGIN, END, has_region

ROOT = pathlib.Path(__file__).parent.parent
SOURCES = edition.chapters(ROOT)
ASKED = [path for path in SOURCES if asked.chapter(int(path.stem[:2]))]
CODE = re.compile(r"```.*?```|(`+)(?!`).+?(?<!`)\1(?!`)|<!--.*?-->", re.DOTALL)
# Formulas are not numbers; a formula of one number is.
MATH = re.compile(r"\$\$.+?\$\$|\$(?!\s)[^$]+\$", re.DOTALL)
ONE_NUMBER = re.compile(r"\$\s*(\d[\d,.]*)\s*(\\times|\\%)?\s*\$")
LINK = re.compile(r"\[[^]]+\]\([^)]+\)")
TIME = "**Time:**"
MEASURE = (
    r"(?:[kMGTP]i?B|B|[kMGT]?bits?|(?:kilo|mega|giga|tera)?bytes?|[MGTPE]?FLOPs?)(?:/s| (?:a|per) second)?"
    r"|[mnuµμ]?s|(?:nano|micro|milli)?seconds?|minutes?|hours?|percent"
)
UNIT = rf"{MEASURE}|%|\\%|times|x|×(?!\s*\d)|\\times"
# "Three times" may be counted on the fingers; "three bytes" may not. "One" is an article, too.
WORD = "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|sixteen|twenty|half an?|a hundred|a thousand|a million"
BARE = re.compile(rf"(?<![\w.,/^_])\d[\d,.]*(?:e\d+)?[ \u00a0-]?(?:{UNIT})(?![\w$])|\b(?:{WORD})[ -](?:{MEASURE})(?!\w)")

PASSES = [
    "Each device holds {{ shard.nbytes }} bytes and {{ x }} % of it.",
    "Take `64 MB` over 8 devices.",
    "```\nprint('4 bytes')\n```",
    "It takes $2IJK/8$ FLOPs and $V/n$ bytes, with $2 B D F$ in all.",
    "A v5e moves 45 GB/s over a link ([the book](https://jax-ml.github.io/scaling-book/tpus/)).",
    "**Time:** about 30 minutes to read.",
    "A mesh of 4 × 2, of 4 by 2, $4 \\times 2$; see part 3, step 2; on 8 simulated devices, times 3.",
    "Not one byte moves, four times over.",
]
FAILS = {
    "Each device holds 64 bytes.": "64 bytes",
    "It is 1,024 kB each.": "1,024 kB",
    "It takes 3.5 ms.": "3.5 ms",
    "Only 12% of the roof.": "12%",
    "Then 4× the price.": "4×",
    "Then $4\\times$ the price.": "4\\times",
    "Then 8x faster.": "8x",
    "It costs 34 times as much.": "34 times",
    "Take $64$ bytes.": "64 bytes",
    "At 197 TFLOP/s.": "197 TFLOP/s",
    "Four bytes each, or four bytes.": "four bytes",
    "A 16 GB chip and `8 GB`\n\nA [link](https://jax.dev) elsewhere.": "16 GB",
    "A wait of 30 minutes.": "30 minutes",
}

each_chapter = pytest.mark.parametrize("path", ASKED, ids=lambda path: path.stem)


@pytest.mark.parametrize("text", PASSES)
def test_what_may_be_written(text: str) -> None:
    """Placeholders, code, formulas, cited numbers and the time of the opening box pass."""
    assert list(bare(text)) == []


NUMBERS = "no one two three four five six seven eight nine ten".split()


@each_chapter
def test_the_opening_box_counts_the_exercises(path: pathlib.Path) -> None:
    """All of them, and of those that are optional each, or how many."""
    questions = CHAPTERS[int(path.stem[:2])]
    (line,) = (line for line in path.read_text().splitlines() if line.startswith(TIME))
    optional = [question.id for question in questions if question.optional]
    assert re.search(rf"\b{NUMBERS[len(questions)]} (?:short )?exercises", line), line
    if named := re.search(r"; ([\d., toand]+) are optional", line):
        first, *_, last = ids = re.findall(r"\d+\.\d+", named[1])
        assert (first, last) == (optional[0], optional[-1]) and ("to" in named[1] or ids == optional), line
    elif said := re.search(r"for the (\w+) that later chapters build on", line):
        assert said[1] == NUMBERS[len(questions) - len(optional)], line
    elif said := re.search(r"(\w+) of these are optional", line):
        assert said[1].lower() == NUMBERS[len(optional)], line


@pytest.mark.parametrize(("text", "found"), FAILS.items(), ids=FAILS.values())
def test_what_may_not(text: str, found: str) -> None:
    """A number with a unit is found in each of its spellings."""
    assert found in list(bare(text))


def test_answers_are_followed_through_the_cells() -> None:
    """A name is an answer's if a cell makes it from one, and is not any more when it is made afresh."""
    cells = ["x = 1", f"{BEGIN}\na = 2\n{END}", "def b(): return [a for _ in 'xy']\nc = b()\nd = x", "a = x"]
    notebook = nbformat.v4.new_notebook()
    for source in cells:
        notebook.cells += [nbformat.v4.new_code_cell(source), nbformat.v4.new_markdown_cell(source)]
    assert [answers for _, answers in answered(notebook)] == [set(), {"a"}, {"a", "b", "c"}, {"b", "c"}]


@each_chapter
def test_numbers_are_measured_or_cited(path: pathlib.Path) -> None:
    """No paragraph has a bare number with a unit, unless it links to its source."""
    found = [(number, paragraph) for text in texts(path) for paragraph in paragraphs(text) for number in bare(paragraph)]
    assert found == [], "write {{ expression }}, put a given size into code, or link the source in the paragraph"


@each_chapter
def test_no_paragraph_is_long(path: pathlib.Path) -> None:
    """Of a page or of an explanation: at most 120 words, lists and tables aside, whose entries are short."""
    told = [part for question in CHAPTERS[int(path.stem[:2])] for part in question.explanation.split("\n\n")]
    prose = [part for text in texts(path) for part in paragraphs(text) if not re.match(r"[-|>:]", part.lstrip())]
    assert [part for part in told + prose if len(part.split()) > 120] == []


@each_chapter
def test_kept_numbers_are_the_placeholders(path: pathlib.Path) -> None:
    """The file of a chapter has a text for each of its placeholders, and for nothing else."""
    asked = collections.Counter(e for text in texts(path) for e in numbers.expressions(text, path.name))
    kept = {expression: len(told) for expression, told in numbers.load(path).items()}
    assert kept == asked, f'make numbers CHAPTERS="{int(path.name[:2])}"'


@each_chapter
def test_placeholders_need_no_answers(path: pathlib.Path) -> None:
    """What the text tells does not come out of what the student is to write."""
    for text, answers in answered(edition.unfilled(path, header.syllabus(ROOT))):
        for expression in numbers.expressions(text, path.name):
            code = ast.unparse(Apart().visit(ast.parse(f"({expression}\n)")))
            assert not used(symtable.symtable(code, "text", "exec")) & answers, expression


def test_numbers_of_lost_chapters_are_gone() -> None:
    """Every file of numbers belongs to a chapter."""
    assert {p for p in (ROOT / "solutions" / numbers.FOLDER).iterdir()} <= {numbers.kept(path) for path in SOURCES}


def texts(path: pathlib.Path) -> Iterator[str]:
    """The Markdown cells of a chapter's source, as they are written."""
    cells = jupytext.reads(path.read_text(), fmt=edition.MYST).cells
    yield from (cell.source for cell in cells if cell.cell_type == "markdown")


def paragraphs(text: str) -> list[str]:
    return re.split(r"\n\s*\n", CODE.sub("·", text))


def bare(text: str) -> Iterator[str]:
    """The numbers with units that nothing vouches for."""
    for paragraph in paragraphs(text):
        if LINK.search(paragraph) or paragraph.lstrip().startswith(TIME):
            continue
        plain = numbers.PLACEHOLDER.sub("·", paragraph)
        plain = MATH.sub("·", ONE_NUMBER.sub(r"\1\2", plain))
        yield from (match[0] for match in BARE.finditer(plain))


def answered(notebook: NotebookNode) -> Iterator[tuple[str, set[str]]]:
    """Each text with the names that an answer above it made, directly or through other cells."""
    answers: set[str] = set()
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            yield cell.source, set(answers)
            continue
        for statement in ast.parse(TransformerManager().transform_cell(cell.source)).body:
            table = symtable.symtable(ast.unparse(Apart().visit(statement)), "cell", "exec")
            made = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned()}
            answers = answers | made if has_region(cell.source) or used(table) & answers else answers - made


class Apart(ast.NodeTransformer):
    """Gives what a comprehension binds a scope of its own, which from Python 3.12 on a generator alone has."""

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp) -> ast.GeneratorExp:
        """A list or a set."""
        self.generic_visit(node)
        return ast.GeneratorExp(node.elt, node.generators)

    visit_SetComp = visit_ListComp

    def visit_DictComp(self, node: ast.DictComp) -> ast.GeneratorExp:
        """A dict, of its pairs."""
        self.generic_visit(node)
        return ast.GeneratorExp(ast.Tuple([node.key, node.value], ast.Load()), node.generators)


def used(table: symtable.SymbolTable) -> set[str]:
    """The names of the page that are read, in nested functions too."""
    top = table.get_type() == "module"
    read = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_referenced() and (top or symbol.is_global())}
    return read.union(*map(used, table.get_children()))
