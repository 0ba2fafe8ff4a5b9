"""Faults that can be planted: mutmut's operators on one place of one file, drawn at random."""

from __future__ import annotations

import ast
import dataclasses
import difflib
import random
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import libcst
from mutmut.mutation.mutators import mutation_operators, operator_string

from strength.copies import HOMES

Operator = Callable[[Any], Iterable[libcst.CSTNode]]
STUDENTS = re.compile(r"grader/samples/|.*/ch\d\d/ex\d\d/answers\.py$")
"""Notebooks and answers as students write them: `make mutants` changes these."""
LEFT = (libcst.Annotation, libcst.BaseParenthesizableWhitespace, libcst.TrailingWhitespace, libcst.EmptyLine)
"""Nodes whose changes make no difference at run time."""


@dataclasses.dataclass(frozen=True)
class Site:
    """A node that an operator changes, and the function that it stands in; no function at the top of a module."""

    node: libcst.CSTNode
    operator: Operator
    function: str


@dataclasses.dataclass(frozen=True)
class Fault:
    """One change of one file; `before` and `after` are the changed lines, joined and without their indentation."""

    file: str
    line: int
    function: str
    operator: str
    before: str
    after: str
    text: str = dataclasses.field(repr=False)
    diff: str = dataclasses.field(repr=False)

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What stays the same when lines are added above."""
        return self.file, self.function, self.before, self.after

    @property
    def room(self) -> str:
        """The package."""
        return module_of(self.file).split(".")[0]


class Sites(libcst.CSTVisitor):
    """Collects the sites of a module.

    A string with a blank is prose, which editors read and tests do not.
    """

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Site] = []
        self._inside: list[str] = []

    def on_visit(self, node: libcst.CSTNode) -> bool:
        """Note what can be changed here, and look below."""
        if isinstance(node, LEFT):
            return False
        if isinstance(node, libcst.FunctionDef | libcst.ClassDef):
            self._inside.append(node.name.value)
        for kind, operator in mutation_operators:
            prose = operator is operator_string and (not isinstance(node, libcst.SimpleString) or " " in node.value)
            if isinstance(node, kind) and not prose and next(iter(operator(node)), None) is not None:
                self.found.append(Site(node, operator, ".".join(self._inside)))
        return True

    def on_leave(self, original_node: libcst.CSTNode) -> None:
        """Leave a function or class."""
        if isinstance(original_node, libcst.FunctionDef | libcst.ClassDef):
            self._inside.pop()


def module_of(file: str) -> str:
    """`src/shardlab/errors.py` as it is imported: `shardlab.errors`."""
    home = next(home for home in HOMES if file.startswith(f"{home}/"))
    return ".".join(Path(file).relative_to(home).with_suffix("").parts).removesuffix(".__init__")


def sites(source: str) -> tuple[libcst.Module, Sequence[Site]]:
    """A module and its sites, in the order of the text."""
    module, visitor = libcst.parse_module(source), Sites()
    module.visit(visitor)
    return module, visitor.found


def drawn(root: Path, seed: int) -> Iterator[Fault]:
    """Faults of the packages' files that git knows, in an order drawn at random."""
    listed = subprocess.run(["git", "ls-files", *HOMES], cwd=root, capture_output=True, text=True, check=True).stdout.split()
    files = [name for name in sorted(listed) if name.endswith(".py") and not STUDENTS.match(name)]
    places = [(name, i) for name in files for i in range(len(sites((root / name).read_text())[1]))]
    drawing = random.Random(seed)
    for name, index in drawing.sample(places, len(places)):
        made = planted(name, (root / name).read_text(), index, drawing)
        if made is not None:
            yield made


def planted(file: str, source: str, index: int, drawing: random.Random) -> Fault | None:
    """One of the changes that its operator makes at a site; none if the text is no program, or the same program."""
    module, found = sites(source)
    site = found[index]
    changed = drawing.choice([*site.operator(site.node)])
    replaced = module.deep_replace(site.node, changed)
    text = replaced.code if isinstance(replaced, libcst.Module) else source
    try:
        same = ast.dump(ast.parse(text)) == ast.dump(ast.parse(source))
    except SyntaxError:
        return None
    return None if same else fault(file, source, text, site)


def fault(file: str, source: str, text: str, site: Site) -> Fault:
    """The fault that makes one text of another."""
    lines = [*difflib.unified_diff(source.splitlines(), text.splitlines(), file, file, lineterm="", n=0)]
    before, after = (" ".join(line[1:].strip() for line in lines[2:] if line[0] == sign) for sign in "-+")
    line = next(i for i, (a, b) in enumerate(zip(source.splitlines(), [*text.splitlines(), ""]), start=1) if a != b)
    name = site.operator.__name__.removeprefix("operator_").replace("_", " ")
    return Fault(file, line, site.function, name, before, after, text, "\n".join(lines))
