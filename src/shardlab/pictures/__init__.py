"""Pictures: of placements, programs, rings and costs; each as text, for terminals, and as SVG.

Those that most chapters draw are in `sl` itself; the others are `sl.pictures.show_memory` and so on: see `__init__.pyi`.
"""

from importlib import import_module
from typing import Any

from shardlens import public_names

_NAMES = public_names(__name__)


def __getattr__(name: str) -> Any:
    """A picture's function, imported when it is first used."""
    if name not in _NAMES:
        raise AttributeError(f"module 'shardlab.pictures' has no attribute {name!r}")
    value = getattr(import_module(_NAMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(_NAMES)
