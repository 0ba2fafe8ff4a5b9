"""Small mistakes in plain Python: each operator gives what could stand in place of one node of the syntax tree."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator

Operator = Callable[[ast.AST], Iterator[ast.AST]]
SWAPPED: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Div,), ast.Div: (ast.Mult, ast.FloorDiv),
    ast.FloorDiv: (ast.Div,), ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt,), ast.Gt: (ast.GtE, ast.Lt), ast.GtE: (ast.Gt,),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.And: (ast.Or,), ast.Or: (ast.And,), ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}  # fmt: skip
CALLS = {
    "min": "max", "max": "min", "sum": "mean", "mean": "sum", "argmax": "argmin", "argmin": "argmax", "any": "all",
    "all": "any", "ceil": "floor", "floor": "ceil", "zeros": "ones", "ones": "zeros", "zeros_like": "ones_like",
    "exp": "log", "log": "exp", "std": "var", "var": "std", "maximum": "minimum", "minimum": "maximum", "sin": "cos",
    "cos": "sin", "fft": "ifft", "ifft": "fft", "triu": "tril", "tril": "triu", "vstack": "hstack", "hstack": "vstack",
}  # fmt: skip
KEEPS_SHAPE = {"sorted", "list", "tuple", "round", "int", "float", "abs", "ceil", "floor", "exp", "log", "sqrt", "square"}


def called(node: ast.AST) -> str:
    """The last name of what a call calls: `psum` of `jax.lax.psum(x, "x")`."""
    function = node.func if isinstance(node, ast.Call) else None
    return function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""


def renamed(node: ast.Call, name: str) -> ast.Call:
    """The call, of another function of the same module or object."""
    new = copy.deepcopy(node)
    if isinstance(new.func, ast.Attribute):
        new.func.attr = name
    else:
        new.func = ast.Name(name, ast.Load())
    return new


def number(value: float) -> ast.expr:
    """A literal."""
    return ast.Constant(value) if value >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-value))


def of(operation: type[ast.operator], left: ast.expr, right: ast.expr) -> ast.BinOp:
    """The two, joined."""
    return ast.BinOp(left, operation(), right)


def other_operation(node: ast.AST) -> Iterator[ast.AST]:
    """`+` for `-`, `<` for `<=`, `and` for `or`."""
    if isinstance(node, ast.BinOp | ast.BoolOp):
        for other in SWAPPED.get(type(node.op), ()):
            new = copy.copy(node)
            new.op = other()  # type: ignore[assignment]
            yield new
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        for other in SWAPPED.get(type(node.ops[0]), ()):
            yield ast.Compare(node.left, [other()], node.comparators)  # type: ignore[list-item]


def one_operand(node: ast.AST) -> Iterator[ast.AST]:
    """One side alone of an operation; the factor, the modulus, the shift forgotten."""
    if isinstance(node, ast.BinOp):
        yield node.left
        if isinstance(node.op, ast.Add | ast.Mult):
            yield node.right
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.IfExp):
        yield node.body
        yield node.orelse
    elif isinstance(node, ast.BoolOp):
        yield from node.values


def operands_swapped(node: ast.AST) -> Iterator[ast.AST]:
    """`b - a` for `a - b`, `b @ a`, the first two arguments of a call."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub | ast.Div | ast.MatMult | ast.Mod | ast.FloorDiv):
        yield of(type(node.op), node.right, node.left)
    elif isinstance(node, ast.Call) and len(node.args) >= 2 and called(node) in ("concatenate", "matmul", "dot", "maximum"):
        yield ast.Call(node.func, [node.args[1], node.args[0], *node.args[2:]], node.keywords)
    elif isinstance(node, ast.List) and len(node.elts) == 2:
        yield ast.List(node.elts[::-1], node.ctx)


def off_by_one(node: ast.AST) -> Iterator[ast.AST]:
    """A whole number one larger or smaller; a small float away, or ten times as large."""
    if isinstance(node, ast.Constant) and type(node.value) is int and abs(node.value) < 1000:
        yield number(node.value + 1)
        yield number(node.value - 1)
    elif isinstance(node, ast.Constant) and type(node.value) is float:
        yield number(node.value * 10)
        yield number(0.0)


def other_range(node: ast.AST) -> Iterator[ast.AST]:
    """A loop that runs once more, once less, or begins with one."""
    if called(node) in ("range", "arange") and isinstance(node, ast.Call) and len(node.args) == 1:
        (end,) = node.args
        yield ast.Call(node.func, [of(ast.Sub, end, number(1))], node.keywords)
        yield ast.Call(node.func, [of(ast.Add, end, number(1))], node.keywords)
        yield ast.Call(node.func, [number(1), end], node.keywords)
    elif called(node) in ("fori_loop",) and isinstance(node, ast.Call) and len(node.args) >= 2:
        start, end, *rest = node.args
        yield ast.Call(node.func, [start, of(ast.Sub, end, number(1)), *rest], node.keywords)
        yield ast.Call(node.func, [of(ast.Add, start, number(1)), end, *rest], node.keywords)


def other_bounds(node: ast.AST) -> Iterator[ast.AST]:
    """A slice that ends or begins one further, or that takes everything."""
    if isinstance(node, ast.Slice):
        if node.upper is not None:
            yield ast.Slice(node.lower, of(ast.Sub, node.upper, number(1)), node.step)
            yield ast.Slice(node.lower, None, node.step)
        if node.lower is not None:
            yield ast.Slice(of(ast.Add, node.lower, number(1)), node.upper, node.step)
            yield ast.Slice(None, node.upper, node.step)


def other_call(node: ast.AST) -> Iterator[ast.AST]:
    """`max` for `min`, `mean` for `sum`, `floor` for `ceil`; or what is called, left out."""
    if isinstance(node, ast.Call) and called(node) in CALLS:
        yield renamed(node, CALLS[called(node)])
    if isinstance(node, ast.Call) and called(node) in KEEPS_SHAPE and node.args:
        yield node.args[0]


def other_literal(node: ast.AST) -> Iterator[ast.AST]:
    """`True` for `False`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)


def statement_left_out(node: ast.AST) -> Iterator[ast.AST]:
    """What is bound again keeps its first value; a branch is always taken."""
    if isinstance(node, ast.AugAssign):
        yield ast.Pass()
    elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        if any(isinstance(n, ast.Name) and n.id == node.targets[0].id for n in ast.walk(node.value)):
            yield ast.Pass()
    elif isinstance(node, ast.If):
        yield ast.If(ast.Constant(True), node.body, node.orelse)
        yield ast.If(ast.Constant(False), node.body, node.orelse)


PLAIN: dict[str, Operator] = {
    "operation": other_operation, "operand": one_operand, "order": operands_swapped, "off by one": off_by_one,
    "rounds": other_range, "bounds": other_bounds, "function": other_call, "flag": other_literal,
    "step left out": statement_left_out,
}  # fmt: skip
