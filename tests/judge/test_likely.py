"""How wrong values relate to the right ones: causes that any program may have, where every device shows them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
import pytest

from shardlab_judge.cases import Case, Input, Observed, axes
from shardlab_judge.causes import arguments, lines, places, prices, sums
from shardlab_judge.causes.called import in_powers, where
from shardlab_judge.causes.misconceptions import find_misconception
from shardlab_judge.causes.programs import recognised
from shardlab_judge.causes.returned import likely as likely_returned
from shardlab_judge.causes.returned import one_sided
from shardlab_judge.causes.values import likely
from shardlab_judge.costs import Cost
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Setting, WrongCost, WrongValues
from shardlens.placement import Spec, place
from shardlens.reading.collectives import Collective

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
    for spec, words in (((), "already is gathered over x again"), (("x",), "out_specs names an axis along which")):
        assert words in likely(seen(np.concatenate([right] * 4), spec), (right,)).cause
    assert named(seen(np.concatenate([first, right - first], 1), (None, "y")), right) == "terms-side-by-side"
    for pairs, words in ((np.repeat(right.reshape(4, 1, 2, 12), 2, 1), "2 copies of each right block"),
                         (np.stack([first, right - first]).reshape(2, 4, 2, 12).swapaxes(0, 1), "2 terms lie")):  # fmt: skip
        assert words in likely(seen(pairs.reshape(16, 12), (("x", "y"),)), (right,)).cause
    assert named(seen(np.concatenate([right] * 3)), right) is None
    assert named(seen(np.concatenate([right / 4] * 4)), right) is None
    assert named(seen(np.concatenate([right, first])), right) is None


def test_rounded_down(right: np.ndarray) -> None:
    """Whole numbers where fractions should be."""
    assert named(seen(np.floor(right)), right) == "rounded-down" and named(seen(np.floor(right + 0.5)), right) is None


def test_transposed(right: np.ndarray) -> None:
    """Rows where columns should be, of a square one too."""
    assert named(seen(right.T), right) == "output-transposed"
    assert named(seen(right[:, :8].T), right[:, :8]) == "output-transposed"


@pytest.mark.parametrize("factor", [2, 4, 8, 0.5, 0.25, 3, -2])
def test_in_proportion(right: np.ndarray, factor: float) -> None:
    """By an axis of the mesh, or all of them; three is no axis, and a sign is no size: these are a factor and no more."""
    expected = {
        2: "times-too-large",
        4: "times-too-large",
        8: "times-too-large",
        0.5: "times-too-small",
        0.25: "times-too-small",
    }
    assert named(seen(factor * right), right) == expected.get(factor, "constant-factor")


def test_a_complex_factor(right: np.ndarray) -> None:
    """A real factor of complex values, as another norm of a transform leaves it; an imaginary one; and a sign."""
    wave = right + 1j * right[::-1]
    for factor, said in ((0.102, "0.102 times"), (1j, "0+1j times"), (-1, "the opposite sign")):
        found = likely(seen(factor * wave), (wave,))
        assert found.id == "constant-factor" and said in found.cause
    assert named(seen(wave.conj()), wave) == "output-conjugated"


def _product(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    return a @ b + c


OTHER_ARGUMENTS = {
    "argument-unused": lambda a, b, c: _product(a, b, 0 * c),
    "argument-negated": lambda a, b, c: _product(a, b, -c),
    "arguments-exchanged": lambda a, b, c: _product(c, b, a),
    "argument-transposed": lambda a, b, c: _product(a, b.T, c),
    "argument-shifted": lambda a, b, c: _product(a, b, np.roll(c, 1, 1)),
}


@pytest.mark.parametrize("cause", OTHER_ARGUMENTS)
def test_right_for_other_arguments(cause: str, rng: np.random.Generator) -> None:
    """One argument changed, and told which; two changes at once are told of nobody."""
    given = tuple(rng.standard_normal(shape) for shape in ((8, 6), (6, 6), (8, 6)))
    observed = dataclasses.replace(seen(OTHER_ARGUMENTS[cause](*given), ("x",)), inputs=given)
    item = ProgramItem("product", {"V": 1}, oracle=_product, cases=(observed.case,))
    found = arguments.likely(item, observed, (_product(*given),))
    assert found.id == cause and "argument" in found.cause
    both = dataclasses.replace(seen(_product(-given[0], given[1].T, given[2])), inputs=given)
    assert arguments.likely(item, both, (_product(*given),)) is None


def test_work_and_rounds() -> None:
    """Arithmetic in times of what is due; of a loop's collective how many rounds are too many."""
    observed = dataclasses.replace(seen(np.ones(8), ("x",)), flops=200.0)
    found = prices.work(observed, 100.0)
    assert found.id == "work-done-again" and "2 times the arithmetic" in found.cause
    assert prices.work(observed, 160.0) is None and prices.work(observed, None) is None
    looped = dataclasses.replace(observed, collectives=(dataclasses.replace(moved("collective-permute", 64), executions=8),))
    found = prices.likely(looped, 7 * 64)
    assert found.id == "rounds-too-many" and "runs 8 times. If it ran 7 times" in found.cause
    assert prices.likely(looped, 7 * 64 - 1) is None


def test_of_a_single_number_nothing_is_a_constant() -> None:
    """Any number is some factor times any other."""
    assert named(seen(np.array([1.9971])), np.array([2.0])) is None


def test_one_value_apart_is_no_proportion(right: np.ndarray) -> None:
    """Twice too large everywhere but in one place."""
    wrong = 2 * right
    wrong[3, 4] += 1
    assert named(seen(wrong), right) is None


def test_blocks_elsewhere(right: np.ndarray) -> None:
    """Rolled by a block, or in the other order; not by half a block."""
    assert named(seen(np.roll(right, 2, 0), ("x",)), right) == "blocks-on-other-devices"
    assert named(seen(np.concatenate(np.split(right, 4)[::-1]), ("x",)), right) == "blocks-on-other-devices"
    assert named(seen(np.roll(right, 1, 0), ("x",)), right) == "other-order"


def test_parts_in_other_places(right: np.ndarray) -> None:
    """As a ring leaves them that goes the wrong way, or does not go round; none where one part is something else."""
    mesh = axes(x=4)
    parts = np.split(right, 4)
    whole = seen(np.concatenate([parts[0], parts[0], 0 * parts[2], parts[3]]), mesh=mesh)
    found = likely(whole, (right,))
    assert found.id == "parts-in-other-places" and "on device 0, part 0 is where part 1 should be" in found.cause
    assert named(seen(np.concatenate([parts[0], parts[0], 0 * parts[2], 2 * parts[3]]), mesh=mesh), right) is None
    assert named(seen(np.concatenate([*parts[:3], 0 * parts[3]]), mesh=mesh), right) == "left-at-zero"


def test_first_device_only(right: np.ndarray, rng: np.random.Generator) -> None:
    """The first block along x is right, or wrong; told the axis."""
    wrong = rng.standard_normal(right.shape)
    mixed = np.concatenate([wrong[:2], right[2:]])
    wrong[:2] = right[:2]
    for given, are in ((wrong, "right"), (mixed, "wrong")):
        found = likely(seen(given, ("x",)), (right,))
        assert found.id == "right-on-some" and "axis_index('x')" in found.cause
        assert found.cause.startswith(f"Only the devices with coordinate 0 along x are {are}:")


def test_a_device_that_is_only_less_near_is_not_another_one(right: np.ndarray) -> None:
    """Rounding is within the tolerance on some devices and not on others; nobody asks what they hold."""
    near = right.copy()
    near[2:] += 3e-4 * np.sign(right[2:])
    found = likely(seen(near, ("x",)), (right,))
    assert found is None or found.id != "right-on-some"


def test_stacked_blocks_are_counted(right: np.ndarray) -> None:
    """How many there are, and not how long they are."""
    found = likely(seen(np.stack(np.split(right, 4)), mesh=axes(x=4)), (right,))
    assert found.id == "blocks-stacked" and "but 4 blocks are stacked" in found.cause


def test_another_order_of_small_values(rng: np.random.Generator) -> None:
    """Rows that whole numbers do not tell apart."""
    small = rng.uniform(0.1, 0.4, (8, 4))
    assert named(seen(small[[1, 0, 2, 5, 3, 4, 7, 6]], ("x",)), small) == "other-order"


def test_one_amount_has_its_direction() -> None:
    """All numbers of a list too small by one amount, and in the next list by another one."""
    found = likely_returned([[3, 5, 9], [4, 6, 8]], [[2, 4, 9], [2, 4, 8]])
    assert found.id == "off-by-one-amount" and "too small by the same amount, such as 1 in the first." in found.cause


def test_a_small_change_is_not_near_every_other_one() -> None:
    """However small it is, it is a change of its own."""
    assert sums._near(np.full(4, 0.01), np.full(4, 0.01), 1.0) and not sums._near(np.full(4, 0.013), np.full(4, 0.01), 1.0)


def test_terms_not_added(right: np.ndarray, rng: np.random.Generator) -> None:
    """Terms along y, or along both axes, whose sum is right on every device; a sum that is not, is something else."""
    observed = seen(right, ("x",))
    term = {n: rng.standard_normal((2, 12)) for n in range(4)}

    def shares(last: float) -> Observed:
        blocks = [(d, i, term[d // 2] if d % 2 else last * block - term[d // 2]) for d, i, block in observed.shards[0]]
        return dataclasses.replace(observed, shards=(tuple(blocks),))

    found = likely(shares(1.0), (right,))
    assert found.id == "terms-not-added" and "over y" in found.cause
    assert likely(shares(1.5), (right,)) is None


def test_other_order(right: np.ndarray, rng: np.random.Generator) -> None:
    """Each column once, and where the first that is not in its place lies; a column twice is no order."""
    order = [0, 1, 5, 2, 3, 4, 6, 7, 11, 8, 9, 10]
    found = likely(seen(right[:, order]), (right,))
    assert found.id == "other-order" and "dimension 1" in found.cause and "belongs at 2 is at 3." in found.cause
    assert named(seen(right[:, [0, 0, *order[2:]]]), right) is None


def test_another_shape(right: np.ndarray) -> None:
    """A part of it, and a dimension of length 1 more or less; another part of nothing."""
    found = likely(seen(right[4:6]), (right,))
    assert found.id == "one-part-only" and "one of 4 parts" in found.cause and "number 2 along dimension 0" in found.cause
    assert named(seen(right[None]), right) == named(seen(right[0]), right[:1]) == "dimension-of-length-1"
    short = named(seen(right[[0, 2, 4, 6]], ("x",)), right), named(seen(right[[1, 3, 5, 7]], ("x",)), right)
    assert short == ("blocks-too-short", "blocks-too-short")
    assert "without the beginning: 2 of 12" in likely(seen(right[:, 2:]), (right,)).cause
    assert named(seen(np.concatenate([right[:4], right[4:]], 1), (None, "y")), right) == "blocks-along-another-dimension"
    assert named(seen(right[1:3]), right) is None and named(seen(right.reshape(12, 8)), right) is None


@pytest.mark.parametrize("spec", [(), ("x",), (None, "y")])
def test_of_one_kind(right: np.ndarray, spec: Spec, rng: np.random.Generator) -> None:
    """A constant added; nothing but nan or 0 where values are wrong; wrong at the edges of blocks; some devices right."""
    assert named(seen(right + 0.75, spec), right) == "constant-added"
    lost = right.copy()
    lost[2:4] = np.nan
    assert named(seen(lost, spec), right) == "not-finite"
    lost[2:4] = 0
    assert named(seen(lost, spec), right) == "left-at-zero"
    lost[2:4] = rng.standard_normal((2, 12))
    assert named(seen(lost, spec), right) == ("right-on-some" if spec == ("x",) else None)
    lost[2] = right[2]
    assert named(seen(lost, spec), right) == ("right-on-some" if spec == ("x",) else None)
    lost[6] = rng.standard_normal(12)
    assert named(seen(lost, spec), right) is None


def test_at_block_edges(rng: np.random.Generator) -> None:
    """The first and last rows of blocks of four, and a row in between."""
    right = rng.standard_normal((16, 3))
    wrong = right.copy()
    wrong[[0, 4, 8, 12]] += rng.standard_normal((4, 3))
    found = likely(seen(wrong, ("x",)), (right,))
    assert found.id == "wrong-at-block-edges" and "the first position" in found.cause
    wrong[[3, 7]] += 1
    assert "the first and last position" in likely(seen(wrong, ("x",)), (right,)).cause
    wrong[5] += 1
    assert named(seen(wrong, ("x",)), right) is None


def test_by_line(right: np.ndarray, rng: np.random.Generator) -> None:
    """Each row by a factor, or by a difference, of its own; not a few rows, and not a column of noise."""
    rows = rng.standard_normal((8, 1))
    found = likely(seen(right * rows, ("x",)), (right,))
    assert found.id == "factor-by-line" and "dimension 1" in found.cause
    assert named(seen(right + rows, ("x", "y")), right) == "difference-by-line"
    few = np.where(np.arange(8)[:, None] < 3, rows, 1)
    assert named(seen(right * few), right) is None
    assert named(seen(right * rng.standard_normal(right.shape)), right) is None


def test_an_argument(right: np.ndarray) -> None:
    """Whatever the right output is."""
    observed = dataclasses.replace(seen(right), inputs=(np.zeros(3), right))
    found = likely(observed, (right[:4] * 2,))
    assert found.id == "argument-returned" and "number 2" in found.cause


def test_outputs_with_an_explanation_each(right: np.ndarray) -> None:
    """The first wrong one's is told, with its number."""
    some = (right, 2 * right, right.T)
    both = dataclasses.replace(seen(right), shards=tuple(shards for one in some for shards in seen(one).shards))
    found = likely(both, (right, right, right))
    assert found.id == "times-too-large" and found.cause.startswith("Output number 2 of 3: Every value is 2 times")


def test_a_large_factor_of_rounded_values(right: np.ndarray, rng: np.random.Generator) -> None:
    """Rounding grows with the factor; of a small one nothing that is near to zero counts as right."""
    assert named(seen(right.astype(np.float32) * np.float32(704)), right) == "constant-factor"
    assert named(seen(1e-6 * right), right) == "constant-factor"
    assert named(seen(1e-6 * rng.standard_normal(right.shape)), right) is None


SUMS = {
    # of two arguments a and b the output is a - b / 8: what comes out instead, the cause, and some of its words
    "the step's length": (lambda a, b: a - b, "change-times-a-factor", "argument number 1 after the mesh is 8 times"),
    "the step's sign": (lambda a, b: a + b / 8, "change-times-a-factor", "has the wrong sign"),
    "no step": (lambda a, b: a, "argument-returned", "argument number 1"),
    "a constant step": (lambda a, b: a - 0.125, "argument-and-a-constant", "is -0.125 everywhere"),
    "a weight": (lambda a, b: a / 2 - b / 8, "other-weights", "the weight of number 1 is wrong"),
    "the weights of both": (lambda a, b: -a / 8 + b, "weights-exchanged", "the weights of 1 and 2 are exchanged"),
    "a weight's sign": (lambda a, b: -a - b / 8, "weights-negated", "the sign of number 1 is wrong"),
    "something else": (lambda a, b: a * b, None, ""),
    "something small beside a": (lambda a, b: a - b / 8 + 1e-4 * b**2, None, ""),
}


@pytest.mark.parametrize(("wrong", "id", "words"), SUMS.values(), ids=SUMS)
def test_sums_with_an_argument(wrong: object, id: str | None, words: str, rng: np.random.Generator) -> None:
    """A step from an argument, and weighted sums of arguments, in single precision."""
    a, b = (rng.standard_normal((8, 12)).astype(np.float32) for _ in range(2))
    observed = dataclasses.replace(seen(wrong(a, b), ("x",)), inputs=(a, b))
    found = likely(observed, (a - b / 8,))
    assert (found and found.id) == id and words in (found.cause if found else "")


def test_one_large_change_is_not_all_of_them(rng: np.random.Generator) -> None:
    """A step that is 8 times too long where it is largest by far, and another one elsewhere."""
    a, b = (rng.standard_normal((8, 12)).astype(np.float32) for _ in range(2))
    b[0, 0] = 3e4
    observed = dataclasses.replace(seen(a - np.where(b == b.max(), b, b**2), ("x",)), inputs=(a, b))
    assert likely(observed, (a - b / 8,)) is None


def test_one_place_off(right: np.ndarray) -> None:
    """All slices one place late or early, and something else at the end."""
    late = np.concatenate([np.zeros((1, 12)), right[:-1]])
    found = likely(seen(late, ("x",)), (right,))
    assert found.id == "one-place-off" and found.cause == "Along dimension 0 everything is one place too late."
    assert "too early" in likely(seen(np.concatenate([right[:, 1:], right[:, :1] * 3], 1)), (right,)).cause
    assert named(seen(np.concatenate([np.zeros((3, 12)), right[:-3]])), right) is None


def test_too_few_digits(right: np.ndarray, rng: np.random.Generator) -> None:
    """Only where the compiled program has a half-precision type, and the arguments none."""
    near = seen(right * (1 + 0.004 * rng.random(right.shape)))
    assert likely(near, (right,)) is None
    narrow = dataclasses.replace(near, hlo="%c = bf16[8,12]{1,0} convert(%p)\n%d = dot(bf16[8,12] %c)")
    assert likely(dataclasses.replace(narrow, hlo="ROOT %c = bf16[8,12]{1,0} convert(%p)"), (right,)).id == "too-few-digits"
    given = dataclasses.replace(narrow, inputs=(np.zeros(2, np.float16),))
    assert likely(given, (right,)) is None


def test_nothing_is_told_of_what_nothing_explains(right: np.ndarray, rng: np.random.Generator) -> None:
    """Other values, no values, another number of outputs, and two outputs of which only one has an explanation."""
    assert named(seen(rng.standard_normal(right.shape)), right) is None
    assert named(seen(right[:, :0]), right[:, :0]) is None
    assert likely(seen(2 * right), (right, right)) is None
    both = dataclasses.replace(seen(2 * right), shards=seen(2 * right).shards + seen(right**2).shards)
    assert likely(both, (right, right)) is None
    one_right = dataclasses.replace(both, shards=seen(2 * right).shards + seen(right).shards)
    assert likely(one_right, (right, right)).id == "times-too-large"


def test_what_the_question_knows_comes_first() -> None:
    """And only wrong values are explained in this way; of these nothing is told that right ones would show as well."""
    known = WrongValues("known", "Known.", when=lambda o: o.inputs[0].sum() > 0, breaks=True)
    sent = WrongCost("known", "Known.", when=known.when)
    case = Case(MESH, (Input((2,)),))
    item = ProgramItem(
        "f", {"V": 1, "H": 1}, oracle=lambda a: a * np.arange(3)[:, None], cases=(case,), misconceptions=(known,)
    )
    given = np.array([1.0, 2])
    observed = dataclasses.replace(seen(2 * given * np.arange(3)[:, None]), inputs=(given,))
    assert recognised(item, observed, "V").id == "known"
    item = dataclasses.replace(item, misconceptions=(sent,))
    assert recognised(item, observed, "V").id == "times-too-large" and recognised(item, observed, "H").id == "known"
    other = dataclasses.replace(seen(-2 * given * np.arange(3)[:, None]), inputs=(-given,))
    assert recognised(item, other, "V").id == "times-too-large" and recognised(item, other, "H") is None


def test_a_known_wrong_answer_is_known_whole(right: np.ndarray) -> None:
    """Not by its first rows."""
    known = WrongValues("known", "Known.", like=lambda a: np.concatenate([a, 5 * a]))
    item = ProgramItem("f", {"V": 1}, oracle=lambda a: 2 * a, cases=(), misconceptions=(known,))
    made = (dataclasses.replace(seen(one), inputs=(right,)) for one in (np.concatenate([right, 5 * right]), right))
    assert [find_misconception(item, one, "V") for one in made] == [known, None]


def moved(kind: str, size: int) -> Collective:
    """A collective over x with so many bytes out, and in but for a reduce-scatter."""
    return Collective(kind, (size // 4,), "f32", size, size * 4 if kind == "reduce-scatter" else size, ("x",), 4)


@pytest.mark.parametrize(
    ("sent", "budget", "id", "words"),
    [
        ([("all-gather", 96), ("all-reduce", 32)], 96, "needless-collective", "its all-reduce over x of 32 B"),
        (
            [("all-gather", 96), ("all-to-all", 40), ("all-to-all", 40)],
            96,
            "needless-collective",
            "its all-to-all over x of 40 B, which it has 2 times",
        ),
        ([("all-to-all", 40)] * 3, 80, "sent-again", "With 2 all-to-all over x of 40 B instead of 3"),
        ([("all-gather", 384)], 96, "bytes-times-axis", "4 times the bytes"),
        ([("all-gather", 100)], 96, None, ""),
        ([("all-gather", 90)], 96, None, ""),
        ([("all-to-all", 50)] * 3, 80, None, ""),
    ],
)
def test_prices(sent: list[tuple[str, int]], budget: int, id: str | None, words: str) -> None:
    """What accounts for all that is too much, to the byte."""
    observed = dataclasses.replace(seen(np.zeros((2, 2))), collectives=tuple(moved(*one) for one in sent))
    found = prices.likely(observed, budget)
    assert (found and found.id) == id
    assert not found or words in found.cause


DUE = [("all-gather", 96, 6), ("all-reduce", 4, 13)]
AGAINST = {
    "a further one": ([("all-to-all", 40, 1), *DUE], "more-than-due", "Its all-to-all over x of 40 B is unnecessary."),
    "one more in each round": (
        [DUE[0], ("all-reduce", 4, 19)],
        "more-than-due",
        "Its all-reduce over x of 4 B runs 19 times, but 13 times are enough.",
    ),
    "a larger one": (
        [("all-gather", 100, 6), DUE[1]],
        "larger-than-due",
        "Its all-gather over x of 100 B, 6 times, carries more than it has to: 96 B is enough.",
    ),
    "another one": (
        [DUE[0], ("all-gather", 16, 13)],
        "other-than-due",
        "A program that moves no more than it has to does without this all-gather over x of 16 B, 13 times. It sends "
        "less in another way.",
    ),
    "one more beside two for an all-reduce": (
        [DUE[0], ("reduce-scatter", 1, 13), ("all-gather", 4, 13), ("all-gather", 4, 3)],
        "more-than-due",
        "Its all-gather over x of 4 B, 3 times, is unnecessary.",
    ),
    "two of other sizes": (
        [DUE[0], ("reduce-scatter", 2, 13), ("all-gather", 4, 13)],
        "other-than-due",
        "A program that moves no more than it has to does without this all-gather over x of 4 B, 13 times and this "
        "reduce-scatter over x of 2 B, 13 times. It sends less in another way.",
    ),
    "what is allowed besides": ([("all-to-all", 8, 1), *DUE], None, ""),
    "the same": (DUE, None, ""),
}


@pytest.mark.parametrize(("sent", "id", "words"), AGAINST.values(), ids=AGAINST)
def test_against_what_is_due(sent: list[tuple[str, int, int]], id: str | None, words: str) -> None:
    """Of collectives that differ from those of a cheaper program: which, how often, and not by which to replace them."""
    mine, due = ([dataclasses.replace(moved(*one), executions=n) for *one, n in some] for some in (sent, DUE))
    found = prices.against(mine, due, 8)
    assert (found and found.id) == id and (found.cause if found else "") == words


def test_what_is_due_in_another_size_is_not_needless() -> None:
    """An all-reduce that accounts for all that is too much, where a smaller one over its axis has to be."""
    observed = dataclasses.replace(seen(np.zeros((2, 2))), collectives=(moved("all-gather", 40), moved("all-reduce", 90)))
    assert prices.likely(observed, 40).id == "needless-collective"
    assert prices.likely(observed, 40, lambda: [moved("all-reduce", 20)]) is None
    again = dataclasses.replace(observed, collectives=(*observed.collectives, moved("all-reduce", 20)))
    assert prices.likely(again, 80, lambda: [moved("all-reduce", 20)]).id == "needless-collective"
    scattered = dataclasses.replace(observed, collectives=(moved("all-gather", 40), moved("reduce-scatter", 20)))
    assert prices.likely(scattered, 40).id == "needless-collective"
    assert prices.likely(scattered, 40, lambda: [moved("all-reduce", 20)]) is None


def test_arrays_sent_together_are_told_apart() -> None:
    """Three numbers in one all-reduce, where two of them would do."""
    together = dataclasses.replace(moved("all-reduce", 12), arrays=(("f32", ()),) * 3)
    found = prices.against([together], [moved("all-reduce", 4)] * 2, 0)
    assert found.cause == "Its all-reduce over x of 4 B runs 3 times, but 2 times are enough."


def test_half_of_an_all_reduce() -> None:
    """An all-reduce counts twice what a reduce-scatter of the same array moves."""
    reduced = dataclasses.replace(
        seen(np.zeros((4, 2)), ("x",)), collectives=(moved("all-reduce", 64), moved("all-gather", 12))
    )
    assert prices.likely(reduced, 12 + 64).id == "all-reduce-for-a-part"
    assert prices.likely(reduced, 12 + 63) is None
    whole = dataclasses.replace(reduced, placements=seen(np.zeros((4, 2))).placements)
    larger = dataclasses.replace(reduced, collectives=(moved("all-reduce", 64), moved("all-gather", 120)))
    assert prices.likely(whole, 12 + 64) is None and prices.likely(larger, 120 + 64) is None


def test_what_a_program_may_move_besides() -> None:
    """What is too much is counted from the reference's price, and from the price that is allowed."""
    sent = dataclasses.replace(seen(np.zeros((2, 2))), collectives=(moved("all-gather", 32),) * 3)
    for slack, words in ((24, "With 2 all-gather over x of 32 B instead of 3"), (23, "")):
        item = ProgramItem("f", {"H": 1}, cases=(sent.case,), slack=slack)
        found = recognised(item, sent, "H", Cost(40, 0))
        assert (found.cause if found else "").startswith(words) and bool(found) is bool(words)


def test_sent_in_float32() -> None:
    """Of bfloat16 arguments twice the bytes are one explanation; of float32 ones over an axis of 4 there is none."""
    wide = dataclasses.replace(seen(np.zeros((2, 2))), collectives=(moved("all-gather", 192),))
    assert prices.likely(wide, 96) is None and prices.likely(wide, 48).id == "bytes-times-axis"
    half = dataclasses.replace(wide, inputs=(jnp.zeros(2, jnp.bfloat16).__array__(),))
    assert prices.likely(half, 96).id == "sent-wide"


@pytest.mark.parametrize(
    ("wanted", "got", "id"),
    [
        (("x",), (), "cut-nowhere"),
        (("x",), (None, "x"), "other-dimension-cut"),
        (("x", "y"), ("x",), "cut-too-little"),
        (("x",), ("x", "y"), "cut-too-much"),
        ((("x", "y"),), (("y", "x"),), "blocks-in-other-order"),
        (("x", "y"), ("y", "x"), "other-dimension-cut"),
        (("x",), (None, "y"), None),
    ],
)
def test_places(wanted: Spec, got: Spec, id: str | None) -> None:
    """How an array that lies elsewhere is cut instead."""
    found = places.likely(place((16, 8), MESH, wanted), place((16, 8), MESH, got))
    assert (found and found.id) == id and (id is None or id in places.IDS)
    assert places.likely(place((16, 8), MESH, got), place((16, 8), MESH, got)) is None
    assert places.likely(place((8, 8), MESH, wanted), place((16, 8), MESH, got)) is None


def test_places_on_other_devices() -> None:
    """A mesh of too few devices, or of too many."""
    whole = place((16, 8), MESH, ("x",))
    few = dataclasses.replace(whole, shards=tuple(s for s in whole.shards if s[0] not in (2, 5)))
    left, added = places.likely(whole, few), places.likely(few, whole)
    assert (left.id, added.id) == ("devices-left-out", "devices-too-many") and {left.id, added.id} <= places.IDS
    assert "none of it on device 2, 5" in left.cause and "some of it on device 2, 5" in added.cause


@pytest.mark.parametrize(
    ("rights", "returned", "id"),
    [
        ([3, 8, 10], [4, 9, 11], "off-by-a-constant"),
        ([3, 8, 10.0], [6, 16, 20], "constant-factor"),
        ([3, 8, 10], [-3, -8, -10], "constant-factor"),
        ([3, 8, 12], [8, 3, 2], "upside-down"),
        ([3, 8, 12], [0, 0, 0], "always-zero"),
        ([[1, 2], [3, 5]], [[2, 1], [5, 3]], "other-order"),
        ([[[0, 2], [4, 8]]], [[[4, 8], [0, 2]]], "other-order"),
        ([[[0, 2], [4, 8]]], [[[0, 2], [4, 8], []]], "other-count"),
        ([True, True], [False, False], "one-for-another"),
        ([False, False], [True, True], "one-for-another"),
        ([False, True], [True, False], None),
        ([3, 8, 10], [4, 9, 12], None),
        ([3], [4], None),
        ([3, 8], [None, None], "returns-none"),
        (["a", "b"], ["b", "a"], None),
        ([[0, 4], [8, 9]], [[0, 5], [8, 11]], "second-of-pairs"),
        ([[0, 4], [8, 9]], [[1, 4], [6, 9]], "first-of-pairs"),
        ([[0, 4], [8, 9]], [[1, 5], [6, 9]], None),
        ([[0, 4, 7], [8, 9, 3]], [[2, 4, 9], [8, 10, 4]], "off-by-one-amount"),
        ([3, 8, 20], [1e15, 1e15, 1e15], "always-the-same"),
        ([{"a": 6, "b": 8}, {"b": 9, "a": 4}], [{"a": 3, "b": 2}, {"a": 2, "b": 3}], "whole-part"),
        ([[0, 4, 7], [8, 9, 3]], [[0, 5, 9], [8, 7, 4]], "only-the-first-right"),
        ([[0, 4, 7], [8, 9, 3]], [[0, 4, 9], [8, 9, 4]], "only-the-last-wrong"),
        ([[0, 4], [8, 9]], [[0], [8]], "other-count"),
        ([3, 8, 20], [9, 16, 80], "whole-multiple"),
        ([9, 16, 80], [3, 8, 20], "whole-part"),
        ([3, 8, 20], [7, 7, 7], "always-the-same"),
        ([3, 8, 20], [1.5, 9, 22], "no-whole-numbers"),
        ([3, 8, 20], [2, -9, 22], "below-zero"),
        ([3e-6, 8e-6], [4e9, 1e10], "orders-of-magnitude"),
        (["a", "b"], ["c", "c"], "one-word-too-often"),
        (["a", "a"], ["b", "c"], "one-word-missed"),
        ([4, 4, 4, 4], [1, 2, 3, 1], "one-word-missed"),
        ([4, 4, 4], [1, 2, 3], None),
        ([1, 3] * 5, [3, 1] * 5, "one-for-another"),
        ([{"a": 1}, {"b": 2}], ["no", "no"], "other-kind"),
        ([{"a": 1}, {"b": 2}], ["no", "none"], "other-kind"),
        (["a", "b", "a"], ["b", "a", "b"], "one-for-another"),
        ([["a"], ["b", "c"]], [["a", "b"], ["a", "b", "c"]], "words-too-many"),
        ([["a"], ["b", "c"]], [[], ["c"]], "words-missing"),
        ([["a"], ["b", "c"]], [["b"], ["c"]], None),
        (["a", "b", "c"], ["b", "c", "a"], None),
        ([2, 2, 2], [1, 1, 1], "one-for-another"),
        ([2, 3, 2], [1, 2, 1], "off-by-a-constant"),
        ([{"a": 1}, {"b": 2}], [{"a": 1, "c": 3}, {"b": 2, "c": 4}], "other-entries"),
        ([{"a": 1, "b": 2}, {"a": 3, "b": 5}], [{"a": 1}, {"a": 3}], "other-entries"),
        ([{"a": 1}, {"a": 3, "b": 5}], [{"a": 2}, {"a": 3, "b": 9}], None),
        ([{"a": 1, "b": 2}, {"a": 3, "b": 4}], [{"a": 2, "b": 2}, {"a": 6, "b": 4}], "constant-factor"),
        ([{"a": 1, "b": 2, "c": 1}, {"a": 3, "b": 4, "c": 1}], [{"a": 7, "b": 3, "c": 1}, {"a": 5, "b": 9, "c": 1}],
         "some-entries"),
        ([{**dict.fromkeys("abcde", n), "f": 1} for n in (1, 3)], [{**dict.fromkeys("abcde", n), "f": 1} for n in (7, 9)],
         "some-entries"),
        ([{"a": 1, "b": 2}], [{"a": 3, "b": 4}], "off-by-a-constant"),
        ([3, 8], [float("nan"), 9], None),
        ([3, 8], [True, 9], None),
        ([[1, 2], 5], [[1], 6], None),
        ([10**400, 3], [10**400 + 1, 4], None),
    ],
)  # fmt: skip
def test_returned(rights: list, returned: list, id: str | None) -> None:
    """What all wrong answers of a plain function have in common."""
    found = likely_returned(rights, returned)
    assert (found and found.id) == id


def test_what_is_told_of_calls() -> None:
    """A number that is near enough is right; products come before signs; and where the calls are that are wrong."""
    calls = tuple((n, 2 * n + n % 5, n % 3 == 0) for n in range(1, 25))
    right = lambda a, b, both: {"a": a * b / 3, "b": [b / 7, 5]}  # noqa: E731
    item = CallsItem("f", {"C": 1}, oracle=right, calls=calls, rtol=1e-6)

    def told(wrong: Callable[[int, int, bool], object]) -> str:
        response = {"calls": [{"value": wrong(*each)} for each in calls]}
        _, (found,) = item.judge(response, Setting("0.1", None, None))
        return found.cause

    near = 1 + 1e-9
    assert told(lambda a, b, both: {"a": a / 3, "b": [b / 7 * near, 5]}).startswith(
        "Only 'a' is wrong. Every wrong number is the right one / b."
    )
    assert told(lambda a, b, both: {"a": a * b / 3 * (1 + both), "b": [b / 7, 5 * near]}) == (
        "Only 'a' is wrong. Every wrong number is 2 times the right one: a factor is wrong or missing, or one too many. "
        "It is wrong in all calls with both=True, and in no others."
    )
    assert told(lambda a, b, both: {"a": a, "b": [b, 5]}) == ""
    item = dataclasses.replace(item, oracle=lambda a, b, both: a * b)
    assert told(lambda a, b, both: a * b + 3 * (2 * a < b)) == "Every wrong number is 3 too large."
    item = dataclasses.replace(item, oracle=lambda a, b, both: 7 if a > 20 else 7 + a)
    assert told(lambda a, b, both: 7) == "Every wrong answer is 7."  # not where: that 7 is right elsewhere is no mistake
    item = dataclasses.replace(item, oracle=lambda a, b, both: a * b)
    assert told(lambda a, b, both: a * b + (-1) ** a * (b % a) ** 2).endswith("with b no multiple of a, and in no others.")


def test_whole_numbers_that_are_not() -> None:
    """Rounding is named only where it would be enough."""
    near, far = (likely_returned([3, 8, 20], got) for got in ([3.5, 8.25, 20], [1.5, 9.5, 21]))
    assert near.cause.endswith(": did you mean `//`?") and far.cause.endswith("make all of them right.")


def test_returned_where() -> None:
    """What is there in all wrong calls and in no right one, or the other way round; three of each at the least."""
    calls = [(n, n % 3 == 0, "up" if n < 4 else None) for n in range(12)]
    found = where(calls, [0, 3, 6, 9], ["n", "both", "way"])
    assert found.id == "wrong-where" and "both=True" in found.cause
    assert "way='up'" in where(calls, [0, 1, 2, 3], ["n", "both", "way"]).cause
    assert "way=None" in where(calls, [*range(4, 12)], ["n", "both", "way"]).cause
    assert "in 3 of the 4 calls with way='up'" in where(calls, [0, 1, 2], ["n", "both", "way"]).cause
    assert "where n is at least 4" in where(calls, [*range(4, 12)], ["n", "both"]).cause
    sizes = [(a, b, way) for a in (2, 3, 4, 9) for b in (2, 3) for way in ("up", "down")]
    assert "a no multiple of b" in where(sizes, [n for n, (a, b, _) in enumerate(sizes) if a % b], "abw").cause
    assert "a smaller than b" in where([*sizes, (1, 3, "up")], [2, 3, 16], "abw").cause
    ways = [(n, way) for n in range(4) for way in ("up", "down", "on")]
    assert "right in all calls with w='up'" in where(ways, [n for n, (_, w) in enumerate(ways) if w != "up"], "nw").cause
    assert where(calls, [0, 1, 6], ["n", "both", "way"]) is None and where(calls[:4], [0, 3], ["n", "both", "way"]) is None


def test_returned_on_one_side() -> None:
    """All too large or too small, and by how much; nothing of numbers on both sides, or of fewer than four."""
    rights = [100, 200, 30, 50]
    assert "too large: it is between 1.1 and 2.2 times" in one_sided(rights, [110, 440, 35, 60]).cause
    near = one_sided(rights, [99, 198.5, 29.9, 49.7])
    assert near.id == "always-too-small" and near.cause.endswith("or a small term is wrong.")
    assert one_sided(rights, [0, 0, 1, 0]).cause == "Of 4 wrong numbers, 3 are 0."
    assert one_sided([0, *rights], [3, 110, 440, 35, 60]).cause.endswith("times the right one where that is not 0.")
    assert one_sided([0, *rights], [-3, 110, 440, 35, 60]) is None
    for got in ([110, 199, 35, 60], [110, 440, 35, 50], ["a", 1, 2, 3]):
        assert one_sided(rights, got) is None


@pytest.mark.parametrize("dtype", [bool, np.int32, np.complex64, np.float16])
def test_other_dtypes_raise_nothing(dtype: type, rng: np.random.Generator) -> None:
    """Truth values, whole and complex numbers, and one beside another."""
    right = (3 * rng.standard_normal((8, 12))).astype(dtype)
    for wrong in (right[::-1], right * 0, right.T, 3 * rng.standard_normal((8, 12)), (right + 1j).astype(np.complex64)):
        for spec in ((), ("x",)):
            likely(seen(np.asarray(wrong), spec if wrong.shape == (8, 12) else ()), (right,))
            likely(seen(right, spec), (np.asarray(wrong),))


@pytest.mark.parametrize("returned", [[1e299, 1e-299], [{}, []], [[], []], ["", None], [{"a": 1}, {"a": []}], [True, 2]])
@pytest.mark.parametrize("rights", [[1e-299, 1e299], [[], {}], [{"a": 1}, {"a": 2}], [True, False], ["a", "b"]])
def test_whatever_was_returned_raises_nothing(rights: list, returned: list) -> None:
    """Values of other kinds than were asked for, the largest numbers, and nothing."""
    likely_returned(rights, returned)


def test_other_terms(rng: np.random.Generator) -> None:
    """A part of a sum over slices that lacks one of them, or is another part; nothing of what is no such sum."""
    x = rng.standard_normal((4, 8, 6))
    right = x.sum(0)

    def told(output: np.ndarray, spec: Spec = ("x",)) -> str:
        found = likely(dataclasses.replace(seen(output, spec), inputs=(x,)), (right,))
        return found.cause if found and found.id == "other-terms" else ""

    lost, doubled = right.copy(), right.copy()
    lost[2:4] = x[0, 4:6] + x[1, 4:6] + x[3, 4:6]
    doubled[6:] += x[3, 6:]
    assert told(lost).endswith("on device 2, part 1 is part 2 of the slices, added up without slice 2.")
    assert told(doubled, ()).endswith("on device 0, part 3 is part 3 of the slices, added up with slice 3 2 times.")
    assert not told(np.sin(right))


def test_weights_of_neighbours(rng: np.random.Generator) -> None:
    """A stencil with another weight; ends of the array do not count, and a right stencil has no cause."""
    x = rng.standard_normal((16, 6))

    def stencil(*by: float) -> np.ndarray:
        padded = np.pad(x, ((1, 1), (0, 0)))
        return np.asarray(by[0] * padded[:-2] + by[1] * x + by[2] * padded[2:])

    def told(output: np.ndarray) -> str:
        found = likely(dataclasses.replace(seen(output, ("x",)), inputs=(x,)), (stencil(1, -3, 2),))
        return found.cause if found and found.id == "neighbours-weights" else ""

    assert (
        told(stencil(1, -2, 2))
        == "Along dimension 0 of argument number 1 after the mesh, the value itself is added -2 times, which is wrong."
    )
    assert "the value before is added 2 times and the value after is added 0.5 times" in told(stencil(2, -3, 0.5))
    assert "the value after is added 0 times" in told(stencil(1, -3, 1e-9)) and not told(stencil(1, -3, 2) ** 2)


def test_returned_in_powers(rng: np.random.Generator) -> None:
    """A product of arguments that is missing, or that is all there is; nothing of what is no product."""
    calls = [(int(rng.integers(2, 99)), int(rng.integers(2, 99)), float(rng.uniform(1, 9))) for _ in range(9)]
    rights = [a + b * c for a, b, c in calls]
    for got, words in (
        ([r * b / c for r, (a, b, c) in zip(rights, calls)], "the right one times b / c."),
        ([r / b**2 for r, (_, b, _) in zip(rights, calls)], "the right one / b**2."),
        ([2 * a * a / b for a, b, _ in calls], "2 * a**2 / b, whatever else counts."),
        ([1e12 * a / b for a, b, _ in calls], "1e+12 * a / b, whatever else counts."),
    ):
        assert in_powers(calls, rights, got, "abc").cause == f"Every wrong number is {words}"
    for got, words in (
        ([r + 3 * a / c for r, (a, _, c) in zip(rights, calls)], "the right one plus 3 * a / c."),
        ([7 if n == 4 else r - b for n, (r, (_, b, _)) in enumerate(zip(rights, calls))], "the right one minus b."),
        ([7 if n == 4 else 2 * a * a / b for n, (a, b, _) in enumerate(calls)], "2 * a**2 / b."),
        ([a / r if n else r + 1 for n, (r, (a, *_)) in enumerate(zip(rights, calls))], "a divided by the right one."),
    ):
        told = in_powers(calls, rights, got, "abc").cause
        assert told.removeprefix("Every wrong number is ").removeprefix("In 8 of 9 wrong calls, the number is ") == words
    assert in_powers(calls, rights, [a + c for a, _, c in calls], "abc") is None
    assert in_powers(calls[:4], rights[:4], [a for a, *_ in calls[:4]], "abc") is None


def test_lines(right: np.ndarray, rng: np.random.Generator) -> None:
    """Where values are wrong, how near they are, or that they are an argument's; what the item tolerates is right."""
    item = ProgramItem("f", {"V": 1}, cases=(), rtol=1e-2)

    def told(output: np.ndarray, due: np.ndarray = right, given: np.ndarray | None = None) -> str:
        observed = dataclasses.replace(seen(output, ("x",)), inputs=(np.zeros(2) if given is None else given,))
        found = lines.likely(item, observed, (due,))
        return found.cause if found and found.id in lines.IDS else ""

    later, some = right * 1.005, right.copy()
    later[5:] += rng.standard_normal((3, 12))
    some[[1, 6]] = 3
    assert told(later).startswith("Along dimension 0 all is right before position 5. From there on every position has")
    assert told(some) == "Only positions 1, 6 of 8 along dimension 0 have wrong values."
    whole = np.round(99 * right).astype(np.int32)
    assert "right before position 6." in told(whole + 50 * np.eye(8, 12, -6, np.int32), whole)
    assert told(right + 0.02 * np.abs(right).max()).startswith("No value is wrong by more than 2 % of the largest one. ")
    assert not told(right + 0.02 * np.abs(right).max(), given=right + 0.3)
    assert told(rng.permuted(right), given=right).startswith("Every value is one of argument number 1 after the mesh")
    assert (
        told(right[:4, :6])
        == "The length of the output is 4 instead of 8 along dimension 0 and 6 instead of 12 along dimension 1."
    )
    assert told(whole / 2.0, whole).startswith("Whole numbers became floats")
    assert told(np.sin(right), right + 1j).startswith("The output has no imaginary part")
    assert told(right, np.sin(9 * right), right) == "It is argument number 1 after the mesh, unchanged."
    assert not told(right * 1.005) and not told(np.sin(right)) and not told(right[0])
    assert lines.likely(item, seen(np.sin(right)), (right,), 64).id == "nothing-moves"
    one, other = seen(right), seen(np.sin(right))
    both = dataclasses.replace(one, shards=one.shards + other.shards, placements=one.placements * 2)
    assert lines.likely(item, both, (right, right)).cause == "Of 2 outputs, only number 2 has wrong values."


def test_memory_of_one_argument() -> None:
    """The bytes that are too many are those of one array that is not donated, in an output's place."""
    placed = place((16, 6), MESH, ("x",))
    case = Case(MESH, (Input((16, 6), ("x",)), Input((3, 5))))
    observed = Observed(case, placements=(placed,), memory=1000)
    assert prices.memory(observed, 904).cause.startswith("The 96 B that are too many are those of argument number 1 ")
    assert prices.memory(observed, 903) is prices.memory(observed, 940) is None
    assert prices.memory(dataclasses.replace(observed, donated=frozenset({0})), 904) is None
