"""Shardlens: what a compiled JAX program communicates, on chips that are here and on those that are not, and why.

```python
import shardlens as lens
lens.inspect(f, *args)                        # the collectives, bytes and memory of the compiled program; nothing runs
lens.why(f, *args)                            # the line and the cut that make it communicate
lens.inspect(f, *args, target="v5e:2x4")      # the same for a TPU slice that is only described
lens.assert_communicates(f, *args, at_most=50_000_000)
```

The public names stand once, in `__init__.pyi`, where type checkers and editors read them; each is imported when it is used.
"""

from __future__ import annotations

import functools
import re
from importlib import import_module
from pathlib import Path
from typing import Any

__version__ = "0.1.0"


@functools.cache
def public_names(stub: str) -> dict[str, tuple[str, str]]:
    """The names that a `.pyi` hands on: to each name its module, and what it is called there.

    Args:
        stub: path of the file; of its lines those count that import one name as another, or as itself.
    Example:
        >>> public_names(__file__ + "i")["parse_hlo"]
        ('shardlens.reading.hlo', 'parse')
    """
    found = re.findall(r"^from (\S+) import (\w+) as (\w+)$", Path(stub).read_text(encoding="utf-8"), re.MULTILINE)
    return {name: (module, inside) for module, inside, name in found}


def home(name: str) -> str:
    """The module that a public name comes from; empty if there is no such name.

    Example:
        >>> home("chip"), home("alphabeta"), home("nothing")
        ('shardlens.costs.chips', 'shardlens.costs.alphabeta', '')
    """
    module, inside = public_names(__file__ + "i").get(name, ("", ""))
    folder = Path(__file__).parent.joinpath(*module.split(".")[1:])
    return f"{module}.{inside}" if (folder / f"{inside}.py").is_file() else module


def __getattr__(name: str) -> Any:
    if name not in (names := public_names(__file__ + "i")):
        raise AttributeError(f"module 'shardlens' has no attribute {name!r}")
    module, inside = names[name]
    found = import_module(module)
    value = getattr(found, inside) if hasattr(found, inside) else import_module(f"{module}.{inside}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*public_names(__file__ + "i"), "__version__"})
