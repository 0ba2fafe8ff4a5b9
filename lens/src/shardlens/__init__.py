"""Shardlens: what a compiled JAX program communicates, on chips that are here and on those that are not, and why.

```python
import shardlens as lens
lens.inspect(f, *args)                        # the collectives, bytes and memory of the compiled program; nothing runs
lens.why(f, *args)                            # the line and the cut that make it communicate
lens.inspect(f, *args, target="v5e:2x4")      # the same for a TPU slice that is only described, or for "h100:8"
lens.assert_communicates(f, *args, at_most=50_000_000)
```

The public names stand once, in `__init__.pyi`, where type checkers and editors read them; each is imported when it is used.
"""

from __future__ import annotations

import functools
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

__version__ = "0.1.0"


@functools.cache
def public_names(package: str) -> dict[str, str]:
    """The names that a package's `__init__.pyi` hands on, each with the module that it comes from.

    Args:
        package: a package that is being imported or was; of its stub those lines count that import a name as itself.
    Example:
        >>> public_names("shardlens")["chip"]
        'shardlens.costs.chips'
    """
    # By the loader and not from a folder, since a package may lie in a zip file, as a wheel on `sys.path` does.
    module: Any = sys.modules[package]
    text = module.__spec__.loader.get_data(f"{module.__spec__.origin}i").decode()
    return {name: home for home, name in re.findall(r"^from (\S+) import (\w+) as \2$", text, re.MULTILINE)}


def home(name: str) -> str:
    """The module that a public name comes from; empty if there is no such name.

    Example:
        >>> home("chip"), home("alphabeta"), home("nothing")
        ('shardlens.costs.chips', 'shardlens.costs.alphabeta', '')
    """
    module = public_names(__name__).get(name, "")
    folder = Path(__file__).parent.joinpath(*module.split(".")[1:])
    return f"{module}.{name}" if (folder / f"{name}.py").is_file() else module


def handed_on(package: str, name: str) -> Any:
    """A public name of a package, imported when it is first used: for the package's `__getattr__`.

    Example:
        >>> handed_on("shardlens", "named")([1, 3, 5])
        'devices 1, 3, 5'
    """
    if name not in (names := public_names(package)):
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    found = import_module(names[name])
    value = getattr(found, name) if hasattr(found, name) else import_module(f"{names[name]}.{name}")
    setattr(sys.modules[package], name, value)
    return value


def __getattr__(name: str) -> Any:
    return handed_on(__name__, name)


def __dir__() -> list[str]:
    return sorted({*public_names(__name__), "__version__"})
