"""Which earlier cell of the notebook makes a name that is not there: an extension of IPython that a NameError asks.

A kernel loads it when it starts, by `etc/ipython/ipython_kernel_config.py` of its environment; elsewhere `sl.setup` does.
After a restart no cell of the notebook has run, not even the first.
"""

from __future__ import annotations

import ast
import json
import os
import re
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from shardlens import explain_errors

ABOVE = "Select this cell, choose Run > Run All Above Selected Cell (Colab: Runtime > Run before), then run it again."
_HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
_MAGIC = re.compile(r"^( *)[%!].*$", re.MULTILINE)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp)
WIDTH = 70


def load_ipython_extension(shell: Any) -> None:
    """Have this shell say where a name is made that is not there, and what JAX's messages mean."""
    explain_errors(page="messages.md", shell=shell)
    if NameError not in shell.custom_exceptions:
        shell.set_custom_exc((*shell.custom_exceptions, NameError), _shown)


def _shown(shell: Any, kind: type[BaseException], raised: BaseException, at: TracebackType, tb_offset: Any = None) -> Any:
    """The traceback as it always is, and below it what helps."""
    own = getattr(raised, "_render_traceback_", None)
    lines = own() if own else shell.InteractiveTB.structured_traceback(kind, raised, at, tb_offset=tb_offset)
    lines = [*lines, *said(raised, shell)]
    shell._showtraceback(kind, raised, lines)
    return lines


def said(raised: BaseException, shell: Any) -> list[str]:
    """Lines about the cell that makes the name; none where no earlier cell does, or the notebook is not to be found."""
    name = getattr(raised, "name", None)
    if not isinstance(raised, NameError) or isinstance(raised, UnboundLocalError) or not name:
        return []
    path = _notebook(shell)
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"] if path else []
        parent = shell.kernel.get_parent() if hasattr(shell, "kernel") else {}
        found = made_by(name, cells, parent.get("metadata", {}).get("cellId", ""))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []
    return ["", *textwrap.wrap(found, 100), ABOVE] if found else []


def made_by(name: str, cells: Sequence[Any], here: str = "") -> str:
    """A sentence about the last cell before this one that makes a name; empty if there is none.

    Args:
        name: what is not defined.
        cells: the notebook's.
        here: the id of the cell that asks; without it all cells count.
    Example:
        >>> made_by("x", [{"cell_type": "markdown", "source": "## Here"}, {"cell_type": "code", "source": "x = 1"}])
        "An earlier cell makes 'x', but that cell has not run in this kernel. It is below the heading “Here”: x = 1"
    """
    heading, found = "", ""
    for cell in cells:
        text = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
        if here and cell.get("id") == here:
            break
        if cell["cell_type"] == "markdown":
            heading = next(iter(_HEADING.findall(text)[-1:]), heading)
        elif cell["cell_type"] == "code" and (line := _line(name, text)):
            where = f"below the heading “{heading}”" if heading else "at the top"
            found = f"An earlier cell makes {name!r}, but that cell has not run in this kernel. It is {where}: {line}"
    return found


def _line(name: str, source: str) -> str:
    """The line of a cell that binds the name; empty if none does."""
    try:
        tree = ast.parse(_MAGIC.sub(r"\1pass", source))
    except SyntaxError:
        return ""
    number = next((n for bound, n in _bound(tree) if bound == name), 0)
    return textwrap.shorten(source.split("\n")[number - 1].strip(), WIDTH, placeholder=" ...") if number else ""


def _bound(node: ast.AST) -> Iterator[tuple[str, int]]:
    """Names that are bound outside of functions, with their lines."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, child.lineno
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from ((each.asname or each.name.partition(".")[0], child.lineno) for each in names)
            case ast.Name(id=name, ctx=ast.Store()):
                yield name, child.lineno
        if not isinstance(child, _SCOPES):
            yield from _bound(child)


def _notebook(shell: Any) -> Path | None:
    """The notebook's file: JupyterLab names it in the environment, VS Code among the variables."""
    named = shell.user_ns.get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME", "")
    places = [Path(named), Path(Path(named).name)] if str(named).endswith(".ipynb") else []
    return next((path for path in places if path.is_file()), None)
