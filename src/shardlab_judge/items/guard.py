"""Guards: a test that the student writes of what programs communicate, judged by programs that it never saw."""

from __future__ import annotations

import dataclasses
import functools
import json
import pathlib
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from shardlab_judge.causes.exceptions import likely
from shardlab_judge.findings import OPEN, explained, raised, shown
from shardlab_judge.question import Item, Judged, Response, Setting
from shardlab_judge.verdict import Finding


@dataclasses.dataclass(frozen=True)
class Guarded:
    """A program that a guard is asked about, as `sl.facts` tells of it.

    `breaks` has the letters of the rules that it breaks; a `tie` keeps them all and moves exactly what is allowed. `why`
    says in a clause what it does; `public` ones are asked about in a notebook too.
    """

    name: str
    breaks: str
    tie: bool
    why: str
    public: bool
    facts: Mapping[str, Any]

    @property
    def good(self) -> bool:
        """Whether it keeps every rule."""
        return not self.breaks


@dataclasses.dataclass(frozen=True)
class GuardItem(Item):
    """A function of a program's facts that says whether the program is as it should be.

    Each letter is a rule. The share of the programs that it stops, of those that break the rule, and the share of right
    programs that it lets through count together: less one, so that a guard that always says the same earns nothing. A guard
    that takes only the limit of what may be moved for the other side of it loses half of H's points. A misconception's
    `when` is given, for each program's name, in which share of its situations the guard let it through; and for each dtype
    the share of the programs that move exactly what is allowed.

    Args:
        kept: the file with the programs' facts, which `python -m shardlab_authoring.guards` writes.
    """

    kept: pathlib.Path = dataclasses.field(kw_only=True)
    kind = "guard"
    sees = ("when", "error")
    form = "a function of a program's facts that returns True or False"
    parts = "calls"

    @functools.cached_property
    def programs(self) -> tuple[Guarded, ...]:
        """All that there are."""
        return tuple(Guarded(**one) for one in json.loads(self.kept.read_text())) if self.kept.exists() else ()

    def asked(self, question: str, seed: int | None) -> tuple[Guarded, ...]:
        """The public ones; with a seed then the others, in an order that nobody knows."""
        public = tuple(one for one in self.programs if one.public)
        if seed is None:
            return public
        hidden = [one for one in self.programs if not one.public]
        random.Random(f"{seed}/{question}/{self.name}").shuffle(hidden)
        return (*public, *hidden)

    def asks(self, question: str, seed: int | None) -> dict[str, Any]:
        """The facts, without names and labels; it is recorded as calls are."""
        return {"kind": "calls", "calls": [[one.facts] for one in self.asked(question, seed)]}

    def judge(self, response: Response, setting: Setting) -> Judged:
        """Points by how well it tells right programs from wrong ones; what it took for the other is named."""
        programs, returned = self.asked(setting.question, setting.seed), response["calls"]
        for one, said in zip(programs, returned, strict=True):
            if not isinstance(said.get("value"), bool) and not _stops(one, said):
                return {}, [self._unanswered(one, said)]
        said = [bool(one.get("value")) for one in returned]
        passed = [one for one, good in zip(programs, said) if good and not one.good]
        refused = [one for one, good in zip(programs, said) if one.good and not good]
        right = [one for one in programs if one.good]
        side = _side(right, refused)
        lost = {letter: (letter == "H") / 2 if side else len(refused) / len(right) for letter in self.points}
        shares = {letter: 1 - _of(letter, passed) / _of(letter, programs) - lost[letter] for letter in self.points}
        through = f"It lets through {len(passed)} of {len(programs) - len(right)} wrong programs."
        kept_out = f"It refuses {len(refused)} of {len(right)} right programs{side}."
        known = self._known(programs, said)
        findings = [
            explained(Finding(self.name, letter, what, str(good), str(not good), _told(some[0])), known)
            for what, some, good in ((through, passed, False), (kept_out, refused, True))
            for letter in self.points
            if some and (lost[letter] if good else _of(letter, some))
        ]
        return {letter: share for letter, share in shares.items() if share > 0}, findings

    def _unanswered(self, one: Guarded, said: Response) -> Finding:
        if "value" in said:
            what = f"{self.name} returned {shown(said['value'])} where True or False is asked for."
            return explained(Finding(self.name, self.first, what, self.form, shown(said["value"]), _told(one)), likely(what))
        error = said.get("error", OPEN)
        return raised(self, error, f"{self.name} raised an exception.", _told(one))

    def _known(self, programs: tuple[Guarded, ...], said: list[bool]) -> Any:
        each: dict[str, list[bool]] = {}
        for one, good in zip(programs, said):
            for name in (one.name, *([one.facts["inputs"][0]["dtype"]] if one.tie else [])):
                each.setdefault(name, []).append(good)
        through = {name: sum(all_) / len(all_) for name, all_ in each.items()}
        return next((m for m in self.misconceptions if m.when is not None and m.when(through)), None)


def _of(letter: str, programs: Iterable[Guarded]) -> int:
    """How many of the programs break a rule."""
    return sum(letter in one.breaks for one in programs)


def _side(right: Sequence[Guarded], refused: Sequence[Guarded]) -> str:
    """In words, where all the right programs on one side of the limit are refused, and none on the other."""
    for tie, words in ((True, ": all that move exactly what is allowed"), (False, ": all that move less than is allowed")):
        if 0 < len(refused) < len(right) and [one for one in right if one.tie is tie] == refused:
            return words
    return ""


def _stops(one: Guarded, said: Response) -> bool:
    """Whether the guard raised on a wrong program with an unknown price: comparing None with a number stops a test too."""
    return "error" in said and not one.good and one.facts["price"] is None


def _told(one: Guarded) -> str:
    """What the program does, what a guard could have seen of it, where, and for whom it was compiled."""
    facts = one.facts
    mesh = ", ".join(f"{name}={size}" for name, size in facts["mesh"].items())
    seen = f"error {facts['error']:.2g}, price {facts['price']}"
    return f"{one.why} ({seen}); mesh ({mesh}), {facts['made_with']['compiler'].split(',')[0]}"
