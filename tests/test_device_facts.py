"""`bench/device.py`, where there is no card: what it compiles without one, how it compares, and what it reads of a trace."""

import gzip
import importlib.util
import json
from pathlib import Path
from typing import Any

import jax
import pytest

import shardlens as lens
from shardlens.compilers import cards

FILE = Path(__file__).parents[1] / "bench" / "device.py"


@pytest.fixture(scope="module")
def device() -> Any:
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("bench_device", FILE)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def test_without_a_card(device: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is measured, which one sentence says."""
    monkeypatch.setattr("sys.argv", ["device.py"])
    assert device.main() == 1
    assert capsys.readouterr() == ("", "cpu: no card that is described here; nothing was measured.\n")


def test_differences_are_named(device: Any) -> None:
    """Collectives, memory and fusions are compared; FLOPs and texts are not."""
    x = jax.ShapeDtypeStruct((64, 64), "float32")
    sine, both = (device.facts_of(lens.inspect(f, x)) for f in (jax.numpy.sin, lambda a: (a + 1, a.sum())))
    assert device.different(sine, sine) == [] and "memory" in device.different(sine, both)


def test_a_trace_is_read(device: Any, tmp_path: Path) -> None:
    """Operations of devices count, those of the host do not; without a file there are none."""
    names = [{"ph": "M", "name": "process_name", "pid": pid, "args": {"name": name}} for pid, name in NAMES.items()]
    runs = [{"ph": "X", "name": "gemm", "pid": pid, "dur": 1500.0} for pid in (1, 1, 2)]
    assert device.read_trace(tmp_path) == {"events": 0, "on_devices": 0, "seconds": 0.0}
    (tmp_path / "one.trace.json.gz").write_bytes(gzip.compress(json.dumps({"traceEvents": [*names, *runs]}).encode()))
    assert device.read_trace(tmp_path) == {"events": 5, "on_devices": 2, "seconds": 0.003}


NAMES = {1: "/device:GPU:0", 2: "/host:CPU"}


@pytest.mark.thorough
@pytest.mark.skipif(not cards.at_hand(), reason=f"XLA for GPU is not here: {cards.command()}")
@pytest.mark.parametrize("count, kinds", [(1, set()), (8, {"reduce-scatter"})])
def test_what_is_compiled_without_a_card(device: Any, count: int, kinds: set[str]) -> None:
    """The programs that a card is asked about compile without one too."""
    f, args = device.rows_asked_for(jax.sharding.AbstractMesh((count,), ("x",), axis_types=(jax.sharding.AxisType.Auto,)))
    program = lens.inspect(f, *args, target=f"h100:{count}")
    assert program.kinds == kinds and device.facts_of(program)["fusions"]
