"""Which calls of LAPACK are admitted: those that JAX writes, and none whose sizes do not fit one another."""

from __future__ import annotations

import base64
import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from shardlab.answers.record import record
from shardlab_judge.cases import Case, Input, axes
from shardlab_judge.inputs import hidden_inputs
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.measuring import measure, run
from shardlab_judge.question import Question
from shardlens.export import lapack, stablehlo

CASE = Case(axes(x=8), (Input((8, 6, 6), ("x",)), Input((8, 6), ("x",))), lapack=True)


def exported(function) -> bytes:
    item = ProgramItem("f", {"V": 1}, oracle=lambda a, b: b, cases=(CASE,))
    manifest = Question("0.0", "", items=(item,), difficulty=1, minutes=1, hints=("",) * 3, explanation="").manifest()
    entry = record(manifest, {"f": function}, {})["items"]["f"]["programs"][0]
    assert "module" in entry, entry
    return base64.b64decode(entry["module"])


def definite(a):
    """Symmetric matrices with positive eigenvalues."""
    return a @ jnp.swapaxes(a, -1, -2) + 6 * jnp.eye(6)[None]


def mapped(mesh, a, b):
    def body(a, b):
        return jnp.linalg.solve(definite(a)[0], b[0])[None]

    return jax.shard_map(body, mesh=mesh, in_specs=jax.P("x"), out_specs=jax.P("x"))(a, b)


def triangular(q, r, v):
    """The solution by Q and R of one matrix."""
    return jax.scipy.linalg.solve_triangular(r, q.T @ v)


def orthogonal(mesh, a, b):
    def body(a, b):
        return triangular(*jnp.linalg.qr(definite(a)[0]), b[0])[None]

    return jax.shard_map(body, mesh=mesh, in_specs=jax.P("x"), out_specs=jax.P("x"))(a, b)


PROGRAMS = {
    "solve": lambda mesh, a, b: jnp.linalg.solve(definite(a), b[..., None])[..., 0],
    "vmap": lambda mesh, a, b: jax.vmap(jnp.linalg.solve)(definite(a), b),
    "inv": lambda mesh, a, b: jnp.einsum("nij,nj->ni", jnp.linalg.inv(definite(a)), b),
    "cholesky": lambda mesh, a, b: jax.vmap(lambda m, v: jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(m), v))(
        definite(a), b
    ),
    "qr": lambda mesh, a, b: jax.vmap(triangular)(*jnp.linalg.qr(definite(a)), b),
    "shard_map": mapped,
    "qr in shard_map": orthogonal,
}


@pytest.mark.thorough(after=4)
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_what_jax_writes_runs(program) -> None:
    """Every way to solve a system runs in the judge, and is right."""
    a, b = hidden_inputs(CASE, 7)
    observed = run(measure(exported(program), CASE), (a, b))
    wanted = np.stack([np.linalg.solve(m @ m.T + 6 * np.eye(6), v) for m, v in zip(a.astype(np.float64), b)])
    assert all(np.allclose(block, wanted[index], atol=1e-4) for _, index, block in observed.shards[0])
    assert not observed.collectives


def test_refused_unless_the_case_allows_it() -> None:
    """No case gets more than it asks for, and no other decomposition comes along."""
    with pytest.raises(stablehlo.Refused, match="lapack_sgetrf_ffi"):
        measure(exported(PROGRAMS["solve"]), dataclasses.replace(CASE, lapack=False))
    with pytest.raises(stablehlo.Refused, match="lapack_ssyevd_ffi"):
        measure(exported(lambda mesh, a, b: jnp.linalg.eigh(a)[0]), CASE)


BATCH = {"mhlo.frontend_attributes": '{num_batch_dims = "1"}'}
UPPER = {"mhlo.backend_config": "{diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 85 : ui8}", **BATCH}
LU = {"mhlo.backend_config": "{}", **BATCH}
ONE = {**LU, "mhlo.frontend_attributes": '{num_batch_dims = "0"}'}
LOWER = {"mhlo.backend_config": "{uplo = 76 : ui8}", **BATCH}
A, B, WIDE = ((2, 3, 3), "f32"), ((2, 3, 4), "f32"), ((2, 3, 5), "f32")
PIVOTS, STATUS = ((2, 3), "i32"), ((2,), "i32")
TALL, SCALES = ((2, 5, 3), "f32"), ((2, 3), "f32")
RULE = "#sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=2, j=3, k=3, l=3, m=4, n=3, o=4}, custom>"
GOOD = {
    "LU": (lapack.GETRF, [WIDE], [WIDE, PIVOTS, STATUS], LU),
    "triangular": (lapack.TRSM, [A, B], [B], UPPER),
    "with a rule": (lapack.TRSM, [A, B], [B], {**UPPER, "sdy.sharding_rule": RULE}),
    "Cholesky": (lapack.POTRF, [A], [A, STATUS], LOWER),
    "QR": (lapack.GEQRF, [WIDE], [WIDE, SCALES], LU),
    "Q": (lapack.ORGQR, [TALL, SCALES], [TALL], LU),
    "Q of one matrix": (lapack.ORGQR, [((5, 3), "f32"), ((3,), "f32")], [((5, 3), "f32")], ONE),
    "all of Q": (lapack.ORGQR, [((2, 5, 5), "f32"), SCALES], [((2, 5, 5), "f32")], LU),
}
RIGHT = {**UPPER, "mhlo.backend_config": UPPER["mhlo.backend_config"].replace("side = 76", "side = 82")}
MIXED = {**UPPER, "sdy.sharding_rule": RULE.replace("[i, j, k], [i, l", "[i, l, k], [i, l")}
BAD = {
    "few pivots": (lapack.GETRF, [A], [A, ((2, 1), "i32"), STATUS], LU),
    "no status": (lapack.GETRF, [A], [A, PIVOTS], LU),
    "doubles": (lapack.GETRF, [(A[0], "f64")], [(A[0], "f64"), PIVOTS, STATUS], LU),
    "small triangle": (lapack.TRSM, [((2, 2, 2), "f32"), B], [B], UPPER),
    "other side": (lapack.TRSM, [A, B], [B], RIGHT),
    "small batch": (lapack.TRSM, [((1, 3, 3), "f32"), B], [B], UPPER),
    "small result": (lapack.TRSM, [A, B], [A], UPPER),
    "another rule": (lapack.TRSM, [A, B], [B], MIXED),
    "another batch": (lapack.TRSM, [A, B], [B], {**UPPER, "mhlo.frontend_attributes": '{num_batch_dims = "2"}'}),
    "host": (lapack.TRSM, [A, B], [B], {**UPPER, "mhlo.frontend_attributes": '{_xla_compute_type = "host"}'}),
    "rows and columns": (lapack.POTRF, [B], [B, STATUS], LOWER),
    "vector": (lapack.POTRF, [((3,), "f32")], [((3,), "f32"), ((), "i32")], LOWER),
    "unknown config": (lapack.POTRF, [A], [A, STATUS], {**LOWER, "mhlo.backend_config": "{uplo = 1 : ui8}"}),
    "few numbers": (lapack.GEQRF, [A], [A, ((2, 1), "f32")], LU),
    "whole numbers": (lapack.GEQRF, [A], [A, PIVOTS], LU),
    "a status": (lapack.GEQRF, [A], [A, SCALES, STATUS], LU),
    "wide Q": (lapack.ORGQR, [WIDE, SCALES], [WIDE], LU),
    "many numbers": (lapack.ORGQR, [TALL, ((2, 4), "f32")], [TALL], LU),
    "numbers of fewer": (lapack.ORGQR, [TALL, ((1, 3), "f32")], [TALL], LU),
    "numbers of one": (lapack.ORGQR, [TALL, ((3,), "f32")], [TALL], LU),
    "large Q": (lapack.ORGQR, [TALL, SCALES], [((2, 5, 5), "f32")], LU),
    "no numbers": (lapack.ORGQR, [TALL], [TALL], LU),
    "nothing": (lapack.GEQRF, [((2, 0, 3), "f32")], [((2, 0, 3), "f32"), ((2, 0), "f32")], LU),
    "a number alone": (lapack.ORGQR, [((5, 3), "f32"), ((), "f32")], [((5, 3), "f32")], ONE),
    "another target": ("lapack_sgelqf_ffi", [A], [A, SCALES], LU),
}  # fmt: skip


@pytest.mark.parametrize("call", GOOD.values(), ids=GOOD)
def test_fitting(call) -> None:
    """The sizes that JAX writes."""
    assert lapack.fits(*call)


@pytest.mark.parametrize("call", BAD.values(), ids=BAD)
def test_not_fitting(call) -> None:
    """Sizes by which LAPACK would read or write beyond an array, or anything else that JAX does not write."""
    assert not lapack.fits(*call)
