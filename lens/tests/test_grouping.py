"""Many collectives in few rows: folded, sorted, by line, scope, axis and kind, and never wider than a log."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import shardlens as lens
from shardlens.errors import LensError
from shardlens.programs.grouping import ROWS, grouped, grouped_table
from shardlens.reading.collectives import Collective, price
from shardlens.reading.names import scope
from why_programs import mesh, spec

ONE = Collective("all-gather", (64,), "f32", 256, 32, ("x",), 8, name="all-gather.1", source="model.py:7")
MANY = [dataclasses.replace(ONE, name=f"all-gather.{k}", payload_bytes=4 * k, source=f"model.py:{k}") for k in range(1, 60)]
SCOPES = {
    "jit(step)/jvp(Model)/layers_3/mlp/down/dot_general": "forward Model/layers_*/mlp/down",
    "jit(step)/transpose(jvp(Model))/layers_11/mlp/down/dot_general": "backward Model/layers_*/mlp/down",
    "jit(step)/jvp()/while/body/closed_call/attention/softmax/reduce_max": "forward attention/softmax",
    "jit(step)/transpose(jvp(while))/body/checkpoint/rematted_computation/attention/add": "backward attention",
    "jit(train)/optimizer/mul": "optimizer",
    "jit(step)/jit(_roll_static)/concatenate": "-",
    "jit(step)/shard_map/psum": "-",
    "jit(f)/layers[12]/up/dot_general": "layers*/up",
    "jit(f)/h.4/w2/dot_general": "h.*/w2",
    "": "-",
}


@pytest.mark.parametrize("op_name", SCOPES)
def test_scope(op_name: str) -> None:
    """What JAX adds to a name is left out, numbers of layers are folded, and the pass is said."""
    assert scope(op_name) == SCOPES[op_name]


@pytest.mark.parametrize("by", ["line", "scope", "leaf", "purpose", "axis", "kind", "equal"])
def test_groups_are_a_partition(by: str) -> None:
    """Every collective is in one group; the most expensive comes first, what nobody can count before it."""
    unknown = dataclasses.replace(ONE, kind="unknown", axes=(), uncounted="a kernel that sends", name="k", source="k.py:1")
    loop = dataclasses.replace(ONE, kind="all-reduce", axes=("y",), executions=None, loops=(None,), source="loop.py:3")
    found = grouped([*MANY, unknown, loop, ONE, ONE], "", by)
    assert sorted(id(c) for group in found for c in group.collectives) == sorted(map(id, [*MANY, unknown, loop, ONE, ONE]))
    prices = [group.price for group in found]
    first = prices.count(None)
    known = [each for each in prices if each is not None]
    assert prices[:first] == [None] * first and known == sorted(known, reverse=True)
    assert sum(known) == price([c for group in found if group.price is not None for c in group.collectives])


def test_what_is_no_group() -> None:
    """Another word is refused, with those that there are."""
    with pytest.raises(LensError, match=r"\[no-such-group\].*\n.*\n.*line, scope, leaf, purpose, axis, kind"):
        grouped([ONE], "", "colour")


@pytest.mark.parametrize("by, width", [("line", 60), ("line", 80), ("equal", 80), ("equal", 120)])
def test_few_rows_that_fit(by: str, width: int) -> None:
    """Sixty collectives of as many lines are twenty rows that fit a log; the last one has all that is left."""
    long = [dataclasses.replace(c, source=f"a_module_with_a_rather_long_name_in_it.py:{k}") for k, c in enumerate(MANY)]
    table = grouped_table(long, "", by, width=width)
    assert len(table.rows) == ROWS and max(map(len, str(table).splitlines())) <= width
    assert table.rows[-1][0].startswith("40 more") and table.rows[-1][-2] == f"{price(MANY[:40]):,}"
    assert sum(int(row[-3]) for row in table.rows) == 59


def test_equal_ones_are_folded() -> None:
    """Thirty-two alike are one row; those that differ in what a row shows are not."""
    table = grouped_table([ONE] * 32 + [dataclasses.replace(ONE, executions=3)], "", "equal")
    assert [row[-3:] for row in table.rows] == [("32", "8,192", "91%"), ("1", "768", "9%")]


@pytest.mark.thorough
def test_a_model_on_one_screen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Twelve unrolled layers show themselves in twenty rows; scopes and lines name layers, modules and callers."""
    over = mesh(8)

    def layer(x: Any, w: Any) -> Any:
        with jax.named_scope("mlp"):
            return jnp.tanh(x @ w)

    def model(x: Any, ws: Any) -> Any:
        for k, w in enumerate(ws):
            with jax.named_scope(f"layers_{k}"):
                x = layer(x, w)
        return (x**2).sum()

    args = (spec(over, (1024, 64), "x"), [spec(over, (64, 64), "x") for _ in range(24)])
    program = lens.inspect(jax.grad(model, argnums=1), *args)
    assert len(program.collectives) > ROWS
    shown = str(program).splitlines()
    assert len(shown) < 40 and max(map(len, shown)) <= 120
    scopes = {row[0] for row in program.by("scope").rows}
    assert {"forward layers_*/mlp", "backward layers_*/mlp"} <= scopes
    own = Path(__file__).name
    assert any(row[0].startswith(own) and f" < {own}" in row[0] for row in program.by("line", width=120).rows)
    assert {row[0] for row in program.by("axis").rows} == {"x"}
    assert {row[0] for row in program.by("kind").rows} == program.kinds
