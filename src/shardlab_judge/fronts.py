"""Fronts of free designs: what our own designs cost in each case, measured by the judge and kept for each JAX version."""

from __future__ import annotations

import base64
import dataclasses
import functools
import json
import pathlib
from collections.abc import Mapping
from typing import Any

import jax

from shardlab.programs.exporting import exported
from shardlab_judge.design_items import Cost, DesignItem, front
from shardlab_judge.measuring import measure
from shardlab_judge.question import Case, Observed


@dataclasses.dataclass(frozen=True)
class Reached:
    """What a design costs on one device: payload price and held bytes, and FLOPs."""

    price: int
    memory: int
    flops: float


Front = Mapping[str, Reached]
"""Costs of the designs on the front, by name, the one that moves least first."""


def front_of(item: DesignItem, case: Case) -> Front:
    """The front in one case: as it is kept for the JAX that runs, or measured when it is first asked for."""
    kept = _kept(item.fronts).get(jax.__version__, {}).get(_key(item, case))
    if kept:
        return {name: Reached(**fact) for name, fact in kept.items()}
    return _measured(item, case)


def cost_of(observed: Observed) -> Cost:
    """Bytes moved and held on one device; every design could give its old weights away, so nobody gains by it."""
    return Cost(observed.price, observed.memory + observed.reused)


def measured(item: DesignItem, case: Case) -> Front:
    """The front in one case, from the compiled programs of all designs that fit in the room there is."""
    facts: dict[str, Reached] = {}
    for name, design in item.designs.items():
        laid_out = item.laid_out(case, design.layout)
        (entry,) = exported(design.step, {"name": name, "cases": [laid_out.to_json()]})
        observed = measure(base64.b64decode(entry["module"]), laid_out).observed
        cost = cost_of(observed)
        if cost.memory <= item.limit(case):
            facts[name] = Reached(observed.price, int(cost.memory), observed.flops)
    reached = front({name: Cost(fact.price, fact.memory) for name, fact in facts.items()})
    return {name: facts[name] for name in reached}


def text(item: DesignItem) -> str:
    """The item's file: fronts by JAX version and case, those of other versions kept."""
    now = {_key(item, case): _plain(measured(item, case)) for case in item.cases}
    return json.dumps({**_kept(item.fronts), jax.__version__: now}, indent=1, sort_keys=False) + "\n"


@functools.cache
def _kept(path: pathlib.Path | None) -> dict[str, Any]:
    return dict(json.loads(path.read_text())) if path and path.exists() else {}


_MEASURED: list[tuple[DesignItem, Case, Front]] = []


def _measured(item: DesignItem, case: Case) -> Front:
    """`measured`, once for each; a design's functions and dicts cannot be hashed."""
    found = next((front for one, where, front in _MEASURED if one is item and where == case), None)
    if found is None:
        found = measured(item, case)
        _MEASURED.append((item, case, found))
    return found


def _plain(reached: Front) -> dict[str, Any]:
    return {name: dataclasses.asdict(fact) for name, fact in reached.items()}


def _key(item: DesignItem, case: Case) -> str:
    return f"{item.name}/{case.key}"
