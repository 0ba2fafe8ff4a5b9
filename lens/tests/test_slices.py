"""Several TPU slices with a network between: what goes over it is an axis of its own in rows, facts, cost and guards."""

from __future__ import annotations

import importlib.util
import json
import math
import re
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import shardlens as lens
from shardlens.compilers.topology import parse_target
from shardlens.errors import LensError
from shardlens.programs import figures
from shardlens.reading.slices import within

P = jax.P
needs_libtpu = pytest.mark.skipif(importlib.util.find_spec("libtpu") is None, reason="libtpu is not installed (extra: tpu)")
TARGET = "v5e:2x4*2"
# What JAX's devices here are too few for is described.
SIZES = {"own axis": {"dcn": 2, "x": 8}, "part of one": {"data": 16}, "part of the slowest": {"data": 4, "model": 4}}
BYTES = 512 * 1024 * 4


def args(name: str) -> tuple[Any, Any]:
    """A weight and a batch that is cut along the slowest axis, over a mesh of two slices."""
    over = lens.target_mesh(TARGET, SIZES[name])
    slow, *fast = SIZES[name]
    shapes = ((512, 1024), P(None, *fast)), ((256, 512), P(slow))
    made = [jax.ShapeDtypeStruct(shape, "float32", sharding=jax.NamedSharding(over, spec)) for shape, spec in shapes]
    return made[0], made[1]


def gradient(w: Any, x: Any) -> Any:
    """Data parallel: what is summed is as large as the weight."""
    return jax.grad(lambda w: (jnp.tanh(x @ w) ** 2).sum())(w)


@needs_libtpu
@pytest.mark.thorough(after=3)
@pytest.mark.parametrize("name", SIZES)
def test_what_goes_between_slices(name: str) -> None:
    """One sum of each device's part of the gradient goes between the slices; what stays inside has the mesh's axes."""
    program = lens.inspect(gradient, *args(name), target=TARGET)
    between = [c for c in program.collectives if c.axes == ("dcn",)]
    inside = {"own axis": 1, "part of one": 8, "part of the slowest": 2}[name]
    part = BYTES // inside // SIZES[name].get("model", SIZES[name].get("x", 1))
    assert [(c.kind, c.group_size, c.payload_bytes, c.operand_bytes) for c in between] == [("all-reduce", 2, part, part)]
    others = [c for c in program.collectives if c not in between]
    assert {c.axes for c in others} == ({("data",)} if inside > 1 else set())
    assert {c.group_size for c in others} == ({inside} if inside > 1 else set())
    assert program.devices == math.prod(SIZES[name].values()) and not program.host_calls
    over = program.cost(TARGET).by_axes[("dcn",)]
    assert over == pytest.approx(part / lens.chip("v5e").network)
    assert [one for one in figures.facts(program, TARGET)["collectives"] if one["axes"] == ["dcn"]]


@needs_libtpu
def test_guards_of_the_network() -> None:
    """A limit over `dcn` holds what goes between slices, and nothing else; where nothing does it is no mistake."""
    w, x = args("part of one")
    lens.assert_communicates(gradient, w, x, at_most={"dcn": 2 * BYTES // 8, "data": "5 MB"}, target=TARGET)
    with pytest.raises(
        AssertionError, match=f"one device moves {2 * BYTES // 8:,} bytes over dcn, {2 * BYTES // 8:,} more than 0"
    ):
        lens.assert_communicates(gradient, w, x, at_most={"dcn": 0}, target=TARGET)
    assert lens.assert_communicates(lambda x: x + 1, x, at_most={"dcn": 0}, only_over=(), target=TARGET).price == 0


MOVES = {
    "gather": ("all-gather", lambda x: jax.lax.all_gather(x, "dcn", tiled=True), P()),
    "exchange": ("all-to-all", lambda x: jax.lax.all_to_all(x, "dcn", 1, 0, tiled=True), P(None, "dcn")),
    "permute": ("collective-permute", lambda x: jax.lax.ppermute(x, "dcn", [(0, 1), (1, 0)]), P("dcn")),
}


@needs_libtpu
@pytest.mark.thorough(after=3)
@pytest.mark.parametrize("name", MOVES)
def test_each_kind_between_slices(name: str) -> None:
    """A move that is written over the slices' axis is of its kind, of its bytes, and takes the network's time."""
    kind, move, out = MOVES[name]
    over = lens.target_mesh(TARGET, SIZES["own axis"])
    x = jax.ShapeDtypeStruct((256, 512), "float32", sharding=jax.NamedSharding(over, P("dcn")))
    f = jax.shard_map(move, mesh=over, in_specs=P("dcn"), out_specs=out, check_vma=False)
    program = lens.inspect(f, x, target=TARGET)
    block = 128 * 512 * 4
    assert [(c.kind, c.axes) for c in program.collectives] == [(kind, ("dcn",))]
    assert program.price == block * (2 if kind == "all-gather" else 1)
    sent = block / 2 if kind == "all-to-all" else block
    assert program.cost(TARGET).communication == pytest.approx(sent / lens.chip("v5e").network)


@pytest.mark.parametrize(
    "axes, slices, inside",
    [((2, 8), 2, (1, 8)), ((16,), 2, (8,)), ((4, 4), 8, (1, 2)), ((3, 8), 2, (3, 4)), ((4, 4), 1, (4, 4))],
)
def test_a_part_of_the_mesh(axes: tuple[int, ...], slices: int, inside: tuple[int, ...]) -> None:
    """The slowest axes are divided among the slices."""
    named = tuple(zip("abc", axes))
    assert within(named, slices) == tuple(zip("abc", inside))


def test_names() -> None:
    """Slices and devices that a target names."""
    assert [parse_target(text).size for text in ("v5e:2x4", "v5e:2x4*2", "tpu7x:2x2x1", "tpu7x:2x2x1*3")] == [8, 16, 8, 24]
    assert str(parse_target("v5e:2x4*2")) == "v5e:2x4*2" and str(parse_target("v5e:2x4*1")) == "v5e:2x4"
    for text in ("v5e:2x4*0", "v5e:2x4*", "tpu7x:2x4", "tpu8:2x2x1"):
        with pytest.raises(lens.LensError, match="unknown-target"):
            parse_target(text)


@needs_libtpu
def test_a_chip_of_two_devices() -> None:
    """tpu7x:2x2x1 is eight devices; a program for them is compiled, and costs what one device's part of a chip says."""
    over = lens.target_mesh("tpu7x:2x2x1", {"x": 8})
    x = jax.ShapeDtypeStruct((64, 4096), "bfloat16", sharding=jax.NamedSharding(over, P("x")))
    program = lens.inspect(lambda x: x.sum(0), x, target="tpu7x:2x2x1")
    assert {(c.kind, c.axes, c.group_size) for c in program.collectives} == {("all-reduce", ("x",), 8)}
    assert program.cost("tpu7x:2x2x1").compute == program.flops / lens.chip("tpu7x").flops > 0


@needs_libtpu
def test_num_slices_is_the_same() -> None:
    """JAX's own keyword makes the same mesh and the same program; `why` takes it too."""
    mesh = lens.target_mesh("v5e:2x4", SIZES["part of one"], num_slices=2)
    assert [*mesh.devices.flat] == [*lens.target_mesh(TARGET, SIZES["part of one"]).devices.flat]
    told = lens.inspect(gradient, *args("part of one"), target="v5e:2x4", num_slices=2)
    found = lens.why(gradient, *args("part of one"), target="v5e:2x4", num_slices=2, tries=0)
    assert told.collectives == found.program.collectives and ("dcn",) in {c.axes for c in told.collectives}
    assert found.compiler == f"XLA for {TARGET}"


@pytest.mark.parametrize(("target", "slices"), [(None, 2), (TARGET, 2), ("h100:8", 2), ("v5e:2x4", 0)])
def test_no_such_slices(target: str | None, slices: int) -> None:
    """Slices are TPUs' and said once."""
    with pytest.raises(LensError, match=re.escape(f"[no-slices] num_slices={slices} slices of {target} are not a target.")):
        lens.inspect(jnp.sin, jax.ShapeDtypeStruct((8,), "float32"), target=target, num_slices=slices)


@needs_libtpu
@pytest.mark.thorough
def test_num_slices_is_the_same_for_all() -> None:
    """What compares, guards and tells of a program takes it too, and so do the facts of a lock file."""
    w, x = args("part of one")
    two: dict[str, Any] = {"target": "v5e:2x4", "num_slices": 2}
    ((name, program),) = lens.compare(gradient, [w, x], ["v5e:2x4"], num_slices=2).programs
    assert name == TARGET and ("dcn",) in {c.axes for c in program.collectives}
    facts = lens.facts(gradient, w, x, **two)
    assert facts == lens.facts(gradient, w, x, target=TARGET) and facts["made_with"]["target"] == TARGET
    with pytest.raises(AssertionError, match=" bytes over dcn, "):
        lens.assert_communicates(gradient, w, x, at_most={"dcn": 0}, **two)
    told = lens.diff(program, facts, **two)
    assert not told.more and [row for row in told.rows if "over dcn" in row.what] == []


@needs_libtpu
def test_num_slices_in_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """--num-slices says the same as *2, for one target and for several."""
    jax.devices()  # before the command has JAX start with sixteen
    monkeypatch.chdir(tmp_path)
    Path("model.py").write_text("def step(x):\n    return x.sum(0)\n")
    given = ["model.py:step", "--args", "float32[64,8]@data", "--mesh", "data=16"]
    said = []
    for words in (["--target", "v5e:2x4", "--num-slices", "2"], ["--target", TARGET]):
        assert lens.lens_command(["inspect", *given, *words, "--json"]) == 0
        said.append(json.loads(capsys.readouterr().out))
    assert said[0] == said[1] and "dcn" in {axis for one in said[0]["collectives"] for axis in one["axes"]}
    assert lens.lens_command(["compare", *given, "--targets", "v5e:2x4", "--num-slices", "2"]) == 0
    assert "over dcn" in capsys.readouterr().out
    assert lens.lens_command(["diff", *given, "--targets", "v5e:2x4,v6e:2x4", "--num-slices", "2"]) in (0, 3)
    assert "v6e:2x4*2" in capsys.readouterr().out
    assert lens.lens_command(["inspect", *given, "--num-slices", "2"]) == 1
    assert "[no-slices]" in capsys.readouterr().err
