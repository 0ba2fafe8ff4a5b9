"""Free designs: distance to a front, the map, what is recorded, and that no trick beats the front unfairly."""

import dataclasses
import json
import xml.etree.ElementTree as ElementTree
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardlab.answers.record import record
from shardlab.errors import ShardlabError
from shardlab_course.ch15.ex06.designs import member
from shardlab_course.chapters import question
from shardlab_course.checking import pareto
from shardlab_course.checking.fronts import show_front
from shardlab_course.checking.pareto import Map
from shardlab_grader.border.entries import Refused, entry
from shardlab_judge.costs import Cost, distance, front, share
from shardlab_judge.items import design as designs
from shardlab_judge.items.design import DesignItem
from shardlab_judge.question import Setting
from shardlab_judge.references import References

COSTS = st.builds(Cost, st.integers(1, 50), st.integers(1, 50))
ITEM = question("15.6").items[0]
NAMES = ("X", "Y", "W1", "W2")
BOTH = ("x", "y")
SETTING = Setting("15.6", 3, References({}, {}))


def judged(design: Any, item: Any = ITEM) -> tuple[dict[str, float], list[Any]]:
    """What the judge says of a design."""
    manifest = {"variable": None, "items": [item.manifest("15.6", None)]}
    answer = record(manifest, {"design": design}, {})["items"]["design"]
    assert json.loads(json.dumps(answer)) == entry(manifest["items"][0], answer)
    return item.judge(answer, SETTING)


@pytest.mark.thorough
@given(st.dictionaries(st.text(max_size=3), COSTS, min_size=1), COSTS)
def test_front_and_distance(costs: dict[str, Cost], mine: Cost) -> None:
    """No member of a front beats another; on it the distance is 1; what is beaten is farther, and worse is never nearer."""
    reached = front(costs)
    points = list(reached.values())
    assert all(distance(cost, points) == 1 for cost in points)
    assert all(any(p.price <= c.price and p.memory <= c.memory for p in points) for c in costs.values())
    assert [c.price for c in points] == sorted(c.price for c in points)
    away = distance(mine, points)
    assert away >= 1 and distance(Cost(mine.price + 1, mine.memory + 1), points) >= away
    assert (away == 1) == (mine in points or not any(o.price <= mine.price and o.memory <= mine.memory for o in points))


def test_shares_fall_with_distance() -> None:
    """Steps, from all to nothing."""
    assert [share(d) for d in (1.0, 1.1, 1.2, 1.9, 3.5, 3.6)] == [1, 1, 0.75, 0.5, 0.25, 0]


@pytest.mark.thorough
def test_stored_front_is_measured_again() -> None:
    """The file says what the designs cost now, and each of them is judged right and on the front."""
    assert isinstance(ITEM, DesignItem)
    for case in ITEM.cases:
        assert designs.front_of(ITEM, case) == designs.measured_front(ITEM, case)
    name = "hidden units over x and y, Y scattered"
    design = ITEM.designs[name]
    assert judged({"layout": design.layout, "step": design.step}) == ({"V": 1.0, "S": 1.0, "D": 1.0}, [])


def test_other_versions_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """With another JAX than those on file the front comes from the programs, once."""
    monkeypatch.setattr(designs, "_kept", lambda path: {})
    one = {"only": ITEM.designs["hidden units over x and y, Y scattered"]}
    item = dataclasses.replace(ITEM, designs=one)
    first = designs.front_of(item, ITEM.cases[0])
    assert list(first) == ["only"] and designs.front_of(item, ITEM.cases[0]) is first


def _everywhere(mesh: Any, X: jax.Array, Y: jax.Array, W1: jax.Array, W2: jax.Array) -> Any:
    return member((), False, False).step(mesh, X, Y, W1, W2)


def _recomputes(mesh: Any, *arrays: jax.Array) -> Any:
    """Everything on every device, from arrays that are cut, so that the room is enough."""

    def body(*blocks: jax.Array) -> Any:
        new = _plain(*(jax.lax.all_gather(block, BOTH, axis=0, tiled=True) for block in blocks))
        start = jax.lax.axis_index(BOTH)
        cut = jax.lax.dynamic_slice_in_dim
        return tuple(cut(w, start * len(block), len(block)) for w, block in zip(new, blocks[2:]))

    rows = jax.P(BOTH, None)
    return jax.shard_map(body, mesh=mesh, in_specs=(rows,) * 4, out_specs=(rows, rows))(*arrays)


@pytest.mark.thorough(after=2)
@pytest.mark.parametrize("trick", ["copies", "recomputes", "ignores", "constant"])
def test_tricks_earn_nothing(trick: str) -> None:
    """No points for copies of every array, for devices that all do the whole work, or for a step that is not computed."""
    layout = dict.fromkeys(NAMES, () if trick == "copies" else (BOTH, None))

    def step(mesh: Any, X: jax.Array, Y: jax.Array, W1: jax.Array, W2: jax.Array) -> Any:
        match trick:
            case "copies" | "recomputes":
                return _recomputes(mesh, X, Y, W1, W2) if trick == "recomputes" else _plain(X, Y, W1, W2)
            case "ignores":
                return W1, W2
        return np.zeros(W1.shape, "float32"), np.zeros(W2.shape, "float32")

    shares, findings = judged({"layout": layout, "step": step})
    assert shares.get("D", 0.0) == 0.0 and findings


def test_giving_weights_away_buys_nothing() -> None:
    """A design that moves weights is as far from the front with donated weights as without: it does not hold less."""

    def step(mesh: Any, *arrays: jax.Array) -> Any:
        places = jax.NamedSharding(mesh, jax.P(BOTH, None))
        return tuple(jax.lax.with_sharding_constraint(new, places) for new in _plain(*arrays))

    layout = dict.fromkeys(NAMES, (BOTH, None))
    kept, given_away = (
        judged({"layout": layout, "step": jax.jit(step, static_argnums=0, donate_argnums=which)}) for which in ((), (3, 4))
    )
    assert kept[0]["D"] < 1 and given_away[0] == kept[0]
    assert kept[1][0].what == given_away[1][0].what


def _plain(X: jax.Array, Y: jax.Array, *weights: jax.Array) -> Any:
    slopes = jax.grad(lambda w: jnp.mean((jnp.tanh(X @ w[0]) @ w[1] - Y) ** 2))(weights)
    return tuple(w - 0.1 * g for w, g in zip(weights, slopes))


def test_a_layout_that_does_not_fit() -> None:
    """The judge names the array whose spec cannot be used."""
    misfit = {**dict.fromkeys(NAMES, []), "W1": [["x", "q"]]}
    shares, (finding,) = ITEM.judge({"layout": misfit, "programs": [{}, {}]}, SETTING)
    assert not shares and "the spec of W1 does not fit [48, 128]" in finding.what
    for layout in ({}, [], {**dict.fromkeys(NAMES, []), "W1": 3}, {**dict.fromkeys(NAMES, []), "W1": [[1]]}):
        assert ITEM.judge({"layout": layout, "programs": [{}, {}]}, SETTING)[0] == {}


def test_an_open_design_is_recorded_as_open() -> None:
    """The stub is no attempt; a design of another form says what is missing."""
    manifest = {"variable": None, "items": [{"name": "design", "kind": "design", **ITEM.asks("15.6", None)}]}

    def of(design: Any) -> dict[str, Any]:
        return dict(record(manifest, {"design": design}, {})["items"]["design"])

    assert of({"layout": dict.fromkeys(NAMES, ...), "step": _everywhere}) == {"todo": True}
    assert of({"layout": ..., "step": _everywhere}) == {"todo": True}
    assert "the keys layout and step" in of({"layout": {}})["error"]["message"]
    assert "a jax.P for each of X, Y, W1, W2" in of({"layout": {"X": ()}, "step": _everywhere})["error"]["message"]


def test_the_border_lets_designs_through_and_nothing_else() -> None:
    """Fields, counts and sizes of a recorded design are checked."""
    item = {"kind": "design", "cases": [{}]}
    good = {"layout": {"X": [None]}, "programs": [{"module": "AAAA", "outputs": ["[0]"]}]}
    assert entry(item, good) == good and entry(item, {"todo": True}) == {"todo": True}
    for bad in ({"programs": []}, {**good, "more": 1}, {**good, "programs": []}, {**good, "programs": good["programs"] * 2}):
        with pytest.raises(Refused):
            entry(item, bad)


@pytest.mark.thorough
def test_the_map_in_words_and_as_a_picture() -> None:
    """Front, limit and the reader's place, in each form."""
    reached = (Cost(100, 40), Cost(200, 10))
    picture = pareto.drawn((Map("one", reached, Cost(300, 20), 60), Map("two", reached)))
    label = "Yours: 300 bytes moved, 20 held; 2.00 times as far out as the nearest."
    assert label in picture.text and "At most 60 bytes may be held." in picture.html and label in picture.html
    assert picture.text.count("#") == 2 and "A" in picture.text and "|" in picture.text
    svg = picture.html[picture.html.index("<svg") : picture.html.index("</svg>") + 6]
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    off = pareto.text(Map("off", reached, Cost(0, 90), 60, "too much"))
    assert "it does not count: too much" in off
    assert "no design beats it" in pareto.text(Map("on", reached, Cost(150, 20), 60))


@pytest.mark.thorough
def test_show_front() -> None:
    """The front alone while the answer is open; a question without a design, or a design without a program, says so."""
    alone = show_front("15.6")
    assert "yours" not in str(alone) and "mesh (x=2, y=4)" in str(alone)
    assert str(show_front("15.6", {"layout": dict.fromkeys(NAMES, ...), "step": _everywhere})) == str(alone)
    best = ITEM.designs["hidden units over x and y, Y scattered"]
    assert str(show_front("15.6", {"layout": best.layout, "step": best.step})).count("no design beats it.") == 2
    with pytest.raises(ShardlabError, match=r"\[no-front\] question 15.5 asks for no design"):
        show_front("15.5")
    with pytest.raises(ShardlabError, match=r"\[no-program\] the design has no program"):
        show_front("15.6", {"layout": dict.fromkeys(NAMES, ()), "step": lambda mesh, *arrays: 1 / 0})
