"""Shardlab: see, predict and check what a parallel JAX program does.

import shardlab as sl
sl.setup(8)                  # 8 devices, real or simulated
sl.show(x)                   # who holds which slice
sl.inspect(f, *args)         # what the compiler made of it
sl.why(f, *args)             # why it communicates, line by line
sl.check("4.2", answer)      # right, or what differs and why
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shardlab import pictures as pictures
    from shardlab.devices import setup as setup
    from shardlab.errors import ShardingError as ShardingError
    from shardlab.errors import ShardlabError as ShardlabError
    from shardlab.expressions.inverse import expression as expression
    from shardlab.expressions.rules import dry_run as dry_run
    from shardlab.expressions.sharding import einshard as einshard
    from shardlab.expressions.sharding import make_sharding as make_sharding
    from shardlab.expressions.sharding import spec as spec
    from shardlab.pictures.draw import show as show
    from shardlab.pictures.product import show_product as show_product
    from shardlab.pictures.rings.exchange import show_collective as show_collective
    from shardlab.pictures.rings.steps import show_ring as show_ring
    from shardlab.placement import Placement as Placement
    from shardlab.placement import placement_of as placement_of
    from shardlab.processes.launched import Launched as Launched
    from shardlab.processes.launching import launch as launch
    from shardlab.programs.chips import Chip as Chip
    from shardlab.programs.chips import chip as chip
    from shardlab.programs.comparison import Comparison as Comparison
    from shardlab.programs.cost import Cost as Cost
    from shardlab.programs.inspection import compare as compare
    from shardlab.programs.inspection import inspect as inspect
    from shardlab.programs.program import Program as Program
    from shardlab.programs.reading.collectives import Collective as Collective
    from shardlab.programs.why.answer import Why as Why
    from shardlab.programs.why.answer import why as why
    from shardlab.records import recorded as recorded
    from shardlab.testing.facts import facts as facts
    from shardlab.timing import OnChip as OnChip
    from shardlab.timing import on_chip as on_chip
    from shardlab_course.checking.exercise import check as check
    from shardlab_course.checking.exercise import example as example
    from shardlab_course.checking.exercise import explain as explain
    from shardlab_course.checking.exercise import hint as hint
    from shardlab_course.checking.exercise import target as target
    from shardlab_course.checking.fronts import show_front as show_front
    from shardlab_course.checking.predictions import predict as predict
    from shardlab_course.checking.progress_file import progress as progress
    from shardlab_course.clinic.diagnosis import Diagnosis as Diagnosis
    from shardlab_course.clinic.diagnosis import diagnose as diagnose

__version__ = "0.1.0"
__tracebackhide__ = True  # our lines are not the user's: see `sources.is_users`

_NAMES = {
    "devices": "setup",
    "errors": "ShardingError ShardlabError",
    "expressions.inverse": "expression",
    "expressions.rules": "dry_run",
    "expressions.sharding": "einshard make_sharding spec",
    "pictures.draw": "show",
    "pictures.product": "show_product",
    "pictures.rings.exchange": "show_collective",
    "pictures.rings.steps": "show_ring",
    "placement": "Placement placement_of",
    "processes.launched": "Launched",
    "processes.launching": "launch",
    "programs.chips": "Chip chip",
    "programs.comparison": "Comparison",
    "programs.cost": "Cost",
    "programs.inspection": "compare inspect",
    "programs.program": "Program",
    "programs.reading.collectives": "Collective",
    "programs.why.answer": "Why why",
    "records": "recorded",
    "testing.facts": "facts",
    "timing": "OnChip on_chip",
}
# The only names that look up to the course. Where a class is graded it is not there, and `in_the_box` answers for it.
_COURSE = {
    "checking.exercise": "check example explain hint target",
    "checking.fronts": "show_front",
    "checking.predictions": "predict",
    "checking.progress_file": "progress",
    "clinic.diagnosis": "Diagnosis diagnose",
}
_HOMES = {name: f"shardlab.{module}" for module, names in _NAMES.items() for name in names.split()}
_CHECKING = {name: f"shardlab_course.{module}" for module, names in _COURSE.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """A public name, imported when it is first used: `import shardlab` alone costs next to nothing."""
    if name == "pictures":
        return import_module("shardlab.pictures")
    if name in _CHECKING:
        # Not kept: a notebook that is graded in this process gets another one.
        return getattr(import_module("shardlab.answers.in_the_box" if _boxed() else _CHECKING[name]), name)
    if name not in _HOMES and name in dir(import_module("shardlab.pictures")):
        if _boxed():
            return getattr(import_module("shardlab.pictures"), name)  # notebooks that were released before it moved
        raise AttributeError(f"sl.{name} has moved: write sl.pictures.{name}.")
    if name not in _HOMES:
        near = import_module("difflib").get_close_matches(name, __dir__(), n=1)
        raise AttributeError(
            f"module 'shardlab' has no attribute {name!r}" + "".join(f"; near is {each!r}" for each in near)
        )
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def home(name: str) -> str:
    """The module that a public name comes from; empty if it is none of `sl` and `sl.pictures`."""
    drawn = import_module("shardlab.pictures")._HOMES
    return {**{each: f"shardlab.pictures.{module}" for each, module in drawn.items()}, **_HOMES, **_CHECKING}.get(name, "")


def _boxed() -> bool:
    recording: bool = import_module("shardlab.recording").recording()
    return recording


def __dir__() -> list[str]:
    return sorted({*_HOMES, *_CHECKING, "pictures", "__version__"})
