"""One module for each kind of item: its declaration, its manifest, what the border lets through, and how it is judged."""

from __future__ import annotations

import importlib

from shardlab_judge.question import KINDS, Item


def kind(name: str) -> type[Item]:
    """The class of a kind: it is in the module of that name here, unless it was declared elsewhere before."""
    if name not in KINDS:
        importlib.import_module(f"{__name__}.{name}")
    return KINDS[name]
