"""The two sizes of a suite: `thorough` marks what `make test` leaves out; of a
table that is `thorough(after=3)`, all rows but three."""

from __future__ import annotations

import collections

import pytest

ROWS: collections.Counter[tuple[object, str]] = collections.Counter()


def pytest_itemcollected(item: pytest.Item) -> None:
    """The first rows of a table lose the mark."""
    for mark in [mark for mark in item.own_markers if mark.name == "thorough" and "after" in mark.kwargs]:
        test = (item.parent, getattr(item, "originalname", item.name))
        ROWS[test] += 1
        if ROWS[test] <= mark.kwargs["after"]:
            item.own_markers.remove(mark)
