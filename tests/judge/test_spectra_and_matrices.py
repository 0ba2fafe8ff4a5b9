"""Complex arrays, positive definite matrices, and the largest array of a program, as the judge treats them."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import P, lax
from jax.sharding import AxisType, NamedSharding

import shardlab as sl
from shardlab.answers.record import record
from shardlab_course.ch13.shared import definite
from shardlab_judge.cases import Case, Input, Observed, axes
from shardlab_judge.inputs import hidden_inputs
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.judging import judge
from shardlab_judge.question import Check, Question, WrongValues
from shardlab_judge.references import build
from shardlab_judge.verdict import Finding


def too_wide(item: ProgramItem, observed: Observed) -> Iterator[Finding]:
    if observed.largest > 8 * 6 * 12 // 2:
        yield Finding(item.name, "M", "On its way your program holds an array that is too large for one device.")


SPECTRUM = Question(
    "sample", "rows", difficulty=1, minutes=1, hints=("a", "b", "c"), explanation="",
    items=(
        ProgramItem(
            "rows", {"V": 1, "M": 1}, oracle=np.fft.fft, atol=1e-3, checks=(Check("M", too_wide),),
            cases=tuple(Case(axes(x=n), (Input((6, 12), ("x",), "complex64"),)) for n in (2, 3)),
            misconceptions=(WrongValues("conjugate", "Backwards.", 1, like=lambda x: np.fft.ifft(x)),
                    WrongValues("columns", "Columns of the block.", 1, local=lambda at, block: np.fft.fft(block, axis=0))),
        ),
    ),
)  # fmt: skip


LEFT_TO_XLA = 1 if jax.__version_info__ < (0, 12) else 2
"""Points of a plain transform: XLA for CPU gathered a batch until JAX 0.12 (jaxlib 0.12.0.1 does not)."""


def rows(mesh, x):
    return jax.shard_map(jnp.fft.fft, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)


def backwards(mesh, x):
    return jax.shard_map(jnp.fft.ifft, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)


def columns(mesh, x):
    return jax.shard_map(lambda b: jnp.fft.fft(b, axis=0), mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)


def by_parts(mesh, x):
    return lax.complex(rows(mesh, x).real, rows(mesh, x).imag)


@pytest.mark.thorough(after=4)
@pytest.mark.parametrize(
    ("function", "points", "miss"),
    [(rows, 2, None), (by_parts, 2, None), (lambda mesh, x: jnp.fft.fft(x), LEFT_TO_XLA, None), (backwards, 0, "conjugate"),
     (columns, 0, "columns")],
    ids=["local", "by parts", "gathered", "backwards", "columns"],
)  # fmt: skip
def test_complex_programs(function, points: float, miss: str | None) -> None:
    """Complex values are compared, known wrong ones recognised, and an array of the whole batch costs points."""
    references = build([SPECTRUM], {SPECTRUM.id: record(SPECTRUM.manifest(3), {"rows": rows}, {})}, 3)
    verdict = judge(SPECTRUM, record(SPECTRUM.manifest(3), {"rows": function}, {}), references, 3)
    assert verdict.points == points
    assert miss in {finding.misconception for finding in verdict.findings} | {None}


def test_complex_inputs_have_both_parts() -> None:
    """Neither part of a drawn complex array is zero or the other's copy."""
    (x,) = hidden_inputs(Case(axes(x=2), (Input((6, 5), ("x",), "complex64"),)), 3)
    assert x.dtype == np.complex64
    assert np.all(x.real != 0) and np.all(x.imag != 0) and not np.any(np.isclose(x.real, x.imag))


def test_definite_inputs() -> None:
    """A definite input is symmetric, and its eigenvalues are at least one."""
    (matrix,) = hidden_inputs(Case(axes(x=2), (Input((16, 16), ("x",), values=definite),)), 3)
    assert np.array_equal(matrix, matrix.T)
    values = np.linalg.eigvalsh(matrix.astype(float))
    assert values[0] > 0.999 and values[-1] < 6


@pytest.mark.parametrize(("gathered", "largest"), [(False, 4 * 16 * 3), (True, 4 * 64 * 3)])
def test_largest_array(gathered: bool, largest: int) -> None:
    """The largest array is a gathered one, or a device's block; what a fusion makes inside does not count."""
    mesh = jax.make_mesh((4,), ("x",), axis_types=(AxisType.Auto,), devices=jax.devices()[:4])
    x = jax.device_put(np.arange(192, dtype=np.float32).reshape(64, 3), NamedSharding(mesh, P("x")))

    def body(block):
        whole = lax.all_gather(block, "x", tiled=True) if gathered else block
        return whole.sum(0, keepdims=True) + jnp.arange(1000.0).sum()

    program = sl.inspect(jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x")), x)
    assert program.largest == largest
