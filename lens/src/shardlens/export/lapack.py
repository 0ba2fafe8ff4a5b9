"""Calls of LAPACK that a case may allow, and the only form in which they are safe to run.

On CPU `jnp.linalg.solve`, `inv`, `cholesky` and `qr` call LAPACK with the sizes of one array and believe the others, so a
call of other sizes reads and writes beyond its arrays: everything about a call is compared with what JAX writes.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence

Array = tuple[tuple[int, ...], str]
"""Shape and element type, as MLIR writes it."""

GETRF, TRSM, POTRF = "lapack_sgetrf_ffi", "lapack_strsm_ffi", "lapack_spotrf_ffi"
GEQRF, ORGQR = "lapack_sgeqrf_ffi", "lapack_sorgqr_ffi"
TARGETS = frozenset({GETRF, TRSM, POTRF, GEQRF, ORGQR})
ATTRIBUTES = frozenset({"mhlo.backend_config", "mhlo.frontend_attributes", "sdy.sharding_rule"})
# The numbers are letters of LAPACK in ASCII: side L 76, R 82; uplo L 76, U 85; diag N 78, U 85; trans C 67, N 78, T 84.
_CONFIGS = {
    GETRF: re.compile(r"\{\}"),
    TRSM: re.compile(
        r"\{diag = (?:78|85) : ui8, side = (?:76|82) : ui8, trans_x = (?:67|78|84) : ui8, uplo = (?:76|85) : ui8\}"
    ),
    POTRF: re.compile(r"\{uplo = (?:76|85) : ui8\}"),
    GEQRF: re.compile(r"\{\}"),
    ORGQR: re.compile(r"\{\}"),
}
_SIDE = {"76": -2, "82": -1}


def fits(target: str, operands: Sequence[Array], results: Sequence[Array], attributes: Mapping[str, str]) -> bool:
    """Whether a call is one that JAX could have written: its sizes, what it asks of LAPACK, and how it may be partitioned.

    Args:
        target: the name that is called.
        operands, results: the arrays of the call.
        attributes: the call's attributes as text.
    """
    config = attributes.get("mhlo.backend_config", "")
    shapes = [shape for shape, _ in operands]
    if target not in TARGETS or not _CONFIGS[target].fullmatch(config) or any(kind != "f32" for _, kind in operands):
        return False
    # A matrix, or stacks of them; what `orgqr` gets beside it are the vectors that `geqrf` returns.
    ranks = {TRSM: (2, 2), ORGQR: (2, 1)}.get(target, (2,))
    if len(shapes) != len(ranks) or any(len(shape) < rank for shape, rank in zip(shapes, ranks)):
        return False
    batch = len(shapes[0]) - 2
    everything = [*shapes, *(shape for shape, _ in results)]
    return (
        tuple(results) == _results(target, shapes)
        and _sized(target, shapes, config)
        and attributes.get("mhlo.frontend_attributes") == f'{{num_batch_dims = "{batch}"}}'
        and attributes.get("sdy.sharding_rule") in (None, _rule(everything, len(shapes), batch))
    )


@functools.cache
def ready() -> None:
    """Let JAX load LAPACK, which it does when it first lowers a call of it; without that a call ends the process."""
    import jax

    # By the smallest call that there is: the function that loads it, `initialize_lapack`, is private to JAX.
    jax.jit(jax.lax.linalg.lu).lower(jax.ShapeDtypeStruct((1, 1), "float32"))


def _results(target: str, shapes: list[tuple[int, ...]]) -> tuple[Array, ...]:
    *batch, rows, columns = shapes[0]
    status = (tuple(batch), "i32")
    match target:
        case "lapack_sgetrf_ffi":
            return (shapes[0], "f32"), ((*batch, min(rows, columns)), "i32"), status
        case "lapack_spotrf_ffi":
            return (shapes[0], "f32"), status
        case "lapack_sgeqrf_ffi":
            return (shapes[0], "f32"), ((*batch, min(rows, columns)), "f32")
        case "lapack_sorgqr_ffi":
            return ((shapes[0], "f32"),)
    return ((shapes[1], "f32"),)


def _sized(target: str, shapes: list[tuple[int, ...]], config: str) -> bool:
    """Whether the operands fit LAPACK and one another.

    A matrix with a triangle is square, and as large as the side of the other operand that it meets. One that `orgqr` gets
    has as many rows as columns, or more, and no more numbers come with it than it has columns.
    """
    *batch, rows, columns = shapes[0]
    match target:
        case "lapack_sgetrf_ffi":
            return True
        case "lapack_sgeqrf_ffi":
            return min(rows, columns) > 0
        case "lapack_spotrf_ffi":
            return rows == columns
        case "lapack_sorgqr_ffi":
            *same, vectors = shapes[1]
            return batch == same and 0 < vectors <= columns <= rows
    found = re.search(r"side = (\d+)", config)
    meets = shapes[1][_SIDE[found[1]]] if found else -1
    return rows == columns == meets and tuple(batch) == shapes[1][:-2]


def _rule(shapes: list[tuple[int, ...]], operands: int, batch: int) -> str:
    """The rule that lets nothing but the batch dimensions be cut."""
    letters = _letters()
    common = list(itertools.islice(letters, batch))
    sizes = dict(zip(common, shapes[0]))
    written = []
    for shape in shapes:
        own = list(itertools.islice(letters, len(shape) - batch))
        sizes.update(zip(own, shape[batch:]))
        written.append(f"[{', '.join(common + own)}]")
    listed = ", ".join(f"{letter}={size}" for letter, size in sizes.items())
    return (
        f"#sdy.op_sharding_rule<({', '.join(written[:operands])})->({', '.join(written[operands:])}) {{{listed}}}, custom>"
    )


def _letters() -> Iterator[str]:
    return iter("ijklmnopqrstuvwxyz")
