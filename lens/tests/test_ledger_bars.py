"""Stacked bars of a ledger: to one scale, with every number said."""

from __future__ import annotations

from shardlens.charts.ledger import show_ledger, size

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
    assert "v5e: 16 GB of memory" in str(picture)
    assert "stroke-dasharray" in picture._repr_html_() and "aria-label" in picture._repr_html_()


def test_sizes_are_decimal() -> None:
    """As in the prose around: 15e9 bytes are 15 GB."""
    assert [size(n) for n in (0, 999, 1000, 59_773_952, 15e9)] == ["0 B", "999 B", "1 kB", "59.77 MB", "15 GB"]


def test_no_part_of_the_legend_is_cut_off() -> None:
    """It is text of the page beside the bars, and so it wraps."""
    html = show_ledger({"one": {f"part {k}": 10**8 for k in range(6)}})._repr_html_()
    assert "flex-wrap" in html and all(f"part {k} 100 MB" in html.split("<svg")[1] for k in range(6))
