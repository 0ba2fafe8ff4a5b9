"""Stored TPU compilations: stored where there is a compiler, shown where there is none."""

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from shardlab import records
from shardlab.errors import ShardlabError
from shardlab.records import recorded
from shardlens.compilers import topology
from shardlens.programs.inspection import inspect
from shardlens.programs.stored import Recorded, store

ROOT = Path(__file__).parents[1]
needs_libtpu = pytest.mark.skipif(importlib.util.find_spec("libtpu") is None, reason="libtpu is not installed (extra: tpu)")


def argument() -> jax.ShapeDtypeStruct:
    """A matrix by rows over eight devices."""
    mesh = jax.make_mesh((8,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
    return jax.ShapeDtypeStruct((64, 128), "float32", sharding=jax.NamedSharding(mesh, jax.P("x")))


def total(a: jax.Array) -> jax.Array:
    """The sum of each column."""
    return jnp.sum(a, axis=0)


@pytest.fixture
def without_libtpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No TPU compiler, and an empty folder of records."""
    topology._devices.cache_clear()
    found = importlib.util.find_spec
    monkeypatch.delenv("TPU_LIBRARY_PATH", raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "libtpu" else found(name))
    monkeypatch.setattr(records, "FOLDER", tmp_path)
    return tmp_path


def keep(folder: Path, name: str, **changes: Any) -> None:
    """A record, here of the CPU's program, as if it were a TPU's."""
    file = folder / f"{name}.json"
    store(inspect(total, argument()), file, "v5e:2x4")
    file.write_text(json.dumps({**json.loads(file.read_text()), "libtpu": "0.1", "date": "2026-01-02", **changes}))


def test_a_record_is_shown(without_libtpu: Path) -> None:
    """Without a compiler the record says the same as the program did, and what it is."""
    keep(without_libtpu, "sum")
    stored, real = recorded("sum", total, argument(), target="v5e:2x4"), inspect(total, argument())
    assert isinstance(stored, Recorded)
    assert (stored.collectives, stored.memory, stored.flops, stored.hlo) == (
        real.collectives,
        real.memory,
        real.flops,
        real.hlo,
    )
    assert stored.output_placements == real.output_placements and stored.devices == 8
    label = f"stored record: compiled for v5e:2x4 with JAX {jax.__version__}, libtpu 0.1 on 2026-01-02"
    assert label in str(stored).splitlines() and label in stored._repr_html_()


def test_a_record_names_no_folder_of_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with other folders takes no line of ours for the reader's own."""
    monkeypatch.setattr(records, "FOLDER", tmp_path)
    monkeypatch.setattr(records, "inspect", lambda f, *args, **named: inspect(f, *args))
    monkeypatch.setenv(records.KEEP, "1")
    assert str(ROOT) in recorded("sum", total, argument(), target="v5e:2x4").hlo
    files = set(re.findall(r'"(/[^"]+\.py)"', records.read(tmp_path / "sum.json", "v5e:2x4").hlo))
    assert {file for file in files if file.startswith(str(ROOT))} == {__file__}


def test_without_a_record(without_libtpu: Path) -> None:
    """Without compiler and record there is the one sentence about libtpu."""
    with pytest.raises(ShardlabError, match=r"\[no-libtpu\] compiling for a TPU needs libtpu"):
        recorded("sum", total, argument(), target="v5e:2x4")


def test_a_record_of_another_target(without_libtpu: Path) -> None:
    """A record is not passed off as that of another slice."""
    keep(without_libtpu, "sum", target="v5p:2x2x2")
    with pytest.raises(ShardlabError, match=r"\[other-record\] the record 'sum' is of v5p:2x2x2"):
        recorded("sum", total, argument(), target="v5e:2x4")


@needs_libtpu
def test_a_record_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the compiler and SHARDLAB_KEEP_RECORDS a record is written; without the variable nothing is."""
    monkeypatch.setattr(records, "FOLDER", tmp_path / "records")
    program = recorded("sum", total, argument(), target="v5e:2x4")
    assert not (tmp_path / "records").exists() and program.platform == "tpu"
    monkeypatch.setenv(records.KEEP, "1")
    recorded("sum", total, argument(), target="v5e:2x4")
    assert records.read(tmp_path / "records" / "sum.json", "v5e:2x4").collectives == program.collectives


def test_the_grader_reads_the_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the sandbox a record is read, compiler or not: it has not the memory that a TPU compilation wants."""
    monkeypatch.setattr(records, "FOLDER", tmp_path)
    monkeypatch.setattr(records, "inspect", lambda *args, **named: pytest.fail("compiled"))
    keep(tmp_path, "sum")
    monkeypatch.setenv("SHARDLAB_RECORD", "1")
    assert isinstance(recorded("sum", total, argument(), target="v5e:2x4"), Recorded)


@pytest.mark.stored
def test_every_record_of_the_pages_can_be_read() -> None:
    """What comes with the package is whole, and says its versions."""
    kept = sorted(records.FOLDER.glob("*.json"))
    assert kept
    targets = {path: json.loads(path.read_text())["target"] for path in kept}
    assert set(targets.values()) == {"v5e:2x4", "h100:8", "h100:8x8"}
    for path, target in targets.items():
        compiler = ", libtpu" if target == "v5e:2x4" else ""
        assert re.search(rf"stored record: compiled for {target} with JAX [\d.]+{compiler}", str(records.read(path, target)))


def test_a_slow_program_is_read_where_there_is_a_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes minutes to compile is compiled where there is no record, and where records are made."""
    monkeypatch.setattr(records, "FOLDER", tmp_path)
    made: list[str] = []
    monkeypatch.setattr(records, "inspect", lambda f, *args, **named: made.append("made") or inspect(f, *args))
    recorded("sum", total, argument(), target="v5e:2x4", slow=True)
    keep(tmp_path, "sum")
    assert isinstance(recorded("sum", total, argument(), target="v5e:2x4", slow=True), Recorded)
    assert made == ["made"]
    monkeypatch.setenv(records.KEEP, "1")
    recorded("sum", total, argument(), target="v5e:2x4", slow=True)
    assert made == ["made"] * 2
