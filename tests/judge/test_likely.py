"""How wrong values relate to the right ones: causes that any program may have, where every device shows them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from shardlab.placement import Spec, place
from shardlab_judge.cases import Case, Input, Observed, axes
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.likely import likely, recognised
from shardlab_judge.question import Misconception

MESH = axes(x=4, y=2)


def seen(output: np.ndarray, spec: Spec = (), mesh: tuple[tuple[str, int], ...] = MESH) -> Observed:
    """A program in a case, whose output lies so."""
    placed = place(output.shape, mesh, spec)
    shards = tuple(
        (d, tuple(slice(*s) for s in index), output[tuple(slice(*s) for s in index)]) for d, index in placed.shards
    )
    return Observed(Case(mesh, (Input((2,)),)), (np.zeros(2),), shards=(shards,), placements=(placed,))


def named(observed: Observed, right: np.ndarray) -> str | None:
    """The id of what explains it."""
    found = likely(observed, (right,))
    return found and found.id


@pytest.fixture
def right(rng: np.random.Generator) -> np.ndarray:
    """Not square, no two blocks alike."""
    return rng.standard_normal((8, 12))


def test_copies_and_terms_side_by_side(right: np.ndarray, rng: np.random.Generator) -> None:
    """As many as devices along an axis, or along several; another number is nobody's."""
    first = rng.standard_normal(right.shape)
    assert named(seen(np.concatenate([right] * 4)), right) == "copies-side-by-side"
    assert named(seen(np.concatenate([right] * 8, 1)), right) == "copies-side-by-side"
    assert named(seen(np.concatenate([first, right - first], 1), (None, "y")), right) == "terms-side-by-side"
    assert named(seen(np.concatenate([right] * 3)), right) is None
    assert named(seen(np.concatenate([right, first])), right) is None


def test_transposed(right: np.ndarray) -> None:
    """Rows where columns should be, of a square one too."""
    assert named(seen(right.T), right) == "output-transposed"
    assert named(seen(right[:, :8].T), right[:, :8]) == "output-transposed"


@pytest.mark.parametrize("factor", [2, 4, 8, 0.5, 0.25, 3, -2])
def test_in_proportion(right: np.ndarray, factor: float) -> None:
    """By an axis of the mesh, or all of them; three is no axis, and a sign is no size."""
    expected = {
        2: "times-too-large",
        4: "times-too-large",
        8: "times-too-large",
        0.5: "times-too-small",
        0.25: "times-too-small",
    }
    assert named(seen(factor * right), right) == expected.get(factor)


def test_one_value_apart_is_no_proportion(right: np.ndarray) -> None:
    """Twice too large everywhere but in one place."""
    wrong = 2 * right
    wrong[3, 4] += 1
    assert named(seen(wrong), right) is None


def test_blocks_elsewhere(right: np.ndarray) -> None:
    """Rolled by a block, or in the other order; not by half a block."""
    assert named(seen(np.roll(right, 2, 0), ("x",)), right) == "blocks-on-other-devices"
    assert named(seen(np.concatenate(np.split(right, 4)[::-1]), ("x",)), right) == "blocks-on-other-devices"
    assert named(seen(np.roll(right, 1, 0), ("x",)), right) is None


def test_first_device_only(right: np.ndarray, rng: np.random.Generator) -> None:
    """The first block along x is right; told the axis."""
    wrong = rng.standard_normal(right.shape)
    wrong[:2] = right[:2]
    found = likely(seen(wrong, ("x",)), (right,))
    assert found.id == "right-on-the-first-only" and "axis_index('x')" in found.cause


def test_nothing_is_told_of_what_nothing_explains(right: np.ndarray) -> None:
    """Other values, no values, other shapes, another number of outputs, and two outputs with two explanations."""
    assert named(seen(right + 1), right) is None and named(seen(0 * right), right) is None
    assert named(seen(np.full_like(right, np.nan)), right) is None
    assert (
        named(seen(right[0]), right) is None
        and named(seen(right[None]), right) is None
        and named(seen(right[:, :0]), right[:, :0]) is None
    )
    assert likely(seen(2 * right), (right, right)) is None
    both = dataclasses.replace(seen(2 * right), shards=seen(2 * right).shards + seen(4 * right).shards)
    assert likely(both, (right, right)) is None
    one_right = dataclasses.replace(both, shards=seen(2 * right).shards + seen(right).shards)
    assert likely(one_right, (right, right)).id == "times-too-large"


def test_what_the_question_knows_comes_first() -> None:
    """And only wrong values are explained in this way."""
    known = Misconception("known", "Known.", when=lambda o: o.inputs[0].sum() > 0)
    case = Case(MESH, (Input((2,)),))
    item = ProgramItem(
        "f", {"V": 1, "H": 1}, oracle=lambda a: a * np.arange(3)[:, None], cases=(case,), misconceptions=(known,)
    )
    given = np.array([1.0, 2])
    observed = dataclasses.replace(seen(2 * given * np.arange(3)[:, None]), inputs=(given,))
    assert recognised(item, observed, "V").id == "known"
    other = dataclasses.replace(seen(-2 * given * np.arange(3)[:, None]), inputs=(-given,))
    assert recognised(item, other, "V").id == "times-too-large" and recognised(item, other, "H") is None
