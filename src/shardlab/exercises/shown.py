"""Given cells that only show something: in a graded run they are left out, where no answer can tell.

An author tags such a cell `show` in `solutions/`: it prints or draws, and changes nothing but the names that it binds. It
runs all the same when a cell that runs reads one of these names, or may read names that are not written in it. So whatever
an answer needs is there; what is left out is most of a run's time.
"""

from __future__ import annotations

import ast
import re
import symtable
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

INDIRECT = re.compile(
    r"(?<![.\w])__name__\b|\b(__builtins__|__dict__|__globals__|__main__|builtins|eval|exec|f_back|f_globals|f_locals|get_ipython|"
    r"getclosurevars|globals|locals)\b"
)
"""Words by which code reads names that are not written in it."""
HISTORY = re.compile(r"_{1,3}|_\d+|_i{1,3}|_i\d+|_[dio]h|In|Out|vars")
"""Names that stand for others: IPython's for what cells returned, and for their texts."""


def left_out(cells: Sequence[Mapping[str, Any]], asked: Collection[str]) -> frozenset[int]:
    """Which of a notebook's code cells need not run, by position.

    Args:
        cells: in order; `source`, and, or `None`: the `question` of a grade cell, the names that a given cell `reads`, and
            those that it binds when it only `shows` something.
        asked: names that are looked at in the end.
    """
    own = {n: cell["source"] for n, cell in enumerate(cells) if cell["reads"] is None and not cell["question"]}
    reads = {n: cell["reads"] for n, cell in enumerate(cells) if cell["reads"] is not None and cell["shows"] is None}
    reads |= {n: read(text) for n, text in own.items()} | {len(cells): asked}
    if None in reads.values():
        return frozenset()
    covered = {n: surely_bound(text) for n, text in own.items()}
    idle = {n: cell for n, cell in enumerate(cells) if cell["shows"] is not None}
    while called := [n for n in idle if any(_sees(n, set(idle[n]["shows"]), at, reads[at], covered) for at in reads)]:
        reads |= {n: idle.pop(n)["reads"] for n in called}
    return frozenset(idle)


def _sees(n: int, binds: set[str], at: int, names: Collection[str], covered: Mapping[int, Collection[str]]) -> bool:
    """Whether the cell at `at`, which reads these names, may see what the n-th binds: no cell between binds it again."""
    seen = binds.intersection(names)
    return bool(seen and seen.difference(*(covered[between] for between in covered if n < between <= at)))


def given(text: str) -> frozenset[str]:
    """The names that a cell of ours reads; magics read none."""
    return frozenset(_names(re.sub(r"^(\s*)[%!].*", r"\1pass", text, flags=re.MULTILINE)))


def bound(text: str) -> frozenset[str]:
    """The names of the notebook that a cell binds.

    Raises:
        SyntaxError: it is not plain Python.
    """
    top = symtable.symtable(text, "cell", "exec")
    inner = (s for scope in _scopes(top) for s in scope.get_symbols() if s.is_declared_global())
    return frozenset(s.get_name() for s in (*inner, *top.get_symbols()) if s.is_assigned() or s.is_imported())


def surely_bound(text: str) -> frozenset[str]:
    """The names that a cell binds whatever its conditions and loops do, unless it raises."""
    names = set[str]()
    _unmet(ast.parse(text).body, names)
    return frozenset(names)


def read(text: str) -> frozenset[str] | None:
    """The names of the notebook that a cell reads before it binds them, and all that its functions read.

    `None` where that cannot be told.
    """
    try:
        names = _names(text)
    except Exception:  # not Python, magics, zero bytes, nested too deep: whatever it is, everything runs
        return None
    return None if INDIRECT.search(text) or any(map(HISTORY.fullmatch, names)) else names


def _names(text: str) -> frozenset[str]:
    inner = (s for scope in _scopes(symtable.symtable(text, "cell", "exec")) for s in scope.get_symbols())
    return frozenset(_unmet(ast.parse(text).body, set()).union(s.get_name() for s in inner if s.is_global()))


def _scopes(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for child in table.get_children():
        yield child
        yield from _scopes(child)


def _unmet(body: Iterable[ast.stmt], there: set[str]) -> set[str]:
    """The names that statements read at once and that are not there; `there` then has what they surely bind too."""
    unmet = set()
    for statement in body:
        match statement:
            case ast.For(target, iterable, inside, otherwise):
                unmet |= (_loads(iterable) | _loads(target)) - there
                unmet |= _unmet(inside, there | _stores(target)) | _unmet(otherwise, set(there))
            case ast.If(test, inside, otherwise) | ast.While(test, inside, otherwise):
                unmet |= (_loads(test) - there) | _unmet(inside, set(there)) | _unmet(otherwise, set(there))
            case ast.With(items, inside):
                for item in items:
                    unmet |= _loads(item) - there
                    there |= _stores(item)
                unmet |= _unmet(inside, there)
            case ast.Try(inside, handlers, otherwise, last):
                unmet |= _unmet(inside, set(there)) | _unmet(otherwise, set(there)) | _unmet(last, set(there))
                for handler in handlers:
                    unmet |= (_loads(handler.type) if handler.type else set()) - there
                    unmet |= _unmet(handler.body, there | {handler.name or ""})
            case ast.Assign() | ast.Import() | ast.ImportFrom() | ast.FunctionDef():
                unmet |= _loads(statement) - there
                there |= _stores(statement)
            case _:
                unmet |= _loads(statement) - there
    return unmet


def _loads(node: ast.AST) -> set[str]:
    """The names that are read when this is reached, without those that its functions read when they are called."""
    match node:
        case ast.Name(name, ast.Load() | ast.Del()):
            return {name}
        case ast.AugAssign(ast.Name(name), _, value):
            return {name} | _loads(value)
        case ast.Lambda(arguments):
            return _loads(arguments)
        case ast.FunctionDef(_, arguments, _, decorators) | ast.AsyncFunctionDef(_, arguments, _, decorators):
            return set().union(_loads(arguments), *map(_loads, decorators))
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return _loads(node.generators[0].iter)  # the rest has a scope of its own
    return set[str]().union(*map(_loads, ast.iter_child_nodes(node)))


def _stores(node: ast.AST) -> set[str]:
    match node:
        case ast.FunctionDef(name):
            return {name}
        case ast.alias(name, renamed):
            return {renamed or name.partition(".")[0]}
        case ast.Name(name, ast.Store()):
            return {name}
        case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return set()
    return set[str]().union(*map(_stores, ast.iter_child_nodes(node)))
