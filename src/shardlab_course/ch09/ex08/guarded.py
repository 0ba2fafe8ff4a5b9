"""Chapter 9, the programs of 9.8: a stack of tensor-parallel layers, each of which owes one sum of its activations."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from shardlab_course.shared.guarded import Guarded, Program, Situation, constrained, mapped, partly_exchanged, settled, whole
from shardlab_judge.cases import axes
from shardlens import Axes


def cheap(facts: Mapping[str, Any]) -> bool:
    """For each layer an all-reduce of the activations, in their dtype, and no work that is done again."""
    x, first, _ = facts["inputs"]
    layers, inner, hidden = first["shape"]
    rows, size = x["shape"][0], {"float32": 4, "bfloat16": 2}[x["dtype"]]
    parts = facts["mesh"]["model"]
    return (
        facts["price"] is not None
        and facts["price"] <= 2 * layers * math.prod(x["shape"]) * size
        and facts["flops"] is not None
        and facts["flops"] <= 1.2 * layers * 4 * rows * inner * hidden / parts
    )


def right(x: Any, first: Any, second: Any) -> Any:
    """In double precision."""
    found = np.asarray(x, np.float64)
    for one, two in zip(np.asarray(first, np.float64), np.asarray(second, np.float64)):
        found = np.maximum(found @ one, 0) @ two
    return found


def _stack(mesh: Any, layer: Any, *, check: bool = True, out: Any = ()) -> Any:
    """Layers one after another, in `shard_map`; `layer` is given the activations and its two weights."""
    import jax

    def body(x: Any, first: Any, second: Any) -> Any:
        for number in range(first.shape[0]):
            x = layer(x, first[number], second[number])
        return x

    given = jax.P(), jax.P(None, None, "model"), jax.P(None, "model", None)
    return mapped(mesh, body, given, jax.P(*out), check=check)


def _half(x: Any, one: Any, two: Any) -> Any:
    import jax

    return jax.nn.relu(x @ one) @ two


def unrolled(mesh: Any, x: Any, first: Any, second: Any) -> Any:
    import jax

    return _stack(mesh, lambda x, one, two: jax.lax.psum(_half(x, one, two), "model"))(x, first, second)


def scanned(mesh: Any, x: Any, first: Any, second: Any) -> Any:
    import jax

    def body(x: Any, first: Any, second: Any) -> Any:
        step = lambda x, both: (jax.lax.psum(_half(x, *both), "model"), None)  # noqa: E731
        return jax.lax.scan(step, x, (first, second))[0]

    given = jax.P(), jax.P(None, None, "model"), jax.P(None, "model", None)
    return mapped(mesh, body, given, jax.P())(x, first, second)


def compiled(mesh: Any, x: Any, first: Any, second: Any) -> Any:
    for number in range(first.shape[0]):
        x = constrained(mesh, _half(x, first[number], second[number]))
    return x


def rows_apart(mesh: Any, x: Any, first: Any, second: Any) -> Any:
    import jax

    def layer(x: Any, one: Any, two: Any) -> Any:
        half = x.shape[0] // 2
        upper = jax.lax.psum(_half(x[:half], one, two), "model")
        lower = jax.lax.psum(_half(x[half:], one, two) + 0 * upper[:1, :1], "model")
        return jax.numpy.concatenate([upper, lower])

    return _stack(mesh, layer)(x, first, second)


def part_exchanged(mesh: Any, x: Any, first: Any, second: Any) -> Any:
    return _stack(mesh, lambda x, one, two: partly_exchanged(_half(x, one, two), "model"), check=False)(x, first, second)


def left_cut(mesh: Any, x: Any, first: Any, second: Any) -> Any:
    import jax

    def body(x: Any, first: Any, second: Any) -> Any:
        for number in range(first.shape[0] - 1):
            x = jax.lax.psum(_half(x, first[number], second[number]), "model")
        return jax.lax.psum_scatter(_half(x, first[-1], second[-1]), "model", scatter_dimension=0, tiled=True)

    given = jax.P(), jax.P(None, None, "model"), jax.P(None, "model", None)
    return mapped(mesh, body, given, jax.P("model"))(x, first, second)


def weights_gathered(mesh: Any, x: Any, first: Any, second: Any) -> Any:
    import jax

    def layer(x: Any, one: Any, two: Any) -> Any:
        gathered = (jax.lax.all_gather(w, "model", axis=a, tiled=True, to="invarying") for w, a in ((one, 1), (two, 0)))
        return _half(x, *gathered)

    return _stack(mesh, layer)(x, first, second)


def hidden_gathered(mesh: Any, x: Any, first: Any, second: Any) -> Any:
    import jax

    def layer(x: Any, one: Any, two: Any) -> Any:
        hidden = jax.lax.all_gather(jax.nn.relu(x @ one), "model", axis=1, tiled=True, to="invarying")
        return hidden @ jax.lax.all_gather(two, "model", axis=0, tiled=True, to="invarying")

    return _stack(mesh, layer)(x, first, second)


def sum_before_relu(mesh: Any, x: Any, first: Any, second: Any) -> Any:
    import jax

    return _stack(mesh, lambda x, one, two: jax.lax.psum(x @ one @ two, "model"))(x, first, second)


def last_unsummed(mesh: Any, x: Any, first: Any, second: Any) -> Any:
    import jax

    def body(x: Any, first: Any, second: Any) -> Any:
        for number in range(first.shape[0] - 1):
            x = jax.lax.psum(_half(x, first[number], second[number]), "model")
        return _half(x, first[-1], second[-1])

    given = jax.P(), jax.P(None, None, "model"), jax.P(None, "model", None)
    return mapped(mesh, body, given, jax.P(), check=False)(x, first, second)


def averaged(mesh: Any, x: Any, first: Any, second: Any) -> Any:
    import jax

    return _stack(mesh, lambda x, one, two: jax.lax.pmean(_half(x, one, two), "model"))(x, first, second)


def doubled(mesh: Any, x: Any, first: Any, second: Any) -> Any:
    import jax

    def layer(x: Any, one: Any, two: Any) -> Any:
        total = jax.lax.psum(_half(x, one, two), "model")
        return jax.lax.pmean(jax.lax.pcast(total * 1, "model", to="varying"), "model")

    return _stack(mesh, layer)(x, first, second)


def some_again(mesh: Any, x: Any, first: Any, second: Any) -> Any:
    """A quarter of each sum's rows is averaged once more."""
    import jax

    def layer(x: Any, one: Any, two: Any) -> Any:
        total, few = jax.lax.psum(_half(x, one, two), "model"), x.shape[0] // 4
        again = jax.lax.pmean(jax.lax.pcast(total[:few] * 1, "model", to="varying"), "model")
        return total.at[:few].set(again)

    return _stack(mesh, layer)(x, first, second)


def unit_lost(mesh: Any, x: Any, first: Any, second: Any) -> Any:
    import jax

    return _stack(mesh, lambda x, one, two: jax.lax.psum(_half(x, one[:, :-1], two[:-1]), "model"))(x, first, second)


def until_settled(mesh: Any, x: Any, first: Any, second: Any) -> Any:
    import jax
    import jax.numpy as jnp

    def layer(x: Any, one: Any, two: Any) -> Any:
        term, parts = _half(x, one, two), jax.lax.axis_size("model")
        return settled(lambda total: total + jax.lax.psum(term - total / parts, "model"), jnp.zeros_like(x))

    return _stack(mesh, layer)(x, first, second)


def all_the_work(mesh: Any, x: Any, first: Any, second: Any) -> Any:
    """Whole weights on every device, brought there at once."""
    whole = constrained(mesh, first), constrained(mesh, second)
    for number in range(first.shape[0]):
        x = _half(x, whole[0][number], whole[1][number])
    return constrained(mesh, x)


def _at(
    mesh: Axes, rows: int, inner: int, hidden: int, target: str | None = None, *shown: str, only: str = "", layers: int = 2
) -> Situation:
    # XLA for CPU adds bfloat16 up in float32, so that there all programs pay for it.
    dtype = "bfloat16" if target else "float32"
    arrays = (
        ((rows, inner), (), dtype),
        ((layers, inner, hidden), (None, None, "model"), dtype),
        ((layers, hidden, inner), (None, "model", None), dtype),
    )
    return Situation(mesh, arrays, target, shown=shown or ((only,) if only else ()), only=(only,) if only else ())


GUARDED = Guarded(
    programs=(
        Program("unrolled", True, "layers written out, with a psum each", unrolled, public=True),
        Program("scanned", True, "a scan over the layers, with a psum in its body", scanned, public=True),
        Program("compiled", True, "left to the compiler, with a constraint after each layer", compiled),
        Program("rows-apart", True, "a psum for each half of the rows", rows_apart),
        Program("on-one", True, "a psum for each layer along an axis of one device, which moves nothing", unrolled),
        Program("part-exchanged", True, "a psum of all rows but one, whose terms two devices exchange", part_exchanged),
        Program("left-cut", False, "the last layer ends with a reduce-scatter: each device has some rows only",
                left_cut, public=True),
        Program("weights-gathered", False, "each layer gathers its weights", weights_gathered, public=True),
        Program("hidden-gathered", False, "the hidden activations are gathered, and the second weight", hidden_gathered),
        Program("sum-before-relu", False, "there is no relu between the products", sum_before_relu),
        Program("last-unsummed", False, "nobody adds up the terms of the last layer", last_unsummed, public=True),
        Program("averaged", False, "pmean in place of psum", averaged),
        Program("doubled", False, "each sum is averaged once more, which changes no value", doubled, public=True),
        Program("some-again", False, "a quarter of each sum's rows is averaged once more", some_again, public=True),
        Program("unit-lost", False, "each device forgets its last hidden unit", unit_lost, public=True),
        Program("until-settled", False, "a psum in a loop that ends when the sum changes no more",
                until_settled, public=True),
        Program("all-the-work", False, "all weights are brought to every device at the beginning", all_the_work),
    ),
    situations=(
        _at(axes(data=2, model=4), 16, 64, 256),
        _at(axes(model=8), 8, 128, 384),
        _at(axes(model=2), 32, 96, 512, layers=3),
        _at(axes(model=8), 128, 256, 2048, "v5e:2x4", "unrolled", "doubled"),
        _at(axes(data=8, model=1), 8, 32, 64, only="on-one"),
        _at(axes(model=2), 24, 48, 128, only="part-exchanged"),
    ),
    right=right,
    rules={"V": lambda facts: facts["error"] < 3e-2, "S": whole, "H": cheap},
)  # fmt: skip
