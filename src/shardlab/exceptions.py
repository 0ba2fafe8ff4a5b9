"""What raised, as data: the entry of an answer that could not be had."""

from __future__ import annotations

import re
import textwrap
from typing import Any

from shardlens import raised_at

MESSAGE, SHORT = 2000, 90
_OURS = re.compile(r"(?:the )?function flat at \S*exporting\.py:\d+")
"""How JAX names the function that `shardlab.answers.exporting` wraps around the writer's."""


def trouble(raised: BaseException) -> str:
    """Why a cell's function gives nothing, in a few words: it is not written yet, or what it raised.

    Example:
        >>> trouble(NameError("name 'mesh' is not defined"))
        "NameError: name 'mesh' is not defined"
    """
    said = " ".join(str(raised).split())
    if "ellipsis" in said.lower():
        return "not written yet"
    return textwrap.shorten(f"{type(raised).__name__}: {said}".removesuffix(": "), SHORT, placeholder=" ...")


def error(raised: BaseException, function: Any = None) -> dict[str, Any]:
    """The entry of what raised instead, when a function was called: type, message, and where in the student's code."""
    try:
        message = _OURS.sub("your function", str(raised))
    except Exception:  # of the student's own, whose `__str__` raises
        message = ""
    return {"error": {"type": type(raised).__name__, "message": message[:MESSAGE], "line": raised_at(raised, function)}}
