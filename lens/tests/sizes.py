"""The two sizes of a suite: `thorough` marks what `make test` leaves out; `thorough(after=3)`, a table's rows but three."""

from __future__ import annotations

import collections

import pytest

ROWS: collections.Counter[tuple[object, str]] = collections.Counter()


def pytest_itemcollected(item: pytest.Item) -> None:
    """The first rows of a table lose the mark.

    Raises:
        pytest.UsageError: a test without rows has it, which would then never be thorough.
    """
    for mark in [mark for mark in item.own_markers if mark.name == "thorough" and "after" in mark.kwargs]:
        if not hasattr(item, "callspec"):
            raise pytest.UsageError(f"{item.nodeid}: thorough(after=...) is for a table, and this test has no rows")
        test = (item.parent, getattr(item, "originalname", item.name))
        ROWS[test] += 1
        if ROWS[test] <= mark.kwargs["after"]:
            item.own_markers.remove(mark)
