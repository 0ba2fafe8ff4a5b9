"""What the judge says of one answer: points by part, and findings with expected, got, cause and hint."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

from shardlens import Placement

KEYS = {"misconception": "miss"}
"""Fields of a finding that have another name in JSON."""
Status = Literal["passed", "failed", "unattempted", "ungraded"]


@dataclasses.dataclass(frozen=True)
class Part:
    """Points of one letter (V, S, H, ...) of one item."""

    item: str
    letter: str
    points: float
    of: float


@dataclasses.dataclass(frozen=True)
class Finding:
    """One difference between an answer and what was asked.

    `what` says in one sentence what differs; `cause` is the likely reason, from the known `misconception` when one was
    recognised; `hint` is the number of the hint to open. `pictures` holds the expected placement and the answer's. `line` is
    where in the student's own code it was raised, or what communicates: two answers that fail alike in other lines have
    equal findings. `moves` are a program's collectives by the number of the operation, until `line` tells them.
    """

    item: str
    letter: str
    what: str
    expected: str = ""
    got: str = ""
    where: str = ""
    cause: str = ""
    hint: int = 1
    misconception: str | None = None
    pictures: tuple[Placement, Placement] | None = None
    line: str = dataclasses.field(default="", compare=False)
    moves: tuple[tuple[int, str], ...] = dataclasses.field(default=(), compare=False)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON, read back by `from_json`; the misconception's key is the one that course directories hold."""
        raw = dataclasses.asdict(self)
        raw["pictures"] = self.pictures and [p.to_json() for p in self.pictures]
        return {KEYS.get(name, name): value for name, value in raw.items()}

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Finding:
        """The finding that `to_json` wrote."""
        names = {key: name for name, key in KEYS.items()}
        fields = {names.get(key, key): value for key, value in raw.items()}
        fields["moves"] = tuple((int(number), str(what)) for number, what in raw.get("moves", ()))
        return cls(**{**fields, "pictures": raw["pictures"] and tuple(map(Placement.from_json, raw["pictures"]))})


@dataclasses.dataclass(frozen=True)
class Verdict:
    """The judgement of one question. `reason` is one sentence for a question that is unattempted or ungraded."""

    question: str
    status: Status
    parts: tuple[Part, ...] = ()
    findings: tuple[Finding, ...] = ()
    reason: str = ""

    @property
    def points(self) -> float:
        """Points earned, to two decimals."""
        return round(sum(part.points for part in self.parts), 2)

    @property
    def of(self) -> float:
        """Points that could be earned."""
        return round(sum(part.of for part in self.parts), 2)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON, read back by `from_json`."""
        return {**dataclasses.asdict(self), "findings": tuple(finding.to_json() for finding in self.findings)}

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Verdict:
        """The verdict that `to_json` wrote; for our own files, not for a student's."""
        findings = tuple(map(Finding.from_json, raw["findings"]))
        parts = tuple(Part(**part) for part in raw["parts"])
        return cls(raw["question"], raw["status"], parts, findings, raw["reason"])
