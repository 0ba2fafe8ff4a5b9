"""What `diverge` finds in loops, branches, random keys and shardings, between two parallel programs, and without names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import shardlens as lens
from parallel_pairs import drawn, mesh
from shardlens.command import lens_command

P = jax.P
ARGS = tuple(drawn({"w": (5, 8, 8), "x": (16, 8)}).values())


def loops(w: Any, x: Any) -> Any:
    """A loop of Python, a `while`, a `cond` and a `vmap`."""
    for i in range(5):
        x = lens.name(jnp.tanh(x @ w[i]), "layer")
    x = lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, lens.name(c[1] * 1.5, "grown")), (0, x))[1]
    x = lax.cond(x.sum() > 1e9, lambda x: lens.name(x * 2, "large"), lambda x: lens.name(x * 3, "small"), x)
    return jax.vmap(lambda r: lens.name(r * 2, "rows"))(x)


def loops_parallel(limit: float, layer: Any = lambda h, w, _: jnp.tanh(h @ w)) -> Any:
    """The same with a `scan` in a `shard_map`."""

    def body(w: Any, x: Any) -> Any:
        x, _ = lax.scan(lambda h, ws: (lens.name(layer(h, *ws), "layer"), None), x, (w, jnp.arange(5)))
        x = lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, lens.name(c[1] * 1.5, "grown")), (0, x))[1]
        large = lax.pmax(x.sum(), "x") > limit
        x = lax.cond(large, lambda x: lens.name(x * 2, "large"), lambda x: lens.name(x * 3, "small"), x)
        return jax.vmap(lambda r: lens.name(r * 2, "rows"))(x)

    return jax.shard_map(body, mesh=mesh(x=4, y=2), in_specs=(P(), P("x")), out_specs=P("x"))


def test_loops_and_branches() -> None:
    """A loop of Python against a `scan`, by rounds."""
    found = lens.diverge(loops, loops_parallel(1e9), *ARGS)
    assert found.first is None, str(found)
    assert [row[1] for row in found.rows] == ["layer", "grown", "small", "large", "rows", "output"]
    assert found.rows[0][2:4] == ("5 x float32[16,8]", "cut along 0 over x")


@pytest.mark.thorough
def test_a_round_of_a_loop() -> None:
    """The round in which a layer is wrong, of all of them."""
    wrong = loops_parallel(1e9, lambda h, w, i: jnp.tanh(h @ w) * jnp.where(i == 3, 0.5, 1.0))
    first = lens.diverge(loops, wrong, *ARGS).first
    assert (first.name, first.round, first.rounds, first.instead) == ("layer", 3, 5, "1/2 times the plain value")


@pytest.mark.thorough
def test_another_branch() -> None:
    """A `cond` that goes another way is the first fault, and not what comes of it."""
    first = lens.diverge(loops, loops_parallel(-1e9), *ARGS).first
    assert (first.name, first.instead) == ("small", "present in only one program: a cond took another branch")


def layered(w: Any, x: Any) -> Any:
    """A value and a sum of it."""
    return lens.name(lens.name(jnp.tanh(x @ w[0]), "h").sum(), "sum")


def layered_over(**axes: int) -> Any:
    """The same, the batch cut over the first axis."""
    axis = next(iter(axes))

    def body(w: Any, x: Any) -> Any:
        return lens.name(lax.psum(lens.name(jnp.tanh(x @ w[0]), "h").sum(), axis), "sum")

    return jax.shard_map(body, mesh=mesh(**axes), in_specs=(P(), P(axis)), out_specs=P())


def test_two_meshes() -> None:
    """Two parallel programs, neither with a whole value."""
    found = lens.diverge(layered_over(x=4, y=2), layered_over(z=8), *ARGS)
    assert found.first is None and found.rows[0][3] == "cut along 0 over x in one, cut along 0 over z", str(found)


def test_values_of_another_day(tmp_path: Path) -> None:
    """Values that were stored stand for either program."""
    lens.record(layered, *ARGS).save(tmp_path / "plain.npz")
    lens.record(layered_over(z=8), *ARGS).save(tmp_path / "parallel.npz")
    kept = [lens.NamedValues.read(tmp_path / f"{name}.npz") for name in ("plain", "parallel")]
    assert lens.diverge(*kept).first is None
    wrong = lens.record(lambda w, x: layered(w * 1.01, x), *ARGS)
    assert lens.diverge(kept[0], wrong).first.name == "h"


def test_random_keys() -> None:
    """A mask that each device draws from the same key is another one than the plain program's."""

    def dropped(key: Any, x: Any) -> Any:
        return lens.name(jnp.where(jax.random.bernoulli(key, 0.5, x.shape), x, 0), "dropped")

    over = jax.shard_map(dropped, mesh=mesh(x=8), in_specs=(P(), P("x")), out_specs=P("x"))
    first = lens.diverge(dropped, over, jax.random.key(0), ARGS[1]).first
    assert first.name == "dropped" and first.devices == "x=1,2,3,4,5,6,7", str(first)


def test_gradients_that_nothing_sums() -> None:
    """An output whose devices have a term each, though its out_specs say that they agree."""

    def gradient(w: Any, x: Any) -> Any:
        return jax.grad(lambda w: lens.name((x @ w).sum(), "loss"))(w[0])

    over = jax.shard_map(gradient, mesh=mesh(x=8), in_specs=(P(), P("x")), out_specs=P(), check_vma=False)
    first = lens.diverge(gradient, over, *ARGS).first
    assert (first.name, first.instead) == (
        "output",
        "on each device: term of a sum over x, which is not what its out_specs say",
    )


def test_explicit_axes() -> None:
    """Shardings in types: one global value on either side, gradients included."""
    over = jax.make_mesh((4, 2), ("x", "y"), axis_types=(jax.sharding.AxisType.Explicit,) * 2)

    def step(w: Any, x: Any) -> Any:
        h = lens.name(jnp.tanh(x @ w[0]), "h")
        return jax.grad(lambda w: lens.name(jnp.tanh(h @ w), "g").sum())(w[1])

    with jax.set_mesh(over):
        found = lens.diverge(step, step, ARGS[0], jax.device_put(ARGS[1], jax.NamedSharding(over, P("x", None))))
    assert found.first is None and [row[1] for row in found.rows] == ["h", "g", "cotangent of g", "output"], str(found)


def test_without_names() -> None:
    """Products stand in for names, and the answer says that this is a guess."""

    def product(w: Any, x: Any) -> Any:
        return (jnp.tanh(x @ w[0]) @ w[1]).sum()

    def body(up: Any, down: Any, x: Any) -> Any:
        return lax.psum(lax.psum(jnp.tanh(x @ up) * 3 @ down, "y").sum(), "x")

    over = jax.shard_map(body, mesh=mesh(x=4, y=2), in_specs=(P(None, "y"), P("y"), P("x")), out_specs=P())
    found = lens.diverge(product, lambda w, x: over(w[0], w[1], x), *ARGS)
    assert found.first.name == "product #2" and "guess" in found.notes[0], str(found)


def test_a_guard() -> None:
    """The failure is the table, with the first name and its lines below."""
    with pytest.raises(
        AssertionError, match=r"first: h: 2 times the plain value\nplain: +line \d+ of test_diverging_forms.py"
    ):
        lens.assert_same_values(layered, lambda w, x: lens.name(2 * jnp.tanh(x @ w[0]), "h").sum(), *ARGS)


def test_what_cannot_be_compared() -> None:
    """A shape has no numbers, and two programs may have nothing in common."""
    with pytest.raises(lens.LensError, match="no-numbers"):
        lens.diverge(layered, layered, jax.ShapeDtypeStruct((2, 8, 8), "float32"), ARGS[1])
    with pytest.raises(lens.LensError, match="nothing-in-common"):
        lens.diverge(lambda x: {"a": x}, lambda x: {"b": x}, ARGS[1])


MODEL = """
import jax
from jax.ad_checkpoint import checkpoint_name as name
def step(w, x):
    return name(x @ w, "product").sum()
def step_example():
    return jax.ShapeDtypeStruct((8, 4), "float32"), jax.ShapeDtypeStruct((16, 8), "float32")
"""


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Numbers are drawn where an example has none; status 3 and the two lines where the programs part."""
    plain, wrong = tmp_path / "plain_of_test.py", tmp_path / "wrong_of_test.py"
    plain.write_text(MODEL)
    wrong.write_text(MODEL.replace("x @ w", "x[::-1] @ w"))
    assert lens_command(["diverge", f"{plain}:step", f"{plain}:step"]) == 0
    assert lens_command(["diverge", f"{plain}:step", f"{wrong}:step"]) == 3
    said = capsys.readouterr().out
    assert "first: product" in said and "line 5 of wrong_of_test.py" in said
    wrong.write_text(MODEL.replace("(8, 4)", "(8, 6)"))
    assert lens_command(["diverge", f"{plain}:step", f"{wrong}:step"]) == 1
    assert "other-arguments" in capsys.readouterr().err


def test_a_plain_number_of_an_example(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is given to both programs as it is, and may stand for an array of its type in the other's example."""
    for name, number in (("number", "0.5"), ("array", "jax.numpy.float32(0.5)"), ("other", "2")):
        text = MODEL.replace("step(w, x)", "step(w, x, scale)").replace('"product")', '"product") * scale')
        (tmp_path / f"{name}_of_test.py").write_text(text.replace('(16, 8), "float32")', f'(16, 8), "float32"), {number}'))
    plain, *others = (f"{tmp_path}/{name}_of_test.py:step" for name in ("number", "array", "other"))
    assert [lens_command(["diverge", plain, other]) for other in (plain, *others)] == [0, 0, 1]
    assert "other-arguments" in capsys.readouterr().err


def test_numbers_of_every_kind() -> None:
    """Whole numbers and truth values are compared exactly, and what is not finite is a fault on the device that has it."""

    def counts(x: Any) -> Any:
        return lens.name(jnp.argmax(x, 1), "places"), lens.name(x > 0, "above"), lens.name(x.astype(jnp.bfloat16), "narrow")

    over = jax.shard_map(counts, mesh=mesh(x=8), in_specs=P("x"), out_specs=P("x"))
    assert lens.diverge(counts, over, ARGS[1]).first is None
    first = lens.diverge(counts, lambda x: over(-x), ARGS[1]).first
    assert first.name == "places" and np.isfinite(ARGS[1]).all()
