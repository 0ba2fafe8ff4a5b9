"""The search for cheap placements: ranked by the textbook, the best few compiled."""

from __future__ import annotations

import collections
import dataclasses
import itertools

import pytest

import shardlab as sl
from shardlab.planner.planning import plan
from shardlab.planner.plans import Plan
from shardlab.planner.search import Search

MESH = {"x": 4, "y": 2}
TEXT = "a b, b c, c d, d e -> a e"
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
# The lowest prices of all 6561 placements, each compiled one by one for CPU devices (JAX 0.10.2), by bytes of arguments.
LOWEST = {512: 2304, 1024: 1536, 1792: 512, 2560: 256, 4096: 0}


@pytest.fixture(scope="module")
def chain() -> Plan:
    """`A@B@C@D` of 16 x 16 matrices on a (4, 2) mesh."""
    return plan(TEXT, *["..."] * 4, *[(16, 16)] * 4, mesh=MESH)


@pytest.fixture(scope="module")
def product() -> Plan:
    """One product of 24 x 40 and 40 x 16."""
    return plan("i j, j k -> i k", "...", "...", (24, 40), (40, 16), mesh=MESH)


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> collections.Counter[Plan]:
    """Counts the plans that are compiled."""
    counted: collections.Counter[Plan] = collections.Counter()
    verify = Plan.verify

    def counting(each: Plan) -> object:
        counted[each] += 1
        return verify(each)

    monkeypatch.setattr(Plan, "verify", counting)
    return counted


def written(owners: tuple[str | None, ...], names: str) -> str:
    """The expression in which `x` and then `y` cut the dimensions that own them."""
    cuts = {name: [axis for axis, owner in zip(MESH, owners) if owner == name] for name in names}
    return " ".join(f"{name}@({' '.join(cut)})" if cut else name for name, cut in cuts.items())


def every(made: Plan) -> list[Plan]:
    """A plan for each pair of expressions that divides the sizes, written out and read."""
    found = []
    options = [[written(owners, names) for owners in itertools.product((None, *names), repeat=2)] for names in ("ij", "jk")]
    shapes = [layout.shape for layout in made.arguments]
    for operands in itertools.product(*options):
        try:
            found.append(plan(made.said.text, *operands, *shapes, mesh=MESH))
        except sl.ShardingError as error:
            assert error.reference == "axis-does-not-divide"
    return found


@pytest.mark.parametrize("memory", [None, 3000, 1900, 1760])
@pytest.mark.parametrize("by", ["price", "payload", "collectives"])
def test_ranks_as_all_plans_sorted(product: Plan, by: str, memory: int | None) -> None:
    """The textbook's first are those of all placements, each planned by itself."""
    cost = {"price": lambda p: p.price, "payload": lambda p: p.payload_bytes, "collectives": lambda p: len(p.collectives)}[
        by
    ]
    fitting = [each for each in every(product) if memory is None or each.argument_bytes <= memory]
    found = product.search(memory=memory, by=by, top=12, measure=0)
    assert found.considered == len(fitting) and not found.verified
    assert [cost(each) for each in found.plans] == sorted(map(cost, fitting))[:12]
    ties = sum(cost(each) == cost(found.plans[-1]) for each in fitting)
    assert found.ties == ties - sum(cost(each) == cost(found.plans[-1]) for each in found.plans)


@pytest.mark.parametrize("measure", [0, 1, 3, None])
def test_compiles_the_best_few(chain: Plan, measure: int | None, compilations: collections.Counter[Plan]) -> None:
    """As many as asked, the textbook's first, once each."""
    found = chain.search(memory=1792, top=5, measure=measure)
    ranked = chain.search(memory=1792, top=5, measure=0).plans
    n = 5 if measure is None else measure
    assert compilations == dict.fromkeys(ranked[:n], 1)
    assert {each.plan for each in found.verified} == set(ranked[:n]) and found.rest == ranked[n:]


@pytest.mark.parametrize("by", ["price", "payload", "collectives"])
def test_winner_is_measured(chain: Plan, by: str) -> None:
    """What was compiled stands in the order of what the compiler sends, whatever the textbook foretold."""
    found = chain.search(parts=2, by=by, top=16)
    programs = [each.program for each in found.verified]
    costs = {
        "price": [program.price for program in programs],
        "payload": [program.payload_bytes for program in programs],
        "collectives": [len(program.collectives) for program in programs],
    }
    assert costs[by] == sorted(costs[by]) and len(programs) == 16
    again = found.verified[0].plan.verify().program  # asked for by another line of this file
    assert [dataclasses.replace(c, source="") for c in programs[0].collectives] == [
        dataclasses.replace(c, source="") for c in again.collectives
    ]
    assert any(each.program.price != each.plan.price for each in found.verified)


@pytest.mark.parametrize("memory", LOWEST)
def test_winner_is_the_lowest_of_all_that_were_compiled(chain: Plan, memory: int) -> None:
    """Ten compilations find what compiling every placement found."""
    assert chain.search(memory=memory).verified[0].program.price == LOWEST[memory]


def test_nine_placements_send_nothing(chain: Plan) -> None:
    """Those with B and C on every device; compiling agrees."""
    found = chain.search(by="collectives", top=12, measure=9)
    silent = [each for each in found.plans if not each.collectives]
    rows = [(str(p.arguments[0]), str(p.arguments[3]), int(p.flops), p.argument_bytes) for p in silent]
    assert sorted(rows) == NOTHING and {str(p.arguments[1]) + str(p.arguments[2]) for p in silent} == {"b cc d"}
    assert all(found.verified) and found.considered == 6561


def test_exact_fit(product: Plan) -> None:
    """A device may hold as many bytes as the bound, and no more."""
    least = min(each.argument_bytes for each in every(product))
    exact, below = (product.search(memory=memory, top=100, measure=0) for memory in (least, least - 1))
    assert {each.argument_bytes for each in exact.plans} == {least} and not below.plans and below.considered == 0


def test_ties_are_told(chain: Plan) -> None:
    """Placements that cost as much as the last one listed are counted, and the order is the same each time."""
    found = chain.search(top=4, measure=0)
    assert found.ties == 5 and "5 more cost as much as the last of them by the textbook" in str(found)
    assert found == chain.search(top=4, measure=0)
    keys = [(each.price, each.flops, each.argument_bytes) for each in found.plans]
    assert keys == sorted(keys)


def test_parts_and_memory_bound_alike(chain: Plan) -> None:
    """512 bytes of arguments leave only 8-way cuts."""
    found = chain.search(memory=512, top=256, measure=0)
    assert found.considered == 256 and found.plans == chain.search(parts=8, top=256, measure=0).plans


def test_memory_bound_costs_communication(chain: Plan) -> None:
    """The less memory, the more is sent."""
    prices = [chain.search(memory=memory, top=1, measure=0).plans[0].price for memory in (4096, 2560, 1792, 1024, 512)]
    assert prices == sorted(prices) and prices[0] == 0 < prices[-1]


def test_kept_arrays_stay() -> None:
    """With the data where it is, the weights of the MLP are best cut over its hidden dimension."""
    shapes = ((8, 128), (128, 256), (256, 64))
    made = plan("b x, x y, y z -> b z", "b@data x", "...", "...", *shapes, mesh={"data": 2, "model": 4})
    best = made.search(keep="A", parts=4, memory=55_000, top=1).verified[0]
    assert [str(layout) for layout in best.plan.arguments] == ["b@data x", "x y@model", "y@model z"]
    assert best and best.program.payload_bytes == 1024


def test_output_stays_as_asked() -> None:
    """Placements are ranked and compiled with the output that the plan was asked for."""
    made = plan("i j, j k -> i k", "...", "...", (16, 16), (16, 16), out="i@x k", mesh=MESH)
    found = made.search(memory=256, top=3)
    assert {str(each.output) for each in found.plans} == {"i@x k"}
    assert {each.program.output_placements[0].shard_shape for each in found.verified} == {(4, 16)}


def test_search_prints_as_table(chain: Plan) -> None:
    """One placement a row, with what the textbook says and what was compiled."""
    lines = str(chain.search(by="collectives", top=2, measure=1)).splitlines()
    assert lines[0] == "a b, b c, c d, d e -> a e   on x=4, y=2"
    assert lines[2].split() == ["a@(x", "y)", "b", "b", "c", "c", "d", "d", "e", "3,200", "3,072", "0", "0", "nothing"]
    assert lines[3].split()[-4:] == ["0", "-", "not", "compiled"]
    assert lines[4] == "the textbook's first 2 of 6,561 placements, by collectives"
    assert lines[6].startswith("compiled: 1, by XLA for cpu, jaxlib ")
    assert "<table>" in chain.search(top=1, keep="ABC")._repr_html_()


def test_nothing_fits(chain: Plan) -> None:
    """A bound below what eight devices can hold leaves an empty table."""
    assert str(chain.search(memory=511)).splitlines()[0] == "no placement fits"


def test_too_many_placements() -> None:
    """Searches that would not end are refused, with what makes them smaller."""
    made = plan(TEXT, *["..."] * 4, *[(16, 16)] * 4, mesh={"x": 2, "y": 2, "z": 2})
    with pytest.raises(sl.ShardlabError) as caught:
        made.search()
    assert str(caught.value) == (
        "[too-many-placements] there are 531,441 placements, and at most 20,000 are searched.\n"
        "  where: a b, b c, c d, d e -> a e   mesh x=2, y=2, z=2\n"
        '  mend:  keep some arrays where they are, keep="A", ask for more parts=, or plan for a mesh with fewer axes.'
    )


def test_too_few_devices_to_compile() -> None:
    """A search for more devices than there are ranks, and does not compile."""
    made = plan("i j, j k -> i k", "...", "...", (64, 64), (64, 64), mesh={"x": 16})
    with pytest.raises(sl.ShardlabError, match="the plan is for 16 devices, and there are 8 to compile for"):
        made.search()
    assert isinstance(found := made.search(measure=0), Search) and len(found.rest) == 9
    assert dataclasses.replace(found, rest=()).plans == ()
