"""Chapter 0, exercise 0.1: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations


def spelt(text: str) -> str:
    """What a program says in the end; of a RuntimeError its name, whatever else of it is copied."""
    return "RuntimeError" if text.strip().lower().startswith(("runtimeerror", "error")) else text.strip()
