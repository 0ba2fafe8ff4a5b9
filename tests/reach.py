"""Which names of a reference mean the same in a variant, read from the syntax; in doubt none do."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence, Set

from shardlab_course.answers import predicts

INDIRECT = {"*", "globals", "locals", "vars", "eval", "exec", "setattr", "delattr"}
"""What reaches names that are not written."""


def untouched(reference: Iterable[ast.stmt], body: Iterable[ast.stmt], names: Iterable[str]) -> set[str]:
    """Those of some names of a reference whose meaning a variant's body cannot change.

    Neither such a name nor any that its object may come to is bound there, nor stands where its object may be changed.
    """
    before, added = tuple(reference), tuple(body)
    if any(map(_reaches_farther, added)) or any(map(_indirect, (node for s in before + added for node in ast.walk(s)))):
        return set()
    imports = imported(before + added)
    touched = set()
    for statement in added:
        at_risk = changed(statement, imports)
        touched |= bound(statement) | at_risk | (reached(before, at_risk - imports) - imports)
    # A local name of a function may be spelled like a local one of another.
    touched &= set().union(*map(bound, before + added))
    return {name for name in names if not touched & reached(before, {name})}


def reached(statements: Sequence[ast.stmt], names: Set[str]) -> set[str]:
    """The names, with all that stand in the statements which bind or may change them, and so on."""
    imports = imported(statements)
    about = [(bound(s) | changed(s, imports), _names([s])) for s in statements]
    found: set[str] = set()
    new = set(names)
    while new:
        found |= new
        new = {name for made, read in about if made & new for name in read} - found
    return found


def bound(statement: ast.stmt) -> set[str]:
    """The names that a statement of a module binds or deletes."""
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            return {(alias.asname or alias.name).partition(".")[0] for alias in aliases}
    nodes = list(ast.walk(statement))
    inner = [bound(n) for n in nodes if isinstance(n, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom)]
    return {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}.union(*inner)


def changed(statement: ast.stmt, imports: Set[str]) -> set[str]:
    """The names whose objects a statement of a module may change: those beside a call, and all of one that binds nothing.

    Calling something of an imported module for its result changes no module.
    """
    parts = list(evaluated(statement))
    nodes = [node for part in parts for node in ast.walk(part)]
    stores = any(isinstance(n, ast.Attribute | ast.Subscript) and not isinstance(n.ctx, ast.Load) for n in nodes)
    if stores or not (bound(statement) or predicts(statement)):
        return _names(parts)
    calls = any(isinstance(n, ast.Call) for n in nodes) or getattr(statement, "decorator_list", ())
    quiet = isinstance(statement, ast.Assign | ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom) and not calls
    return set() if quiet else _names(parts) - imports


def evaluated(statement: ast.stmt) -> Iterator[ast.AST]:
    """The parts of a statement that run when it does: of a function what stands around its body."""
    match statement:
        case ast.Import() | ast.ImportFrom():
            return
        case ast.FunctionDef(args=args, returns=returns, decorator_list=decorators):
            yield from (args, *decorators, *filter(None, [returns]))
        case ast.ClassDef(bases=bases, keywords=keywords, decorator_list=decorators, body=body):
            yield from (*bases, *keywords, *decorators)
            for inner in body:
                yield from evaluated(inner)
        case _:
            yield statement


def imported(statements: Iterable[ast.stmt]) -> set[str]:
    """The names of modules and of what is in them: `jax`, and `P` after `P = jax.P`."""
    found: set[str] = set()
    for statement in statements:
        match statement:
            case ast.Import() | ast.ImportFrom():
                found |= bound(statement)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Attribute() as value) if _root(value) in found:
                found.add(name)
    return found


def _reaches_farther(statement: ast.stmt) -> bool:
    """Whether it may change what no name tells: it is only a call, as of `jax.config.update`, or sets an attribute."""
    if isinstance(statement, ast.Expr):
        return not (predicts(statement) or isinstance(statement.value, ast.Constant))
    nodes = (node for part in evaluated(statement) for node in ast.walk(part))
    return any(isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load) for node in nodes)


def _indirect(node: ast.AST) -> bool:
    return isinstance(node, ast.Global) or bool({getattr(node, "id", ""), getattr(node, "name", "")} & INDIRECT)


def _root(value: ast.expr) -> str:
    while isinstance(value, ast.Attribute):
        value = value.value
    return value.id if isinstance(value, ast.Name) else ""


def _names(parts: Iterable[ast.AST]) -> set[str]:
    return {node.id for part in parts for node in ast.walk(part) if isinstance(node, ast.Name)}
