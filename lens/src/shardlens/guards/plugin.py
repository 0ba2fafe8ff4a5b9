"""The pytest plugin: the fixture `shardlens_lock`, and two options. No JAX is imported until a test uses it.

```python
def test_step(shardlens_lock):
    shardlens_lock(step, params, batch, target="v5e:2x4")
```

fails when the compiled step communicates more, or needs more memory, than `__shardlens__/<module>.<test>.json` beside the
test says; a test in a class has `<module>.<class>.<test>.json`. `pytest --shardlens-update` writes these files; they belong
into version control. `pytest --shardlens-why` has a failure say why, too: changes are compiled, which takes as long as the
program, times sixteen.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

LESS = "shardlens_less"
"""The property of a test's report: a lock file that could be renewed."""
_USERS = pytest.StashKey[dict[Path, str]]()
"""Of each lock file that a session has used, the test that did."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option."""
    group = parser.getgroup("shardlens")
    group.addoption("--shardlens-update", action="store_true", help="write the lock files of programs again")
    group.addoption("--shardlens-why", action="store_true", help="let a failure say why, and what would be cheaper")


def pytest_configure(config: pytest.Config) -> None:
    """The question goes by the environment, for `assert_communicates` knows nothing of pytest."""
    if config.getoption("--shardlens-why"):
        os.environ["SHARDLENS_WHY"] = "1"


@pytest.fixture
def shardlens_lock(request: pytest.FixtureRequest) -> Callable[..., None]:
    """A function that compares a program with its lock file: `shardlens_lock(f, *args, target=None, name="", **kwargs)`.

    `name` tells several programs of one test apart; `kwargs` are the function's own. See `shardlens.guards.lock.locked`.
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
        from shardlens.guards.lock import locked

        path = _path(request.node, name)
        _need_own(path, request)
        update = bool(request.config.getoption("--shardlens-update"))
        if locked(path, f, *args, target=target, axes=axes, update=update, **kwargs):
            # By the report, which pytest-xdist's workers send on.
            request.node.user_properties.append((LESS, path.name))

    return lock


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """One line where lock files could be renewed, and nothing where no test has one."""
    reports = (report for found in terminalreporter.stats.values() for report in found)
    told = (each for report in reports for each in getattr(report, "user_properties", ()))
    less = dict.fromkeys(name for key, name in told if key == LESS)
    if less:
        names = ", ".join(less)
        terminalreporter.write_line(f"shardlens: not as locked, but communicating no more: {names} (--shardlens-update)")


def _path(node: Any, name: str) -> Path:
    around = node.cls.__qualname__.split(".") if getattr(node, "cls", None) else ()
    parts = (node.path.stem, *around, node.name, name)
    file = ".".join(re.sub(r"[^\w\[\]=-]+", "_", part) for part in parts if part)
    return Path(node.path).parent / "__shardlens__" / f"{file}.json"


def _need_own(path: Path, request: pytest.FixtureRequest) -> None:
    """Raises where another test has used the file: each would be held by what the last one wrote."""
    from shardlens.errors import LensError

    test = request.node.nodeid
    if (other := request.config.stash.setdefault(_USERS, {}).setdefault(path, test)) != test:
        what = f"two tests use the lock file {path.name}."
        mend = "give one of them a name: shardlens_lock(..., name='other')."
        raise LensError("shared-lock-file", what, where=f"{other}\n{test}", mend=mend)
