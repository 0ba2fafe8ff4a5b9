"""Free designs: a program together with the specs of its arguments, judged by what both cost beside the front of our own.

What our designs cost is measured by the judge, and kept for each JAX version.
"""

from __future__ import annotations

import base64
import dataclasses
import functools
import json
import math
import pathlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from shardlab_judge import responses
from shardlab_judge.cases import Case, Observed
from shardlab_judge.causes.misconceptions import find_misconception
from shardlab_judge.costs import Cost, distance, flops_text, front, share
from shardlab_judge.findings import describe, explained
from shardlab_judge.items.program import ProgramItem, admit_program, judge_program
from shardlab_judge.question import Item, Judged, Response, Setting
from shardlab_judge.verdict import Finding
from shardlens import Spec, place

ARITHMETIC = 1.25
"""FLOPs of a device, as a multiple of those of the leanest design on the front."""
Front = Mapping[str, Cost]
"""Costs of the designs on the front, by name, the one that moves least first."""


@dataclasses.dataclass(frozen=True)
class Design:
    """A program `step(mesh, *arrays)` and where its arguments lie."""

    layout: Mapping[str, Spec]
    step: Callable[..., Any]


@dataclasses.dataclass(frozen=True)
class DesignItem(Item):
    """A dict with the keys `layout`, a spec for each array, and `step`, the program; one for all cases.

    Values and placements are judged as for a `ProgramItem`. The letter `D` is for the distance to the front of `designs`; a
    design that holds more than `room` times an equal share of everything, or repeats arithmetic on several
    devices, does not count.

    Args:
        oracle: slow, plain NumPy on the global inputs.
        cases: on at least two mesh shapes; the specs of their inputs do not count.
        arrays: names of the inputs, in their order.
        kept: for each output the array whose spec it must have.
        designs: our own, by name; those that no other beats are the front.
        fronts: the file where `text` keeps what they cost.
        room: bytes that a device may hold, as a multiple of all bytes divided by the devices.
        rtol, atol: tolerances of the values.
        names: as for a `ProgramItem`.
    """

    oracle: Callable[..., Any] = dataclasses.field(kw_only=True)
    cases: tuple[Case, ...] = dataclasses.field(kw_only=True)
    arrays: tuple[str, ...] = dataclasses.field(kw_only=True)
    kept: tuple[str, ...] = dataclasses.field(kw_only=True)
    designs: Mapping[str, Design] = dataclasses.field(kw_only=True)
    fronts: pathlib.Path | None = dataclasses.field(default=None, kw_only=True)
    room: float = dataclasses.field(kw_only=True)
    rtol: float = dataclasses.field(default=1e-4, kw_only=True)
    atol: float = dataclasses.field(default=1e-5, kw_only=True)
    names: Callable[..., Mapping[str, np.ndarray]] | None = dataclasses.field(default=None, kw_only=True)
    kind = "design"
    sees = ("like", "local", "when", "error")
    form = "a dict with a layout and a step"
    parts = "programs"

    @functools.cached_property
    def measured_fronts(self) -> dict[Case, Front]:
        """The fronts that this process has measured."""
        return {}

    def asks(self, question: str, seed: int | None) -> dict[str, Any]:
        """The cases, and the arrays whose specs the answer gives."""
        return {"cases": [case.to_json() for case in self.cases], "arrays": list(self.arrays)}

    @classmethod
    def admit(cls, asked: Mapping[str, Any], raw: Any) -> Response:
        """A layout, and a program for each case."""
        match raw:
            case {"layout": layout, "programs": programs, **rest} if not rest:
                given = responses.listed(programs, len(asked["cases"]), exactly=True)
                return {"layout": responses.value(layout), "programs": [admit_program(one) for one in given]}
        what = "a design should have the fields layout and programs"
        return responses.single(raw, "programs", lambda _: responses.fail(what))

    def judge(self, response: Response, setting: Setting) -> Judged:
        """The shares of all letters over all cases, D by the case that is farthest out; the first finding of each letter."""
        findings: dict[str, Finding] = {}
        worst = 1.0
        judge_one = setting.judge_one or judge_program
        for case, one in zip(self.cases, response["programs"], strict=True):
            try:
                placed = self.laid_out(case, response["layout"])
            except ValueError as error:
                what = f"The layout cannot be used: {str(error).rstrip('.')}."
                return {}, [Finding(self.name, "V", what, self.form, where=case.title)]
            for finding in judge_one(self.program, placed, one, _no_costs, setting.seed):
                findings.setdefault(finding.letter, finding)
            if "V" in findings:
                return {}, list(findings.values())
            if "S" not in findings:
                part, found = _placed(self, case, _observed(placed, one))
                worst = min(worst, part)
                if found is not None:
                    findings.setdefault("D", found)
        shares = {letter: 1.0 for letter in "VS" if letter not in findings}
        return {**shares, "D": worst if "S" not in findings else 0.0}, list(findings.values())

    @property
    def program(self) -> ProgramItem:
        """What is judged of the program by itself."""
        points = {letter: of for letter, of in self.points.items() if letter in "VS"}
        asked = ProgramItem(self.name, points, misconceptions=self.misconceptions, oracle=self.oracle, cases=self.cases)
        return dataclasses.replace(asked, rtol=self.rtol, atol=self.atol, names=self.names)

    def laid_out(self, case: Case, layout: Mapping[str, Any]) -> Case:
        """The case with its inputs and outputs where a layout puts them.

        Raises:
            ValueError: a spec is missing, or does not fit; the message says which.
        """
        if not isinstance(layout, Mapping) or set(layout) != set(self.arrays):
            raise ValueError(f"the layout needs a spec for each of {', '.join(self.arrays)}, and nothing else")
        specs = {name: _spec(layout[name]) for name in self.arrays}
        for name, given in zip(self.arrays, case.inputs):
            try:
                place(given.shape, case.axes, specs[name])
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(
                    f"the spec of {name} does not fit {list(given.shape)}: {getattr(error, 'what', error)}"
                ) from error
        inputs = tuple(dataclasses.replace(given, spec=specs[name]) for name, given in zip(self.arrays, case.inputs))
        return dataclasses.replace(case, inputs=inputs, outputs=tuple(specs[name] for name in self.kept))

    def limit(self, case: Case) -> int:
        """Bytes of arguments and outputs that a device may hold."""
        sizes = {name: 4 * math.prod(given.shape) for name, given in zip(self.arrays, case.inputs)}
        whole = sum(sizes.values()) + sum(sizes[name] for name in self.kept)
        return int(self.room * whole / math.prod(size for _, size in case.axes))


def measured(item: DesignItem, case: Case, layout: Mapping[str, Any], program: Response) -> tuple[Cost, str]:
    """What a recorded design costs in one case, and why it does not count, if it does not; its values are not looked at."""
    observed = _observed(item.laid_out(case, layout), program)
    off = unfair(item, case, observed, front_of(item, case))
    return cost_of(observed), off[0] if off else ""


def unfair(item: DesignItem, case: Case, observed: Observed, reached: Front) -> tuple[str, str, str] | None:
    """Why a design does not count: a sentence, what is allowed, what it does; `None` if it counts."""
    if any(c.executions is None for c in observed.collectives):
        return "A loop's number of rounds depends on values, so its bytes cannot be counted.", "fixed rounds", "unknown"
    held = cost_of(observed).memory
    if held > item.limit(case):
        what = "A device does not have room for this design."
        return what, f"at most {item.limit(case):,} B a device", f"{held:,} B a device"
    if _loops(observed):
        return "The arithmetic in a loop is counted once, however often it runs.", "a step without a loop", "a loop"
    most = ARITHMETIC * min(one.flops or 0.0 for one in reached.values())
    if observed.flops is None or observed.flops > most:
        what = "Devices repeat one another's arithmetic."
        return what, f"at most {most:,.0f} FLOPs a device", flops_text(observed.flops)
    return None


def front_of(item: DesignItem, case: Case) -> Front:
    """The front in one case: as it is kept for the JAX that runs, or measured when it is first asked for."""
    import jax

    kept = _kept(item.fronts).get(jax.__version__, {}).get(_key(item, case))
    if kept:
        return {name: Cost(**cost) for name, cost in kept.items()}
    if case not in item.measured_fronts:
        item.measured_fronts[case] = measured_front(item, case)
    return item.measured_fronts[case]


def cost_of(observed: Observed) -> Cost:
    """What counts on a device; every design could give its old weights away, so nobody gains by it."""
    return Cost(observed.price, observed.memory + observed.reused, observed.flops)


def measured_front(item: DesignItem, case: Case) -> Front:
    """The front in one case, from the compiled programs of all designs that fit in the room there is."""
    from shardlab.answers.exporting import exported

    costs: dict[str, Cost] = {}
    for name, design in item.designs.items():
        laid_out = item.laid_out(case, design.layout)
        (program,) = exported(design.step, {"name": name, "cases": [laid_out.to_json()]})
        cost = cost_of(_observed(laid_out, program))
        if cost.memory <= item.limit(case):
            costs[name] = cost
    return front(costs)


def text(item: DesignItem) -> str:
    """The item's file: fronts by JAX version and case, those of other versions kept."""
    import jax

    now = {_key(item, case): _plain(measured_front(item, case)) for case in item.cases}
    return json.dumps({**_kept(item.fronts), jax.__version__: now}, indent=1, sort_keys=False) + "\n"


def _spec(given: Any) -> Spec:
    """A spec from plain JSON."""
    if not isinstance(given, list | tuple):
        raise ValueError(f"a spec is jax.P(...), not {given!r}")
    entries = tuple(tuple(entry) if isinstance(entry, list | tuple) else entry for entry in given)
    names = [name for entry in entries for name in (entry if isinstance(entry, tuple) else (entry,))]
    if not all(name is None or isinstance(name, str) for name in names):
        raise ValueError("the entries of a spec are mesh axes, tuples of them, or None")
    return entries


def _placed(item: DesignItem, case: Case, observed: Observed) -> tuple[float, Finding | None]:
    """The share of D in one case, and what there is to say."""
    reached = front_of(item, case)
    if off := unfair(item, case, observed, reached):
        part, finding = 0.0, Finding(item.name, "D", *off, where=case.title)
    else:
        cost = cost_of(observed)
        found = distance(cost, reached.values())
        if (part := share(found)) == 1:
            return part, None
        what = f"Your design is {found:.2f} times as far out as the nearest design on the front."
        got = f"{cost.price:,} B moved and {cost.memory:,} B held per device: {describe(observed.collectives)}"
        finding = Finding(item.name, "D", what, "at most 1.10 times as far out, for all points", got, case.title)
    # What is known of bytes and room explains no loop.
    return part, finding if _loops(observed) else explained(finding, find_misconception(item.program, observed, "D"))


def _observed(case: Case, program: Response) -> Observed:
    from shardlab_judge.measuring import measure

    return measure(base64.b64decode(program["module"]), case).observed


@functools.cache
def _kept(path: pathlib.Path | None) -> dict[str, Any]:
    return dict(json.loads(path.read_text())) if path and path.exists() else {}


def _plain(reached: Front) -> dict[str, Any]:
    return {name: {"price": c.price, "memory": c.memory, "flops": c.flops} for name, c in reached.items()}


def _key(item: DesignItem, case: Case) -> str:
    return f"{item.name}/{case.key}"


def _loops(observed: Observed) -> bool:
    return "stablehlo.while" in {name for name, _ in observed.operations}


def _no_costs(case: Case) -> Any:
    raise AssertionError("values and placements have no price")
