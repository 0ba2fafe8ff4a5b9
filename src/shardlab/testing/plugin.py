"""The pytest plugin: the fixture `shardlab_lock` and the option `--shardlab-update`. It imports no JAX until a test uses it.

```python
def test_step(shardlab_lock):
    shardlab_lock(step, params, batch, target="v5e:2x4")
```

fails when the compiled step communicates more, or needs more memory, than `__shardlab__/<module>.<test>.json` beside the
test says. `pytest --shardlab-update` writes these files; they belong into version control.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

LESS = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option."""
    group = parser.getgroup("shardlab")
    group.addoption("--shardlab-update", action="store_true", help="write the lock files of programs again")


@pytest.fixture
def shardlab_lock(request: pytest.FixtureRequest) -> Callable[..., None]:
    """A function that compares a program with its lock file: `shardlab_lock(f, *args, target=None, name="", **kwargs)`.

    `name` tells several programs of one test apart; `kwargs` are the function's own. See `shardlab.testing.lock.locked`.
    """

    def lock(
        f: Callable[..., Any],
        *args: Any,
        target: str | None = None,
        axes: Mapping[str, int] | None = None,
        name: str = "",
        **kwargs: Any,
    ) -> None:
        __tracebackhide__ = True
        from shardlab.testing.lock import locked

        path = _path(request.node, name)
        update = bool(request.config.getoption("--shardlab-update"))
        if locked(path, f, *args, target=target, axes=axes, update=update, **kwargs):
            request.config.stash.setdefault(LESS, []).append(path.name)

    return lock


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """One line where lock files could be renewed, and nothing where no test has one."""
    less = terminalreporter.config.stash.get(LESS, [])
    if less:
        terminalreporter.write_line(f"shardlab: not as locked, and no more than that: {', '.join(less)} (--shardlab-update)")


def _path(node: Any, name: str) -> Path:
    parts = (node.path.stem, node.name, name)
    file = ".".join(re.sub(r"[^\w\[\]=-]+", "_", part) for part in parts if part)
    return Path(node.path).parent / "__shardlab__" / f"{file}.json"
