"""The search for cheap placements, against all 6561 placements of `A@B@C@D` compiled one by one."""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import pathlib
from collections.abc import Iterator

import pytest

import shardlab as sl
from shardlab.planner.planning import plan, planned
from shardlab.planner.plans import Plan
from shardlab.planner.search import Search
from shardlab.planner.verification import sent

MESH = {"x": 4, "y": 2}
TEXT = "a b, b c, c d, d e -> a e"
RECORD = pathlib.Path(__file__).with_name("chain_placements.json")
NOTHING = [
    ("a b", "d e", 24576, 4096),
    ("a b", "d e@(x y)", 17408, 3200),
    ("a b", "d e@x", 18432, 3328),
    ("a b", "d e@y", 20480, 3584),
    ("a@(x y) b", "d e", 3072, 3200),
    ("a@x b", "d e", 6144, 3328),
    ("a@x b", "d e@y", 5120, 2816),
    ("a@y b", "d e", 12288, 3584),
    ("a@y b", "d e@x", 9216, 2816),
]


@pytest.fixture(scope="module")
def chain() -> Plan:
    """`A@B@C@D` of 16 x 16 matrices on a (4, 2) mesh."""
    return plan(TEXT, *["..."] * 4, *[(16, 16)] * 4, mesh=MESH)


def kinds(found: Search) -> list[tuple[tuple[str, int], ...]]:
    """What each plan sends."""
    return [sent(each.collectives) for each in found.plans]


def test_nine_placements_send_nothing(chain: Plan) -> None:
    """Those with B and C on every device; the model finds them among all 6561, and compiling agrees."""
    found = chain.search(by="collectives", top=12)
    silent = [each for each in found.plans if not each.collectives]
    rows = [(str(p.arguments[0]), str(p.arguments[3]), int(p.flops), p.argument_bytes) for p in silent]
    assert sorted(rows) == NOTHING and {str(p.arguments[1]) + str(p.arguments[2]) for p in silent} == {"b cc d"}
    assert all(found.verify(top=2)) and found.considered == 6561


def test_one_collective_when_every_matrix_is_sharded(chain: Plan) -> None:
    """The cheapest is an all-reduce of 256 bytes with 1792 bytes of arguments, by any measure of cost."""
    for by in ("collectives", "price", "payload"):
        found = chain.search(parts=2, by=by, top=3)
        assert kinds(found)[0] == (("all-reduce", 256),) and found.plans[0].argument_bytes == 1792
        assert [str(layout) for layout in found.plans[0].arguments] == ["a@x b", "b c@y", "c@y d", "d e@y"]
    assert all(found.verify(top=3))


def test_two_collectives_when_all_are_cut_in_eight(chain: Plan) -> None:
    """512 bytes of arguments leave only 8-way cuts: two collectives at least; the fewest bytes take four."""
    found = chain.search(memory=512, by="collectives", top=256)
    assert found.considered == 256 and found.plans == chain.search(parts=8, by="collectives", top=256).plans
    assert [len(each.collectives) for each in found.plans[:4]] == [2] * 4 and len(found.plans[4].collectives) > 2
    assert kinds(found)[2] == (("all-reduce", 1024),) * 2
    assert all(found.verify(top=4))
    fewest = chain.search(memory=512, by="payload", top=1).plans[0]
    assert (len(fewest.collectives), fewest.payload_bytes) == (4, 1536) and fewest.verify()


def test_memory_bound_costs_communication(chain: Plan) -> None:
    """The less memory, the more is sent."""
    prices = [chain.search(memory=memory, top=1).plans[0].price for memory in (4096, 2560, 1792, 1024, 512)]
    assert prices == sorted(prices) and prices[0] == 0 < prices[-1]


def test_kept_arrays_stay() -> None:
    """With the data where it is, the weights of the MLP are best cut over its hidden dimension."""
    shapes = ((8, 128), (128, 256), (256, 64))
    made = plan("b x, x y, y z -> b z", "b@data x", "...", "...", *shapes, mesh={"data": 2, "model": 4})
    best = made.search(keep="A", parts=4, memory=55_000, top=1).plans[0]
    assert [str(layout) for layout in best.arguments] == ["b@data x", "x y@model", "y@model z"]
    assert best.verify() and best.payload_bytes == 1024


def test_search_prints_as_table(chain: Plan) -> None:
    """One placement a row, with what it costs."""
    lines = str(chain.search(by="collectives", top=2)).splitlines()
    assert lines[0] == "a b, b c, c d, d e -> a e   on x=4, y=2"
    assert lines[2].split() == ["a@(x", "y)", "b", "b", "c", "c", "d", "d", "e", "-", "0", "0", "3,072", "3,200"]
    assert lines[4] == "the first 2 of 6,561 placements, by collectives"
    assert "<table>" in chain.search(top=1, keep="ABC")._repr_html_()


def test_nothing_fits(chain: Plan) -> None:
    """A bound below what eight devices can hold leaves an empty table."""
    assert str(chain.search(memory=511)).splitlines()[0] == "no placement fits"


def test_too_many_placements() -> None:
    """Searches that would not end are refused, with what makes them smaller."""
    made = plan(TEXT, *["..."] * 4, *[(16, 16)] * 4, mesh={"x": 2, "y": 2, "z": 2})
    with pytest.raises(sl.ShardlabError, match="there are 531,441 placements"):
        made.search()


SHORT = {"all-gather": "AG", "all-reduce": "AR", "reduce-scatter": "RS", "all-to-all": "A2A", "collective-permute": "CP"}


def placements(chain: Plan) -> Iterator[Plan]:
    """All placements, A's slowest, in the order in which the axes x and then y cut nothing, rows or columns."""
    options = []
    for layout in chain.arguments:
        owners = itertools.product((None, *layout.names), repeat=2)
        cuts = [{n: tuple(axis for axis, o in zip("xy", pair) if o == n) for n in layout.names} for pair in owners]
        options.append([layout.placed(cut) for cut in cuts])
    for arguments in itertools.product(*options):
        yield planned(dataclasses.replace(chain.chain, arguments=arguments))


def written(collectives: tuple[sl.Collective, ...]) -> str:
    """`AG 1024, AR 256`, sorted."""
    return ", ".join(f"{SHORT[kind]} {nbytes}" for kind, nbytes in sent(collectives))


def recorded() -> list[str]:
    """What each placement was measured to send, in the order of `placements`."""
    record = json.loads(RECORD.read_text())
    return [record["sent"][i] for i in record["placements"]]


def test_record_has_the_known_minima(chain: Plan) -> None:
    """Nine placements send nothing; sharding every matrix takes one collective, cutting each in eight takes two."""
    counts = [len(line.split(",")) if line else 0 for line in recorded()]
    shares = [[16 * 16 * 4 // layout.size(4) for layout in each.arguments] for each in placements(chain)]
    assert len(counts) == 6561 and counts.count(0) == 9
    assert min(n for n, parts in zip(counts, shares) if min(parts) > 1) == 1
    assert min(n for n, parts in zip(counts, shares) if min(parts) == 8) == 2


def test_rules_give_the_record(chain: Plan) -> None:
    """Every placement that a rule covers sends what was measured; fewer than one in forty has no rule."""
    both = [(made, was) for made, was in zip(placements(chain), recorded(), strict=True) if made.compiler is not None]
    wrong = [f"{made.arguments}: {was}" for made, was in both if written(made.collectives) != was]
    assert not wrong and len(both) > 6561 * 39 / 40


@pytest.mark.skipif("SHARDLAB_FULL" not in os.environ, reason="SHARDLAB_FULL=1 compiles 6561 programs, =write records")
def test_compiler_gives_the_record(chain: Plan) -> None:
    """All placements compiled one by one; half an hour on two cores."""
    measured = [written(made.verify().program.collectives) for made in placements(chain)]
    if os.environ["SHARDLAB_FULL"] == "write":
        kinds_sent = sorted(set(measured))
        lines = {"sent": kinds_sent, "placements": [kinds_sent.index(line) for line in measured]}
        RECORD.write_text(json.dumps(lines) + "\n")
    assert measured == recorded()
