"""Placements, values and calls: what passes, what fails, and with which words."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from sample_questions import CALLED, CHOSEN, PLACED, P
from shardlab.answers.record import record
from shardlab_course.checking.feedback import html, text
from shardlab_judge.judging import judge
from shardlab_judge.question import Question
from shardlab_judge.references import References
from shardlab_judge.verdict import Verdict

NONE = References({}, {})
AUTO = jax.sharding.AxisType.Auto


def verdict_on(question: Question, seed: int | None = None, **namespace) -> Verdict:
    return judge(question, record(question.manifest(seed), namespace, {}), NONE, seed)


def placed(sizes: tuple[int, ...], names: str, *spec) -> jax.NamedSharding:
    return jax.NamedSharding(jax.make_mesh(sizes, tuple(names), axis_types=(AUTO,) * len(sizes)), P(*spec))


@pytest.mark.parametrize(
    "picture",
    [
        pytest.param(lambda: placed((2, 4), "xy", "x", "y"), id="sharding"),
        pytest.param(lambda: jax.device_put(np.zeros((16, 8), np.float32), placed((2, 4), "ab", "a", "b")), id="array"),
        pytest.param(lambda: placed((2, 2, 2), "xyz", "x", ("y", "z")), id="other mesh, same map"),
    ],
)
def test_right_placement_passes(picture) -> None:
    """Only the device-to-index map counts."""
    assert verdict_on(PLACED, picture=picture()).status == "passed"


@pytest.mark.parametrize(
    "picture, what",
    [
        pytest.param(lambda: placed((2, 4), "xy", "y", "x"), "The shards have the wrong shape.", id="swapped"),
        pytest.param(lambda: placed((2, 4), "xy", "x"), "Each element is on 4 devices instead of 1.", id="replicated"),
        pytest.param(lambda: placed((2, 2), "xy", "x", "y"), "It is on the wrong devices.", id="half the devices"),
        pytest.param(lambda: np.zeros((16, 8)), "picture could not be read as an answer.", id="NumPy array"),
        pytest.param(lambda: jax.device_put(np.zeros((16, 16), np.float32), placed((2, 4), "xy", "x", "y")),
                     "The array has the wrong shape.", id="shape"),
    ],
)  # fmt: skip
def test_wrong_placement_fails(picture, what: str) -> None:
    """The first difference is named."""
    verdict = verdict_on(PLACED, picture=picture())
    assert (verdict.status, verdict.points, verdict.findings[0].what) == ("failed", 0, what)


def test_known_wrong_placement_is_explained_with_pictures() -> None:
    """A known near miss gets its cause, its hint, and both pictures; the target's spec is not given away."""
    finding = verdict_on(PLACED, picture=placed((2, 4), "xy", "y", "x")).findings[0]
    assert (finding.misconception, finding.cause, finding.hint) == ("swapped", "The two axes are swapped.", 2)
    assert finding.pictures[0].spec is None and finding.pictures[1].spec == ("y", "x")


RIGHT_TABLE = {"a": (2, 8), "b": "ValueError", "c": np.float32(0.5), "d": True}


@pytest.mark.parametrize(
    "guess, kinds, table, points",
    [
        pytest.param(5, ["all-to-all", "all-gather"], RIGHT_TABLE, 4, id="all right, kinds in any order"),
        pytest.param(4, ["all-gather"], RIGHT_TABLE, 2, id="two wrong"),
        pytest.param(True, {"all-gather", "all-to-all"}, RIGHT_TABLE, 3, id="a truth is no number; a set is a list"),
        pytest.param(5, ["all-gather", "all-to-all"], RIGHT_TABLE | {"a": [2, 8, 1]}, 3.5, id="three of four"),
        pytest.param(5, ["all-gather", "all-to-all"], [2, 8], 2, id="no dict"),
        pytest.param(float("nan"), "all-gather", {"a": ...}, 0, id="NaN, text, unfinished"),
        pytest.param(jax, object(), {"a": {1: jax}}, 0, id="no values at all"),
    ],
)
def test_values(guess, kinds, table, points: float) -> None:
    """Each value is compared by type and value; a dict earns its share entry by entry."""
    assert verdict_on(CHOSEN, guess=guess, kinds=kinds, table=table).points == points


def test_known_wrong_value_is_explained() -> None:
    """The cause of a known wrong number is told, the right one is not."""
    verdict = verdict_on(CHOSEN, guess=4, kinds=[], table={})
    assert verdict.findings[0].misconception == "one-less"
    assert "5" not in text(verdict, CHOSEN).split("kinds")[0].replace("0.1", "")


@pytest.mark.parametrize(
    "function, points, got, miss",
    [
        pytest.param(lambda shape, size: int(np.prod(shape)) * size, 3, None, None, id="right"),
        pytest.param(lambda shape, size: np.int64(np.prod(shape) * size), 3, None, None, id="NumPy number"),
        pytest.param(lambda shape, size: len(shape), 0, "2", None, id="wrong"),
        pytest.param(lambda shape, size: int(np.prod(shape)), 0, "24", "elements", id="known wrong"),
        pytest.param(lambda shape, size: {([4, 6], 2): 48}[shape], 0, "TypeError", None, id="raises"),
        pytest.param(lambda shape, size: shape.clear(), 0, "None", None, id="changes its arguments"),
        pytest.param(48, 0, "TypeError: 'int' object is not callable", None, id="no function"),
    ],
)
def test_calls(function, points: float, got: str | None, miss: str | None) -> None:
    """A formula is judged on public and drawn arguments."""
    verdict = verdict_on(CALLED, 3, bytes_of=function)
    assert verdict.points == points
    assert got is None or got in verdict.findings[0].got
    assert miss is None or verdict.findings[0].misconception == miss


@pytest.mark.parametrize(
    "first, said",
    [
        pytest.param(lambda: 1 // 0, "bytes_of raised in 1 of", id="raises"),
        pytest.param(lambda: ..., "bytes_of returned `...` in 1 of", id="is open"),
    ],
)
def test_calls_are_counted_by_what_happened(first, said: str) -> None:
    """Those that returned something wrong are not among those that raised, nor among those that are open."""
    verdict = verdict_on(CALLED, 3, bytes_of=lambda shape, size: first() if shape == [4, 6] else -1)
    assert verdict.findings[0].what.startswith(said)


def test_one_word_is_given_too_often_where_words_are_right() -> None:
    """Where a number is right it is the kind that is wrong; what is very long, or a number of very many digits, is cut."""
    word = verdict_on(CALLED, 3, bytes_of=lambda shape, size: "9" * 5000).findings[0]
    assert "too often" not in word.cause and len(word.cause) < 200
    assert verdict_on(CALLED, 3, bytes_of=lambda shape, size: 10**5000).findings[0].got == "a number of thousands of digits"


def test_hard_coded_public_answers_fail_on_drawn_calls() -> None:
    """Knowing the visible calls is not enough."""
    table = {"[4, 6] 2": 48, "[3] 4": 12}
    cheat = lambda shape, size: table.get(f"{shape} {size}", 0)  # noqa: E731
    assert verdict_on(CALLED, bytes_of=cheat).status == "passed"
    assert verdict_on(CALLED, 3, bytes_of=cheat).points == 0


@pytest.mark.parametrize(
    "question, names", [(PLACED, ["picture"]), (CALLED, ["bytes_of"]), (CHOSEN, ["guess", "kinds", "table"])]
)
def test_untouched_and_missing_are_unattempted(question: Question, names: list[str]) -> None:
    """`...` and a missing variable end as unattempted with no points, and say what to do."""
    for namespace in ({}, dict.fromkeys(names, ...)):
        verdict = verdict_on(question, **namespace)
        assert (verdict.status, verdict.points, verdict.of) == ("unattempted", 0, question.points)
        assert "Replace the `...  # TODO`" in text(verdict, question)


def test_verdict_round_trip() -> None:
    """A verdict survives JSON, pictures included."""
    verdict = verdict_on(PLACED, picture=placed((2, 4), "xy", "y", "x"))
    assert Verdict.from_json(verdict.to_json()) == verdict


def test_feedback_whole_text() -> None:
    """The words of a failed value, in full."""
    verdict = verdict_on(CHOSEN, guess=4, kinds=["all-to-all", "all-gather"], table=RIGHT_TABLE)
    assert text(verdict, CHOSEN) == (
        "✗ 0.1 Sample: not yet\n"
        "\n"
        "  2 of 3 right: kinds, table. Not yet: guess.\n"
        "\n"
        "  guess (prediction): That is not it.\n"
        "    expected:  a different number\n"
        "    got:       4\n"
        "    likely:    You counted from zero.\n"
        "  Stuck? `sl.hint(0.1, 1)`"
    )


def test_feedback_escapes_what_students_write() -> None:
    """Nothing of a student's text becomes markup."""

    def hostile(shape, size):
        raise ValueError("<script>alert(1)</script>")

    assert "<script>" not in html(verdict_on(CALLED, bytes_of=hostile), CALLED)
