"""Numbers in prose: `{{ expression }}` in a chapter's text, and `solutions/numbers/NN.json`, which has what each says.

The expressions are evaluated where the solutions run (`executed.py`); everything else reads the file. One that ends in a
comment, `# JAX 0.10`, stands in a sentence about that version, and is evaluated on it alone.
"""

from __future__ import annotations

import ast
import json
import pathlib
import re
from collections.abc import Callable, Mapping, Sequence

from nbformat import NotebookNode

from shardlab.errors import ShardlabError

PLACEHOLDER = re.compile(r"\{\{ (.+?) \}\}")
VERSION = re.compile(r"# JAX (\d+\.\d+)$")
OPENING = "{{ "
FOLDER = "numbers"

# What each expression says, in the order of its places in the page.
Texts = Mapping[str, Sequence[str]]


def expressions(text: str, where: str) -> list[str]:
    """The expressions of all placeholders, in order.

    Raises:
        ShardlabError: one is not closed on its line, or is not a Python expression.
    """
    for lost in (line for line in PLACEHOLDER.sub("", text).split("\n") if OPENING in line):
        mend = "write {{ expression }} on one line, with a space inside each pair of braces."
        raise ShardlabError("placeholder-not-closed", "a placeholder does not end.", where=f"{where}: {lost}", mend=mend)
    found = PLACEHOLDER.findall(text)
    for expression in found:
        try:
            ast.parse(f"({VERSION.sub('', expression)})", mode="eval")
        except SyntaxError as error:
            what = f"the placeholder is not Python: {error.msg}."
            raise ShardlabError(
                "placeholder-not-python",
                what,
                where=f"{where}: {{{{ {expression} }}}}",
                mend="write one expression that needs no import.",
            ) from None
    return found


def holds_on(expression: str, jax: str) -> bool:
    """Whether the sentence around an expression is about this version of JAX, or about all.

    Example:
        >>> [holds_on(text, "0.12.0.1") for text in ("n", "n  # JAX 0.12", "n  # JAX 0.1", "n  # JAX 0.10")]
        [True, True, False, False]
    """
    about = VERSION.search(expression)
    return about is None or f"{jax}.".startswith(f"{about[1]}.")


def replaced(text: str, say: Callable[[str], str]) -> str:
    """The text with every placeholder replaced by what `say` has for its expression."""
    return PLACEHOLDER.sub(lambda match: say(match[1]), text)


def fill(notebook: NotebookNode, texts: Texts, name: str) -> NotebookNode:
    """The same notebook, its placeholders replaced by the kept texts.

    Args:
        name: the chapter's file, for the message.
    Raises:
        ShardlabError: a placeholder is broken, or has no text.
    """
    waiting = {expression: list(told) for expression, told in texts.items()}
    missing: list[str] = []

    def say(expression: str) -> str:
        if waiting.get(expression):
            return waiting[expression].pop(0)
        missing.append(expression)
        return ""

    for cell in notebook.cells:
        if cell.cell_type == "markdown" and expressions(cell.source, name):
            cell.source = replaced(cell.source, say)
    if missing:
        what = f"{len(missing)} of the placeholders {'has' if len(missing) == 1 else 'have'} not been measured."
        where = "\n".join(f"{name}: {{{{ {expression} }}}}" for expression in missing)
        raise ShardlabError("number-not-measured", what, where=where, mend=_command(name))
    return notebook


def load(chapter: pathlib.Path) -> dict[str, list[str]]:
    """The kept texts of the chapter in this file; none when nothing is kept."""
    path = kept(chapter)
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def save(chapter: pathlib.Path, texts: Texts) -> None:
    """Keep the texts of the chapter in this file, a line for each expression."""
    path = kept(chapter)
    if not texts:
        path.unlink(missing_ok=True)
        return
    lines = [f" {_json(expression)}: {_json(list(told))}" for expression, told in texts.items()]
    path.parent.mkdir(exist_ok=True)
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def compare(chapter: pathlib.Path, texts: Texts) -> None:
    """Nothing, if the page says what is kept.

    Raises:
        ShardlabError: it says something else, or the file has what the page has not.
    """
    before = load(chapter)
    differing = [e for e in dict.fromkeys([*before, *texts]) if list(before.get(e, ())) != list(texts.get(e, ()))]
    if not differing:
        return
    what = f"{len(differing)} of the numbers in prose {'is' if len(differing) == 1 else 'are'} not what the page says now."
    where = "\n".join(
        f"{chapter.name}: {{{{ {e} }}}}   kept: {_told(before.get(e))}   now: {_told(texts.get(e))}" for e in differing
    )
    mend = f"{_command(chapter.name)}; then read the sentences around them again."
    raise ShardlabError("number-differs", what, where=where, mend=mend)


def kept(chapter: pathlib.Path) -> pathlib.Path:
    """The file with the texts of a chapter, `numbers/NN.json` beside it."""
    return chapter.parent / FOLDER / f"{chapter.name[:2]}.json"


def _command(name: str) -> str:
    return f'run the page again: make numbers CHAPTERS="{int(name[:2])}"'


def _told(texts: Sequence[str] | None) -> str:
    return ", ".join(texts) if texts else "nothing"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
