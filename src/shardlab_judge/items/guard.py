"""Guards: a test that the student writes of what programs communicate, judged by programs that it never saw."""

from __future__ import annotations

import dataclasses
import functools
import json
import pathlib
import random
from collections.abc import Mapping
from typing import Any

from shardlab_judge.causes.exceptions import likely
from shardlab_judge.findings import explained, raised, shown
from shardlab_judge.question import Item, Judged, Response, Setting
from shardlab_judge.verdict import Finding


@dataclasses.dataclass(frozen=True)
class Guarded:
    """A program that a guard is asked about, as `sl.facts` tells of it.

    `why` says in a clause what it does; `public` ones are asked about in a notebook too.
    """

    name: str
    good: bool
    why: str
    public: bool
    facts: Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class GuardItem(Item):
    """A function of a program's facts that says whether the program is as it should be.

    The share of wrong programs that it finds, and that of right ones that it lets through, count together: less one, so that
    a guard that always says the same earns nothing. A misconception's `when` is given, for each program's name, in which
    share of its situations the guard let it through.

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
        wrong, right = sum(not one.good for one in programs), sum(one.good for one in programs)
        share = max(0.0, 1 - len(passed) / max(1, wrong) - len(refused) / max(1, right))
        through = f"It lets through {len(passed)} of {wrong} wrong programs."
        kept_out = f"It refuses {len(refused)} of {right} right programs."
        known = self._known(programs, said)
        findings = [
            explained(Finding(self.name, self.first, what, str(good), str(not good), _told(some[0])), known)
            for what, some, good in ((through, passed, False), (kept_out, refused, True))
            if some
        ]
        return ({self.first: share} if share else {}), findings

    def _unanswered(self, one: Guarded, said: Response) -> Finding:
        if "value" in said:
            what = f"{self.name} returned {shown(said['value'])} where True or False is asked for."
            return explained(Finding(self.name, self.first, what, self.form, shown(said["value"]), _told(one)), likely(what))
        error = said.get("error", {"type": "", "message": "still `...`"})
        return raised(self, error, f"{self.name} raised an exception.", _told(one))

    def _known(self, programs: tuple[Guarded, ...], said: list[bool]) -> Any:
        each: dict[str, list[bool]] = {}
        for one, good in zip(programs, said):
            each.setdefault(one.name, []).append(good)
        through = {name: sum(all_) / len(all_) for name, all_ in each.items()}
        return next((m for m in self.misconceptions if m.when is not None and m.when(through)), None)


def _stops(one: Guarded, said: Response) -> bool:
    """Whether the guard raised on a wrong program with an unknown price: comparing None with a number stops a test too."""
    return "error" in said and not one.good and one.facts["price"] is None


def _told(one: Guarded) -> str:
    """What the program does, what a guard could have seen of it, where, and for whom it was compiled."""
    facts = one.facts
    mesh = ", ".join(f"{name}={size}" for name, size in facts["mesh"].items())
    seen = f"error {facts['error']:.2g}, price {facts['price']}"
    return f"{one.why} ({seen}); mesh ({mesh}), {facts['made_with']['compiler'].split(',')[0]}"
