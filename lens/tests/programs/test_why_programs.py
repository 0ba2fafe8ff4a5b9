"""`lens.why` of every program in the manner of public ones, on CPU and for a slice of TPUs. `make test-programs` runs it."""

import importlib.util
import pathlib

import jax
import pytest

import shardlens as lens
from programs import activations, algorithms, compilers, experts, libraries, named, rings, weights  # noqa: F401
from programs.listing import LISTED

FILES = {path.name for path in pathlib.Path(__file__).parent.glob("*.py")}
WHERE = [(name, t) for name, listed in LISTED.items() for t in ("cpu", "v5e:2x4") if t in listed.targets]
UNKNOWN = {"sums_and_shifts": 1}
"""Collectives of XLA for CPU of which the HLO names no line, and that make no output."""
pytestmark = pytest.mark.programs


@pytest.mark.parametrize("name, target", WHERE, ids=lambda each: each)
def test_every_collective_is_answered(name: str, target: str) -> None:
    """With a line of the program's own source, or with the words that it is not known; nothing is left out."""
    if target != "cpu" and importlib.util.find_spec("libtpu") is None:
        pytest.skip("libtpu is not installed (extra: tpu)")
    listed = LISTED[name]
    auto = (jax.sharding.AxisType.Auto,) * len(listed.axes)
    mesh = jax.make_mesh(tuple(listed.axes.values()), tuple(listed.axes), axis_types=auto)
    # optax adds Python's numbers to arrays of whole numbers, which the suite's strict promotion refuses.
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        f, args = listed.build(mesh)
        found = lens.why(f, *args, target=None if target == "cpu" else target, tries=0)
    assert [answer.collective for answer in found.answers] == list(found.program.collectives) != []
    assert found.compiler == ("XLA for CPU" if target == "cpu" else f"XLA for {target}")
    unknown = [answer for answer in found.answers if not answer.line.file]
    if target == "cpu":
        assert len(unknown) == UNKNOWN.get(name, 0)
    assert {pathlib.Path(answer.line.file).name for answer in found.answers if answer.line.file} <= FILES
    assert str(found).count("not known") >= len(unknown)
    # Inside of shard_map each line asks for what it gets.
    manual = listed.build.__module__ in ("programs.algorithms", "programs.rings") and name != "pipeline_by_vmap"
    assert not manual or all(answer.written for answer in found.answers if answer.line.file)
