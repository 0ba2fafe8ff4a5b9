"""Expressions as text: what parses and to what; what does not, with the whole message."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import shardlab
from shardlab.errors import ShardingError
from shardlab.expressions.parsing import parse
from shardlab.expressions.pattern import Element

# Each row: the expression, and how it is written with single spaces.
GOOD = {
    "plain": ("a b -> a4 b2", "a b -> a4 b2"),
    "copies": ("a b -> 2 a b4", "a b -> 2 a b4"),
    "star": ("a -> * a", "a -> * a"),
    "starred-numbers": ("a b -> 2* a3* b*", "a b -> 2* a3* b*"),
    "ellipsis": ("... d->* ... d2", "... d -> * ... d2"),
    "scalar": ("... -> * ...", "... -> * ..."),
    "words": ("batch seq_len -> batch8 seq_len", "batch seq_len -> batch8 seq_len"),
    "one": ("a -> a1 1", "a -> a1 1"),
    "no-spaces-at-arrow": ("a->a8", "a -> a8"),
    "any-space": ("\ta\u3000b\u00a0->\n a2\u2003b4 ", "a b -> a2 b4"),
    "letters": ("β 日本 ǅ _ -> β2 日本 ǅ* _", "β 日本 ǅ _ -> β2 日本 ǅ* _"),
    "case": ("a A -> A2 a4", "a A -> A2 a4"),
    "group": ("r c -> r2 c2 r2", "r c -> r2 c2 r2"),
    "axis": ("batch d -> batch@data d@model", "batch d -> batch@data d@model"),
    "axes": ("b d -> b@( data  model ) d", "b d -> b@(data model) d"),
    "axis-digits": ("b -> b@x2", "b -> b@x2"),
    "bracket-of-one": ("b -> b@(x)", "b -> b@x"),
    "axes-twice": ("b d -> b@x d b@y", "b d -> b@x d b@y"),
    "large": ("a -> a123456789012345678", "a -> a123456789012345678"),
}


@pytest.mark.parametrize("text, written", GOOD.values(), ids=GOOD)
def test_reads(text: str, written: str) -> None:
    """An expression parses to its words."""
    assert str(parse(text)) == written
    assert parse(written) == parse(text)


def test_knows_places() -> None:
    """Every word knows where it stands."""
    pattern = parse(" a  ...->2 a4*  ...")
    assert pattern.left == (Element("a"), Element(ellipsis=True))
    assert pattern.right == (Element(count=2), Element("a", 4, True), Element(ellipsis=True))
    assert [pattern.text[slice(*e.span)] for e in (*pattern.left, *pattern.right)] == ["a", "...", "2", "a4*", "..."]


FORMS = "write name, name2, name*, name2*, 2, 2*, *, name@axis, name@(axis axis) or '...', with spaces between."
MIXED = "name mesh axes with '@' and leave numbers out (an axis has its size), or write numbers alone."
BOTH = "write '...' on both sides, or name every dimension."
LEFT = "on the left, and numbers, stars and mesh axes on the right."

# Each row: the expression, id, what, carets, mend.
BAD = {
    "missing": ("a b -> a8", "dimension-missing", "dimension 'b' is missing on the right.",
                "   ^", "write 'b' there to leave it unsharded, or 'b2' to cut it in 2."),
    "missing-beside-axis": ("a b -> a@x", "dimension-missing", "dimension 'b' is missing on the right.",
                            "   ^", "write 'b' there to leave it unsharded, or 'b@x' to shard it."),
    "unknown": ("a -> a4 b2", "dimension-unknown", "there is no dimension 'b' on the left.",
                "         ^^", "write '2' to hold copies, or name 'b' on the left, too."),
    "unknown-whole": ("a -> a8 b", "dimension-unknown", "there is no dimension 'b' on the left.",
                      "         ^", "name 'b' on the left, too."),
    "twice": ("a a -> a8", "dimension-twice", "dimension 'a' appears twice on the left.",
              "   ^", "give each dimension a name of its own."),
    "ellipsis-left": ("a ... -> a8", "ellipsis-on-one-side", "'...' appears on the left only.", "   ^^^", BOTH),
    "ellipsis-right": ("a -> a8 ...", "ellipsis-on-one-side", "'...' appears on the right only.", "         ^^^", BOTH),
    "ellipsis-twice": ("... ... -> 8 ...", "ellipsis-twice", "'...' appears 2 times on the left.",
                       "     ^^^", "write '...' once on each side."),
    "ellipsis-twice-right": ("... -> 8 ... ...", "ellipsis-twice", "'...' appears 2 times on the right.",
                             "              ^^^", "write '...' once on each side."),
    "no-arrow": ("a b", "arrow-missing", "there is no '->'.",
                 "    ^", "write the dimensions, '->', and their placement, like \"a b -> a4 b2\"."),
    "empty": ("", "arrow-missing", "there is no '->'.",
              " ^", "write the dimensions, '->', and their placement, like \"a b -> a4 b2\"."),
    "two-arrows": ("a -> a -> a8", "arrow-twice", "'->' appears 2 times.",
                   "        ^^", "write one '->': dimensions before it, their placement after it."),
    "no-left": ("-> 8", "side-empty", "there is nothing before '->'.",
                " ^^", "name the dimensions, or write '...' for all (or none) of them."),
    "no-right": ("a ->", "side-empty", "there is nothing after '->'.",
                 "   ^^", "repeat the dimensions with their numbers, like \"a b -> a4 b2\"."),
    "number-left": ("a2 b -> a4 b2", "number-on-left", "'a2' is on the left, where dimensions only have names.",
                    " ^^", f"write 'a' {LEFT}"),
    "star-left": ("* -> 8", "number-on-left", "'*' is on the left, where dimensions only have names.",
                  " ^", f"name only dimensions {LEFT}"),
    "before-name": ("a -> 2a", "number-before-name", "'2a' has its number or star before the name.",
                    "      ^^", "write 'a2' to cut the dimension, or '2 a' for copies."),
    "star-before": ("a -> *a", "number-before-name", "'*a' has its number or star before the name.",
                    "      ^^", "write 'a*' to cut the dimension, or '* a' for copies."),
    "zero": ("a -> a0", "number-starts-with-zero", "the number in 'a0' starts with 0.",
             "      ^^", "write a number of at least 1, without leading zeros."),
    "leading-zero": ("a -> 08 a", "number-starts-with-zero", "the number in '08' starts with 0.",
                     "      ^^", "write a number of at least 1, without leading zeros."),
    "arabic-digit": ("a -> a٤ 2", "digit-not-ascii", "'٤' is not one of the digits 0-9.",
                     "       ^", "write numbers with the digits 0123456789."),
    "superscript": ("a -> a²", "digit-not-ascii", "'²' is not one of the digits 0-9.",
                    "       ^", "write numbers with the digits 0123456789."),
    "wide-digit": ("日 -> 日８", "digit-not-ascii", "'８' is not one of the digits 0-9.",
                   "         ^^", "write numbers with the digits 0123456789."),
    "too-large": ("a -> a9999999999999999999", "number-too-large",
                  "'a9999999999999999999' asks for more parts than there are devices anywhere.",
                  "      " + "^" * 20, "write how many parts this axis has, or a star."),
    "glued": ("a b -> a4b2", "word-unreadable", "'a4b2' is not an element of an expression.", "        ^^^^", FORMS),
    "minus": ("a -> a-2", "word-unreadable", "'a-2' is not an element of an expression.", "      ^^^", FORMS),
    "dots": ("a .. -> a8 ..", "word-unreadable", "'..' is not an element of an expression.", "   ^^       ^^", FORMS),
    "open-bracket": ("a -> a@(x y", "word-unreadable",
                     "'a@(x' is not an element of an expression.", "      ^^^^", FORMS),
    "no-axis": ("a -> a@()", "word-unreadable", "'a@()' is not an element of an expression.", "      ^^^^", FORMS),
    "copies-axis": ("a -> @x a", "word-unreadable", "'@x' is not an element of an expression.", "      ^^", FORMS),
    "mixed-word": ("a -> a2@x", "numbers-with-axes", "numbers or stars are mixed with mesh axes.", "      ^^^^", MIXED),
    "mixed": ("a b -> 2 a@x b*", "numbers-with-axes", "numbers or stars are mixed with mesh axes.",
              "        ^     ^^", MIXED),
    "two-faults": ("a a c -> a4 b2 c", "dimension-twice",
                   "dimension 'a' appears twice on the left; there is no dimension 'b' on the left.",
                   "   ^         ^^",
                   "give each dimension a name of its own.\n"
                   "         write '2' to hold copies, or name 'b' on the left, too."),
}  # fmt: skip


@pytest.mark.parametrize("text, reference, what, carets, mend", BAD.values(), ids=BAD)
def test_refuses(text: str, reference: str, what: str, carets: str, mend: str) -> None:
    """A faulty expression names the fault, shows its place and says how to mend it."""
    with pytest.raises(ShardingError) as caught:
        parse(text)
    assert str(caught.value) == f'[{reference}] {what}\n  where: "{text}"\n         {carets}\n  mend:  {mend}'


def test_refuses_other_types() -> None:
    """What is not text is no expression."""
    for thing in (None, 8, b"a -> a", ["a -> a"]):
        with pytest.raises(ShardingError, match="not-text"):
            parse(thing)


def test_many_faults() -> None:
    """Three faults are shown and the others counted."""
    with pytest.raises(ShardingError) as caught:
        parse("-> " + " ".join(f"{n}x" for n in range(1, 9)))
    assert caught.value.what.endswith("And 5 more.")


def test_long_expression() -> None:
    """A long expression is cut around its fault, with the caret at the right place."""
    names = " ".join("abcdefghijklmnopqrstuvwxyz" * 3)
    with pytest.raises(ShardingError) as caught:
        parse(f"{' '.join('x' * n for n in range(1, 40))} -> {names} 0")
    quoted, carets = caught.value.where.split("\n")
    assert len(quoted) < 100
    assert quoted[carets.index("^")] in "x0abcdefghijklmnopqrstuvwxyz"


def test_unprintable() -> None:
    """Line breaks and control characters do not tear the message."""
    with pytest.raises(ShardingError) as caught:
        parse("a\n\u2028b -> a\x1b8 b")
    assert caught.value.where == '"a  b -> a\N{REPLACEMENT CHARACTER}8 b"\n         ^^^'


@pytest.mark.parametrize("module", ["quote", "pattern", "parsing", "counts", "misfits", "resolution", "meshes", "arrays"])
def test_optimized_python(module: str) -> None:
    """No check is an `assert`, so `python -O` changes nothing."""
    source = (Path(shardlab.__file__).parent / "expressions" / f"{module}.py").read_text()
    assert not [node.lineno for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Assert)]


@pytest.mark.parametrize("module", ["quote", "pattern", "parsing", "counts", "misfits", "resolution"])
def test_pure(module: str) -> None:
    """Parsing and arithmetic import neither JAX nor NumPy."""
    source = (Path(shardlab.__file__).parent / "expressions" / f"{module}.py").read_text()
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, (ast.Import, ast.ImportFrom))]
    names = {
        name
        for node in nodes
        for name in ([node.module] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names])
    }
    assert not {name.split(".")[0] for name in names} & {"jax", "numpy"}
