"""The explanation below a traceback, in a notebook or a script."""

from __future__ import annotations

import functools
import sys
from types import TracebackType
from typing import Any

from shardlens.messages.recognising import diagnose, labelled


def explain_errors(on: bool = True, page: str = "", shell: Any = None) -> None:
    """From now on, shows below each traceback what its message means and how to mend it, where the table knows it.

    In a notebook this holds for the kernel, elsewhere for the process. The table is read at the first exception.

    Args:
        on: `False` ends it.
        page: the address of a page with an entry for each row; its link is the last line.
        shell: IPython's, where it is not the running one, as in an extension.
    Example:
        >>> explain_errors()
        >>> explain_errors(False)
    """
    get_ipython = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = shell or (get_ipython() if get_ipython else None)
    if shell is not None:
        _in_shell(shell, on, page)
    elif on:
        sys.excepthook = functools.partial(_printed, page)
    elif isinstance(sys.excepthook, functools.partial) and sys.excepthook.func is _printed:
        sys.excepthook = sys.__excepthook__


def _in_shell(shell: Any, on: bool, page: str) -> None:
    # An attribute of this shell alone, before that of its class. Handlers of single exceptions call it too.
    vars(shell).pop("_showtraceback", None)
    if on:
        shell._showtraceback = functools.partial(_shown, shell._showtraceback, page)


def _shown(show: Any, page: str, kind: type[BaseException], raised: BaseException, lines: list[str]) -> None:
    show(kind, raised, [*lines, *explanation(raised, page)])


def _printed(page: str, kind: type[BaseException], raised: BaseException, at: TracebackType | None) -> None:
    sys.__excepthook__(kind, raised, at)
    for line in explanation(raised, page):
        print(line, file=sys.stderr)


def explanation(raised: BaseException, page: str = "") -> list[str]:
    """Lines for below the traceback, the first one empty; none where the table does not know the exception."""
    if isinstance(raised, NameError) and raised.name:
        return []  # Python's own: its traceback says all there is
    try:
        found = diagnose(raised).found
    except Exception:  # an exception is an object of the user's; the traceback must come through
        return []
    if not found:
        return []
    link = labelled("page", [f"{page}#{found[0].message.name}"]) if page else []
    return ["", *found[0].lines(), *link]
