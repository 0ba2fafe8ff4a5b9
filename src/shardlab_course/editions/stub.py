"""A cell with solution regions as a student gets it: each region replaced by a stub that names what to write."""

from __future__ import annotations

import ast
import contextlib
import textwrap
from collections.abc import Iterator

from IPython.core.inputtransformer2 import TransformerManager

from shardlab.errors import ShardlabError

BEGIN, END, TODO = "### BEGIN SOLUTION", "### END SOLUTION", "  # TODO"
WIDTH = 75


def has_region(source: str) -> bool:
    """Whether the cell holds a marker of a solution region, paired or not."""
    return BEGIN in source or END in source


def unmark(source: str) -> str:
    """The cell without the marker lines, solutions kept."""
    return "\n".join(line for line in source.split("\n") if line.strip() not in (BEGIN, END))


def stub(source: str, where: str) -> str:
    """The cell with every solution region replaced by its stub.

    Args:
        where: file and cell, for the message.
    Raises:
        ShardlabError: markers do not pair up, the cell does not parse, or a region has nothing that a student could fill in.
    """
    lines = source.split("\n")
    functions = _function_lines(_parsed(source, where))
    kept: list[str] = []
    after = 0
    for begin, end in _regions(lines, where):
        indent = lines[begin][: len(lines[begin]) - len(lines[begin].lstrip())]
        text = textwrap.dedent("\n".join(lines[begin + 1 : end])).strip("\n")
        body = [f"return ...{TODO}"] if begin + 1 in functions else _top_level(text, where)
        kept += lines[after:begin] + [indent + line for line in body]
        after = end + 1
    stubbed = "\n".join(kept + lines[after:])
    # What parses may still not compile, such as a `return` outside a function; `await` is legal in a cell.
    with _told(f"{where}, after its solution was replaced by a stub"):
        compile(_plain(stubbed), "<cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    return stubbed


def _regions(lines: list[str], where: str) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    begin: int | None = None
    for number, line in enumerate(lines):
        mark = line.strip()
        if BEGIN not in mark and END not in mark:
            continue
        if mark not in (BEGIN, END) or (mark == BEGIN) != (begin is None):
            raise _unbalanced(where, f"line {number + 1}: {mark}")
        if begin is None:
            begin = number
        else:
            found.append((begin, number))
            begin = None
    if begin is not None:
        raise _unbalanced(where, f"line {begin + 1}: {BEGIN} has no {END}")
    return found


def _unbalanced(where: str, line: str) -> ShardlabError:
    mend = f"write each '{BEGIN}' and the '{END}' after it on lines of their own; regions do not nest."
    what = "a solution region does not open and close."
    return ShardlabError("unbalanced-solution-markers", what, where=f"{where}, {line}", mend=mend)


def _plain(source: str) -> str:
    """The cell as Python has it: magics are calls, and line numbers are kept."""
    return TransformerManager().transform_cell(source)


def _parsed(source: str, where: str) -> ast.Module:
    with _told(where):
        return ast.parse(_plain(source))


@contextlib.contextmanager
def _told(where: str) -> Iterator[None]:
    """A message in place of a SyntaxError."""
    try:
        yield
    except SyntaxError as error:
        where = f"{where}, line {error.lineno}: {(error.text or '').strip()}"
        mend = "write a cell that is Python on its own; a region must not cut a statement in two."
        raise ShardlabError("cell-does-not-parse", f"the cell is not Python: {error.msg}.", where=where, mend=mend) from None


def _function_lines(tree: ast.Module) -> set[int]:
    """Numbers of the lines inside functions, the `def` line itself left out."""
    inside: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            inside.update(range(node.lineno + 1, (node.end_lineno or node.lineno) + 1))
    return inside


def _top_level(region: str, where: str) -> list[str]:
    """Stub lines of a region outside any function."""
    stubs = dict.fromkeys(tuple(_statement(node, region)) for node in _parsed(region, where).body)
    lines = [line for written in stubs for line in written]
    if not lines:
        what = "a solution region has no assignment, function or sl.predict(...) that a stub could keep."
        mend = "assign the answer to a name inside the region, or move the markers into the function body."
        raise ShardlabError("region-without-stub", what, where=where, mend=mend)
    return lines


def _statement(node: ast.stmt, region: str) -> list[str]:
    """The stub of one statement; names that start with `_` are the solution's own and go."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Dict(keys=keys)) if (
            keys and all(map(_is_text, keys)) and not name.startswith("_")
        ):
            return [f"{name} = {{", *(f"    {ast.get_source_segment(region, key)}: ...,{TODO}" for key in keys if key), "}"]
        case ast.Assign(targets=targets):
            names = [name for target in targets for name in _names(target)]
            return [f"{name} = ...{TODO}" for name in names if not name.startswith("_")]
        case ast.AnnAssign(target=ast.Name(id=name)) if not name.startswith("_"):
            return [f"{name}: {ast.unparse(node.annotation)} = ...{TODO}"]
        case ast.Expr(value=ast.Call(keywords=[_, *_]) as call) if ast.unparse(call.func) == "sl.predict":
            return _predict(call, region)
        case ast.FunctionDef(name=name) if not name.startswith("_"):
            return _signature(node, region)
        case ast.With(body=body) | ast.If(body=body) | ast.For(body=body):
            return [line for inner in body for line in _statement(inner, region)]
    return []


def _names(target: ast.expr) -> list[str]:
    """The names that a target binds; `d[0]` and `a.b` bind none."""
    match target:
        case ast.Name(id=name):
            return [name]
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            return [name for each in targets for name in _names(each)]
        case ast.Starred(value=value):
            return _names(value)
    return []


def _signature(node: ast.FunctionDef, region: str) -> list[str]:
    """A function of the region: its decorators, signature and docstring."""
    lines, first = region.split("\n"), node.body[0]
    before = lines[_top(first) - 1].encode()[: first.col_offset].decode()
    kept = [*lines[_top(node) - 1 : _top(first) - 1], before.rstrip()]
    while not kept[-1].strip() or kept[-1].lstrip().startswith("#"):
        kept.pop()
    # A body that begins on the signature's last line has no indent of its own.
    indent = "    " if before.strip() else before
    if ast.get_docstring(node) is not None:
        kept += f"{indent}{ast.get_source_segment(region, first)}".split("\n")
    return [*kept, f"{indent}return ...{TODO}"]


def _top(node: ast.stmt) -> int:
    """The number of a statement's first line, which may be a decorator's."""
    return min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", []))])


def _predict(call: ast.Call, region: str) -> list[str]:
    """`sl.predict("4.5", kinds=...)`: the question stays, every other value goes."""
    arguments = [str(ast.get_source_segment(region, a)) if _is_text(a) else "..." for a in call.args]
    arguments += [f"{keyword.arg}=..." for keyword in call.keywords if keyword.arg]
    line = f"sl.predict({', '.join(arguments)}){TODO}"
    if len(line) <= WIDTH:
        return [line]
    return ["sl.predict(", *(f"    {argument},{TODO if argument.endswith('...') else ''}" for argument in arguments), ")"]


def _is_text(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
