"""A chapter as slides: its headings and pictures, and its predictions as polls, in one HTML file that fetches nothing.

Run as `python jupyter_book/slides.py CHAPTER [FILE]` at the root of the repository, into `build/slides/NN_name.html` unless
told. The pictures are the outputs of the chapter's solution; they are made anew unless `build/solutions` has them.
"""

from __future__ import annotations

import dataclasses
import html
import pathlib
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import nbformat
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from nbformat import NotebookNode

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "_ext")]

import forms  # noqa: E402
from book_formulas import mathml  # noqa: E402

from shardlab_authoring import executed  # noqa: E402
from shardlab_course.chapters import QUESTIONS  # noqa: E402
from shardlab_course.editions import edition, header  # noqa: E402
from shardlab_judge.items.value import ValueItem, Why  # noqa: E402
from shardlab_judge.question import Question  # noqa: E402

FOLDER = pathlib.Path("build", "slides")
STYLE, SCRIPT = HERE / "slides.css", HERE / "slides.js"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
ENTRIES = 4
"""Of a prediction on one slide."""
CHOICES = 6
"""Up to so many stand on a slide; of more, everybody writes one down."""
WORDS = 60
"""Of a paragraph that stands on a slide."""
SKIPPED = ("Exercise", "Further reading")
"""How headings begin whose sections give polls alone."""
NO_PICTURE = ("sl.check(", "sl.progress(")
"""In cells whose outputs are about whoever ran them."""
PREDICT = re.compile(r'sl\.predict\(\s*"(\d+\.\d+)"')
FENCED = re.compile(r"^:::+\{.*?^:::+$|^<!--.*?-->$", re.MULTILINE | re.DOTALL)
ROLE = re.compile(r"\{[\w:]+\}`([^`<]+?)\s*(?:<[^`]*>)?`")
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\([^)]*\)")
STARS = re.compile(r"^(?:optional · )?★.*$\n?", re.MULTILINE)
WHY = re.compile(r"^And `why`.*", re.MULTILINE | re.DOTALL)


@dataclasses.dataclass(frozen=True)
class Slide:
    """A heading and what stands below it, as HTML; `kind` is title, section, picture, asked, poll or answer."""

    kind: str
    title: str
    body: str

    @property
    def html(self) -> str:
        """The slide's element."""
        place = f'<div class="place"><div>{self.body}</div></div>'
        return f'<section class="slide {self.kind}"><h2>{self.title}</h2>{place}</section>'


def slides(notebook: NotebookNode) -> Iterator[Slide]:
    """The slides of a chapter's solution that has run."""
    title, text, shown, skipped = "", "", "", False
    asked: list[str] = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            for part in re.split(r"^(?=#{1,4} )", FENCED.sub("", cell.source).strip(), flags=re.MULTILINE):
                text = part
                if part.startswith("#"):
                    head, _, text = part.partition("\n")
                    level, title = head.split(" ", 1)
                    asked, skipped, shown = [], title.startswith(SKIPPED), _paragraph(text, 0)
                    if not skipped and len(level) < 3:
                        yield Slide("title" if len(level) == 1 else "section", _inline(title), _block(shown))
                asked.append(text)
        elif found := PREDICT.search(cell.source):
            yield from polls(QUESTIONS[found[1]], "\n\n".join(asked))
            asked = []
        elif skipped:
            # What is asked may be about code that is given; no answer is.
            given = not cell.metadata.get("nbgrader", {}).get("solution")
            asked.append(f"```\n{cell.source}\n```" * given)
        elif not any(call in cell.source for call in NO_PICTURE):
            for picture in filter(None, map(_picture, cell.get("outputs", ()))):
                lead = _paragraph(text, -1)
                yield Slide(
                    "picture", _inline(title), f"{_block(lead if lead != shown else '')}{_said(cell.source)}{picture}"
                )
                text = ""


def polls(question: Question, text: str) -> Iterator[Slide]:
    """Slides that ask for each thing to be predicted, each with its answer after it; a long question stands before them."""
    items = [item for item in question.items if isinstance(item, ValueItem)]
    text = WHY.sub("", STARS.sub("", text)).replace("**First, predict.** ", "").strip()
    title, long = html.escape(question.title), len(text.split()) > WORDS
    if long:
        yield Slide("asked", title, _block(text))
    for item in items:
        if item.predicted:
            known = forms.facts(items, item)
            asked = _inline(item.asked) if isinstance(item, Why) else "" if long else _block(text)
            for n in range(0, len(known["entries"]), ENTRIES):
                few = known["entries"][n : n + ENTRIES]
                for kind, name in (("poll", "Predict"), ("answer", "Answer")):
                    rows = "".join(_row(item, known, entry, kind == "answer") for entry in few)
                    yield Slide(kind, f"{name}: {title}", f'<div class="asked">{asked}</div>{rows}')


def _row(item: ValueItem, known: dict[str, Any], entry: dict[str, Any], told: bool) -> str:
    """An entry's choices, or its answer where there are too many to choose from; `told` marks the right ones."""
    name, shown = html.escape(entry["key"] or item.name), known["shown"]
    right = shown[entry["key"]] if isinstance(shown, dict) else shown
    if not (isinstance(item, Why) or 1 < len(entry["choices"]) <= CHOICES):
        said = f'<li class="right">✓ {html.escape(str(right))}</li>' if told else "<li>Write it down.</li>"
        return f"<p><code>{name}</code></p><ul>{said}</ul>"
    marks = [told and n in entry["right"] for n, _ in enumerate(entry["choices"])]
    texts = [item.mechanisms[label] if isinstance(item, Why) else label for label, _ in entry["choices"]]
    choices = "".join(
        f'<li class="{"right" if mark else "other" if told else ""}">{"✓" if mark else chr(65 + n)} {_inline(text)}</li>'
        for n, (mark, text) in enumerate(zip(marks, texts, strict=True))
    )
    beside = ' class="beside"' * (len(known["entries"]) > 1)
    return f"<p><code>{name}</code></p>" * (not isinstance(item, Why)) + f"<ul{beside}>{choices}</ul>"


def _picture(output: NotebookNode) -> str:
    data = output.get("data", {})
    if "text/html" in data:
        return f'<div class="drawn">{data["text/html"]}</div>'
    if "image/png" in data:
        return f'<div class="drawn"><img alt="" src="data:image/png;base64,{data["image/png"]}"></div>'
    return ""


def _said(source: str) -> str:
    """The line that has made a picture."""
    line = source.strip().splitlines()[-1]
    return f'<p class="said"><code>{html.escape(line)}</code></p>' * (not line.startswith((" ", ")")))


def _paragraph(text: str, number: int) -> str:
    """One of a text's paragraphs, of a long one its first sentences; nothing where there is none."""
    found = [part for part in re.split(r"\n\s*\n", text.strip()) if part]
    sentences = re.split(r"(?<=[.?!:])\s+(?=[A-Z*`$])", found[number]) if found else []
    while len(" ".join(sentences).split()) > WORDS:
        sentences.pop()
    return " ".join(sentences)


def _markdown() -> MarkdownIt:
    def formula(tex: str, options: dict[str, Any]) -> str:
        return mathml(tex, options["display_mode"])

    return MarkdownIt("commonmark").enable("table").use(dollarmath_plugin, renderer=formula, double_inline=True)


def _block(text: str) -> str:
    return _markdown().render(LINK.sub(r"\1", ROLE.sub(r"\1", text)))


def _inline(text: str) -> str:
    return _markdown().renderInline(LINK.sub(r"\1", ROLE.sub(r"\1", text)))


def page(title: str, made: Sequence[Slide]) -> str:
    """The file's text."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"<title>{html.escape(title)}</title><style>\n{STYLE.read_text()}</style></head>\n<body>\n"
        f"{chr(10).join(slide.html for slide in made)}\n<script>\n{SCRIPT.read_text()}</script>\n</body></html>\n"
    )


def ran(root: pathlib.Path, chapter: int) -> tuple[str, NotebookNode]:
    """The name of a chapter, and its solution with outputs; it runs where those of `build/solutions` no longer hold.

    Raises:
        CellRaises, ShardlabError: the chapter has a mistake.
    """
    (source,) = edition.chapters(root, [chapter])
    kept = root / executed.FOLDER / f"{source.stem}.ipynb"
    if not kept.exists() or not _holds(nbformat.read(kept, as_version=4), source, root):
        executed.write(root, root / executed.FOLDER, [chapter])
    return source.stem, nbformat.read(kept, as_version=4)


def _holds(notebook: NotebookNode, source: pathlib.Path, root: pathlib.Path) -> bool:
    """Whether it has this chapter's code, and its outputs come from the packages as they are."""
    code, now = (
        [cell.source for cell in one.cells if cell.cell_type == "code"]
        for one in (notebook, edition.solution(edition.unfilled(source, header.syllabus(root))))
    )
    return code == now and notebook.metadata.get("shardlab", {}).get("fingerprint") == executed.fingerprint(source.stem)


def main(arguments: Sequence[str]) -> int:
    """Write the slides of a chapter and say so; the exit status."""
    number, *target = arguments
    name, notebook = ran(pathlib.Path.cwd(), int(number))
    made = list(slides(notebook))
    file = pathlib.Path(*target) if target else FOLDER / f"{name}.html"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(page(re.sub(r"<.*?>", "", made[0].title), made))
    print(f"{len(made)} slides: {file}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
