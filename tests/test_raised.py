"""Where an answer raised: the student's own line, what called it, and which mesh axes there were."""

from __future__ import annotations

import linecache
import pathlib
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import jax
import pytest
from IPython.core.interactiveshell import InteractiveShell

from sample_questions import CALLED, PROGRAM
from shardlab.answers.record import record
from shardlab_course.checking import feedback
from shardlab_judge.judging import judge
from shardlab_judge.references import References
from shardlab_judge.responses import LINES, error_of
from shardlab_judge.verdict import Finding, Verdict
from shardlens.exceptions import TEXT, raised_at

Load = Callable[[str], Any]
HEAD = "import jax, jax.numpy as jnp\nfrom jax import lax, P\n"
MAPPED = """
def product(mesh, A, B):
    def body(a, b):
        return {}
    return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P("x", None)), out_specs=P(){})(A, B)
"""
PLAIN = "\ndef product(mesh, A, B):\n    {}\n    return A @ B\n"
CALL = "called in line 6 of {}, in product: return jax.shard_map(body, mesh=mesh, in_spec..."
AXES = "{}: there is no axis '{}'; the axes here are 'x', 'y'"
NO_Z = AXES.format("psum", "z")
CASES = {
    "psum": (MAPPED.format('lax.psum(a @ b, "z")', ""), 5, "body", 'lax.psum(a @ b, "z")', [CALL, NO_Z]),
    "one-of-two": (
        MAPPED.format('lax.psum(a @ b, ("x", "z"))', ""), 5, "body", 'lax.psum(a @ b, ("x", "z"))',
        [CALL, NO_Z],
    ),
    "unchecked": (
        MAPPED.format('lax.psum(a @ b, "z")', ", check_vma=False"), 5, "body", 'lax.psum(a @ b, "z")',
        [CALL, NO_Z],
    ),
    "all_gather": (
        MAPPED.format('lax.all_gather(a, "z")', ""), 5, "body", 'lax.all_gather(a, "z")',
        [CALL, AXES.format("all_gather", "z")],
    ),
    "axis_index": (
        MAPPED.format('lax.axis_index("rows")', ""), 5, "body", 'lax.axis_index("rows")',
        [CALL, AXES.format("axis_index", "rows")],
    ),
    "half-manual": (
        MAPPED.format('lax.psum(a @ b, "y")', ', axis_names={"x"}'), 5, "body", 'lax.psum(a @ b, "y")',
        [CALL, "psum: there is no axis 'y'; the axes here are 'x'"],
    ),
    "mapped": (
        MAPPED.format('jax.vmap(lambda r: lax.psum(r, "z"), axis_name="rows")(a)', ""), 5, "<lambda>", 'lax.psum(r, "z")',
        ["called in line 5 of {}, in body: return jax.vmap(lambda r: lax.psum(r, \"z\"), a...", CALL,
         "psum: there is no axis 'z'; the axes here are 'rows', 'x', 'y'"],
    ),
    "outside": (
        PLAIN.format('A = lax.psum(A, "x")'), 4, "product", 'lax.psum(A, "x")',
        ["psum: there is no axis 'x'; outside jax.shard_map there is none"],
    ),
    "known-axis": (MAPPED.format("lax.psum(a @ a, \"x\")", ""), 5, "body", "a @ a", [CALL]),
    "concrete": (PLAIN.format("rows = int(A.sum())"), 4, "product", "int(A.sum())", []),
    "branch": (PLAIN.format("if A.sum() > 0: return A"), 4, "product", "A.sum() > 0", []),
    "index": (PLAIN.format("first = [A, B][2]"), 4, "product", "[A, B][2]", []),
    "comprehension": (PLAIN.format("every = [[A, B][n] for n in range(3)]"), 4, "product", "[A, B][n]", []),
    "lambda": (
        PLAIN.format("A = (lambda n: [A][n])(4)"), 4, "<lambda>", "[A][n]",
        ["called in line 4 of {}, in product: A = (lambda n: [A][n])(4)"],
    ),
    "lines": (PLAIN.format("A = jnp.concatenate(\n        [A, B], axis=7)"), 4, "product", "jnp.concatenate(", []),
    "again": ("\ndef product(mesh, A, B):\n    return product(mesh, A, B)\n", 4, "product", "product(mesh, A, B)", []),
    "from-another": (
        PLAIN.format('try: {}["a"]\n    except KeyError as e: raise ValueError("no") from e'), 5, "product",
        'raise ValueError("no") from e', [],
    ),
    "signature": ("\ndef product(mesh, A): return A\n", 3, "product", "", []),
}  # fmt: skip


@pytest.fixture(params=["file", "cell"])
def load(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> Iterator[tuple[str, Load]]:
    """Runs a source, from a file or in a cell; what it is called there comes with it."""
    if request.param == "file":
        path = tmp_path / "answer.py"

        def from_file(source: str) -> Any:
            path.write_text(source)
            linecache.checkcache(str(path))
            names: dict[str, Any] = {}
            exec(compile(source, str(path), "exec"), names)
            return names["product"]

        yield "answer.py", from_file
        return
    shell = InteractiveShell.instance()

    def from_cell(source: str) -> Any:
        shell.run_cell(source, store_history=True)
        return shell.user_ns["product"]

    yield f"In[{shell.execution_count}]", from_cell
    InteractiveShell.clear_instance()


def entry(program: Any) -> dict[str, Any]:
    """What is recorded of the sample's program in its first case."""
    recorded = record(PROGRAM.manifest(), {"product": program}, {})["items"]["product"]
    first: dict[str, Any] = recorded["programs"][0]["error"]
    return first


@pytest.mark.parametrize("case", CASES)
def test_the_students_line(load: tuple[str, Load], case: str) -> None:
    """The innermost line of the student's own, whatever lies below it in JAX, and what called it."""
    source, number, function, marked, after = CASES[case]
    name, run = load
    told = entry(run(HEAD + source.lstrip()))["line"]
    place, text, *rest = told.split("\n")
    assert place == f"line {number} of {name}, in {function}"
    if marked:
        carets, *rest = rest
        rest = [line for line in rest if not line.startswith(("with ", "one device has "))]
        assert text[carets.index("^") : len(carets)] == marked and set(carets.strip()) == {"^"}
    assert rest == [line.replace("{}", name) for line in after]


HELD = {
    "block": (MAPPED.format("a.T @ b", ""), "one device has a = traced float32[24,20]{V:x}, b = traced float32[20,16]{V:x}"),
    "whole": (PLAIN.format("A = A @ A"), "with A = traced float32[24,40]"),
    "list": (PLAIN.format("shards = [A, 'b', 3]; shards[9]"), "with shards = [traced float32[24,40], 'b', 3] of 3"),
    "dict": (PLAIN.format("sizes = dict(mesh.shape); sizes['z']"), "with sizes = {'x': 2, 'y': 4}"),
    "no-keyword": (PLAIN.format("A = jnp.sum(a=A, axis=9)"), "with A = traced float32[24,40]"),
    "no-text": (PLAIN.format("{}['A']"), ""),
    "mesh": (PLAIN.format("mesh['x']"), "with mesh = (x=2, y=4)"),
    "attribute": (PLAIN.format("jax.shardmap(A)"), "the name nearest to jax.shardmap is jax.shard_map"),
    "name": (PLAIN.format("matriks = A; matrix @ B"), "the name nearest to matrix is matriks"),
}


@pytest.mark.parametrize("case", HELD)
def test_what_the_names_hold(load: tuple[str, Load], case: str) -> None:
    """Types of arrays, in jax.shard_map those of one device; what small values are; the name that is nearly this one."""
    source, said = HELD[case]
    told = entry(load[1](HEAD + source.lstrip()))["line"].split("\n")
    held = [line for line in told if line.startswith(("with ", "one device has ", "the name nearest "))]
    assert held == [said] * bool(said), told


def test_no_frames_of_ours() -> None:
    """JAX says in which function a tracer was asked for its value: the student's, and not the one around it."""
    said = entry(lambda mesh, A, B: int(A.sum()))["message"]
    assert "while tracing your function for jit" in said and "exporting" not in said


def test_tracebacks_are_filtered_again() -> None:
    """Recording leaves JAX's option for tracebacks as the student had it."""
    before = jax.config.jax_traceback_filtering
    entry(lambda mesh, A, B: [][1])
    assert jax.config.jax_traceback_filtering == before


def test_a_call_tells_the_line() -> None:
    """Plain functions too, and what they cannot return."""
    (item,) = CALLED.items
    for function in (lambda *given: given[99], lambda *given: object()):
        (first, *_) = record(CALLED.manifest(), {item.name: function}, {})["items"][item.name]["calls"]
        assert " of test_raised.py, in <lambda>" in first["error"]["line"]


class Silent(Exception):
    """Says nothing, and raises when it is asked."""

    def __str__(self) -> str:
        raise RuntimeError


class Fighting(Exception):
    """Raises when its cause is asked for."""

    @property
    def __cause__(self) -> Any:
        raise RuntimeError


def test_exceptions_that_raise() -> None:
    """An exception that cannot be looked at is recorded all the same."""
    assert entry(lambda mesh, A, B: [][Silent()])["type"] == "TypeError"

    def raising(kind: type[Exception]) -> Any:
        def product(mesh: Any, A: Any, B: Any) -> None:
            raise kind

        return entry(product)

    silent, fighting = raising(Silent), raising(Fighting)
    assert (silent["type"], silent["message"]) == ("Silent", "") and "raise kind" in silent["line"]
    assert (fighting["type"], fighting["line"]) == ("Fighting", "")


STRANGE = {
    "no-file": ("/nowhere/at/all.py", "line 1 of all.py"),
    "device": ("/dev/zero", "line 1 of zero"),
    "escapes": ("\x1b[2J\u202e", "line 1 of \ufffd[2J\ufffd"),
    "long": ("x" * 99_999, "line 1 of " + "x" * 87 + "..."),
    "generated": ("<made>", ""),
}


@pytest.mark.parametrize(("file", "told"), STRANGE.values(), ids=STRANGE)
def test_strange_names_of_files(file: str, told: str) -> None:
    """A code object may be called anything: no device is read, and nothing is printed that a terminal obeys."""
    names: dict[str, Any] = {}
    exec(compile("try: [][1]\nexcept IndexError as caught: error = caught", file, "exec"), names)
    assert raised_at(names["error"]) == told


def test_long_ways() -> None:
    """Of many callers the nearest are told, and of long lines what was being run."""
    source = (
        "f0 = lambda: [][1]\n" + "".join(f"f{n} = lambda: f{n - 1}()\n" for n in range(1, 50)) + f"a = [{'1, ' * 999} f49()]"
    )
    linecache.cache["<deep>"] = (len(source), None, source.splitlines(keepends=True), "<deep>")
    try:
        exec(compile(source, "<deep>", "exec"), {})
    except IndexError as error:
        told = raised_at(error)
    assert told.split("\n")[0] == "line 1 of deep, in <lambda>" and told.split("\n")[-1] == "... and 48 more calls"
    assert len(told) < TEXT


def test_the_finding_shows_it() -> None:
    """In text with its columns kept, on pages escaped; and it makes no finding another one."""
    line = "line 2 of cell 1, in f\n    return <b>[n]\n           ^^^^^^"
    error = {"type": "IndexError", "message": "no", "line": line}
    answers = [{"items": {"product": {"programs": [{"error": e}] * len(PROGRAM.manifest()["items"][0]["cases"])}}}
               for e in (error, {"type": "IndexError", "message": "no"})]  # fmt: skip
    new, old = (judge(PROGRAM, answer, References({}, {})) for answer in answers)
    assert new == old and new.findings[0].line == line and not old.findings[0].line
    assert textwrap.indent(line, " " * 15).replace(" " * 15 + "line 2", "    line:      line 2") in feedback.text(
        new, PROGRAM
    )
    assert "&lt;b&gt;[n]\n           ^^^^^^</pre>" in feedback.html(new, PROGRAM)
    assert Verdict.from_json(new.to_json()).findings[0].line == line
    raw = new.findings[0].to_json()
    assert Finding.from_json({key: value for key, value in raw.items() if key != "line"}) == new.findings[0]


def test_the_border_cuts_it() -> None:
    """From a sandbox come so many lines of so many characters, and no others."""
    assert error_of({"type": "E", "message": "m", "line": "\x1b\n" * 99})["line"].count("\n") == LINES
    assert len(error_of({"type": "E", "message": "m", "line": "x" * 5000})["line"]) <= TEXT
