"""Chapter 10, the programs of 10.9: gradients over a batch that is cut over `data`, each owed one sum over its devices."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from shardlab_course.ch10.ex09.gradients import averaged_again as _again
from shardlab_course.ch10.ex09.gradients import loss as _loss
from shardlab_course.ch10.ex09.gradients import mapped_body as _body
from shardlab_course.ch10.ex09.gradients import own as _own
from shardlab_course.shared.guarded import Guarded, Program, Situation, constrained, partly_exchanged, settled, whole
from shardlab_judge.cases import axes
from shardlens import Axes


def cheap(facts: Mapping[str, Any]) -> bool:
    """One all-reduce of the gradients' bytes at most."""
    sent = 2 * 4 * sum(math.prod(w["shape"]) for w in facts["inputs"][:2])
    return facts["price"] is not None and facts["price"] <= sent


def right(W: Any, b: Any, x: Any, y: Any) -> Any:
    """The gradients of the mean squared error, in double precision."""
    W, b, x, y = (np.asarray(a, np.float64) for a in (W, b, x, y))
    apart = 2 * (x @ W + b - y) / y.size
    return x.T @ apart, apart.sum(0)


def compiled(mesh: Any, W: Any, b: Any, x: Any, y: Any) -> Any:
    import jax

    dW, db = jax.grad(_loss, (0, 1))(W, b, x, y)
    return constrained(mesh, dW), constrained(mesh, db)


def averaged(mesh: Any, W: Any, b: Any, x: Any, y: Any) -> Any:
    import jax

    return _body(mesh, lambda *given: jax.tree.map(lambda g: jax.lax.pmean(g, "data"), _own(*given)))(W, b, x, y)


def of_the_mean(mesh: Any, W: Any, b: Any, x: Any, y: Any) -> Any:
    import jax

    body = lambda W, b, x, y: jax.grad(lambda W, b: jax.lax.pmean(_loss(W, b, x, y), "data"), (0, 1))(W, b)  # noqa: E731
    return _body(mesh, body)(W, b, x, y)


def in_one(mesh: Any, W: Any, b: Any, x: Any, y: Any) -> Any:
    import jax
    import jax.numpy as jnp

    def body(W: Any, b: Any, x: Any, y: Any) -> Any:
        dW, db = _own(W, b, x, y)
        both = jax.lax.pmean(jnp.concatenate([dW.ravel(), db]), "data")
        return both[: dW.size].reshape(dW.shape), both[dW.size :]

    return _body(mesh, body)(W, b, x, y)


def row_by_row(mesh: Any, W: Any, b: Any, x: Any, y: Any) -> Any:
    import jax

    def body(W: Any, b: Any, x: Any, y: Any) -> Any:
        dW, db = _own(W, b, x, y)
        rows = dW.reshape(4, -1, dW.shape[1])
        summed = jax.lax.map(lambda some: jax.lax.pmean(some, "data"), rows)
        return summed.reshape(dW.shape), jax.lax.pmean(db, "data")

    return _body(mesh, body)(W, b, x, y)


def once_at_the_end(mesh: Any, W: Any, b: Any, x: Any, y: Any) -> Any:
    import jax

    def body(W: Any, b: Any, x: Any, y: Any) -> Any:
        parts = x.reshape(2, -1, x.shape[1]), y.reshape(2, -1, y.shape[1])
        each = [_own(W, b, *(p[n] for p in parts)) for n in range(2)]
        return jax.tree.map(lambda *g: jax.lax.pmean(sum(g) / 2, "data"), *each)

    return _body(mesh, body)(W, b, x, y)


def part_exchanged(mesh: Any, W: Any, b: Any, x: Any, y: Any) -> Any:
    import jax

    def body(W: Any, b: Any, x: Any, y: Any) -> Any:
        dW, db = _own(W, b, x, y)
        return jax.lax.pmean(dW, "data"), partly_exchanged(db, "data") / 2

    return _body(mesh, body, check=False)(W, b, x, y)


def each_microbatch(mesh: Any, W: Any, b: Any, x: Any, y: Any) -> Any:
    import jax

    def body(W: Any, b: Any, x: Any, y: Any) -> Any:
        parts = x.reshape(2, -1, x.shape[1]), y.reshape(2, -1, y.shape[1])

        def step(total: Any, part: Any) -> Any:
            new = jax.tree.map(lambda g: jax.lax.pmean(g, "data") / 2, _own(W, b, *part))
            return jax.tree.map(jax.numpy.add, total, new), None

        return jax.lax.scan(step, jax.tree.map(jax.numpy.zeros_like, (W, b)), parts)[0]

    return _body(mesh, body)(W, b, x, y)


def own_rows(mesh: Any, W: Any, b: Any, x: Any, y: Any) -> Any:
    return _body(mesh, _own, check=False)(W, b, x, y)


def summed(mesh: Any, W: Any, b: Any, x: Any, y: Any) -> Any:
    import jax

    return _body(mesh, lambda *given: jax.tree.map(lambda g: jax.lax.psum(g, "data"), _own(*given)))(W, b, x, y)


def bias_forgotten(mesh: Any, W: Any, b: Any, x: Any, y: Any) -> Any:
    import jax

    def body(W: Any, b: Any, x: Any, y: Any) -> Any:
        dW, db = _own(W, b, x, y)
        return jax.lax.pmean(dW, "data"), db

    return _body(mesh, body, check=False)(W, b, x, y)


def averaged_again(mesh: Any, W: Any, b: Any, x: Any, y: Any) -> Any:
    import jax

    body = lambda *given: tuple(_again(jax.lax.pmean(g, "data")) for g in _own(*given))  # noqa: E731
    return _body(mesh, body)(W, b, x, y)


def some_again(mesh: Any, W: Any, b: Any, x: Any, y: Any) -> Any:
    import jax

    def body(W: Any, b: Any, x: Any, y: Any) -> Any:
        dW, db = (jax.lax.pmean(g, "data") for g in _own(W, b, x, y))
        few = dW.shape[0] // 4
        return dW.at[:few].set(_again(dW[:few])), db

    return _body(mesh, body)(W, b, x, y)


def narrow(mesh: Any, W: Any, b: Any, x: Any, y: Any) -> Any:
    import jax

    rounded = lambda g: jax.lax.pmean(g.astype("bfloat16"), "data").astype("float32")  # noqa: E731
    return _body(mesh, lambda *given: jax.tree.map(rounded, _own(*given)))(W, b, x, y)


def until_settled(mesh: Any, W: Any, b: Any, x: Any, y: Any) -> Any:
    import jax
    import jax.numpy as jnp

    def body(W: Any, b: Any, x: Any, y: Any) -> Any:
        own = _own(W, b, x, y)
        step = lambda mean: jax.tree.map(lambda g, m: m + jax.lax.pmean(g - m, "data"), own, mean)  # noqa: E731
        return settled(step, (jnp.zeros_like(W), jnp.zeros_like(b)))

    return _body(mesh, body)(W, b, x, y)


def bias_left_cut(mesh: Any, W: Any, b: Any, x: Any, y: Any) -> Any:
    import jax

    def body(W: Any, b: Any, x: Any, y: Any) -> Any:
        dW, db = _own(W, b, x, y)
        part = jax.lax.psum_scatter(db, "data", scatter_dimension=0, tiled=True) / jax.lax.axis_size("data")
        return jax.lax.pmean(dW, "data"), part

    return _body(mesh, body, out=(jax.P(), jax.P("data")))(W, b, x, y)


def all_gradients(mesh: Any, W: Any, b: Any, x: Any, y: Any) -> Any:
    import jax

    def body(W: Any, b: Any, x: Any, y: Any) -> Any:
        return jax.tree.map(lambda g: jax.lax.all_gather(g, "data", to="invarying").mean(0), _own(W, b, x, y))

    return _body(mesh, body)(W, b, x, y)


def whole_batch(mesh: Any, W: Any, b: Any, x: Any, y: Any) -> Any:
    import jax

    return jax.grad(_loss, (0, 1))(W, b, constrained(mesh, x), constrained(mesh, y))


def left_cut(mesh: Any, W: Any, b: Any, x: Any, y: Any) -> Any:
    import jax

    def body(W: Any, b: Any, x: Any, y: Any) -> Any:
        dW, db = _own(W, b, x, y)
        part = jax.lax.psum_scatter(dW, "data", scatter_dimension=0, tiled=True) / jax.lax.axis_size("data")
        return part, jax.lax.pmean(db, "data")

    return _body(mesh, body, out=(jax.P("data"), jax.P()))(W, b, x, y)


def _at(
    mesh: Axes, rows: int, inner: int, outer: int, target: str | None = None, *without: str, only: str = ""
) -> Situation:
    weights = (((inner, outer), (), "float32"), ((outer,), (), "float32"))
    batch = (((rows, inner), ("data", None), "float32"), ((rows, outer), ("data", None), "float32"))
    return Situation(mesh, weights + batch, target, without, (only,) if only else (), (only,) if only else ())


GUARDED = Guarded(
    programs=(
        Program("compiled", True, "jax.grad on whole arrays, left to the compiler", compiled, public=True),
        Program("averaged", True, "each device's own gradients, and pmean of both", averaged, public=True),
        Program("of-the-mean", True, "the gradient of the mean over the devices", of_the_mean),
        Program("in-one", True, "both gradients in one array, and one pmean", in_one),
        Program("row-by-row", True, "a pmean for each quarter of the rows, in a loop", row_by_row),
        Program("once-at-the-end", True, "two microbatches, and one pmean of their mean", once_at_the_end),
        Program("on-one", True, "a pmean of both along an axis of one device, which moves nothing", averaged),
        Program("part-exchanged", True, "a pmean of all but one number, whose terms two devices exchange", part_exchanged),
        Program("each-microbatch", False, "two microbatches, each with a pmean of its own", each_microbatch),
        Program("own-rows", False, "each device keeps the gradients of its own rows", own_rows, public=True),
        Program("summed", False, "psum in place of pmean", summed, public=True),
        Program("bias-forgotten", False, "the bias's gradient is of a device's own rows", bias_forgotten),
        Program("averaged-again", False, "means are averaged again, which changes no value", averaged_again, public=True),
        Program("all-gradients", False, "every device gathers all gradients and averages them itself", all_gradients),
        Program("whole-batch", False, "the whole batch is brought to every device", whole_batch),
        Program("some-again", False, "means of a quarter of the weight's rows are averaged again", some_again, public=True),
        Program("narrow", False, "means are taken in bfloat16", narrow, public=True),
        Program("until-settled", False, "a mean in a loop that ends when it changes no more", until_settled, public=True),
        Program("bias-left-cut", False, "the bias's gradient is left cut over data", bias_left_cut, public=True),
        Program("left-cut", False, "the weight's gradient is left cut over data", left_cut, public=True),
    ),
    situations=(
        _at(axes(data=4, model=2), 256, 16, 12),
        _at(axes(data=2, model=4), 192, 24, 20, None, "all-gradients"),  # of two devices as dear as the mean
        _at(axes(data=8), 512, 8, 16),
        _at(axes(data=8), 4096, 64, 128, "v5e:2x4", "bias-left-cut"),  # tiles give a part the bytes of the whole
        _at(axes(data=1, model=8), 64, 16, 12, only="on-one"),
        _at(axes(data=2, model=4), 96, 12, 20, only="part-exchanged"),
    ),
    right=right,
    rules={"V": lambda facts: facts["error"] < 1e-4, "S": whole, "H": cheap},
)  # fmt: skip
