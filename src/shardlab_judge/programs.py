"""Judging programs: values on every device, shardings and costs, case by case."""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

import jax
import numpy as np

from shardlab.placement import place
from shardlab.programs import stablehlo
from shardlab.programs.reading.collectives import Collective
from shardlab_judge.findings import Entry, Judged, asked, explained, raised
from shardlab_judge.measuring import hidden_inputs, measure, other_numbers, run, wide
from shardlab_judge.misses import find_miss, is_barred
from shardlab_judge.question import Case, Observed, ProgramItem
from shardlab_judge.verdict import Finding


class Costs(Protocol):
    """Costs of a reference, per device."""

    @property
    def price(self) -> int:
        """Payload bytes."""
        ...

    @property
    def memory(self) -> int:
        """Argument and output bytes."""
        ...

    @property
    def flops(self) -> float:
        """Floating point operations."""
        ...

    @property
    def slow(self) -> int:
        """Payload bytes that cross the case's slow axis."""
        ...


def judge_program(
    item: ProgramItem, case: Case, entry: Entry, costs: Callable[[Case], Costs], seed: int | None
) -> list[Finding]:
    """All findings on what was recorded for one case; a pure function of it."""
    if "module" not in entry:
        error = entry.get("error", {"type": "", "message": "still `...`"})
        return [raised(item, error, "Your function raised an exception.", case.title)]
    budget = costs(case) if any(letter in item.points for letter in "HMF") else None
    try:
        return judge_case(item, case, base64.b64decode(entry["module"]), budget, seed)
    except stablehlo.Refused as refusal:
        what = f"Your program is refused: {refusal}."
    except jax.errors.JaxRuntimeError as failure:
        what = f"XLA can't compile or run your program here: {str(failure).splitlines()[0]}"
    found = "a program that is not judged"
    return [Finding(item.name, letter, what, asked(item), found, case.title) for letter in item.points]


class JudgeProgram(Protocol):
    """`judge_program`, or something that remembers what it found."""

    def __call__(
        self, item: ProgramItem, case: Case, entry: Entry, costs: Callable[[Case], Costs], seed: int | None, /
    ) -> list[Finding]:
        """All findings on what was recorded for one case."""
        ...


def judge_programs(
    item: ProgramItem,
    cases: tuple[Case, ...],
    entries: list[Entry],
    costs: Callable[[Case], Costs],
    seed: int | None,
    judge_one: JudgeProgram = judge_program,
) -> Judged:
    """Points and findings over all cases, the first finding of each letter.

    The place and the price of wrong values say nothing, so without values no other letter earns points.
    """
    findings: dict[str, Finding] = {}
    worthless = False
    for case, entry in zip(cases, entries, strict=True):
        found = judge_one(item, case, entry, costs, seed)
        worthless = worthless or "module" not in entry or any(f.letter == "V" for f in found)
        for finding in found:
            findings.setdefault(finding.letter, finding)
        if worthless:
            break
    return {letter: 1.0 for letter in item.points if letter not in findings and not worthless}, list(findings.values())


def judge_case(item: ProgramItem, case: Case, module: bytes, costs: Costs | None, seed: int | None) -> list[Finding]:
    """All differences of one program in one case, the first of each letter.

    Raises:
        stablehlo.Refused: the program is not allowed.
    """
    measured, inputs = measure(module, case), hidden_inputs(case, seed)
    observed = run(measured, inputs)
    if item.several:
        observed = dataclasses.replace(observed, again=run(measured, other_numbers(inputs, seed)))
    wanted = oracle_outputs(item, observed)
    findings = []
    for letter in item.points:
        found = next(_differences(letter, item, observed, wanted, costs), None)
        if found is not None:
            found = dataclasses.replace(found, where=case.title)
            findings.append(explained(found, find_miss(item, observed, letter)))
    return findings


def oracle_outputs(item: ProgramItem, observed: Observed) -> tuple[np.ndarray, ...]:
    """What the oracle returns, as a tuple, computed in double precision where the inputs are floats."""
    outputs = item.oracle(observed) if item.several else item.oracle(*map(wide, observed.inputs))
    return tuple(map(np.asarray, outputs if isinstance(outputs, tuple) else (outputs,)))


def _differences(
    letter: str, item: ProgramItem, observed: Observed, wanted: tuple[np.ndarray, ...], costs: Costs | None
) -> Iterator[Finding]:
    match letter:
        case "V":
            yield from _values(item, observed, wanted)
        case "S":
            yield from _shardings(item, observed)
        case "H" if costs is not None:
            yield from _communication(item, observed, costs.price + item.slack, costs.slow)
        case "M" if costs is not None and observed.memory > costs.memory:
            yield Finding(
                item.name, "M", "Arguments and outputs take more memory than they need to.",
                expected=f"at most {costs.memory} B a device", got=f"{observed.memory} B a device",
            )  # fmt: skip
        case "M" if item.widest is not None and observed.largest > item.widest(observed.case):
            yield Finding(
                item.name, "M", "On its way your program holds an array that is too large for one device.",
                expected=f"no array above {item.widest(observed.case)} B on a device", got=f"one of {observed.largest} B",
            )  # fmt: skip
        case "M" if item.donated is not None and observed.donated != item.donated:
            what = "Your program donates other arrays than it should."
            yield Finding(item.name, "M", what, expected=_positions(item.donated), got=_positions(observed.donated))
        case "J" if item.written is not None:
            yield from _written(item, observed, item.written(observed.case))
        case "F" if costs is not None and observed.flops > 1.01 * costs.flops:
            yield Finding(
                item.name, "F", "Each device does more arithmetic than it needs to.",
                expected=f"at most {costs.flops:.0f} FLOPs a device", got=f"{observed.flops:.0f} FLOPs a device",
            )  # fmt: skip


def _positions(arrays: frozenset[int]) -> str:
    return f"of the arrays after the mesh, number {', '.join(str(i + 1) for i in sorted(arrays))}" if arrays else "none"


def _written(item: ProgramItem, observed: Observed, bounds: Mapping[str, tuple[int, int]]) -> Iterator[Finding]:
    counts = dict(observed.operations)
    for name, (least, most) in bounds.items():
        found = counts.get(f"stablehlo.{name}", 0)
        if not least <= found <= most:
            what = "Your program, before XLA, holds another number of an operation."
            expected = f"{least} to {most} {name}" if least < most else f"{least} {name}"
            yield Finding(item.name, "J", what, expected=expected, got=str(found))


def _communication(item: ProgramItem, observed: Observed, budget: int, slow: int) -> Iterator[Finding]:
    expected, moved = f"at most {budget} B a device{_slack(item)}", describe(observed.collectives)
    if any(c.executions is None for c in observed.collectives):
        what = "It cannot be told how often your program communicates: a loop's number of rounds depends on values."
        yield Finding(item.name, "H", what, expected=expected, got=moved)
    elif observed.slow > slow:
        what = f"Your program sends more bytes along {observed.case.slow} than it needs to."
        along = f"B a device along {observed.case.slow}"
        yield Finding(item.name, "H", what, expected=f"at most {slow} {along}", got=f"{observed.slow} {along}: {moved}")
    elif observed.price > budget:
        what = "Your program moves more bytes than it needs to."
        yield Finding(item.name, "H", what, expected=expected, got=f"{observed.price} B a device: {moved}")
    elif item.most is not None and (runs := sum(c.executions or 0 for c in observed.collectives)) > item.most:
        what = "Your program communicates more often than it needs to."
        yield Finding(item.name, "H", what, expected=f"at most {item.most} collectives", got=f"{runs}: {moved}")
    elif item.deepest is not None and (observed.depth is None or observed.depth > item.deepest(observed.case)):
        what = "More of your program's collectives have to wait for one another than need to."
        got = f"{'nobody knows how many' if observed.depth is None else observed.depth}: {moved}"
        yield Finding(item.name, "H", what, expected=f"at most {item.deepest(observed.case)} one after another", got=got)
    elif is_barred(item, observed):
        what = "Your program is cheap enough, but it communicates in another way than the one asked for."
        yield Finding(item.name, "H", what, expected="the way that the exercise asks for", got=moved)


def _values(item: ProgramItem, observed: Observed, wanted: tuple[np.ndarray, ...]) -> Iterator[Finding]:
    if item.manual and not observed.manual:
        what = "Your program leaves to the compiler what you were to write."
        yield Finding(item.name, "V", what, expected="jax.shard_map, and what moves sent inside", got="left to the compiler")
        return
    if len(observed.shards) != len(wanted):
        counts = f"{len(wanted)} array{'s' * (len(wanted) != 1)}", f"{len(observed.shards)}"
        yield Finding(item.name, "V", "Your function returns another number of arrays.", expected=counts[0], got=counts[1])
        return
    for shards, right, placement in zip(observed.values, wanted, observed.placements):
        kind = np.dtype("float32") if np.issubdtype(right.dtype, np.floating) else right.dtype
        if placement.shape != right.shape:
            yield _value(item, "The output has another shape.", list(right.shape), list(placement.shape))
        elif np.dtype(placement.dtype).kind != kind.kind:
            yield _value(item, "The output has another dtype.", kind.name, placement.dtype)
        else:
            yield from _wrong_shards(item, shards, right)


def _wrong_shards(item: ProgramItem, shards: tuple[Any, ...], right: np.ndarray) -> Iterator[Finding]:
    for device, index, block in shards:
        close = np.isclose(block, right[index], rtol=item.rtol, atol=item.atol)
        if not close.all():
            worst = np.unravel_index(np.argmin(close), close.shape)
            at = [int(i) + (s.start or 0) for i, s in zip(worst, index)]
            what = f"{int((~close).sum())} of {close.size} elements on device {device} are wrong"
            what += _pattern(block, right[index]) + "."
            value = right[tuple(at)]
            yield _value(item, what, f"{value:.6g} at {at}{_tolerance(item, value)}", f"{block[worst]:.6g}")


def _tolerance(item: ProgramItem, value: Any) -> str:
    """How far from this value is near enough, and why; whole numbers must be equal."""
    if not np.issubdtype(value.dtype, np.inexact) or not np.isfinite(value):
        return ""
    return f", within {item.atol + item.rtol * abs(value):.2g} ({item.tolerance})"


def _slack(item: ProgramItem) -> str:
    """How much of the budget is beyond the reference, and why."""
    return f", {item.slack} of them because {item.slack_reason}" if item.slack_reason else ""


def _pattern(block: np.ndarray, right: np.ndarray) -> str:
    """A remark on how wrong values relate to right ones, where it is plain to see."""
    if not np.isfinite(block).all():
        return f"; {int((~np.isfinite(block)).sum())} are not finite"
    with np.errstate(all="ignore"):
        ratio = np.median(block / right)
    ratio = np.real_if_close(ratio, 1e8)
    if np.isfinite(ratio) and not np.isclose(ratio, 1) and np.allclose(block, ratio * right, rtol=1e-3, atol=1e-5):
        return f"; all are {ratio:.4g} times the right value"
    return ""


def _value(item: ProgramItem, what: str, expected: object, got: object) -> Finding:
    return Finding(item.name, "V", what, expected=str(expected), got=str(got))


def _shardings(item: ProgramItem, observed: Observed) -> Iterator[Finding]:
    wanted = observed.case.terms or ((),) * len(observed.terms)
    for placement, spec, over, terms in zip(observed.placements, observed.case.outputs, observed.terms, wanted):
        if set(over) != set(terms):
            what = "The output is added up already." if terms else "The output is not added up yet."
            yield Finding(item.name, "S", what, expected=spec_text(spec, terms), got=spec_text(placement.spec, over))
            continue
        if spec is None:
            continue
        try:
            target = place(placement.shape, observed.case.axes, spec)
        except ValueError:
            target = None
        if target is None or not placement.same_as(target):
            pictures = (dataclasses.replace(target, axes=None, spec=None), placement) if target is not None else None
            yield Finding(
                item.name, "S", "The output lies elsewhere.", pictures=pictures,
                expected=spec_text(spec), got=spec_text(placement.spec),
            )  # fmt: skip


def describe(collectives: tuple[Collective, ...]) -> str:
    """The collectives in a few words: `2 all-gathers over x, 1 all-reduce over y`."""
    counts: dict[str, int] = {}
    for c in collectives:
        over = f" over {', '.join(c.axes)}" if c.axes else ""
        counts[f"{c.kind}{over}"] = counts.get(f"{c.kind}{over}", 0) + 1
    return ", ".join(f"{n} {kind}" for kind, n in counts.items()) or "no collectives"


def spec_text(spec: Any, terms: tuple[str, ...] = ()) -> str:
    """A spec as the student writes it: `P('x', None)`, `P(None, unreduced={'x'})`."""
    unreduced = [f"unreduced={{{', '.join(map(repr, sorted(terms)))}}}"] if terms else []
    return "another kind of sharding" if spec is None else f"P({', '.join([*map(repr, spec), *unreduced])})"
