"""One fault: what finds it, of lint, types and the tests that reach it."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence

from strength.copies import PYTHON, Copy
from strength.faults import Fault
from strength.first import FILE
from strength.outcomes import LINT, NOTHING, QUICK, THOROUGH, TYPES, Outcome
from strength.reaching import TimedTest

INTERRUPTED, USAGE = 2, 4


@dataclasses.dataclass(frozen=True)
class Limits:
    """Seconds, as they were recorded: of the first tests run together, and of all tests of one size for one fault."""

    first: float = 15.0
    whole: float = 120.0


class Trial:
    """Tries faults in one copy."""

    def __init__(self, copy: Copy, limits: Limits) -> None:
        self._copy = copy
        self._limits = limits
        self._steady: dict[str, bool] = {}

    def outcome(self, fault: Fault, reaching: Sequence[TimedTest]) -> Outcome:
        """What finds a fault, the cheapest means first."""
        with self._copy.planted(fault.file, fault.text):
            if self._linted(fault.file):
                return Outcome(LINT, "", 0, len(reaching))
            if self._copy.run([PYTHON, "-m", "mypy"], None):
                return Outcome(TYPES, "", 0, len(reaching))
        run = 0
        for by, thorough in ((QUICK, False), (THOROUGH, True)):
            for batch in batches([test for test in reaching if test.thorough == thorough], self._limits):
                run += len(batch)
                test = self._failing(fault, batch)
                if test is not None:
                    return Outcome(by, test, run, len(reaching))
        return Outcome(NOTHING, "", run, len(reaching))

    def _linted(self, file: str) -> bool:
        """Whether ruff objects to more than where lines are broken, which whoever makes a mistake has put in order."""
        self._copy.run([PYTHON, "-m", "ruff", "format", file], 60)
        return bool(self._copy.run([PYTHON, "-m", "ruff", "check", "--ignore", "E501", file], 60))

    def _failing(self, fault: Fault, batch: Sequence[TimedTest]) -> str | None:
        """The first of some tests that fails, and does not fail without the fault; a word if they do not end."""
        left = sorted((test.name for test in batch), key=part)
        while left:
            with self._copy.planted(fault.file, fault.text):
                ended, name = pytest(self._copy, left, limit(batch))
                if ended == USAGE:
                    # The fault changes which tests there are: all that stand in these files are run.
                    ended, name = pytest(self._copy, sorted({test.split("::")[0] for test in left}), limit(batch))
            if ended == 0:
                return None
            if ended == USAGE:
                self._must_start(left)
            if ended in (None, INTERRUPTED, USAGE) or self._is_steady(name, batch):
                return name or "no test: they did not start, or not end"
            left = left[left.index(name) + 1 :] if name in left else []
        return None

    def _must_start(self, names: Sequence[str]) -> None:
        """See that the names are of tests: if they are not, nothing is said of the fault."""
        if pytest(self._copy, names, None)[0] == USAGE:
            raise RuntimeError(f"pytest does not find these tests without a fault either: {self._copy.log} says why")

    def _is_steady(self, name: str, batch: Sequence[TimedTest]) -> bool:
        """Whether a test passes without a fault, run alone."""
        if name not in self._steady:
            self._steady[name] = pytest(self._copy, [name], limit(batch))[0] == 0
        return self._steady[name]


def pytest(copy: Copy, names: Sequence[str], seconds: float | None) -> tuple[int | None, str]:
    """The status of the named tests, stopped at the first failure, and the name of that one."""
    for _, own in itertools.groupby(names, part):
        ended, name = _pytest(copy, [*own], seconds)
        if ended != 0:
            return ended, name
    return 0, ""


def part(name: str) -> str:
    """Tests of different parts have different settings, so that pytest runs each part by itself."""
    return name[: name.index("tests/")] if "tests/" in name else ""


def _pytest(copy: Copy, names: Sequence[str], seconds: float | None) -> tuple[int | None, str]:
    asked, first = copy.home.parent / f"{copy.home.name}.names", copy.home.parent / f"{copy.home.name}.first"
    asked.write_text("\n".join(names))
    first.unlink(missing_ok=True)
    options = ["-x", "-q", "-m", "not programs", "-p", "no:cacheprovider", "-p", "strength.first"]
    ended = copy.run([PYTHON, "-m", "pytest", *options, f"@{asked}"], seconds, **{FILE: str(first)})
    return ended, first.read_text() if first.exists() else ""


def limit(batch: Sequence[TimedTest]) -> float:
    """Seconds after which some tests count as endless: ten times what they took, and a start on a busy machine."""
    return 180 + 10 * together(batch)


def batches(tests: Sequence[TimedTest], limits: Limits) -> Iterator[Sequence[TimedTest]]:
    """Tests in the order given, in lots whose bound doubles, until they took `limits.whole` seconds; at least one test."""
    lot: list[TimedTest] = []
    bound, spent = limits.first, 0.0
    for test in tests:
        if lot and together([*lot, test]) > bound:
            yield lot
            spent, lot, bound = spent + together(lot), [], 2 * bound
        if (lot or spent) and spent + together([*lot, test]) > limits.whole:
            break
        lot.append(test)
    if lot:
        yield lot


def together(tests: Sequence[TimedTest]) -> float:
    """Seconds of some tests in one process, where a fixture that several need is made once."""
    shared = {name: seconds for test in tests for name, seconds in test.shared}
    return sum(test.own for test in tests) + sum(shared.values())
