"""The six cases of 15.5: the stored evidence is what the guilty programs compile to, and what its authors tried is true."""

import re
from collections.abc import Iterator

import jax
import numpy as np
import pytest

import casebook_programs as book
from shardlab import inspect, listings
from shardlab.answers.context import situation
from shardlab_course.ch15.ex05 import oracle as of
from shardlab_course.ch15.ex05.misconceptions import CAUSES
from shardlab_course.ch15.ex06 import oracle as design
from shardlab_course.chapters import question
from shardlab_judge.cases import Observed
from shardlab_judge.items.value import ValueItem

ORACLES = {2: of.predictions, 3: of.counts, 4: of.slope, 5: of.rows, 6: of.rescaled}


@pytest.fixture(autouse=True)
def _as_students_run() -> Iterator[None]:
    """Students run with JAX's own settings, not with the suite's."""
    with jax.numpy_rank_promotion("allow"), jax.numpy_dtype_promotion("standard"):
        yield


def ran(number: int, arrays: list[np.ndarray]) -> np.ndarray:
    """What device 0 holds after the guilty program."""
    exhibit = book.EXHIBITS[number]
    mesh, specs = situation(exhibit.case.to_json())
    placed = [jax.device_put(a, spec.sharding) for a, spec in zip(arrays, specs)]
    return np.asarray(jax.jit(lambda *x: exhibit.program(mesh, *x))(*placed))


def drawn(number: int) -> list[np.ndarray]:
    """Random arguments."""
    rng = np.random.default_rng(number)
    return [
        rng.standard_normal(i.shape).astype(i.dtype)
        if i.dtype == "float32"
        else rng.integers(0, 100, i.shape).astype(i.dtype)
        for i in book.EXHIBITS[number].case.inputs
    ]


@pytest.mark.thorough(after=3)
@pytest.mark.stored
@pytest.mark.parametrize("number", book.EXHIBITS)
def test_evidence_is_what_the_compiler_says(number: int) -> None:
    """The collectives and the memory that are stored are those of the program."""
    said, stored = book.evidence(number), listings.case(number)
    assert said[said.index("\ncollective") :] == stored[stored.index("\ncollective") :]
    assert "/" not in re.sub(r"[\w.]+ / [\w.]+", "", stored) and "0x" not in stored


@pytest.mark.thorough(after=3)
@pytest.mark.parametrize("number", sorted(ORACLES))
def test_values(number: int) -> None:
    """Five programs are right; the fourth is wrong, except on the padded sentences that its author tried."""
    arrays = drawn(number)
    wide = [a.astype(np.float64) if a.dtype == np.float32 else a for a in arrays]
    right = np.allclose(ran(number, arrays), ORACLES[number](*wide), rtol=1e-3, atol=1e-2)
    assert right == (number != 4)


def test_the_fourth_is_right_on_padded_sentences() -> None:
    """All tokens are then in the first block of the axis over which nothing is summed."""
    x, y, scale = drawn(4)
    x[:, 4:], y[:, 4:] = 0, 0
    assert np.allclose(ran(4, [x, y, scale]), of.slope(*(a.astype(np.float64) for a in (x, y, scale))), rtol=1e-3, atol=1e-3)


def test_the_first_is_right() -> None:
    """Adam's first step moves every weight by nearly its rate, against the gradient."""
    exhibit = book.EXHIBITS[1]
    mesh, specs = situation(exhibit.case.to_json())
    arrays = drawn(1)
    arrays[3][:], arrays[4][:] = 0, 0
    placed = [jax.device_put(a, spec.sharding) for a, spec in zip(arrays, specs)]
    new = np.asarray(jax.jit(lambda *x: exhibit.program(mesh, *x))(*placed)[0])
    x, y, w = (a.astype(np.float64) for a in arrays[:3])
    slope = 2 * x.T @ (x @ w - y) / y.size
    wanted = w - 0.01 * 0.1 * slope / (np.sqrt(0.01 * slope**2) + 1e-8)
    assert np.allclose(new, wanted, rtol=1e-3, atol=1e-4)


@pytest.mark.thorough
@pytest.mark.stored
def test_numbers_of_the_key_follow_from_the_programs() -> None:
    """Nothing in the key is typed without a reason."""
    key = {item.name: item.key["number"] for item in question("15.5").items if isinstance(item, ValueItem)}
    found = {}
    for number, exhibit in book.EXHIBITS.items():
        mesh, specs = situation(exhibit.case.to_json())
        found[number] = inspect(jax.jit(lambda *x, e=exhibit, m=mesh: e.program(m, *x), keep_unused=True), *specs)
    held = [np.prod(spec.sharding.shard_shape(spec.shape)) * 4 for spec in situation(book.EXHIBITS[1].case.to_json())[1]]
    ids, table = book.EXHIBITS[5].case.inputs[1].shape[0], book.EXHIBITS[5].case.inputs[0].shape
    assert key == {
        "case_1": held[3] + held[4] - 2 * held[2],
        "case_2": found[2].payload_bytes,
        "case_3": found[3].payload_bytes - found[3].collectives[0].payload_bytes,
        "case_4": found[4].collectives[0].group_size,
        "case_5": ids // 8 * table[1] * 4,
        "case_6": found[6].payload_bytes // 4,
    }


def test_causes() -> None:
    """Every case has a cause of the list, and no two the same."""
    keys = [item.key["cause"] for item in question("15.5").items if isinstance(item, ValueItem)]
    assert len(set(keys)) == 6 and set(keys) < set(CAUSES)


def test_unknown_case() -> None:
    """A case that does not exist is named as such."""
    with pytest.raises(KeyError, match="there are 1 to 6"):
        listings.case(7)


def test_fewer_facts_than_a_run() -> None:
    """Recognisers of 15.6 read what is compiled too, where nothing ran."""
    from shardlab_course.ch15.ex06.question import DESIGN

    case = design.free(design.WIDE_XY, 96, 48, 128, 32)
    assert [miss.id for miss in DESIGN if miss.when and miss.when(Observed(case))] == ["weights-whole", "activations-whole"]
