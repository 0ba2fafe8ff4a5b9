"""Programs in the manner of public ones, on CPU, slices of three TPUs and GPUs: collectives, rounds, FLOPs.

Slow: `make test-programs` runs them.
"""

import importlib.util

import pytest

from programs import activations, algorithms, compilers, experts, libraries, named, reading, rings, weights
from programs.listing import LISTED, compiled
from shardlens.compilers import cards
from shardlens.programs.inspection import read_program
from shardlens.reading.arithmetic import Arithmetic
from shardlens.reading.calls import calls
from shardlens.reading.hlo import parse_hlo

MODULES = (activations, algorithms, compilers, experts, libraries, named, rings, weights)
GPU = "h100:8"
WHERE = [(name, target) for name, listed in LISTED.items() for target in listed.targets]
pytestmark = pytest.mark.programs


@pytest.mark.parametrize("name, target", WHERE, ids=lambda each: each)
def test_program(name: str, target: str) -> None:
    """Readers agree with the second one; loops run as often as the source says; FLOPs are XLA's."""
    if target == GPU and not cards.at_hand():
        pytest.skip(f"XLA for GPU is not here: {cards.command()}")
    if target not in ("cpu", GPU) and importlib.util.find_spec("libtpu") is None:
        pytest.skip("libtpu is not installed (extra: tpu)")
    made = compiled(name, target)
    text = made.as_text()
    reading.agree(text)
    rounds = sorted((loop.rounds for loop in calls(text).loops.values()), key=str)
    said = sorted(LISTED[name].rounds, key=str)
    # XLA for GPU pipelines some loops: a collective of one round leaves it, and the loop has a round fewer.
    fewer = [0 if target != GPU or None in (a, b) else a - b for a, b in zip(said, rounds, strict=True)]
    assert max(fewer, default=0) <= 1 and rounds == [a if not n else a - n for a, n in zip(said, fewer)]
    module = parse_hlo(text)
    if target != GPU:  # XLA for GPU counts nothing where there is no card, and adds up in 32 bits elsewhere
        once = Arithmetic(module, loops=True).once(module.entry)
        assert once == pytest.approx(made.cost_analysis().get("flops", 0.0), rel=1e-5, abs=64)
    assert (read_program(made).flops is None) == (None in rounds)


def test_enough() -> None:
    """There are more than twenty, each module has some, and nearly all are compiled for five kinds of devices."""
    assert len(LISTED) >= 20 and len(WHERE) >= 5 * len(LISTED) - 1
    assert {listed.build.__module__ for listed in LISTED.values()} == {module.__name__ for module in MODULES}
