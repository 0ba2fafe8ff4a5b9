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
    from shardlab.devices import setup as setup
    from shardlab.drawing.blocks import show_blocks as show_blocks
    from shardlab.drawing.draw import show as show
    from shardlab.drawing.exchange import show_collective as show_collective
    from shardlab.drawing.lattice import show_mesh as show_mesh
    from shardlab.drawing.ledger_bars import show_ledger as show_ledger
    from shardlab.drawing.memory_bars import show_memory as show_memory
    from shardlab.drawing.product import show_product as show_product
    from shardlab.drawing.ring_picture import show_ring as show_ring
    from shardlab.drawing.roofline import show_roofline as show_roofline
    from shardlab.drawing.timeline import show_schedule as show_schedule
    from shardlab.drawing.tokens import show_tokens as show_tokens
    from shardlab.errors import ShardingError as ShardingError
    from shardlab.errors import ShardlabError as ShardlabError
    from shardlab.exercises.exercise import check as check
    from shardlab.exercises.exercise import explain as explain
    from shardlab.exercises.exercise import hint as hint
    from shardlab.exercises.exercise import target as target
    from shardlab.exercises.fronts import show_front as show_front
    from shardlab.exercises.predictions import predict as predict
    from shardlab.exercises.progress_file import progress as progress
    from shardlab.expressions.inverse import expression as expression
    from shardlab.expressions.rules import dry_run as dry_run
    from shardlab.expressions.sharding import einshard as einshard
    from shardlab.expressions.sharding import make_sharding as make_sharding
    from shardlab.expressions.sharding import spec as spec
    from shardlab.placement import Placement as Placement
    from shardlab.placement import placement_of as placement_of
    from shardlab.planner.planning import plan as plan
    from shardlab.processes.launching import Launched as Launched
    from shardlab.processes.launching import launch as launch
    from shardlab.programs.chips import Chip as Chip
    from shardlab.programs.chips import chip as chip
    from shardlab.programs.collectives import Collective as Collective
    from shardlab.programs.comparison import Comparison as Comparison
    from shardlab.programs.comparison import compare as compare
    from shardlab.programs.cost import Cost as Cost
    from shardlab.programs.program import Program as Program
    from shardlab.programs.program import inspect as inspect
    from shardlab.records import recorded as recorded

__version__ = "0.1.0"

_NAMES = {
    "drawing.blocks": "show_blocks",
    "programs.chips": "Chip chip",
    "programs.collectives": "Collective",
    "programs.comparison": "Comparison compare",
    "programs.cost": "Cost",
    "devices": "setup",
    "drawing.draw": "show",
    "errors": "ShardingError ShardlabError",
    "drawing.exchange": "show_collective",
    "exercises.exercise": "check explain hint target",
    "expressions.inverse": "expression",
    "drawing.lattice": "show_mesh",
    "drawing.ledger_bars": "show_ledger",
    "drawing.memory_bars": "show_memory",
    "placement": "Placement placement_of",
    "planner.planning": "plan",
    "exercises.predictions": "predict",
    "processes.launching": "Launched launch",
    "exercises.fronts": "show_front",
    "drawing.product": "show_product",
    "programs.program": "Program inspect",
    "exercises.progress_file": "progress",
    "records": "recorded",
    "drawing.ring_picture": "show_ring",
    "drawing.roofline": "show_roofline",
    "expressions.rules": "dry_run",
    "expressions.sharding": "einshard make_sharding spec",
    "drawing.timeline": "show_schedule",
    "drawing.tokens": "show_tokens",
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
