"""Shardlab: see, predict and check what a parallel JAX program does.

import shardlab as sl
sl.setup(8)                  # 8 devices, real or simulated
sl.show(x)                   # who holds which slice
sl.inspect(f, *args)         # what the compiler made of it
sl.check("4.2", answer)      # right, or what differs and why
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shardlab.blocks import show_blocks as show_blocks
    from shardlab.chips import Chip as Chip
    from shardlab.chips import chip as chip
    from shardlab.collectives import Collective as Collective
    from shardlab.comparison import Comparison as Comparison
    from shardlab.comparison import compare as compare
    from shardlab.cost import Cost as Cost
    from shardlab.devices import setup as setup
    from shardlab.draw import show as show
    from shardlab.errors import ShardingError as ShardingError
    from shardlab.errors import ShardlabError as ShardlabError
    from shardlab.exchange import show_collective as show_collective
    from shardlab.exercise import check as check
    from shardlab.exercise import explain as explain
    from shardlab.exercise import hint as hint
    from shardlab.exercise import target as target
    from shardlab.inverse import expression as expression
    from shardlab.lattice import show_mesh as show_mesh
    from shardlab.memory_bars import show_memory as show_memory
    from shardlab.placement import Placement as Placement
    from shardlab.placement import placement_of as placement_of
    from shardlab.planning import plan as plan
    from shardlab.predictions import predict as predict
    from shardlab.product import show_product as show_product
    from shardlab.program import Program as Program
    from shardlab.program import inspect as inspect
    from shardlab.progress_file import progress as progress
    from shardlab.records import recorded as recorded
    from shardlab.ring_picture import show_ring as show_ring
    from shardlab.roofline import show_roofline as show_roofline
    from shardlab.rules import dry_run as dry_run
    from shardlab.sharding import einshard as einshard
    from shardlab.sharding import make_sharding as make_sharding
    from shardlab.sharding import spec as spec
    from shardlab.timeline import show_schedule as show_schedule
    from shardlab.tokens import show_tokens as show_tokens

__version__ = "0.1.0"

_NAMES = {
    "blocks": "show_blocks",
    "chips": "Chip chip",
    "collectives": "Collective",
    "comparison": "Comparison compare",
    "cost": "Cost",
    "devices": "setup",
    "draw": "show",
    "errors": "ShardingError ShardlabError",
    "exchange": "show_collective",
    "exercise": "check explain hint target",
    "inverse": "expression",
    "lattice": "show_mesh",
    "memory_bars": "show_memory",
    "placement": "Placement placement_of",
    "planning": "plan",
    "predictions": "predict",
    "product": "show_product",
    "program": "Program inspect",
    "progress_file": "progress",
    "records": "recorded",
    "ring_picture": "show_ring",
    "roofline": "show_roofline",
    "rules": "dry_run",
    "sharding": "einshard make_sharding spec",
    "timeline": "show_schedule",
    "tokens": "show_tokens",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """A public name, imported when it is first used: `import shardlab` alone costs next to nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'shardlab' has no attribute {name!r}")
    value = getattr(import_module(f"shardlab.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*_HOMES, "__version__"})
