"""Which line `lens.why` names, and which change it proposes, where several would fit."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import shardlens as lens
from shardlens.placement import place
from shardlens.programs.program import Memory, Program
from shardlens.reading.collectives import Collective
from shardlens.reasons.answer import _class, _Trials
from shardlens.reasons.trials import Source, _moves
from why_programs import mesh, spec

P = jax.P
LINES = Path(__file__).read_text().splitlines()
OVER = mesh(8)


def number(text: str) -> int:
    """The one line of this file that ends with a text."""
    (found,) = (n for n, line in enumerate(LINES, 1) if line.endswith(text))
    return found


RING = [(i, (i + 1) % 8) for i in range(8)]
KINDS: dict[str, Callable[[Any], Any]] = {
    "all-gather": functools.partial(jax.lax.all_gather, axis_name="x", tiled=True),
    "all-reduce": functools.partial(jax.lax.psum, axis_name="x"),
    "collective-permute": functools.partial(jax.lax.ppermute, axis_name="x", perm=RING),
    "reduce-scatter": functools.partial(jax.lax.psum_scatter, axis_name="x", tiled=True),
}


@pytest.mark.parametrize("kind", KINDS)
def test_neighbouring_lines(kind: str) -> None:
    """Two collectives of one kind on neighbouring lines of a shard_map have their own lines; or both, if XLA joins them."""
    move = KINDS[kind]

    @functools.partial(jax.shard_map, mesh=OVER, in_specs=(P("x"), P("x")), out_specs=(P("x"), P("x")), check_vma=False)
    def both(a: Any, b: Any) -> Any:
        first = move(a)  # <- first
        second = move(jnp.sin(first.sum()) + b)  # <- second
        return first, second

    found = lens.why(both, spec(OVER, (64, 16), "x"), spec(OVER, (64, 16), "x"), tries=0)
    answers = [answer for answer in found.answers if answer.collective.kind == kind]
    wanted = [f"{Path(__file__).name}:{number(mark)}" for mark in ("# <- first", "# <- second")]
    assert [str(answer.line) for answer in answers] == wanted and all(answer.written for answer in answers)


ACTS = {"relu": jax.nn.relu, "silu": jax.nn.silu, "tanh": jnp.tanh, "gelu": jax.nn.gelu, "none": lambda h: h}


def dense(x: Any, w: Any) -> Any:
    """One line for both projections, so that nothing but their shapes tells them apart."""
    return x @ w


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("act", ACTS)
def test_up_and_down(act: str) -> None:
    """Of two weights with as many elements, each gather is explained by its own, whatever stands between them."""

    def mlp(x: Any, up: Any, down: Any) -> Any:
        return dense(ACTS[act](dense(x, up)), down)

    args = (spec(OVER, (1024, 32), "x"), spec(OVER, (32, 128), None, "x"), spec(OVER, (128, 32), None, "x"))
    answers = lens.why(mlp, *args, tries=0).answers
    told = {a.collective.shape: [word for edge in a.edges for side in edge.has for word in side.words] for a in answers}
    assert told == {(32, 128): ["argument up"], (128, 32): ["argument down"]}
    assert {str(answer.line) for answer in answers} == {f"{Path(__file__).name}:{number('return x @ w')}"}


@pytest.mark.parametrize(
    "hlo, mlir, same",
    [
        ("f32", "bf16", True), ("bf16", "f32", True), ("s32", "i32", True), ("u8", "i1", True), ("pred", "i1", True),
        ("s32", "f32", False), ("f8e4m3fn", "f8E4M3FN", True), ("c64", "complex<f32>", True), ("f32", "complex<f32>", False),
        ("u32", "ui32", True), ("pred", "f32", False),
    ],
)  # fmt: skip
def test_numbers_of_another_kind_are_another_array(hlo: str, mlir: str, same: bool) -> None:
    """A move of whole numbers is never explained by a table of floats; a compiler may change widths."""
    assert (_class(hlo) == _class(mlir)) == same


def test_tokens_are_not_the_table() -> None:
    """Ids that are moved are explained by ids or by nothing, never by the table that they index."""

    def look_up(table: Any, ids: Any) -> Any:
        return table[jnp.roll(ids, 1)]

    ids = spec(OVER, (256,), "x", dtype="int32")
    for table in (spec(OVER, (256, 64)), spec(OVER, (256, 64), "x"), spec(OVER, (256, 64), None, "x")):
        for answer in lens.why(look_up, table, ids, tries=0).answers:
            if answer.collective.dtype == "s32":
                assert "argument table" not in {word for edge in answer.edges for side in edge.has for word in side.words}


def pipeline(varying: bool) -> Callable[..., Any]:
    """The gradient of a loss in a shard_map, whose weight is the same on all devices and used in a loop."""

    @functools.partial(jax.shard_map, mesh=OVER, in_specs=(P(), P("x")), out_specs=P())
    def loss(w: Any, x: Any) -> Any:
        w = jax.lax.pcast(w, ("x",), to="varying") if varying else w
        y = jax.lax.scan(lambda c, _: (jnp.tanh(c @ w), None), x, None, length=5)[0]  # <- loop
        return jax.lax.psum((y**2).sum(), "x")

    return jax.grad(loss)


def test_a_sum_that_transposition_put_there() -> None:
    """Nobody wrote it, and `pcast` before the loop has it run once, as the answer says."""
    args = (spec(OVER, (24, 24)), spec(OVER, (64, 24), "x"))
    found = lens.why(pipeline(varying=False), *args, tries=0)
    (answer,) = (each for each in found.answers if each.collective.executions == 5)
    said = " ".join(str(found).split())
    assert answer.turned and str(answer.line) == f"{Path(__file__).name}:{number('# <- loop')}"
    assert "JAX put it there for a gradient" in said and "jax.lax.pcast(array, ('x',), to='varying')" in said
    assert "It runs 5 times; pcast before the loop runs it once." in said and "you wrote it" not in said
    cured = lens.inspect(pipeline(varying=True), *args)
    assert {c.executions for c in cured.collectives} == {1} and cured.price * 4 < found.program.price


def test_moves_exchange_dimensions() -> None:
    """What is tried: an axis elsewhere, an axis left out, and two dimensions exchanged."""
    tried = [*_moves((("d",), ("m",)), (64, 64), frozenset({"m"}), {"d": 2, "m": 4})]
    assert tried == [(("d", "m"), ()), (("d",), ()), (("m",), ("d",))]


def test_layers_are_changed_together() -> None:
    """In an unrolled model the change is of a leaf in every layer, and its name has a star."""
    over = mesh(2, 4)

    def model(layers: Any, x: Any) -> Any:
        for layer in layers:
            x = jnp.tanh(jax.nn.relu(x @ layer["up"]) @ layer["down"])
        return x

    def args(down: tuple[Any, ...]) -> tuple[Any, ...]:
        layer = {"up": spec(over, (32, 256), None, "y"), "down": spec(over, (256, 32), *down)}
        return [dict(layer) for _ in range(3)], spec(over, (6, 32), "x")

    found = lens.why(model, *args((None, "y")), tries=8)
    best = min((one for answer in found.answers for one in answer.cheaper), key=lambda one: one.program.price)
    assert best.change.text == "argument layers[*]['down']: P('y', None) instead of P(None, 'y') (3 of them)"
    assert best.program.price == lens.inspect(model, *args(("y", None))).price < found.program.price


def test_operations_of_one_line_are_counted() -> None:
    """A constraint around an operation is one around all of its kind in the line, and says so."""
    over = mesh(2, 4)
    f = lambda x, a, b: (x @ a) @ b  # noqa: E731
    args = (spec(over, (64, 32), "x"), spec(over, (32, 64), None, "y"), spec(over, (64, 32), None, "y"))
    line = lens.why(f, *args, tries=0).answers[0].line
    assert Source(f, args, {})._standing[line, "dot_general"] == 2


def test_fewer_bytes_that_take_longer_are_not_proposed() -> None:
    """On a target a change must not be slower by the lens's own model."""
    placement = place((16, 16), {"x": 8}, ("x",))

    def program(*collectives: Collective) -> Program:
        return Program(collectives, Memory(10**6, 10**6, 0, 0, 0), 2e8, "", (placement,), 8, "tpu")

    gather = Collective("all-gather", (2**18,), "f32", 2**20, 2**17, ("x",), 8, (tuple(range(8)),))
    far = tuple((i, (i + 4) % 8) for i in range(8))
    less = 2**20 - 4
    permute = dataclasses.replace(gather, kind="collective-permute", payload_bytes=less, operand_bytes=less, groups=far)
    for target, proposed in ((None, True), ("v5e:2x4", False)):
        trials: Any = _Trials.__new__(_Trials)
        trials.base, trials.options = program(gather), {"target": target}
        assert trials._saves(program(permute)) == proposed
