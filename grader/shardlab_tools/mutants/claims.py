"""Whether what an answer is told of its cause is true of it, looked at otherwise than the cause was found.

A sentence makes claims that can be checked: that values are right, that something was gathered, that nothing moved, that
`check_vma=False` stands in the answer. Each is a pair in `CLAIMS`: words that make it, and what must then be true; what a
misconception's name says is in `truths`. A cause that is recognised in some only of the cases in which the answer is wrong
is unsteady: it was luck there, or is missed elsewhere.
"""

from __future__ import annotations

import base64
import dataclasses
import math
import re
from collections.abc import Callable, Iterator

import numpy as np

from shardlab_judge.cases import Observed
from shardlab_judge.causes import lines, repairs, stages
from shardlab_judge.causes.misconceptions import find_misconception
from shardlab_judge.causes.programs import recognised
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Item, Misconception
from shardlab_judge.rights import rights
from shardlab_judge.verdict import Finding
from shardlab_tools.mutants.answers import source_of
from shardlab_tools.mutants.judging import SEED, Judge, Tried, drawn, program, recorded
from shardlab_tools.mutants.truths import Evidence, not_finite, truths, values


def doubts(judge: Judge, item: Item, tried: Tried, text: str, found: list[Finding]) -> tuple[list[str], list[str]]:
    """Of the misconceptions named in some findings those that are false, with the claim, and those that are unsteady."""
    named = {f.misconception: f for f in found if f.misconception}
    told = [known for known in item.misconceptions if known.id in named]
    if not named:
        return [], []
    error = next((f.got for f in found if "raised" in f.what or "could not be read" in f.what), "")
    seen = tuple(_seen(judge, item, tried)) if isinstance(item, ProgramItem) else ()
    source = source_of(text, {item.name, judge.question.variable or item.name})
    evidence = Evidence(item, source, error, seen, frozenset(f.letter for f in found))
    false = [f"{item.name}, {known.id}: {why}" for known in told if (why := untrue(known, evidence))]
    values = {id for id, f in named.items() if f.letter == "V"} - {known.id for known in told}
    general = [id for id in values - stages.IDS - repairs.IDS - lines.IDS if seen and not _shown(id, evidence)]
    again = [known.id for known in told if error or _again(judge, known, named[known.id].letter, evidence, tried)]
    return false, [f"{item.name}, {id}" for id in (*general, *(k.id for k in told if k.id not in again))]


def _shown(id: str, evidence: Evidence) -> bool:
    """Whether a cause that any program may have is seen wherever values are wrong; one of an exception is."""
    found = (recognised(evidence.item, o, "V") for o in evidence.wrong)
    return bool(evidence.error) or all(one is not None and one.id == id for one in found)


def untrue(known: Misconception, evidence: Evidence) -> str:
    """The words of a cause that are not true, or its name if what this says is not; empty if all is."""
    return next((what for what, claim in claimed(known) if not claim(evidence)), "")


def claimed(known: Misconception) -> list[tuple[str, Claim]]:
    """What a misconception claims: by its words, and by its name; one that claims nothing else is of values."""
    told = [(re.search(words, known.cause), claim) for words, claim in CLAIMS]
    named = [(f"the name {known.id}", claim) for claim in truths(known.id)]
    return [(repr(found[0]), claim) for found, claim in told if found] + named or [("wrong values", values)]


def _seen(judge: Judge, item: ProgramItem, tried: Tried) -> Iterator[tuple[Observed, frozenset[str]]]:
    from shardlab_judge.inputs import hidden_inputs
    from shardlab_judge.measuring import measure, run

    cases = item.cases_of(judge.question.id, SEED)
    for case in dict.fromkeys((*cases[:2], cases[-1])):
        entry = program(tried.given(item), item, case)
        findings = judge.in_case(item, case, entry, SEED)
        if "module" in entry and not any("refused" in f.what or "can't compile" in f.what for f in findings):
            observed = run(measure(base64.b64decode(entry["module"]), case), hidden_inputs(case, SEED), SEED)
            yield observed, frozenset(f.letter for f in findings)


def _again(judge: Judge, known: Misconception, letter: str, evidence: Evidence, tried: Tried) -> bool:
    """Whether the same wrong answer is recognised wherever the answer is wrong in this way."""
    item = dataclasses.replace(evidence.item, misconceptions=(known,))
    if isinstance(item, ProgramItem):
        return all(find_misconception(item, o, letter) for o, letters in evidence.seen if letter in letters)
    if isinstance(item, CallsItem):
        further = dataclasses.replace(item, calls=tuple(drawn(item, judge.question.id, 50, 2)) or item.calls, draw=None)
        return all(f.misconception for f in judge.judged(further, recorded(judge.question, further, tried)))
    return True


def _values_right(e: Evidence) -> bool:
    return not e.lost("V")


def _gathers(e: Evidence) -> bool:
    # Of a formula nothing is seen to be gathered.
    return not e.seen or not e.kinds.isdisjoint({"all-gather", "all-reduce", "all-to-all", "collective-broadcast"})


def _silent(e: Evidence) -> bool:
    return not e.kinds


def _compiler(e: Evidence) -> bool:
    used = "\n".join(line for line in e.text.splitlines() if not line.strip().startswith("jax.shard_map("))
    return "shard_map" not in used or not SENT.search(used)


def _in_proportion(e: Evidence) -> bool:
    """Wherever values are wrong, all are by one factor, or its inverse, that the mesh has."""
    item = e.item
    if not isinstance(item, ProgramItem):
        return True
    return all(_scaled(item, o) for o in e.wrong if rights(item, o))


def _scaled(item: ProgramItem, o: Observed) -> bool:
    sizes = [size for _, size in o.case.axes]
    factors = {math.prod(s) for s in [sizes, *([size] for size in sizes), *(sizes[i:] for i in range(len(sizes)))]}
    ratios = set()
    for shards, right in zip(o.values, rights(item, o)):
        for _, index, block in shards:
            with np.errstate(all="ignore"):
                ratio = float(np.median(np.abs(block / right[index])))
            ratios.add(round(ratio if ratio >= 1 else 1 / ratio, 2) if ratio else 0.0)
    return any(abs(r - f) < 0.05 * f for r in ratios for f in factors if f > 1)


def _leaps(e: Evidence) -> bool:
    return any(_distance(pair, c.group_size) not in (0, 1) for o, _ in e.seen for c in o.collectives for pair in c.groups)


def _distance(pair: tuple[int, ...], size: int) -> int:
    apart = abs(pair[0] - pair[1]) if len(pair) == 2 else 0
    return min(apart, abs(size - apart))


def _open_ring(e: Evidence) -> bool:
    """A permute in which some device has no source."""
    permutes = [(o, c) for o, _ in e.seen for c in o.collectives if c.kind == "collective-permute"]
    return any(len(c.groups) < math.prod(s for _, s in o.case.axes) for o, c in permutes)


def _sizes(e: Evidence) -> tuple[int, int]:
    """The two sizes of a contracted dimension that an error says do not fit."""
    found = re.search(r"got \((\d+),?\) and \((\d+),?\)", e.error)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _blocks(e: Evidence) -> bool:
    """One of them is a block of the other along some mesh axis."""
    small, large = sorted(_sizes(e))
    return large == 0 or (small > 0 and large % small == 0 and large // small in (2, 4, 8))


SENT = re.compile(r"psum|pmean|pmax|pmin|all_gather|ppermute|all_to_all|psum_scatter")
Claim = Callable[[Evidence], bool]
CLAIMS: tuple[tuple[str, Claim], ...] = (
    (r"[Vv]alues are right|sums are right|is the right vector|loss is right and", _values_right),
    (r"\b(?:[Ii]s|[Aa]re|[Ww]as|[Ww]ere) (?:all |still )?(?:gathered|brought)|^(?:All )?\w+ gathered", _gathers),
    (r"^pmean (?:divides|is|takes)", lambda e: re.search(r"pmean|/", e.text) is not None),
    (r"all-reduce (?:gives|costs|still|brings|moves)|(?:is|are) all-reduced", lambda e: "all-reduce" in e.kinds),
    (r"[Nn]othing (?:crossed|moves between)", _silent),
    (r"^On the whole array XLA|was left to choose", _compiler),
    (r"(?:comes|came) out .*times too large|too (?:large|small) by|gradients are as many times", _in_proportion),
    (r"sends beyond the next", _leaps),
    (r"does not go round all devices", _open_ring),
    (r"^Something other than ppermute", lambda e: bool(e.kinds - {"collective-permute"})),
    (r"float32 holds neither|quotient is not finite", not_finite),
    (r"has too few columns for all rows", lambda e: _sizes(e)[0] <= _sizes(e)[1] and _blocks(e)),
    (r"has too few rows for all columns", lambda e: _sizes(e)[0] >= _sizes(e)[1] and _blocks(e)),
    (r"put together along the dimension that is summed", lambda e: "all_gather" in e.text and _blocks(e)),
    (r"A device has some rows of each weight", _blocks),
    (
        r"^Without tiled=True",
        lambda e: not re.search(r"tiled=True", e.text) or e.text.count("tiled=True") < len(SENT.findall(e.text)),
    ),
    (
        r"(?:Terms|Rows|Answers|All|Whole).*(?:were|was) added|summed again|summed over another",
        lambda e: "all-reduce" in e.kinds or bool(e.error),
    ),
)
"""Words of a cause, and what must be true where they stand."""
