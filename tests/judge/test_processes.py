"""The judge of what several processes said: values and placements, hangs and failures, and malformed descriptions."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from sample_questions import LAUNCHED, batches, gathered
from shardlab.answers.record import record
from shardlab.processes import recorded
from shardlab_course.ch14.ex04.oracle import ends_early
from shardlab_course.checking import feedback
from shardlab_judge.cases import axes
from shardlab_judge.judging import judge
from shardlab_judge.launches import Launch, seen
from shardlab_judge.question import Check
from shardlab_judge.verdict import Finding
from shardlens.placement import place

OVER_BOTH = (("dcn", "ici"),)


def array(values: np.ndarray, process: int, spec: Any = OVER_BOTH, dtype: str = "float32") -> dict[str, Any]:
    """What a process of four devices says of a global array."""
    placement = place(values.shape, axes(dcn=2, ici=4), spec)
    held = [[d, values[tuple(slice(*s) for s in i)].tolist()] for d, i in placement.shards if d // 4 == process]
    return {"array": {"placement": {**placement.to_json(), "dtype": dtype}, "held": held}}


def right(length: int, process: int) -> dict[str, Any]:
    """What the reference returns."""
    values = np.arange(8.0 * length)
    return {"x": array(values, process), "sum": float(values.sum()), "mine": [process, length]}


def answer(change: Any = lambda value, process: None, lengths: tuple[int, ...] = (2, 3)) -> dict[str, Any]:
    """A right answer with each process's value changed in place."""
    launches = []
    for length in lengths:
        values = [right(length, process) for process in range(2)]
        for process, value in enumerate(values):
            change(value, process)
        launches.append({"processes": [{"value": value} for value in values]})
    return {"items": {"batches": {"launches": launches}}}


def judged(given: dict[str, Any]) -> Any:
    """The verdict on the public situations."""
    return judge(LAUNCHED, given, None)  # type: ignore[arg-type]


def parts(verdict: Any) -> dict[str, float]:
    """Points by letter."""
    return {part.letter: part.points for part in verdict.parts}


def test_a_right_answer_passes() -> None:
    """All points, and the mark of an observed question."""
    verdict = judged(answer())
    assert verdict.status == "passed" and parts(verdict) == {"V": 2, "S": 1} and LAUNCHED.observed
    assert "(observed)" in feedback.headline(verdict, LAUNCHED) and feedback.OBSERVED in feedback.html(verdict, LAUNCHED)


def with_values(values: Any, **given: Any) -> Any:
    """A change that puts another array in the place of x."""
    return lambda value, process: value.update(x=array(values(len(value["x"]["array"]["held"]) and value), process, **given))


def _swap(value: dict[str, Any], process: int) -> None:
    n = 4 * value["mine"][1]
    value["x"] = array(np.concatenate([np.arange(n, 2.0 * n), np.arange(0.0, n)]), process)


def _half(value: dict[str, Any], process: int) -> None:
    value["sum"] = float(sum(v for _, values in value["x"]["array"]["held"] for v in values))


def _one_wrong(value: dict[str, Any], process: int) -> None:
    if process == 1:
        value["x"]["array"]["held"][2][1][0] += 1


def _copies(value: dict[str, Any], process: int) -> None:
    value["x"] = array(np.arange(8.0 * value["mine"][1]), process, spec=())


def _whole_numbers(value: dict[str, Any], process: int) -> None:
    value["x"]["array"]["placement"]["dtype"] = "int32"


WRONG = {
    "swapped": (_swap, "swapped", "2 of 2 elements on device 0"),
    "halves": (_half, "halves", "in ['sum']: the value is different"),
    "one-wrong": (_one_wrong, None, "1 of 2 elements on device 6"),
    "dtype": (_whole_numbers, None, "the wrong dtype"),
    "list": (lambda v, p: v.update(x=[1.0, 2.0]), None, "it is not a JAX array"),
    "keys": (lambda v, p: v.pop("sum"), None, "it does not have the right entries"),
    "own-number": (lambda v, p: v.update(mine=[0, v["mine"][1]]), None, "Process 1 in ['mine'][0]"),
    "shape": (lambda v, p: v.update(x=array(np.arange(8.0), p)), None, "the wrong shape"),
    "boolean": (lambda v, p: v.update(sum=True), None, "['sum']"),
    "nothing held": (lambda v, p: v["x"]["array"]["held"].clear(), None, "process 0 holds no part of it"),
    "a key": (lambda v, p: v["x"]["array"]["placement"].update(dtype="key<fry>"), None, "the wrong dtype"),
    "empty": (lambda v, p: v.update(x=array(np.zeros((0, 4)), p, ())), None, "the wrong shape"),
}


@pytest.mark.parametrize(("change", "miss", "said"), WRONG.values(), ids=WRONG)
def test_wrong_values(change: Any, miss: str | None, said: str) -> None:
    """No points, also for the placement; the finding says which process and where, and knows the known ones."""
    verdict = judged(answer(change))
    assert verdict.status == "failed" and verdict.points == 0
    found = verdict.findings[0]
    assert found.letter == "V" and found.misconception == miss and said in found.what


def test_another_placement() -> None:
    """Right values elsewhere earn their points, and the placements are drawn."""
    verdict = judged(answer(_copies))
    assert parts(verdict) == {"V": 2, "S": 0}
    (found,) = verdict.findings
    assert found.letter == "S" and found.pictures is not None and found.expected == "P(('dcn', 'ici'))"


def entries(*processes: dict[str, Any]) -> dict[str, Any]:
    """An answer whose first launch was this one, and whose second was not reached."""
    skipped = {"processes": [{"skipped": True}] * 2}
    return {"items": {"batches": {"launches": [{"processes": list(processes)}, skipped]}}}


def test_a_hang() -> None:
    """It says where each process was, and the known mistake is recognised."""
    verdict = judged(entries({"stopped": "time", "where": "line 5, in f: sync()"}, {"value": right(2, 1)}))
    (found,) = verdict.findings
    assert found.misconception == "hangs" and found.got == "process 0: line 5, in f: sync(); process 1: returned"
    assert verdict.points == 0


def test_a_loop_without_an_end() -> None:
    """What still computes does not wait for the others, so no cause of a hang is told."""
    verdict = judged(entries({"stopped": "computing", "where": "line 5, in f: while True:"}, {"value": right(2, 1)}))
    (found,) = verdict.findings
    assert found.misconception is None and found.got == "process 0: line 5, in f: while True:; process 1: returned"
    assert found.what == "Not all processes ended: some are still computing after 20 seconds."


def test_an_exception() -> None:
    """The exception's text is searched for the causes that we know; the process that was stopped for it says nothing."""
    error = {"type": "RuntimeError", "message": "Fetching value for `jax.Array` that spans non-addressable devices"}
    verdict = judged(entries({"stopped": "peer", "where": ""}, {"error": error}))
    (found,) = verdict.findings
    assert found.misconception == "fetched" and "Process 1" in found.what


def test_a_name_of_the_notebook() -> None:
    """A name that is not defined in another process is one that was left outside of the function."""
    error = {"type": "NameError", "message": "name 'jnp' is not defined"}
    (found,) = judged(entries({"value": right(2, 0)}, {"error": error})).findings
    assert found.misconception == "import-inside"


@pytest.mark.parametrize("later", [{"skipped": True}, {"stopped": "peer", "where": ""}])
def test_nothing_returned(later: dict[str, Any]) -> None:
    """A launch that was not reached earns nothing."""
    assert judged(entries(later, later)).points == 0


def test_not_attempted() -> None:
    """Nothing but `...` is no attempt; a `...` in one launch only is a wrong one."""
    todo: dict[str, Any] = {"items": {"batches": {"launches": [{"todo": True}] * 2}}}
    assert judged(todo).status == "unattempted"
    half = answer()
    half["items"]["batches"]["launches"][1] = {"todo": True}
    assert judged(half).status == "failed" and judged(half).points == 0


MALFORMED = {
    "shard-elsewhere": lambda a: a["held"].__setitem__(0, [99, [0.0, 1.0]]),
    "shard-shape": lambda a: a["held"].__setitem__(0, [0, [0.0]]),
    "ragged": lambda a: a["held"].__setitem__(0, [0, [0.0, [1.0]]]),
    "text": lambda a: a["held"].__setitem__(0, [0, ["a", "b"]]),
    "huge": lambda a: a["placement"].update(shape=[10**9], shards=[[0, [[0, 10**9]]]]),
    "two claims": lambda a: a["held"].extend([[0, [[0.0, 1.0]]], [0, [0.0, 1.0]]]),
    "no-dict": lambda a: a["placement"].update(shape="x"),
}


@pytest.mark.parametrize("change", MALFORMED.values(), ids=MALFORMED)
def test_malformed_descriptions(change: Any) -> None:
    """They are findings, and no fault of the judge."""
    verdict = judged(answer(lambda value, process: change(value["x"]["array"])))
    assert verdict.points == 0 and "malformed" in verdict.findings[0].what


def test_what_a_miss_sees() -> None:
    """Arrays are put together from all processes; copies that differ are noticed."""
    values = np.arange(16.0)
    said = [{"value": {"a": [array(values, p, spec=())]}} for p in range(2)]
    (whole,) = seen(gathered(2), said).arrays(1)
    assert whole.copies and np.array_equal(whole.whole, values)
    other = copy.deepcopy(said)
    other[1]["value"]["a"][0]["array"]["held"][0][1][3] = -1.0
    assert not seen(gathered(2), other).arrays(0)[0].copies


def test_several_right_outputs() -> None:
    """A check that is given what was returned can accept any of them."""
    import dataclasses

    def not_apart(item: Any, seen: Any) -> Iterator[Finding]:
        first, second = seen.returned
        if first == second:
            yield Finding(item.name, "V", "Both say the same.")

    (item,) = LAUNCHED.items
    other = dataclasses.replace(
        item, oracle=None, checks=(Check("V", not_apart),), cases=(Launch((1,)),) * 2, points={"V": 1}, misconceptions=()
    )
    asked = dataclasses.replace(LAUNCHED, items=(other,))
    for pair, points in (((3, 5), 1), ((4, 4), 0)):
        launches = [{"processes": [{"value": value} for value in pair]}] * 2
        assert judge(asked, {"items": {"batches": {"launches": launches}}}, None).points == points  # type: ignore[arg-type]


@pytest.mark.thorough
def test_the_reference_runs() -> None:
    """The public and the drawn situations in two real processes."""
    given = record(LAUNCHED.manifest(seed=5), {"batches": batches}, {})
    assert judge(LAUNCHED, given, None, 5).status == "passed"  # type: ignore[arg-type]


def stub(length):  # noqa: ANN001, ANN201
    """Nothing yet."""
    return ...  # TODO


def test_a_stub_is_not_launched(monkeypatch: pytest.MonkeyPatch) -> None:
    """What only returns `...` costs no launch."""
    monkeypatch.setattr(recorded, "launch_calls", None)
    given = record(LAUNCHED.manifest(), {"batches": stub}, {})
    assert judged(given).status == "unattempted"
    assert record(LAUNCHED.manifest(), {"batches": 3}, {})["items"]["batches"]["error"]["type"] == "TypeError"


def test_uniform_noise_is_told_from_normal_noise(rng: np.random.Generator) -> None:
    """Of three situations' noise, of any deviation: no normal one in 4000 draws, and nearly all uniform ones."""
    normal, uniform = rng.standard_normal((4000, 192)), rng.uniform(-2, 2, (4000, 192))
    assert not any(map(ends_early, normal)) and sum(map(ends_early, uniform)) > 3950
