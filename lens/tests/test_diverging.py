"""Where a plain and a parallel program part: forty planted faults, and right programs in which nothing is named."""

from __future__ import annotations

import functools
import itertools
import pathlib
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import parallel_pairs
from shardlens import blocks_of, diverge, diverge_steps, record
from shardlens import name as named
from shardlens.diverging.comparison import Comparison, First
from shardlens.diverging.record import Traced
from shardlens.diverging.sums import Held, summed, too_large
from shardlens.errors import LensError

UNCHECKED = ("out_specs=P())", "out_specs=P(), check_vma=False)")
MASKED = "softmax(jnp.where(jnp.tril(jnp.ones((6, 6), bool))[None, None], s, -1e9)"
GATHERED, DOWN = 'lax.all_gather(w["up"], "x", axis=0, tiled=True)', 'w["down"], "x", axis=0, tiled=True)'
OUT, NEXT = 'jnp.einsum("bhtk,hkd->btd", c, w["o"])', "[(i, (i + 1) % 4) for i in range(4)]"
BEFORE = "jax.tree.map(lambda v: jnp.concatenate([v[:1], v[:-1]]), w)"
CONTEXT, SENT = 'jnp.einsum("bhts,bhsk->bhtk", p, v)', 'jnp.einsum("tec,td->ecd", sent, x)'
# The program, the name that is the first wrong one, what is said of it, and the texts that are changed.
FAULTS: dict[str, tuple[str, str, str, tuple[str, ...]]] = {
    "a sum is missing": (
        "mlp",
        "mlp",
        "a term of a sum over y, which nothing adds before residual",
        ('lax.psum(a @ w["down"], "y")', 'a @ w["down"]', *UNCHECKED),
    ),
    "the residual inside a sum": (
        "mlp",
        "mlp",
        "the plain value plus 2 times argument x",
        ('a @ w["down"], "y"', 'a @ w["down"] + x, "y"'),
    ),
    "a sum over another axis": ("mlp", "mlp", "", ('@ w["down"], "y"', '@ w["down"], "x"', *UNCHECKED)),
    "a mean for a sum": ("mlp", "mlp", "1/2 times the plain value", ("lax.psum(a", "lax.pmean(a")),
    "another epsilon": ("mlp", "residual", "", ("norm(x + m)", "norm(x + m, 1e-3)")),
    "rounded activations": (
        "mlp",
        "act",
        "rounded to bfloat16",
        ("jax.nn.gelu(h)", "jax.nn.gelu(h).astype(jnp.bfloat16).astype(h.dtype)"),
    ),
    "no gradient": ("mlp", "cotangent of act", "no value", ("jax.nn.gelu(h)", "lax.stop_gradient(jax.nn.gelu(h))")),
    "a gradient twice": (
        "mlp",
        "cotangent of mlp",
        "2 times the plain value",
        ("norm(x + m)", "norm(x + 2 * m - lax.stop_gradient(m))"),
    ),
    "another scale": ("attention", "scores", "1.414 times the plain value", ("8**0.5", "4**0.5")),
    "a mask that lets the next one see": (
        "attention",
        "weights",
        "",
        ("jnp.ones((6, 6), bool)", "jnp.ones((6, 6), bool), 1"),
    ),
    "softmax over the queries": ("attention", "weights", "", ("axis=-1", "axis=-2")),
    "scores transposed": ("attention", "scores", "transposed", ("bhtk,bhsk->bhts", "bhtk,bhsk->bhst")),
    "heads not summed": ("attention", "out", "a term of a sum over y", (f'lax.psum({OUT}, "y")', OUT, *UNCHECKED)),
    "heads of a neighbour": (
        "attention",
        "context",
        "the block of the device at y-1",
        (CONTEXT, f'lax.ppermute({CONTEXT}, "y", {NEXT})'),
    ),
    "one device has nothing": (
        "attention",
        "context",
        "zero on y=3",
        (CONTEXT, f'jnp.where(lax.axis_index("y") == 3, 0, {CONTEXT})'),
    ),
    "no number on one device": (
        "attention",
        "weights",
        "not finite on x=1",
        (MASKED, MASKED.replace("s, -1e9", 's * jnp.where(lax.axis_index("x"), jnp.nan, 1), -1e9')),
    ),
    "rows shifted": ("fsdp", "up", "shifted by +2 along dimension 0", (GATHERED, f"jnp.roll({GATHERED}, 2, 0)")),
    "weights of the layer before": (
        "fsdp",
        "up",
        "stale: the value of the round before in round 2",
        ("layer), x, w)", f"layer), x, {BEFORE})"),
    ),
    "another activation": ("fsdp", "hidden", "", ("silu", "relu")),
    "no residual": ("fsdp", "h", "", ("norm(h + u @ down)", "norm(u @ down)")),
    "a sum for a mean": ("fsdp", "loss", "8 times the plain value", ("lax.pmean", "lax.psum")),
    "a gradient twice, outside of names": (
        "fsdp",
        "output[1]['up']",
        "2 times the plain value",
        (GATHERED, f"2 * {GATHERED} - lax.stop_gradient({GATHERED})"),
    ),
    "rounded weights": (
        "fsdp",
        "down",
        "rounded to bfloat16",
        (DOWN, DOWN.replace(",", ".astype(jnp.bfloat16),", 1) + ".astype(h.dtype)"),
    ),
    "a gradient that goes one way of two": (
        "fsdp",
        "cotangent of h",
        "in round 2",
        ("silu(h @ up)", "silu(lax.stop_gradient(h) @ up)"),
    ),
    "sent backwards": ("pipeline", "product", "", ("(i, i + 1)", "(i + 1, i)")),
    "no residual in a stage": ("pipeline", "stage", "", ("h + jnp.tanh(a)", "jnp.tanh(a)")),
    "parts one too early": ("pipeline", "product", "", ("jnp.minimum(t, 5)", "jnp.minimum(t + 1, 5)")),
    "outputs one too early": ("pipeline", "loss", "", ("hs[3:]", "hs[2:8]")),
    "all stages' outputs": ("pipeline", "loss", "", ("s == 3", "s >= 0")),
    "one stage's weight": (
        "pipeline",
        "product",
        "2 times the plain value in round 3",
        ("h @ w[0]", "h @ w[0] * jnp.where(s == 2, 2.0, 1.0)"),
    ),
    "a stage's gradient twice": (
        "pipeline",
        "cotangent of stage",
        "in round 2",
        ("lax.ppermute(h,", "lax.ppermute(2 * h - lax.stop_gradient(h),"),
    ),
    "rounded on the way": (
        "pipeline",
        "product",
        "in round 2",
        ("lax.ppermute(h,", "lax.ppermute(h.astype(jnp.bfloat16).astype(h.dtype),"),
    ),
    "no gate": ("experts", "out", "", ("sent * gates[..., None]", "sent")),
    "routed backwards": ("experts", "sent", "", ("routed(gates)", "routed(gates[::-1])")),
    # Blocks that were not sent are cut along another dimension, which is no fault in itself: the first use of them is.
    "not sent": (
        "experts",
        "done",
        "computed from there (cut along 0 over x)",
        (f'lax.all_to_all({SENT}, "x", 0, 0, tiled=True)', SENT),
    ),
    "a neighbour's expert": ("experts", "done", "", ('@ w["down"][0]', f'@ lax.ppermute(w["down"], "x", {NEXT})[0]')),
    "not sent back": ("experts", "out", "", ('lax.all_to_all(done, "x", 0, 0, tiled=True)', "done")),
    "a sum of means": ("experts", "loss", "4 times the plain value", ("lax.pmean", "lax.psum")),
    "softmax over the tokens": ("experts", "gates", "", ('"logits"), -1)', '"logits"), 0)')),
    "gates without a gradient": (
        "experts",
        "cotangent of gates",
        "no value",
        ("sent * gates[..., None]", "sent * lax.stop_gradient(gates)[..., None]"),
    ),
}

# What kind of mistake each is, as the page `loss_differs.md` counts them.
CLASSES = {
    "a sum or a mean over devices": (
        "a sum is missing", "the residual inside a sum", "a sum over another axis", "a mean for a sum", "heads not summed",
        "a sum for a mean", "a sum of means",
    ),
    "which device has which part": (
        "heads of a neighbour", "a neighbour's expert", "one device has nothing", "no number on one device", "not sent",
        "not sent back", "sent backwards", "one stage's weight", "all stages' outputs",
    ),
    "the order of rows, layers and ticks": (
        "rows shifted", "weights of the layer before", "parts one too early", "outputs one too early", "routed backwards",
    ),
    "the formula": (
        "another epsilon", "another scale", "another activation", "a mask that lets the next one see", "scores transposed",
        "softmax over the queries", "softmax over the tokens", "no residual", "no residual in a stage", "no gate",
    ),
    "rounding to bfloat16": ("rounded activations", "rounded weights", "rounded on the way"),
    "the gradient alone": (
        "no gradient", "gates without a gradient", "a gradient twice", "a gradient twice, outside of names",
        "a stage's gradient twice", "a gradient that goes one way of two",
    ),
}  # fmt: skip
PAGE = pathlib.Path(__file__).parents[2] / "jupyter_book" / "loss_differs.md"


def test_the_page_counts_the_faults() -> None:
    """Its table has each class of them with its number."""
    assert sorted(itertools.chain(*CLASSES.values())) == sorted(FAULTS)
    table = [f"| {name} | {len(faults)} | {len(faults)} |" for name, faults in CLASSES.items()]
    table.append(f"| all | {len(FAULTS)} | {len(FAULTS)} |")
    assert "\n".join(table) in PAGE.read_text()
    assert f"are compared {4 * len(parallel_pairs.PROGRAMS)} times" in PAGE.read_text()


@functools.cache
def plain_of(program: str) -> Any:
    """A plain program that is compiled once for all faults."""
    plain, _, args = parallel_pairs.pair(program)
    return Traced(plain, args, shaken=True), args


def first_of(program: str, *changes: str) -> First | None:
    """What is said of a parallel program with changed texts."""
    plain, args = plain_of(program)
    theirs = Traced(parallel_pairs.planted(program, *changes), args, shaken=False)
    return Comparison(plain, theirs.recorded(theirs.run(), ()), {"argument x": jax.numpy.asarray(args[1])[None]}).first


@pytest.mark.parametrize(
    "fault", [pytest.param(n, marks=pytest.mark.thorough) if i % 16 else n for i, n in enumerate(FAULTS)]
)
def test_a_planted_fault(fault: str) -> None:
    """The first name is that of the changed line, and the sentence says what it is where that can be said."""
    program, name, words, changes = FAULTS[fault]
    first = first_of(program, *changes)
    assert first is not None
    said = first.instead + f" on {first.devices}" * bool(first.devices) + f" in round {first.round + 1}"
    assert first.name == name and words in said, str(first)


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("changes", [(), UNCHECKED], ids=["checked", "unchecked"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("program", parallel_pairs.PROGRAMS[::-1])
def test_a_right_program(program: str, dtype: str, changes: tuple[str, ...]) -> None:
    """Nothing is named, with and without JAX's own check of what varies, which changes how gradients are summed."""
    plain, _, args = parallel_pairs.pair(program, dtype)
    found = diverge(plain, parallel_pairs.planted(program, *changes), *args)
    assert found.first is None, str(found)


# Of each program one fault whose words hold for sums too.
SUMMED = (
    "a sum is missing", "heads not summed", "another activation", "a stage's gradient twice", "gates without a gradient",
)  # fmt: skip
LITTLE = 300


@pytest.mark.parametrize("fault", [SUMMED[0], *(pytest.param(n, marks=pytest.mark.thorough) for n in SUMMED[1:])])
def test_a_fault_in_what_is_too_large_to_fetch(fault: str) -> None:
    """It is named by sums of its elements as by the elements; in the right program nothing is named."""
    program, name, words, changes = FAULTS[fault]
    plain, right, args = parallel_pairs.pair(program)
    found = diverge(plain, right, *args, fetch=LITTLE)
    assert found.first is None and "compared by sums that the devices made" in " ".join(found.notes)
    assert program != "mlp" or ("pre", "float32[8,32]") in [row[1:3] for row in found.rows]
    first = diverge(plain, parallel_pairs.planted(program, *changes), *args, fetch=LITTLE).first
    assert first is not None and first.name == name
    assert words in f"{first.instead} in round {first.round + 1}", str(first)


def test_no_more_is_fetched_than_is_allowed() -> None:
    """Of each value that can be summed; one of whole numbers, or one that a single program has, comes whole."""
    plain, parallel, args = parallel_pairs.pair("mlp")
    sides = [Traced(plain, args, shaken=True), Traced(parallel, args, shaken=False)]
    groups = too_large([side.held for side in sides], LITTLE)
    assert {*groups} == {tap.name for tap in record(plain, *args).taps if tap.values.nbytes > LITTLE}
    for side in sides:
        side.sum_up(groups)
        fetched = {tap.name: tap.values.nbytes for tap in side.recorded(side.run(), ()).taps}
        assert groups and max(fetched[name] for name in groups) <= LITTLE
    other = Held("ids", (64, 8), "int32", 1, False)
    assert too_large([[other], [other]], 16) == too_large([[other._replace(dtype="float32")], []], 16) == {}
    assert too_large([[other._replace(dtype="float32", whole=True)], [other._replace(dtype="float32")]], 16) == {}


def test_sums_of_blocks_are_blocks_of_sums() -> None:
    """A cut of the sums is the sums of the cut; terms add up; an exchange of two elements is seen."""
    x = np.random.default_rng(0).standard_normal((3, 8, 12)).astype("float32")
    made = np.asarray(summed(x, (2, 3)))
    assert made.shape == (3, 4, 4)
    np.testing.assert_allclose(np.asarray(summed(x[:, 4:, :6], (2, 3))), made[:, 2:, :2], rtol=1e-6)
    np.testing.assert_allclose(np.asarray(summed(x[:1] + x[1:2], (2, 3))), made[:1] + made[1:2], rtol=1e-5, atol=1e-6)
    exchanged = x.copy()
    exchanged[0, 0, [0, 1]] = x[0, 0, [1, 0]]
    assert np.abs(np.asarray(summed(exchanged, (2, 3))) - made).max() > 1e-2


NO_NUMBERS: dict[str, Any] = {
    "masked scores": lambda x, scale: jnp.where(jnp.tril(jnp.ones((8, 8), bool)), x * scale, -jnp.inf),
    "a mask of the least number": lambda x, scale: jnp.where(jnp.eye(8, dtype=bool), x * scale, jnp.finfo("float32").min),
    "the logarithm of a zero": lambda x, scale: scale * jnp.log(x),
    "one that is no number": lambda x, scale: scale * x * jnp.sqrt(x - 0.5),
}


@pytest.mark.parametrize("program", NO_NUMBERS)
def test_wrong_numbers_beside_no_numbers(program: str) -> None:
    """Infinities and what is no number hide nothing in the numbers around them, and right ones pass."""
    f, x = NO_NUMBERS[program], np.arange(64, dtype=np.float32).reshape(8, 8)
    mesh = jax.make_mesh((8,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
    cut = jax.device_put(x, jax.NamedSharding(mesh, jax.P("x")))
    right, wrong = (diverge(lambda x: named(f(x, 2), "y"), lambda x, by=by: named(f(x, by), "y"), cut) for by in (2, 6))
    assert right.first is None and {row[6] for row in right.rows}.isdisjoint({"inf", "nan"}), str(right)
    said = "7 of 64 elements differ" if "least" in program else "3 times the plain value"  # a mask's value is no multiple
    assert wrong.first and wrong.first.name == "y" and wrong.first.instead.endswith(said), str(wrong)
    blocks, axes = np.asarray(f(x, 6)).reshape(4, 2, 8), (("x", 4),)
    assert [blocks_of(f(x, by), blocks, axes).relation for by in (6, 2)] == ["cut along 0 over x", ""]


def test_a_mask_that_is_missing() -> None:
    """It is told by how many elements differ; where only sums are compared, infinities hide others, and that is said."""
    masked, x = NO_NUMBERS["masked scores"], np.arange(64, dtype=np.float32).reshape(8, 8)
    first = diverge(lambda x: named(masked(x, 2), "y"), lambda x: named(x * 2, "y"), x).first
    assert first and first.name == "y" and first.instead.endswith("28 of 64 elements differ")
    notes = diverge(lambda x: named(masked(x, 2), "y"), lambda x: named(masked(x, 6), "y"), x, fetch=64).notes
    assert "one that is not finite hides the other elements of its sum, in y, output" in " ".join(notes)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 0])
def test_another_kind_of_no_number(value: float) -> None:
    """A number is no infinity, and one infinity is neither the other nor what is no number."""
    x, places = np.arange(1, 5, dtype=np.float32), np.float32([0, np.nan, np.inf, -np.inf])
    for other in places:
        found = diverge(lambda x: x.at[2].set(value), lambda x, other=other: x.at[2].set(other), jnp.asarray(x))
        assert (found.first is None) == np.array_equal([value], [other], equal_nan=True), (value, other)


def trained(scale: float) -> Any:
    """A step of a model of five layers whose second activation and all after it are scaled."""

    def loss(params: Any, x: Any) -> Any:
        for i, layer in enumerate(params["layers"]):
            x = named(jnp.tanh(x @ layer), f"layer{i}/act") * (scale if i else 1)
        return (named(x, "head") ** 2).mean()

    def step(params: Any, x: Any) -> Any:
        value, gradient = jax.value_and_grad(loss)(params, x)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradient), value

    return step


def test_values_by_class() -> None:
    """Activations, gradients, parameters and the loss have a row each below a long table; layers share one."""
    rng = np.random.default_rng(0)
    params = {"layers": [rng.normal(size=(8, 8)).astype("float32") for _ in range(5)]}
    x = rng.normal(size=(4, 8)).astype("float32")
    counts = {"activations layer*": 5, "activations head": 1, "gradients of head": 1, "gradients of layer*": 5}
    counts |= {"params afterwards": 5, "outputs": 1}
    right = diverge(trained(1.0), trained(1.0), params, x)
    assert [row[:4] for row in right.classes] == [(each, str(n), "0", "-") for each, n in counts.items()]
    wrong = diverge(trained(1.0), trained(2.0), params, x)
    said = {row[0]: (int(row[1]), int(row[2]), row[3]) for row in wrong.classes}
    assert {each: n for each, (n, _, _) in said.items()} == counts
    assert said["activations layer*"][1:] == (3, "layer2/act") and wrong.first and wrong.first.name == "layer2/act"
    assert said["gradients of head"][1] == said["activations head"][1] == 1
    assert str(wrong.by_class) in str(wrong)


def test_a_short_table_has_no_classes_below() -> None:
    """Where all rows are seen at a glance the table is as before."""
    x = np.ones(3, np.float32)
    found = diverge(lambda x: named(x * 2, "y") + 1, lambda x: named(x * 2, "y") + 1, x)
    assert len(found.rows) == 2 and "class" not in str(found) and len(found.classes) == 2


def momentum(late: bool) -> Any:
    """A step with momentum; a late fault adds the gradient twice from its third call on."""

    def step(state: Any, x: Any) -> Any:
        params, moments, count = state
        gradient = jax.grad(lambda w: (named(jnp.tanh(x @ w), "act") ** 2).mean())(params)
        gradient = jnp.where(count >= 2, 2, 1) * gradient if late else gradient
        moments = named(0.9 * moments + gradient, "moments")
        return (params - 0.1 * moments, moments, count + 1), (gradient**2).sum()

    return step


def training() -> tuple[Any, list[Any]]:
    """A state and five batches, cut over eight devices."""
    mesh = jax.make_mesh((8,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
    rng = np.random.default_rng(0)
    params = jnp.asarray(rng.normal(size=(8, 8)), jnp.float32)
    batches = [rng.normal(size=(16, 8)).astype("float32") for _ in range(5)]
    cut = jax.NamedSharding(mesh, jax.P("x"))
    return (params, jnp.zeros_like(params), jnp.int32(0)), [jax.device_put(batch, cut) for batch in batches]


def test_the_first_step_that_parts() -> None:
    """A fault that begins in the third step is found there, with the value that it changes; right steps all pass."""
    state, batches = training()
    wrong = diverge_steps(momentum(False), momentum(True), state, batches)
    assert (wrong.step, wrong.compared) == (3, 3) and wrong.divergence.first
    assert wrong.divergence.first.name == "moments"
    assert str(wrong).startswith("step 3 is the first that differs; the 2 before it do not\n")
    right = diverge_steps(momentum(False), jax.jit(momentum(False)), state, batches)
    assert (right.step, right.compared) == (None, 5)
    assert str(right) == "none of 5 steps differs from the plain one by more than rounding"


def test_steps_that_cannot_go_on() -> None:
    """Without a batch there is no step, and without a state no next one."""
    state, batches = training()
    with pytest.raises(LensError, match=r"\[no-steps\]"):
        diverge_steps(momentum(False), momentum(False), state, [])
    lost = [lambda state, x: momentum(False)(state, x)[1]] * 2
    with pytest.raises(LensError, match=r"\[no-state\] the parallel step returns no state like the one"):
        diverge_steps(*lost, state, batches)
