"""Refused answers without a known cause: the one operation that is another one in a right program."""

from __future__ import annotations

import base64
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from shardlab.answers.exporting import exported
from shardlab_judge.cases import Case, Input, axes
from shardlab_judge.items.program import ProgramItem, judge_case

CASE = Case(axes(x=4), (Input((4, 6), ("x",)),), ((),))


def mixed(x: np.ndarray) -> np.ndarray:
    """Shares of each column, and their products with those of the column opposite; what is below -1 counts as -1."""
    shares = np.exp(2 * np.maximum(x, -1) - x.max(0))
    found = shares / (shares.sum(0) + x.max(0) ** 2)
    return np.asarray(found + found * np.flip(found, 1))


ITEM = ProgramItem("mix", {"V": 1}, oracle=mixed, cases=(CASE, CASE))
PROGRAM = """
def mix(mesh, x):
    def body(x):
        largest = jax.lax.pmax(x.max(0), "x")
        shares = jnp.exp(2 * jnp.where(x < -1, -1.0, x) - largest)
        total = jax.lax.psum(shares.sum(0), "x")
        squares = jax.lax.fori_loop(0, 2, lambda i, power: power * largest, jnp.ones(6))
        found = shares / (total + squares)
        found = found + found * jnp.flip(found, 1)
        rows = jnp.arange(4)[:, None] == jax.lax.axis_index("x")
        return jax.lax.psum(jnp.where(rows, found, 0), "x")

    return jax.shard_map(body, mesh=mesh, in_specs=jax.P("x"), out_specs=jax.P(), check_vma=False)(x)
"""
WRONG = {
    "a sum for a maximum": ("pmax(", "psum(", "a sum of f32[6] over devices were a maximum"),
    "a maximum for a sum": ("psum(shares", "pmax(shares", "a maximum of f32[6] over devices were a sum"),
    "a sum of copies": (
        'total = jax.lax.psum(shares.sum(0), "x")',
        'total = jax.lax.psum(jax.lax.psum(shares.sum(0), "x"), "x")',
        "one all-reduce of f32[6] were left out",
    ),
    "a mask the wrong way": (
        "-1.0, x)",
        "x, -1.0)",
        "the two values between which a mask of f32[1, 6] chooses were exchanged",
    ),
    "a minus for a plus": ("(total +", "(total -", "one subtraction of f32[6] were an addition"),
    "digits lost": (
        "- largest)",
        "+ (400 - largest).astype(jnp.bfloat16).astype(jnp.float32) - 400)",
        "one rounding of f32 to bf16 were left out",
    ),
    "a round too many": (
        "fori_loop(0, 2",
        "fori_loop(0, 3",
        "the whole number 3, perhaps an index or a number of rounds, were 2 in one place",
    ),
    "two mistakes": ("shares / (total +", "jnp.sin(shares) / (total -", ""),
}


def finding_of(text: str) -> Any:
    """The one thing that is found in an answer."""
    names: dict[str, Any] = {"jax": jax, "jnp": jnp}
    exec(text, names)
    with jax.numpy_rank_promotion("allow"), jax.numpy_dtype_promotion("standard"):
        (entry,) = exported(names["mix"], {"name": "mix", "cases": [CASE.to_json()]})
    found = judge_case(ITEM, CASE, base64.b64decode(entry["module"]), None, 7)
    return found[0] if found else None


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("name", WRONG)
def test_the_operation_that_is_another_one(name: str) -> None:
    """The finding says it, and says nothing where no one change makes the program right."""
    old, new, words = WRONG[name]
    found = finding_of(PROGRAM.replace(old, new))
    assert found.letter == "V" and found.cause == (f"All values would be right if {words}." if words else "")


def test_a_right_answer_has_no_finding() -> None:
    """As it stands it is right."""
    assert finding_of(PROGRAM) is None
