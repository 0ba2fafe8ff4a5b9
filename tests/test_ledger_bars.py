"""Stacked bars of a ledger: to one scale, with every number said."""

from __future__ import annotations

from shardlab.drawing.ledger_bars import show_ledger

PLANS = {"one": {"weights": 400, "state": 800}, "other": {"weights": 400, "state": 0}}


def test_bars_are_to_one_scale() -> None:
    """The longest bar fills the width, and others their share of it."""
    lines = str(show_ledger(PLANS)).splitlines()
    assert lines[1].count("▓") == 16 and lines[1].count("░") == 32
    assert lines[4].count("▓") == 16 and lines[4].count("░") == 0
    assert "state 800 B" in lines[2] and lines[3].startswith("other: 400 B")


def test_a_chip_is_the_scale() -> None:
    """Its memory is marked, and named in the text alternative's note."""
    picture = show_ledger(PLANS, on="v5e")
    assert "v5e: 14.9 GiB of memory" in str(picture)
    assert "stroke-dasharray" in picture._repr_html_() and "aria-label" in picture._repr_html_()
