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
    r"(?<![.\w])__name__\b|\b(__builtins__|__dict__|__globals__|__main__|builtins|cProfile|doctest|eval|exec|f_back|f_globals|"
    r"f_locals|gc|get_ipython|getattr|getclosurevars|globals|importlib|inspect|locals|modules|setattr|__import__)\b"
)
"""Words by which code reads names that are not written in it, or puts a name together."""
HISTORY = re.compile(r"_{1,3}|_\d+|_i{1,3}|_i\d+|_[dio]h|In|Out|dir|vars")
"""Names that stand for others: IPython's for what cells returned, and for their texts."""
QUIET = frozenset("jax jnp lax nnx np plt print sl".split())
"""What a function may call for no result without a doubt: these change nothing that another cell has."""


def left_out(cells: Sequence[Mapping[str, Any]], asked: Collection[str]) -> frozenset[int]:
    """Which of a notebook's code cells need not run, by position.

    Args:
        cells: in order; `source`, and, or `None`: the `question` of a grade cell, the names that a given cell `reads`, and
            those that it binds when it only `shows` something.
        asked: names that are looked at in the end.
    """
    own = {n: cell["source"] for n, cell in enumerate(cells) if cell["reads"] is None and not cell["question"]}
    reads = {n: cell["reads"] for n, cell in enumerate(cells) if cell["reads"] is not None and cell["shows"] is None}
    reads |= {n: read(text) for n, text in own.items()} | {n: asked for n, cell in enumerate(cells) if cell["question"]}
    reads[len(cells)] = asked
    if None in reads.values():
        return frozenset()
    covered = {n: surely_bound(text) for n, text in own.items()}
    settled = {n: bound_first(text) for n, text in own.items()}
    idle = {n: cell for n, cell in enumerate(cells) if cell["shows"] is not None}
    earlier = {at: frozenset(names).difference(settled.get(at, ())) for at, names in reads.items()}
    while called := [n for n in idle if _is_seen(n, set(idle[n]["shows"]), reads, earlier, covered)]:
        new = {n: idle.pop(n)["reads"] for n in called}
        reads, earlier = reads | new, earlier | new
    return frozenset(idle)


def _is_seen(
    n: int, binds: set[str], reads: Mapping[int, Any], earlier: Mapping[int, Any], covered: Mapping[int, Collection[str]]
) -> bool:
    """Whether a cell that runs may see what the n-th binds: no cell between binds it again, nor itself before it reads."""
    for at in reads:
        seen = binds.intersection(earlier[at] if n < at else reads[at])
        if seen and seen.difference(*(covered[between] for between in covered if n < between < at)):
            return True
    return False


def given(text: str) -> frozenset[str]:
    """The names that a cell of ours reads; magics read none."""
    return frozenset(_names(without_magics(text)))


def bound(text: str) -> frozenset[str]:
    """The names of the notebook that a cell of ours binds; magics bind none.

    Raises:
        SyntaxError: it is not Python.
    """
    text = without_magics(text)
    top = symtable.symtable(text, "cell", "exec")
    inner = (s for scope in _scopes(top) for s in scope.get_symbols() if s.is_declared_global())
    names = {s.get_name() for s in (*inner, *top.get_symbols()) if s.is_assigned() or s.is_imported()}
    # From Python 3.12 on a comprehension has no scope there: its targets look bound, and what it binds for others does not.
    nodes = list(ast.walk(ast.parse(text)))
    inside = {id(node) for each in nodes if isinstance(each, ast.comprehension) for node in ast.walk(each.target)}
    others = {name for node in nodes if id(node) not in inside for name in _named(node)}
    targets = {name for node in nodes if id(node) in inside for name in _named(node)}
    return frozenset(names - (targets - others) | {node.target.id for node in nodes if isinstance(node, ast.NamedExpr)})


def _named(node: ast.AST) -> set[str]:
    """What a node may bind by itself, in whatever scope."""
    match node:
        case ast.Name(name, ast.Store()):
            return {name}
        case ast.alias():
            return _stores(node)
    return {name for name in (getattr(node, "name", None), getattr(node, "rest", None)) if name}


def without_magics(text: str) -> str:
    """A cell of ours, in which a line of IPython's or of the shell does nothing."""
    return re.sub(r"^(\s*)[%!].*", r"\1pass", text, flags=re.MULTILINE)


def surely_bound(text: str) -> frozenset[str]:
    """The names that a cell binds whatever its conditions and loops do, unless it raises."""
    names = set[str]()
    _unmet(ast.parse(text).body, names)
    return frozenset(names)


def bound_first(text: str) -> frozenset[str]:
    """Of these names those that nothing in the cell can have read before."""
    there, mentioned = set[str](), set[str]()
    for statement in ast.parse(text).body:
        mentioned |= _mentions(statement) - there
        _unmet([statement], there)
    return frozenset(there - mentioned)


def read(text: str) -> frozenset[str] | None:
    """The names of the notebook that a cell reads before it binds them, and all that its functions read.

    `None` where that cannot be told, and where its functions change what is not theirs: our cells may call them.
    """
    try:
        names = _names(text)
        changes = _changes(ast.parse(text), names)
    except Exception:  # not Python, magics, zero bytes, nested too deep: whatever it is, everything runs
        return None
    return None if changes or INDIRECT.search(text) or any(map(HISTORY.fullmatch, names)) else names


def _changes(tree: ast.Module, names: Collection[str]) -> bool:
    """Whether a function rebinds, or changes, what one of the notebook's names stands for."""
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))]
    return any(_change(node, names) for function in functions for node in ast.walk(function))


def _change(node: ast.AST, names: Collection[str]) -> bool:
    match node:
        case ast.Global():
            return True
        case ast.Expr(ast.Call(called, arguments, keywords)):
            # A result that is thrown away: the call is for its effect, on what it is a method of or on what it is given.
            touched = {_root(part) for part in (*arguments, *(word.value for word in keywords))}
            return _root(called) not in QUIET and bool({_root(called), *touched}.intersection(names))
        case ast.Call(ast.Attribute(whose, "append" | "pop" | "popitem" | "setdefault" | "update")):
            return _root(whose) in names and _root(whose) not in QUIET
        case ast.Call(ast.Name("next"), [whose, *_]):
            return _root(whose) in names
        case ast.Attribute(whose, _, ast.Store() | ast.Del()) | ast.Subscript(whose, _, ast.Store() | ast.Del()):
            return _root(whose) in names
    return False


def _root(node: ast.AST) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _mentions(node: ast.AST) -> set[str]:
    """All names that are read in this, whenever it is."""
    inside = list(ast.walk(node))
    names = {n.id for n in inside if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Store)}
    return names | {n.target.id for n in inside if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)}


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
                unmet |= _unmet(inside, set(there))  # it may swallow an exception
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
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            outside = [node.args, *node.decorator_list, *([node.returns] if node.returns else [])]
            return set[str]().union(*map(_loads, outside))
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            first, *rest = map(_loads, [node.generators[0].iter, *ast.iter_child_nodes(node)])
            own = set[str]().union(*(_stores(each.target) for each in node.generators))
            return first | (set[str]().union(*rest) - own)
    return set[str]().union(*map(_loads, ast.iter_child_nodes(node)))


def _stores(node: ast.AST) -> set[str]:
    match node:
        case ast.FunctionDef(name):
            return {name}
        case ast.alias(name, renamed):
            return {renamed or name.partition(".")[0]}
        case ast.Name(name, ast.Store()):
            return {name}
        case ast.NamedExpr() | ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return set()
    return set[str]().union(*map(_stores, ast.iter_child_nodes(node)))
