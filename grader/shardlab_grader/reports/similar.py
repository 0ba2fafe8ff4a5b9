"""Answers of two students that are equal after renaming, with how rare they are in the class: for the instructor alone.

Equal programs follow from the question more often than from the students. So an answer counts only where few of a class
wrote it, and beside it stands how many of the class have its compiled program.
"""

from __future__ import annotations

import ast
import collections
import dataclasses
import hashlib
import itertools
from collections.abc import Iterable, Mapping, Sequence

from rich.markup import escape
from rich.table import Table

from shardlab_grader.plain import plain
from shardlab_grader.reports.figures import FEW

LEAST = 4
"""Lines below which an answer is not compared: there are too few ways to write it."""
RARE = 5
"""An answer is rare if no more than two students, or one in so many, wrote it."""
MOST = 20
"""Pairs in the table."""
LONGEST = 100_000
"""Characters of an answer that are read."""


@dataclasses.dataclass(frozen=True)
class Answer:
    """What one student wrote for an exercise: a hash after renaming, its lines, a hash of its programs, if it is right."""

    text: str
    lines: int
    program: str = ""
    passed: bool = True


@dataclasses.dataclass(frozen=True)
class Shared:
    """An exercise that a pair answered alike, and how many of those `answered` wrote the same, or have its programs."""

    exercise: str
    lines: int
    wrote: int
    compiled: int
    answered: int
    passed: bool


@dataclasses.dataclass(frozen=True)
class Alike:
    """Two students, and what both wrote, the rarest first."""

    students: tuple[str, str]
    shared: tuple[Shared, ...]


def answer(cells: Iterable[str], program: str = "", passed: bool = True) -> Answer | None:
    """What cells say after renaming; nothing where Python cannot read one, or where there is too little to compare."""
    names, texts, lines = dict[str, str](), list[str](), 0
    try:
        trees = [ast.parse(source[:LONGEST]) for source in cells]
        bound = {name for tree in trees for node in ast.walk(tree) for name in _bound(node)}
        for tree in trees:
            renamed = _Renamed(bound, names).visit(tree)
            texts.append(ast.dump(renamed, annotate_fields=False))
            lines += len(ast.unparse(renamed).splitlines())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return Answer(hashlib.sha256("\n".join(texts).encode()).hexdigest(), lines, program, passed) if lines >= LEAST else None


def alike(answers: Mapping[str, Mapping[str, Answer]]) -> list[Alike] | None:
    """The pairs that share rare answers, those that share most first; `None` where the class is too small to tell.

    Args:
        answers: by student and exercise.
    """
    if len(answers) < FEW:
        return None
    found: dict[tuple[str, str], list[Shared]] = collections.defaultdict(list)
    for exercise in sorted({exercise for each in answers.values() for exercise in each}):
        given = {student: each[exercise] for student, each in answers.items() if exercise in each}
        wrote = collections.Counter(one.text for one in given.values())
        compiled = collections.Counter(one.program for one in given.values() if one.program)
        for one, other in itertools.combinations(sorted(given), 2):
            first, second = given[one], given[other]
            if first.text == second.text and wrote[first.text] <= max(2, len(given) // RARE):
                same = compiled[first.program] if first.program == second.program else 0
                shared = Shared(exercise, first.lines, wrote[first.text], same, len(given), first.passed and second.passed)
                found[one, other].append(shared)
    pairs = [Alike(pair, tuple(sorted(each, key=_rarity))) for pair, each in found.items()]
    return sorted(pairs, key=lambda pair: (-len(pair.shared), _rarity(pair.shared[0]), pair.students))


def parts(answers: Mapping[str, Mapping[str, Answer]], names: Mapping[str, str], assignment: str) -> list[Table | str]:
    """What a terminal shows of the pairs, and what it means."""
    found = alike(answers)
    listed: list[Table | str] = [table(found, names), ""] if found else []
    return ["", *listed, *sentences(found, assignment)]


def table(found: Sequence[Alike], names: Mapping[str, str]) -> Table:
    """One row an exercise that a pair shares; `names` says how a student is shown."""
    shown = Table(box=None, pad_edge=False, header_style="bold")
    shown.add_column("pair", overflow="fold")
    for name in ("exercise", "lines", "wrote it", "have its program"):
        shown.add_column(name, justify="right")
    shown.add_column("it is")
    for pair in found[:MOST]:
        both = " and ".join(escape(plain(names[student])) for student in pair.students)
        for n, one in enumerate(pair.shared):
            compiled = f"{one.compiled} of {one.answered}" if one.compiled else "-"
            said = "right" if one.passed else "not right"
            shown.add_row(both * (n == 0), one.exercise, str(one.lines), f"{one.wrote} of {one.answered}", compiled, said)
    return shown


def sentences(found: Sequence[Alike] | None, assignment: str) -> list[str]:
    """What the table means, and what it does not."""
    if found is None:
        return [f"The report does not compare answers: that takes {FEW} submissions."]
    if not found:
        return ["No two students share an answer that is rare in this class."]
    more = [f"{len(found) - MOST} more pairs share less."] * (len(found) > MOST)
    return [
        *more,
        f"Listed: answers of at least {LEAST} lines that are equal after renaming and rare in this class.",
        "A right answer that is short proves nothing: many students who work alone write the same one. Ask both students "
        f"about their programs: shardlab-grader viva {assignment}",
    ]


def _rarity(one: Shared) -> tuple[float, int, str]:
    return one.wrote / one.answered, -one.lines, one.exercise


def _bound(node: ast.AST) -> list[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
            return [name]
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.alias(asname=str(name)):
            return [name]
    return []


class _Renamed(ast.NodeTransformer):
    """Names that the answer gives become numbers, in the order in which they come; docstrings and annotations go."""

    def __init__(self, bound: set[str], names: dict[str, str]) -> None:
        self._bound, self._names = bound, names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(self._name(node.id), node.ctx)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.arg(self._name(node.arg))

    def visit_alias(self, node: ast.alias) -> ast.AST:
        return ast.alias(node.name, self._name(node.asname) if node.asname else None)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name, node.returns = self._name(node.name), None
        if ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        made = ast.Assign([node.target], node.value) if node.value else ast.Pass()
        return self.generic_visit(ast.fix_missing_locations(ast.copy_location(made, node)))

    def _name(self, text: str) -> str:
        return self._names.setdefault(text, f"_{len(self._names)}") if text in self._bound else text
