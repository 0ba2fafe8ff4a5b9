"""Which recorded tests reach a line: in their own process or in a child's, and if none does, which come near it."""

from __future__ import annotations

import ast
import dataclasses
import json
import weakref
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from pathlib import Path

import coverage

from strength.copies import HOMES
from strength.faults import Fault, module_of


@dataclasses.dataclass(frozen=True)
class TimedTest:
    """A recorded test, its own seconds, and those of what it shares with other tests."""

    name: str
    own: float
    shared: Sequence[tuple[str, float]]
    thorough: bool
    sandbox: bool

    @property
    def seconds(self) -> float:
        """What it takes alone."""
        return self.own + sum(seconds for _, seconds in self.shared)


class Record:
    """What was recorded of some parts of the suite, each in a folder, at one commit."""

    def __init__(self, parts: Iterable[Path], root: Path) -> None:
        self._root = root
        self._lines = coverage.CoverageData(no_disk=True)
        weakref.finalize(self, self._lines.close, force=True)  # Python 3.13 warns of a database that is left open
        self.tests: dict[str, TimedTest] = {}
        self._users: dict[str, set[str]] = defaultdict(set)
        self._known: dict[str, Mapping[int, set[str]]] = {}
        for part in parts:
            self._read(json.loads((part / "tests.json").read_text()))
            for path in part.glob("lines.*"):
                read = coverage.CoverageData(str(path))
                read.read()
                self._lines.update(read)
                read.close(force=True)

    def _read(self, kept: Mapping[str, Mapping[str, Mapping[str, object]]]) -> None:
        seconds = {name: float(str(spent)) for name, spent in kept["seconds"].items()}
        for name, told in kept["tests"].items():
            shared = told["shared"]
            assert isinstance(shared, list)
            if told["passed"]:
                costs = [(fixture, seconds.get(fixture, 0.0)) for fixture in shared]
                self.tests[name] = TimedTest(name, seconds[name], costs, bool(told["thorough"]), bool(told["sandbox"]))
                for context in (name, *shared):
                    self._users[context].add(name)

    def reaching(self, fault: Fault) -> Sequence[TimedTest]:
        """Tests to run, those that reach the line first, then those that come near it, each group from the cheapest on."""
        found: dict[str, TimedTest] = {}
        for names in self._circles(fault):
            fresh = sorted((self.tests[name] for name in names - set(found)), key=lambda test: test.seconds)
            found |= {test.name: test for test in fresh}
        return [*found.values()]

    def _circles(self, fault: Fault) -> Iterator[Set[str]]:
        """Tests that reach the line. What a module does on import concerns more tests than the one that imports it first."""
        by_line = self._by_line(fault.file)
        lines = statement((self._root / fault.file).read_text(), fault.line)
        exact = by_line.get(fault.line) or set().union(*(by_line.get(line, ()) for line in lines))
        yield exact
        if fault.function and exact:
            return
        yield self._of_file(fault.file)
        for name in self._importers.get(fault.file, ()):
            yield self._of_file(name)
        yield self._naming({module_of(fault.file), fault.function.split(".")[-1]} - {""})
        # What runs in the sandbox is not recorded: its environment is empty, and nothing can be written there.
        yield {name for name, test in self.tests.items() if test.sandbox}

    def _by_line(self, file: str) -> Mapping[int, set[str]]:
        if file not in self._known:
            lines = self._lines.contexts_by_lineno(str(self._root / file)).items()
            self._known[file] = {line: set().union(*(self._users.get(name, ()) for name in names)) for line, names in lines}
        return self._known[file]

    def _of_file(self, file: str) -> Set[str]:
        return set().union(*self._by_line(file).values())

    def _naming(self, words: Set[str]) -> Set[str]:
        """Tests whose file names one of these: a child with an environment of its own records nothing."""
        files = {name.split("::")[0] for name in self.tests}
        naming = {file for file in files if any(word in (self._root / file).read_text() for word in words)}
        return {name for name in self.tests if name.split("::")[0] in naming}

    @cached_property
    def _importers(self) -> Mapping[str, Sequence[str]]:
        """By file the files that import it by name."""
        found = defaultdict(list)
        files = [str(path.relative_to(self._root)) for room in HOMES for path in sorted((self._root / room).rglob("*.py"))]
        modules = {module_of(name): name for name in files}
        for name in files:
            for imported in imports((self._root / name).read_text()) & set(modules):
                found[modules[imported]].append(name)
        return found


def imports(source: str) -> set[str]:
    """The modules that a text imports, and names that may be modules."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def statement(source: str, line: int) -> range:
    """The lines of the smallest statement around a line; of one that holds others, the lines above the first of these."""
    best = range(line, line + 1)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno):
            body = getattr(node, "body", None)
            end = body[0].lineno - 1 if isinstance(body, list) and body else node.end_lineno or node.lineno
            best = range(node.lineno, max(end, node.lineno) + 1) if line <= max(end, node.lineno) else best
    return best
