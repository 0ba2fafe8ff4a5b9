"""What the lens and the helper raise: an error with an entry on the errors page, or another one that has its reason here."""

from __future__ import annotations

import ast
import pathlib
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).parents[1]
OURS = {"LensError", "ShardlabError", "ShardingError"}
"""Those whose first argument is a heading of errors.md: see `tests/book/test_book.py`."""

CAUGHT = "It never leaves the package: what calls this catches it."
RECORDED = "It is recorded where an answer is, and the judge's feedback says it."
PROTOCOL = "Python asks a module or a class for this type, and catches it itself."
GUARD = "A test fails by this type; its text is the finding."
FORWARDED = "It is another's exception, handed on as it came."
WHOLE = "Its one sentence has the value, what is asked for, and what there is."
REASONS = {
    ("shardlens", "AttributeError"): PROTOCOL,
    ("shardlens.command", "argparse.ArgumentTypeError"): "argparse prints it below the usage, with the option's name.",
    ("shardlens.compilers.child", "EOFError"): CAUGHT,
    ("shardlens.compilers.process", "reply"): FORWARDED,
    ("shardlens.diverging.divergence", "AssertionError"): GUARD,
    ("shardlens.export.stablehlo", "Refused"): "The judge says what of a program it does not run.",
    ("shardlens.guards.assertions", "AssertionError"): GUARD,
    ("shardlens.guards.lock", "AssertionError"): GUARD,
    ("shardlens.placement", "DoesNotFit"): "It is a LensError, and has the three parts.",
    ("shardlens.placement", "ValueError"): "It is of untrusted JSON.",
    ("shardlens.reading.depth", "Unknown"): CAUGHT,
    ("shardlens.reading.kernels", "_Unknown"): CAUGHT,
    ("shardlens.reading.overlap", "Unknown"): CAUGHT,
    ("shardlens.tables", "ValueError"): WHOLE,
    ("shardlab", "AttributeError"): PROTOCOL,
    ("shardlab.answers.exporting", "Todo"): CAUGHT,
    ("shardlab.answers.exporting", "TypeError"): RECORDED,
    ("shardlab.answers.own", "refused[0]"): FORWARDED,
    ("shardlab.answers.record", "TypeError"): RECORDED,
    ("shardlab.answers.record", "ValueError"): "A manifest of ours names a kind that there is not.",
    ("shardlab.as_json", "TypeError"): RECORDED,
    ("shardlab.expressions.rules", "TypeError"): CAUGHT,
    ("shardlab.expressions.sharding", "TypeError"): CAUGHT,
    ("shardlab.expressions.sharding", "ValueError"): CAUGHT,
    ("shardlab.listings", "KeyError"): WHOLE,
    (
        "shardlab.processes.global_arrays",
        "TypeError",
    ): "A process of a launch writes it, and the launch shows its last line.",
    ("shardlab.processes.recorded", "TypeError"): RECORDED,
}


def modules() -> Iterator[tuple[str, ast.Module]]:
    """Each module of the two packages, with its name."""
    for home in (ROOT / "lens" / "src", ROOT / "src"):
        for package in ("shardlens", "shardlab"):
            for path in sorted((home / package).rglob("*.py")):
                name = ".".join(path.relative_to(home).with_suffix("").parts).removesuffix(".__init__")
                yield name, ast.parse(path.read_text())


def makers(tree: ast.Module) -> set[str]:
    """Functions and methods that return an error of ours."""
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.returns)
    return {node.name for node in functions if ast.unparse(node.returns or node) in OURS}


def raised(node: ast.expr) -> Iterator[str]:
    """The name of what is raised: of a type, of a function that makes it, or of a variable."""
    if isinstance(node, ast.IfExp):
        yield from (name for branch in (node.body, node.orelse) for name in raised(branch))
    elif isinstance(node, ast.Call):
        yield (
            node.func.attr if isinstance(node.func, ast.Attribute) and node.func.attr == "within" else ast.unparse(node.func)
        )
    else:
        yield ast.unparse(node)


def others(parsed: list[tuple[str, ast.Module]]) -> set[tuple[str, str]]:
    """Module and type of all that is raised and is no error of ours."""
    made = OURS.union(*(makers(tree) for _, tree in parsed))
    found = ((name, node.exc) for name, tree in parsed for node in ast.walk(tree) if isinstance(node, ast.Raise))
    return {(name, each) for name, exc in found if exc for each in raised(exc) if each not in made}


def test_each_raise_has_an_entry_or_a_reason() -> None:
    """A new bare exception needs three parts, as `LensError` has, or a reason in this file; no reason is left over."""
    assert others(list(modules())) == set(REASONS)


def test_a_bare_raise_is_found() -> None:
    """The search sees through functions that make an error, branches and chained errors; not through a bare one."""
    text = """
def _odd(x) -> LensError:
    return LensError("odd", "x is odd.", where="x", mend="double it.")
def f(x):
    try:
        raise _odd(x) if x else TypeError("x")
    except TypeError as error:
        raise error.within("f") from error
    raise LookupError
def within(self) -> ShardingError: ...
"""
    assert others([("m", ast.parse(text))]) == {("m", "TypeError"), ("m", "LookupError")}
