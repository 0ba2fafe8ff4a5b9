"""Functions that students are to write, called so that the laboratory does not answer in their place."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

PACKAGES = __name__.partition(".")[0], "shardlens"


class LaboratoryCalled(RuntimeError):
    """A function of the laboratory was called where the exercise is to write it."""


def alone(function: Callable[..., Any], arguments: list[Any]) -> Any:
    """What the function returns, if it calls nothing of this package, and nothing of the lens.

    Raises:
        LaboratoryCalled: it does, even if it goes on then.
    """
    refused: list[LaboratoryCalled] = []

    def watch(frame: FrameType, event: str, _: Any) -> None:
        # By calls and not by imports: the cells around an exercise may import what they like.
        module = str(frame.f_globals.get("__name__", ""))
        if event == "call" and module.partition(".")[0] in PACKAGES:
            called = f"{module}.{frame.f_code.co_name}"
            refused.append(LaboratoryCalled(f"{called} was called; this function has to do the work itself"))
            raise refused[0]

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        returned = function(*arguments)
    finally:
        sys.setprofile(before)
    if refused:
        raise refused[0]
    return returned
