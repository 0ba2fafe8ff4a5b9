"""Lost points are told part by part, and a mistake that costs points twice is named where it was made."""

from __future__ import annotations

import pathlib

import pytest

from shardlab_grader.classes.notebook import Cell, Job, Settings
from shardlab_grader.reports.itemised import borrowed, itemised
from shardlab_judge.verdict import Finding, Part, Status, Verdict


def verdict(*parts: tuple[str, str, float, float], status: Status = "failed", found: str = "") -> Verdict:
    """A verdict with these parts, and a finding for each of these letters of the first item."""
    findings = tuple(Finding(parts[0][0], letter, "It is wrong.") for letter in found)
    return Verdict("1.1", status, tuple(Part(*part) for part in parts), findings)


TOLD = {
    "a part": (verdict(("f", "V", 3, 3), ("f", "S", 0, 1), found="S"), "values 3 of 3, shardings 0 of 1"),
    "no values": (
        verdict(("f", "V", 0, 3), ("f", "S", 0, 1), ("f", "H", 0, 1.5), found="VS"),
        "values 0 of 3, shardings 0 of 1, communication 0 of 1.5 (counts only with right values)",
    ),
    "items": (verdict(("A", "C", 0, 1), ("B", "C", 2, 2), found="C"), "A: formula 0 of 1; B: formula 2 of 2"),
    "one part": (verdict(("A", "C", 0, 1), found="C"), ""),
    "passed": (verdict(("A", "C", 1, 1), ("B", "C", 2, 2), status="passed"), ""),
    "ungraded": (Verdict("1.1", "ungraded"), ""),
}


@pytest.mark.parametrize("name", TOLD)
def test_points_are_told_part_by_part(name: str) -> None:
    """With the reason where no finding has one: the place and the price of wrong values say nothing."""
    one, told = TOLD[name]
    assert itemised(one) == told


CALLS = {
    "calls": ("def g(x):\n    return f(x)", "failed", "failed", True),
    "calls a right one": ("def g(x):\n    return f(x)", "passed", "failed", False),
    "is right": ("def g(x):\n    return f(x)", "failed", "passed", False),
    "defines both": ("def f(x): return 1\ndef g(x): return 2", "failed", "failed", False),
    "of another name": ("def g(x): return my_f(x)", "failed", "failed", False),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_mistake_that_costs_twice_is_told(name: str, tmp_path: pathlib.Path) -> None:
    """On the page of the exercise that calls it; one that calls a right function says nothing."""
    source, first, second, told = CALLS[name]
    items = {"1.1": {"name": "f"}, "1.2": {"name": "g"}}
    manifests = {question: {"variable": None, "items": [item]} for question, item in items.items()}
    cells = (Cell("def f(x): return 1"), Cell("", "1.1"), Cell(source), Cell("", "1.2"))
    verdicts = {question: Verdict(question, status) for question, status in zip(items, (first, second))}  # type: ignore[arg-type]
    sentence = "g calls your f of exercise 1.1, which is not right yet and can cost points here too. Mend 1.1 first."
    assert borrowed(Job("", cells, manifests, Settings(tmp_path)), verdicts) == ({"1.2": [sentence]} if told else {})
