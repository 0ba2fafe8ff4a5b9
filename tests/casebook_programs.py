"""The six guilty programs of exercise 15.5, and how the evidence that readers see is made of them.

Run as `python tests/casebook_programs.py` at the root of the repository to write the evidence again.
"""

from __future__ import annotations

import dataclasses
import pathlib
import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from shardlab import inspect
from shardlab.answers.context import situation
from shardlab_course.ch15 import shared
from shardlab_course.ch15.ex05 import oracle as of

P = jax.P
FOLDER = pathlib.Path("src", "shardlab", "listings", "cases")


def adam(mesh, x, y, w, m, v):
    g = jax.grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)
    m = 0.9 * m + 0.1 * g
    v = 0.99 * v + 0.01 * g * g
    return w - 0.01 * m / (jnp.sqrt(v) + 1e-8), m, v


def in_slices(mesh, x, w):
    slices = x.reshape(of.ROUNDS, -1, x.shape[1])
    return jax.lax.map(lambda part: jnp.tanh(part @ w), slices).reshape(len(x), -1)


def count_as_you_go(mesh, labels):
    def body(labels):
        def step(total, now):
            mine = jnp.sum(now[:, None] == jnp.arange(of.CLASSES), axis=0)
            return total + jax.lax.psum(mine, "data"), None

        return jax.lax.scan(step, jnp.zeros(of.CLASSES, jnp.int32), labels)[0]

    return jax.shard_map(body, mesh=mesh, in_specs=P(None, "data"), out_specs=P())(labels)


def slope_of_scale(mesh, x, y, scale):
    def loss(scale, x, y):
        normed = x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + of.TINY)
        return jnp.sum((normed * scale - y) ** 2)

    def body(x, y, scale):
        return jax.lax.psum(jax.grad(loss)(scale, x, y), "data")

    tokens = P("data", "model", None)
    return jax.shard_map(body, mesh=mesh, in_specs=(tokens, tokens, P()), out_specs=P(), check_vma=False)(x, y, scale)


def by_one_hot(mesh, table, ids):
    found = jax.nn.one_hot(ids, len(table)) @ table
    return jax.lax.with_sharding_constraint(found, jax.NamedSharding(mesh, P("data", None)))


def rescale_first(mesh, x, q, s):
    return x @ (q.astype(jnp.float32) * s)


@dataclasses.dataclass(frozen=True)
class Exhibit:
    """A guilty program in one case, the names of its arguments and outputs, and what its author tried."""

    program: Callable[..., Any]
    case: Any
    names: tuple[str, ...]
    outputs: tuple[str, ...]
    tried: str


def _adam_case() -> Any:
    from shardlab_judge.cases import Case, Input

    whole = Input((256, 96), shared.WHOLE)
    x, y, slices = (Input(shape, shared.ROWS) for shape in ((64, 256), (64, 96), (256, 96)))
    return Case(of.LINE, (x, y, slices, whole, whole))


EXHIBITS = {
    1: Exhibit(adam, _adam_case(), ("x", "y", "w", "m", "v"), ("w", "m", "v"), "five steps against one device: equal"),
    2: Exhibit(in_slices, of.sliced(of.LINE, 96, 48, 16), ("x", "w"), ("out",), "against one device: equal"),
    3: Exhibit(count_as_you_go, of.counted(of.LINE, 24, 64), ("labels",), ("counts",), "against one device: equal"),
    4: Exhibit(slope_of_scale, of.normed(of.TALL, 4, 16, 12), ("x", "y", "scale"), ("slope",),
               "on four sentences of 4 tokens, padded to 16 with zeros (x and y): equal to one device"),
    5: Exhibit(by_one_hot, of.looked_up(of.LINE, 512, 32, 64), ("table", "ids"), ("rows",), "against one device: equal"),
    6: Exhibit(rescale_first, of.quantised(of.LINE, 64, 96, 160), ("x", "q", "s"), ("out",), "against one device: equal"),
}  # fmt: skip


def evidence(number: int) -> str:
    """The text of one case."""
    exhibit = EXHIBITS[number]
    mesh, specs = situation(exhibit.case.to_json())
    body = lambda *arrays: exhibit.program(mesh, *arrays)  # noqa: E731
    program = inspect(jax.jit(body, keep_unused=True), *specs)
    shape = ", ".join(f"{name}={size}" for name, size in exhibit.case.axes)
    jaxpr = re.sub(r"mesh=(Abstract)?Mesh\((?:[^()]|\([^()]*\))*\)", "mesh=mesh", str(jax.make_jaxpr(body)(*specs)))
    # Without the lines of Python: which one communicates is the question.
    table = dataclasses.replace(program._table().without("line"), bars=())
    moved = str(table).split("\ncollectives: ")[0]
    lines = [f"mesh: {shape}", f"tried: {exhibit.tried}", "", "jaxpr", *jaxpr.splitlines(), "", moved]
    return "\n".join([*lines, "", "memory, bytes a device", *_memory(exhibit, specs, program)]) + "\n"


def _memory(exhibit: Exhibit, specs: Any, program: Any) -> list[str]:
    rows = []
    for name, given in zip(exhibit.names, specs):
        held = np.prod(given.sharding.shard_shape(given.shape)) * given.dtype.itemsize
        rows.append(f"  argument {name:8}{given.dtype.name + str(list(given.shape)):18}{held:>10,}")
    for name, where in zip(exhibit.outputs, program.output_placements):
        held = np.prod(where.shard_shape) * np.dtype(where.dtype).itemsize
        rows.append(f"  output   {name:8}{where.dtype + str(list(where.shape)):18}{held:>10,}")
    return rows


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    FOLDER.mkdir(exist_ok=True)
    for number in EXHIBITS:
        (FOLDER / f"{number}.txt").write_text(evidence(number))
        print(f"== {number}\n{evidence(number)}")
