"""Pictures: of placements, programs, rings and costs; each as text, for terminals, and as SVG.

Those that most chapters draw are in `sl` itself; the others are `sl.pictures.show_memory` and so on.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shardlab.pictures.blocks import show_blocks as show_blocks
    from shardlab.pictures.charts.ledger import show_ledger as show_ledger
    from shardlab.pictures.charts.memory import show_memory as show_memory
    from shardlab.pictures.charts.roofline import show_roofline as show_roofline
    from shardlab.pictures.charts.timeline import show_schedule as show_schedule
    from shardlab.pictures.draw import show as show
    from shardlab.pictures.lattice import show_mesh as show_mesh
    from shardlab.pictures.product import show_product as show_product
    from shardlab.pictures.rings.exchange import show_collective as show_collective
    from shardlab.pictures.rings.steps import show_ring as show_ring
    from shardlab.pictures.rings.tokens import show_tokens as show_tokens

_HOMES = {
    "show": "draw",
    "show_blocks": "blocks",
    "show_collective": "rings.exchange",
    "show_ledger": "charts.ledger",
    "show_memory": "charts.memory",
    "show_mesh": "lattice",
    "show_product": "product",
    "show_ring": "rings.steps",
    "show_roofline": "charts.roofline",
    "show_schedule": "charts.timeline",
    "show_tokens": "rings.tokens",
}


def __getattr__(name: str) -> Any:
    """A picture's function, imported when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module 'shardlab.pictures' has no attribute {name!r}")
    value = getattr(import_module(f"shardlab.pictures.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(_HOMES)
