"""Chapter 6, exercise 6.1: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import re

TYPE = r"[a-z]+\d*\[[\w@,()]*\]", "float32[8@x,4]"
"""What the text of a type looks like, and one of them."""


def spelt(text: str) -> str:
    """A type as `jax.typeof` writes it, from `f32[8@x, 4]` too; every exception is `error`."""
    text = text.replace(" ", "")
    return "error" if "error" in text.lower() else re.sub(r"^f(?=\d+\[)", "float", text)
