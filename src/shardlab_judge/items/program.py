"""Programs: values on every device, shardings and costs, case by case.

The grader's own process reads declarations and looks at what came out of a sandbox, and knows no JAX: what needs it is
imported where a program is judged.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import random
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from shardlab_judge import responses
from shardlab_judge.cases import Case, Observed
from shardlab_judge.causes import places
from shardlab_judge.causes.misconceptions import is_barred
from shardlab_judge.causes.programs import recognised
from shardlab_judge.costs import HUNDREDTH, Cost, excess
from shardlab_judge.findings import (
    OPEN,
    PUT_INSIDE,
    checked,
    describe,
    explained,
    located,
    moves,
    placed_as,
    raised,
    spec_text,
)
from shardlab_judge.inputs import hidden_inputs, kind_of
from shardlab_judge.question import Check, Item, Judged, Response, Setting
from shardlab_judge.rights import bound, near, rights
from shardlab_judge.verdict import Finding

HERE = {"f": "float32", "c": "complex64", "i": "int32", "u": "uint32"}
"""The dtype that JAX has by default of each kind, where an oracle computes with twice the precision."""
MODULE = 256 * 1024
OUTPUTS, PATH = 64, 200
Costs = Callable[[Case], Cost]
"""What the reference costs in a case."""


@dataclasses.dataclass(frozen=True)
class ProgramItem(Item):
    """A function `answer(mesh, *arrays)`, judged by its exported program on every case.

    Args:
        oracle: slow, plain NumPy on the global inputs; returns one array or a tuple of them. Without one, because more than
            one output is right, a check for V says what is wrong.
        rights: in place of an oracle, the right outputs where these depend on the mesh too: a function of what was
            `Observed`.
        checks: what this question looks at besides, each with the item and what was `Observed`.
        cases: the public cases, on at least two mesh shapes.
        draw: one further case from a random generator.
        drawn: how many further cases the grader draws.
        rtol, atol: tolerances of the values, with the reason in `tolerance`; `atol` is a number or a function of what was
            `Observed`.
        slack: payload bytes that the program may move beyond the reference, a number or a function of what was `Observed`,
            with the reason in `slack_reason`.
        spare: the share of FLOPs that the program may spend beyond the reference.
        most: how many collectives may run, all executions counted; unless given, only their bytes matter.
        deepest: in a case, how many collectives may wait for one another; unless given, any number.
        manual: whether it must be written with `jax.shard_map`, and not be left to the compiler.
        names: of the global inputs, and with `rights` of what was `Observed` before them, the values on the way to the
            output by name, in order. Of wrong values without a known cause it is said which of these the program still has.
            What a loop computes has a name for each round, such as `the loss in step 2 of 5`; what a pipeline computes is
            one value, stages by parts of the batch.
    """

    oracle: Callable[..., Any] | None = dataclasses.field(default=None, kw_only=True)
    rights: Callable[[Observed], tuple[np.ndarray, ...]] | None = dataclasses.field(default=None, kw_only=True)
    checks: tuple[Check, ...] = dataclasses.field(default=(), kw_only=True)
    cases: tuple[Case, ...] = dataclasses.field(kw_only=True)
    draw: Callable[[random.Random], Case] | None = dataclasses.field(default=None, kw_only=True)
    drawn: int = dataclasses.field(default=1, kw_only=True)
    rtol: float = dataclasses.field(default=1e-5, kw_only=True)
    atol: float | Callable[[Observed], float] = dataclasses.field(default=1e-5, kw_only=True)
    tolerance: str = dataclasses.field(default="float32 sums in another order", kw_only=True)
    slack: int | Callable[[Observed], int] = dataclasses.field(default=0, kw_only=True)
    slack_reason: str = dataclasses.field(default="", kw_only=True)
    spare: float = dataclasses.field(default=HUNDREDTH, kw_only=True)
    most: int | None = dataclasses.field(default=None, kw_only=True)
    deepest: Callable[[Case], int] | None = dataclasses.field(default=None, kw_only=True)
    manual: bool = dataclasses.field(default=False, kw_only=True)
    names: Callable[..., Mapping[str, np.ndarray]] | None = dataclasses.field(default=None, kw_only=True)
    kind = "program"
    sees = ("like", "local", "when", "error")
    form = "a function of the mesh and the arrays"
    parts = "programs"

    def cases_of(self, question: str, seed: int | None) -> tuple[Case, ...]:
        """The public cases, then those drawn from `seed`."""
        return self.with_drawn(self.cases, self.draw, self.drawn, question, seed)

    def beyond(self, observed: Observed) -> int:
        """Payload bytes that this program may move beyond the reference."""
        return self.slack(observed) if callable(self.slack) else self.slack

    def named(self, observed: Observed) -> Callable[..., Mapping[str, np.ndarray]] | None:
        """`names`, as a function of the global inputs alone."""
        return partial(self.names, observed) if self.names is not None and self.rights is not None else self.names

    def near(self, observed: Observed) -> float:
        """How far from the right one a value of this program may be, whatever its size."""
        return self.atol(observed) if callable(self.atol) else self.atol

    def asks(self, question: str, seed: int | None) -> dict[str, Any]:
        """The cases, without values."""
        return {"cases": [case.to_json() for case in self.cases_of(question, seed)]}

    @classmethod
    def admit(cls, asked: Mapping[str, Any], raw: Any) -> Response:
        """A program for each case."""
        return responses.cases(asked, raw, ("cases", "programs"), admit_program)

    def judge(self, response: Response, setting: Setting) -> Judged:
        """Points and findings over all cases, the first finding of each letter.

        The place and the price of wrong values say nothing, so without values no other letter earns points.
        """
        costs = partial(setting.references.cost, setting.question, self.name)
        judge_one = setting.judge_one or judge_program
        findings: dict[str, Finding] = {}
        worthless = False
        for case, one in zip(self.cases_of(setting.question, setting.seed), response["programs"], strict=True):
            found = judge_one(self, case, one, costs, setting.seed)
            worthless = worthless or "module" not in one or any(f.letter == "V" for f in found)
            for finding in found:
                # What the student's process says of itself chooses a sentence, and never points.
                put = finding.letter == "S" and finding.misconception in {None, *places.IDS} and "puts" in one
                finding = explained(finding, PUT_INSIDE if put else None)
                findings.setdefault(finding.letter, located(finding, one.get("lines", {})))
            if worthless:
                break  # further cases could not earn anything, and each costs a compilation
        return {letter: 1.0 for letter in self.points if letter not in findings and not worthless}, list(findings.values())


def admit_program(raw: Any) -> Response:
    """What was recorded of one program.

    Raises:
        shardlab_judge.responses.Refused: it is too large, or something else.
    """
    match raw:
        case {"module": str(module), "outputs": outputs, **rest} if not set(rest) - {"lines", "puts"}:
            paths = [responses.text(path, PATH) for path in responses.listed(outputs, OUTPUTS)]
            lines = {"lines": responses.lines(rest["lines"])} if "lines" in rest else {}
            puts = {"puts": True} if rest.get("puts") is True else {}
            return {"module": _module(module), "outputs": paths, **lines, **puts}
    return responses.single(raw, "module", lambda _: responses.fail("a program should have the fields module and outputs"))


def _module(text: str) -> str:
    if len(text) > 4 * (MODULE // 3 + 1):
        raise responses.Refused(
            f"the exported program has more than {MODULE // 1024} kB; constants in it should be computed or passed in"
        )
    try:
        decoded = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise responses.Refused("the exported program is not base64") from error
    return base64.b64encode(decoded).decode()


def judge_program(item: ProgramItem, case: Case, response: Response, costs: Costs, seed: int | None) -> list[Finding]:
    """All findings on what was recorded for one case; a pure function of it."""
    # Here and not above: the grader's own process reads manifests and the border by this module, and starts without JAX.
    import jax

    from shardlens import stablehlo

    if "module" not in response:
        if "error" in response:
            return [raised(item, response["error"], "Your function raised an exception.", case.title)]
        return [raised(item, OPEN, "Your function returns `...` here.", case.title)]
    budget = costs(case) if any(letter in item.points for letter in "HMF") else None
    try:
        return judge_case(item, case, base64.b64decode(response["module"]), budget, seed)
    except stablehlo.Refused as refusal:
        what = f"Your program is refused: {refusal}."
    except jax.errors.JaxRuntimeError as failure:
        what = f"XLA can't compile or run your program here: {str(failure).splitlines()[0]}"
    found = "a program that is not judged"
    return [Finding(item.name, letter, what, item.form, found, case.title) for letter in item.points]


def judge_case(item: ProgramItem, case: Case, module: bytes, cost: Cost | None, seed: int | None) -> list[Finding]:
    """All differences of one program in one case, the first of each letter.

    Raises:
        stablehlo.Refused: the program is not allowed.
    """
    from shardlab_judge.causes import lines, repairs, stages
    from shardlab_judge.measuring import measure, run

    observed = run(measure(module, case), hidden_inputs(case, seed), seed)
    findings = []
    for letter in item.points:
        found = next(_differences(letter, item, observed, cost), None)
        if found is not None:
            found = dataclasses.replace(found, where=case.title, moves=moves(observed) if letter == "H" else ())
            names = item.named(observed)
            known = recognised(item, observed, letter, cost)
            if known is None and letter == "V" and _of_right_shapes(item, observed):
                known = repairs.likely(module, observed, lambda made: _is_right(item, made))
            if known is None and letter == "V" and names is not None:
                known = stages.likely(names, module, observed, rights(item, observed))
            if known is None and letter == "V":
                known = lines.likely(item, observed, rights(item, observed), cost.price if cost else 0)
            findings.append(explained(found, known))
    return findings


def _of_right_shapes(item: ProgramItem, observed: Observed) -> bool:
    """Whether only its values are wrong."""
    shapes = [right.shape for right in rights(item, observed)]
    return [p.shape for p in observed.placements] == shapes and not _is_right(item, observed)


def _is_right(item: ProgramItem, observed: Observed) -> bool:
    return next(unequal(item, observed, *rights(item, observed)), None) is None


def _differences(letter: str, item: ProgramItem, observed: Observed, cost: Cost | None) -> Iterator[Finding]:
    match letter:
        case "V":
            yield from _values(item, observed)
        case "S":
            yield from _shardings(item, observed)
        case "H" if cost is not None:
            yield from _communication(item, observed, cost.price + item.beyond(observed), cost.slow)
        case "M" | "F" if cost is not None:
            found = excess(item.name, observed.memory, observed.flops, cost, item.spare)
            yield from (one for one in found if one.letter == letter)
    right = rights(item, observed)
    if not right or len(right) == len(observed.shards):  # else a check would look for outputs that there are not
        yield from checked(item.checks, letter, item, observed)


def _communication(item: ProgramItem, observed: Observed, budget: int, slow: int) -> Iterator[Finding]:
    expected, moved = f"at most {budget:,} B a device{_slack(item, observed)}", describe(observed.collectives)
    if any(c.executions is None for c in observed.collectives):
        what = "Nobody can tell how often your program communicates: a loop's number of rounds depends on values."
        yield Finding(item.name, "H", what, expected=expected, got=moved)
    elif observed.slow > slow:
        what = f"Your program sends more bytes along {observed.case.slow} than it needs to."
        along = f"B a device along {observed.case.slow}"
        yield Finding(item.name, "H", what, expected=f"at most {slow:,} {along}", got=f"{observed.slow:,} {along}: {moved}")
    elif observed.price > budget:
        what = "Your program moves more bytes than it needs to."
        yield Finding(item.name, "H", what, expected=expected, got=f"{observed.price:,} B a device: {moved}")
    elif item.most is not None and (runs := sum(c.executions or 0 for c in observed.collectives)) > item.most:
        what = "Your program communicates more often than it needs to."
        yield Finding(item.name, "H", what, expected=f"at most {item.most} collectives", got=f"{runs}: {moved}")
    elif item.deepest is not None and (observed.depth is None or observed.depth > item.deepest(observed.case)):
        what = "Too many of your program's collectives have to wait for one another."
        got = f"{'nobody knows how many' if observed.depth is None else observed.depth}: {moved}"
        yield Finding(item.name, "H", what, expected=f"at most {item.deepest(observed.case)} one after another", got=got)
    elif is_barred(item, observed):
        what = "Your program is cheap enough, but it does not communicate in the way that was asked for."
        yield Finding(item.name, "H", what, expected="the way that the exercise asks for", got=moved)


def _values(item: ProgramItem, observed: Observed) -> Iterator[Finding]:
    if item.manual and not observed.manual:
        what = "Your program leaves to the compiler what you should write yourself."
        yield Finding(item.name, "V", what, expected="a jax.shard_map that sends what must move", got="left to the compiler")
    elif right := rights(item, observed):
        yield from unequal(item, observed, *right)


def unequal(item: ProgramItem, observed: Observed, *wanted: np.ndarray) -> Iterator[Finding]:
    """Where the outputs are other ones than these."""
    if len(observed.shards) != len(wanted):
        counts = f"{len(wanted)} array{'s' * (len(wanted) != 1)}", f"{len(observed.shards)}"
        yield Finding(item.name, "V", "Your function returns the wrong number of arrays.", expected=counts[0], got=counts[1])
        return
    for n, (shards, right, placement) in enumerate(zip(observed.values, wanted, observed.placements)):
        output = _named(n, len(wanted))
        kind = np.dtype(HERE.get(right.dtype.kind, right.dtype))
        if placement.shape != right.shape:
            yield _value(item, f"{output} has the wrong shape.", list(right.shape), list(placement.shape))
        elif kind_of(placement.dtype) != kind.kind:
            yield _value(item, f"{output} has the wrong dtype.", kind.name, placement.dtype)
        else:
            for found in _wrong_shards(item, bound(right, item.near(observed)), shards, right):
                yield dataclasses.replace(found, what=f"{output}: {found.what}") if len(wanted) > 1 else found


def _named(n: int, count: int) -> str:
    """An output, at the beginning of a sentence."""
    return "The output" if count == 1 else f"Output {n + 1} of {count}"


def _wrong_shards(item: ProgramItem, atol: float, shards: tuple[Any, ...], right: np.ndarray) -> Iterator[Finding]:
    # Device by device, and not one copy for all: an output that only claims to be replicated must fail.
    for device, index, block in shards:
        close = near(block, right[index], item.rtol, atol)
        if not close.all():
            worst = np.unravel_index(np.argmin(close), close.shape)
            at = [int(i) + (s.start or 0) for i, s in zip(worst, index)]
            what = f"{int((~close).sum())} of {close.size} elements on device {device} are wrong"
            what += _pattern(block, right[index]) + "."
            value = right[tuple(at)]
            yield _value(item, what, f"{value:.6g} at {at}{_tolerance(item, atol, value)}", f"{block[worst]:.6g}")


def _tolerance(item: ProgramItem, atol: float, value: Any) -> str:
    """How far from this value is near enough, and why; whole numbers must be equal."""
    if not np.issubdtype(value.dtype, np.inexact) or not np.isfinite(value):
        return ""
    return f", within {atol + item.rtol * abs(value):.2g} ({item.tolerance})"


def _slack(item: ProgramItem, observed: Observed) -> str:
    """How much of the budget is beyond the reference, and why."""
    beyond = item.beyond(observed)
    return f", {beyond:,} of them because {item.slack_reason}" if beyond > 0 else ""


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
    for n, (placement, spec, over, terms) in enumerate(
        zip(observed.placements, observed.case.outputs, observed.terms, wanted)
    ):
        output = _named(n, len(observed.placements))
        if set(over) != set(terms):
            left = "left unadded over other axes than asked" if over else "already added up"
            what = f"{output} is {left if terms else 'not added up yet'}."
            yield Finding(item.name, "S", what, expected=spec_text(spec, terms), got=spec_text(placement.spec, over))
            continue
        if spec is None:
            continue
        target = placed_as(placement.shape, observed.case.axes, spec)
        if target is None or not placement.same_as(target):
            right = placed_as(_right_shape(item, observed, n), observed.case.axes, spec)
            yield Finding(
                item.name,
                "S",
                f"{output} has the wrong sharding.",
                pictures=None if right is None else (right, placement),
                expected=spec_text(spec),
                got=spec_text(placement.spec),
            )


def _right_shape(item: ProgramItem, observed: Observed, n: int) -> tuple[int, ...]:
    """The shape that an output should have; its own, where more than one output is right."""
    right = rights(item, observed)
    return right[n].shape if len(right) == len(observed.placements) else observed.placements[n].shape
