"""The public names of shardlab, each once: `__init__.py` finds them here."""

from shardlab import pictures as pictures
from shardlab.devices import setup as setup
from shardlab.errors import ShardingError as ShardingError
from shardlab.errors import ShardlabError as ShardlabError
from shardlab.exceptions import trouble as trouble
from shardlab.expressions.inverse import expression as expression
from shardlab.expressions.rules import dry_run as dry_run
from shardlab.expressions.sharding import einshard as einshard
from shardlab.expressions.sharding import make_sharding as make_sharding
from shardlab.expressions.sharding import spec as spec
from shardlab.pictures.draw import show as show
from shardlab.pictures.product import show_product as show_product
from shardlab.processes.launched import Launched as Launched
from shardlab.processes.launching import launch as launch
from shardlab.records import recorded as recorded
from shardlab_course.checking.alone import viva as viva
from shardlab_course.checking.exercise import check as check
from shardlab_course.checking.exercise import example as example
from shardlab_course.checking.exercise import explain as explain
from shardlab_course.checking.exercise import hint as hint
from shardlab_course.checking.exercise import target as target
from shardlab_course.checking.fronts import show_front as show_front
from shardlab_course.checking.predictions import predict as predict
from shardlab_course.checking.progress import progress as progress
from shardlab_course.clinic.diagnosis import Diagnosis as Diagnosis
from shardlab_course.clinic.diagnosis import diagnose as diagnose
from shardlens import Chip as Chip
from shardlens import Collective as Collective
from shardlens import Comparison as Comparison
from shardlens import Cost as Cost
from shardlens import OnChip as OnChip
from shardlens import Placement as Placement
from shardlens import Program as Program
from shardlens import Why as Why
from shardlens import chip as chip
from shardlens import compare as compare
from shardlens import explain_errors as explain_errors
from shardlens import facts as facts
from shardlens import inspect as inspect
from shardlens import on_chip as on_chip
from shardlens import placement_of as placement_of
from shardlens import show_collective as show_collective
from shardlens import show_ring as show_ring
from shardlens import why as why

__version__: str

def home(name: str) -> str: ...
