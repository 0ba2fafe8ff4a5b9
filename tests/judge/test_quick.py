"""What is read from a program compiled quickly, by the judge or for tests, is what XLA makes of it otherwise."""

from __future__ import annotations

import base64
import dataclasses
from typing import Any

import jax
import pytest

from shardlab.answers.context import situation
from shardlab_course.chapters import QUESTIONS, reference_of
from shardlab_judge import measuring
from shardlab_judge.cases import Case
from shardlab_judge.items.program import ProgramItem
from shardlens.export import lapack, stablehlo
from shardlens.programs.inspection import read_program

PLAIN: dict[str, str | bool] = {"xla_backend_optimization_level": "3", "xla_llvm_disable_expensive_passes": False}
"""XLA's own defaults, which the environment of `make test` and of graded runs changes."""
UNOPTIMISED: dict[str, str | bool] = {"xla_backend_optimization_level": "0", "xla_llvm_disable_expensive_passes": True}
"""What JAX_DISABLE_MOST_OPTIMIZATIONS asks for in JAX 0.10 and 0.12."""
FIRST = {q.id: item for q in QUESTIONS.values() for item in q.items[:1] if isinstance(item, ProgramItem)}


def read(module: bytes, case: Case, options: dict[str, Any]) -> dict[str, Any]:
    """Everything of a compiled program that a verdict depends on, FLOPs apart."""
    specs = situation(case.to_json())[1]
    if case.lapack:
        lapack.ready()
    targets = lapack.TARGETS if case.lapack else frozenset()
    admitted = stablehlo.admit(module, len(specs[0].sharding.device_set), targets)
    donating = jax.jit(stablehlo.rebuild(admitted, specs), donate_argnums=tuple(sorted(admitted.donated)))
    program = read_program(measuring._lowered(donating, specs).compile(compiler_options=options), case.axes)
    memory = {name: getattr(program.memory, name) for name in ("argument", "output", "alias", "temp")}
    unnamed = [dataclasses.replace(c, name="") for c in program.collectives]
    return memory | {"collectives": unnamed, "depth": program.depth, "largest": program.largest, "flops": program.flops}


@pytest.mark.thorough(after=12)
@pytest.mark.parametrize("question", FIRST)
def test_quick_compiling_changes_nothing_that_counts(question: str) -> None:
    """Collectives with their order, arguments, outputs and the largest array are the same; FLOPs but for a few of copies.

    Where LLVM alone does less, temporaries are the same too.
    """
    item = FIRST[question]
    case = item.cases[0]
    module = base64.b64decode(reference_of(question)._programs[f"{question}/{item.name}/{case.key}"])
    plain, quick = read(module, case, PLAIN), read(module, case, measuring.QUICK)
    assert read(module, case, UNOPTIMISED) == plain
    for program in (plain, quick):
        program.pop("temp")
    assert quick.pop("flops") == pytest.approx(plain.pop("flops"), rel=0.0 if "F" in item.points else 0.05)
    assert quick == plain
