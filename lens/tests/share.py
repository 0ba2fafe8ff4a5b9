"""A share of a suite, for a machine that has no time for all of it: `pytest -p share --share 2/3` makes the second of three.

The shares are disjoint and together they are everything. What may use one fixture, which can cost minutes, stays together:
a module's tests, and of its tables the rows of one exercise, or those that have the same parameters.
"""

from __future__ import annotations

import re
import zlib

import pytest

EXERCISE = re.compile(r"\d+\.\d+")
SHARE = re.compile(r"(\d+)/(\d+)")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Which share is run."""
    parser.addoption("--share", metavar="2/3", required=True, help="run the second of three shares of the tests")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests of other shares.

    Raises:
        pytest.UsageError: there is no such share.
    """
    asked = SHARE.fullmatch(config.getoption("share"))
    number, count = map(int, asked.groups()) if asked else (0, 0)
    if not 1 <= number <= count:
        raise pytest.UsageError(f"--share {config.getoption('share')}: there is no such share; the second of three is 2/3")
    found: tuple[list[pytest.Item], ...] = ([], [])
    for item in items:
        found[zlib.crc32(together(item.nodeid).encode()) % count == number - 1].append(item)
    others, items[:] = found
    config.hook.pytest_deselected(items=others)


def together(nodeid: str) -> str:
    """What the ids of tests have in common that stay in one share."""
    module, _, test = nodeid.partition("::")
    row = "".join(test.partition("[")[1:])
    exercise = EXERCISE.search(row)
    return module + (exercise[0] if exercise else row)
