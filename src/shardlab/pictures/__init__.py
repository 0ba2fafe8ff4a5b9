"""Pictures: of placements, programs, rings and costs; each as text, for terminals, and as SVG.

Those that most chapters draw are in `sl` itself; the others are `sl.pictures.show_memory` and so on: see `__init__.pyi`.
"""

from typing import Any

from shardlens import handed_on, public_names


def __getattr__(name: str) -> Any:
    """A picture's function, imported when it is first used."""
    return handed_on(__name__, name)


def __dir__() -> list[str]:
    return sorted(public_names(__name__))
