"""`lens.why` on programs whose communication is known: line, shardings that meet, their origins, and cheaper changes."""

from __future__ import annotations

import importlib.util
import io
import math
import re
import sysconfig
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from rich.console import Console

import shardlens as lens
import why_programs as programs
from shardlens.errors import LensError
from shardlens.programs.program import Program
from shardlens.reasons import provenance
from shardlens.reasons.answer import Why
from shardlens.sources import Line, users_line
from why_programs import constrained, mesh, spec

P = jax.P
needs_libtpu = pytest.mark.skipif(importlib.util.find_spec("libtpu") is None, reason="libtpu is not installed (extra: tpu)")
COMPILERS = ["cpu", pytest.param("tpu", marks=needs_libtpu)]
TRIES = 24

# For each program: what its first explained collective says. A side is "shape spec | origins".
ROWS: dict[str, list[tuple[str, str]]] = {
    "matmul": [("has", "[64, 256] P(None, 'y'), from argument a"),
               ("needs", "[64, 256] P(None, None), for dot_general to P(None, 'y'), from argument b")],
    "fsdp": [("has", "[64, 128] P('x', None), from argument w"),
             ("needs", "[64, 128] P(None, None), for dot_general to P('x', None), from argument x")],
    "missing": [("has", "[1024, 64] P(None, 'y'), from argument down"),
                ("needs", "[1024, 64] P('y', None), for dot_general to P('x', None), "
                          "from with_sharding_constraint, CONSTRAINT")],
    "layers": [("has", "[64, 64] P('x', None), from argument weights"),
               ("needs", "[64, 64] P(None, None), for dot_general to P('x', None), from argument x")],
    "gradient": [("sums", "[256, 32] P('x', None), from argument y"), ("sums", "[256, 64] P('x', None), from argument x"),
                 ("into", "[32, 64] P(None, None)")],
    "by_hand": [("why", "you wrote it: why_programs.py:LINE")],
    "into_map": [("has", "[64, 128] P('x', None), from argument a"),
                 ("needs", "[64, 128] P(None, 'x'), from in_specs[0] of shard_map, why_programs.py:LINE")],
    "indexing": [("sums", "[512, 64] P('x', None), from argument table"), ("into", "[256, 64] P(None, None)")],
    "reshape": [("has", "[5, 4, 24] P(None, 'x', None), from argument x"),
                ("needs", "[5, 4, 24] P(None, None, None), for reshape to P(None, None)")],
    "joined": [("has", "[64, 32] P('x', None), from argument a"),
               ("needs", "[64, 32] P(None, 'x'), for concatenate to P(None, 'x'), from argument a")],
    "turned": [("has", "[64, 128] P('x', None), from argument a"),
               ("needs", "[64, 128] P(None, 'x'), from out_shardings of output 0")],
    "whole_output": [("has", "[64, 128] P('x', 'y'), from argument a"),
                     ("needs", "[64, 128] P(None, None), from out_shardings of output 0")],
    "two_outputs": [("has", "[64, 128] P('x', 'y'), from argument a"),
                    ("needs", "[64, 128] P('y', 'x'), from out_shardings of output 1")],
    "batched_map": [("has", "[4, 64, 8] P('y', 'x', None), from argument many"),
                    ("needs", "[4, 64, 8] P(None, 'x', None), from in_specs[0] of shard_map under vmap, "
                              "why_programs.py:LINE"),
                    ("why", "vmap's own dimension is whole on each device unless vmap has spmd_axis_name='y'")],
    "named_batch": [("why", "you wrote it: why_programs.py:LINE")],
    "explicit": [("sums", "[64, 256] P('x', 'y'), from argument a"), ("sums", "[256, 128] P('y', None), from argument b"),
                 ("into", "[64, 128] P('x', None), from the type that dot_general has, why_programs.py:LINE")],
    "unused_donation": [("sums", "[64, 128] P('x', None), from argument a"), ("into", "[128] P(None)")],
}  # fmt: skip
CONSTRAINT = f"why_programs.py:{programs.constrained.__code__.co_firstlineno + 1}"


def asked(name: str, compiler: str, tries: int = TRIES, **options: Any) -> Why:
    """What `lens.why` says of one of the programs."""
    f, args = getattr(programs, name)()
    target = {"cpu": None, "tpu": "v5e:2x2" if name == "reshape" else "v5e:2x4"}[compiler]
    return lens.why(f, *args, target=target, tries=tries, **options)


def rows(found: Why) -> list[tuple[str, str]]:
    """The rows that explain: of the first collective whose edge is known, or that was written."""
    explained = [table.rows for table, answer in zip(found._tables(), found.answers) if answer.edges or answer.written]
    # Of an embedding on CPU the indices are gathered first.
    chosen = next((rows for rows in explained if "argument table" in str(rows)), explained[0])
    return [row for row in chosen if row[0] not in ("line", "cheaper")]


@pytest.mark.thorough(after=12)
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("name", ROWS)
def test_line_and_origins(name: str, compiler: str) -> None:
    """Every collective with a name serves the marked line; the two shardings and their origins are said."""
    found = asked(name, compiler, tries=0)
    assert found.answers and found.tried == 0
    for answer in found.answers:
        known = answer.collective.op_name or answer.line.file
        assert not known or (str(answer.line), answer.line.text) == (
            f"why_programs.py:{programs.line(name)}",
            programs.LINES[programs.line(name) - 1].strip(),
        )
    here = [(label, text.replace("CONSTRAINT", CONSTRAINT)) for label, text in ROWS[name]]
    assert rows(found) == [(label, text.replace("LINE", str(programs.line(name)))) for label, text in here]
    assert [a.collective for a in found.answers] == list(found.program.collectives)


def test_the_table_of_inspect_has_the_line() -> None:
    """A column of a program's table is the user's line; on a narrow terminal it stands below, and nothing wraps."""
    f, args = programs.joined()
    program, line = lens.inspect(f, *args), f"why_programs.py:{programs.line('joined')}"
    assert all(f"  {line}  " in row for row in str(program).splitlines()[1:4])
    sink = io.StringIO()
    Console(file=sink, width=80, color_system=None).print(program)
    rows = sink.getvalue().splitlines()
    assert [row.split()[0] for row in rows[:4]] == ["collective", *["all-to-all"] * 3]
    assert f"{line}: 3 all-to-all" in map(str.strip, rows) and max(map(len, rows)) <= 80


def facts(program: Program) -> list[tuple]:
    """What is promised of a change."""
    return sorted((c.kind, c.axes, c.dtype, c.payload_bytes, c.executions) for c in program.collectives)


def again(f: Callable, args: tuple, compiler: str, target: str = "v5e:2x4") -> list[tuple]:
    """The collectives of a program that was changed by hand."""
    return facts(lens.inspect(f, *args, target=target if compiler == "tpu" else None))


def other(args: tuple, place: int, *entries: Any) -> tuple:
    """The arguments, one of them with another spec."""
    at = args[place]
    made = jax.ShapeDtypeStruct(at.shape, at.dtype, sharding=jax.NamedSharding(at.sharding.mesh, P(*entries)))
    return (*args[:place], made, *args[place + 1 :])


def applied(text: str, f: Callable, args: tuple, over: Any) -> tuple[Callable, tuple]:
    """The change that a suggestion names, made in Python as its reader would."""
    given = re.fullmatch(r"argument (\w+): P\((.*)\) instead of P\(.*\)", text)
    if given:
        names = f.__wrapped__.__code__.co_varnames if hasattr(f, "__wrapped__") else f.__code__.co_varnames
        return f, other(args, names.index(given[1]), *eval(f"({given[2]},)"))
    output = re.fullmatch(r"out_shardings of output 0: P\((.*)\)", text)
    if output:
        wanted = jax.NamedSharding(over, P(*eval(f"({output[1]},)")))
        return jax.jit(getattr(f, "__wrapped__", f), out_shardings=wanted), args
    inserted = re.fullmatch(r"with_sharding_constraint\(\.\.\., P\((.*)\)\) around the reshape in .*", text)
    assert inserted, text
    return lambda x: constrained(constrained(x.reshape(20, 24), over, *eval(f"({inserted[1]},)")), over, "x", None), args


CHEAPER = ("matmul", "fsdp", "missing", "layers", "into_map", "indexing", "reshape", "joined", "turned", "unused_donation")


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("name", CHEAPER)
def test_a_change_keeps_its_promise(name: str, compiler: str) -> None:
    """Each change that is shown, made by hand in the Python, gives the collectives that were promised, and is cheaper."""
    f, args = getattr(programs, name)()
    found = asked(name, compiler)
    promises = {tried.change.text: tried for answer in found.answers for tried in answer.cheaper}
    assert promises and found.tried <= TRIES
    for text, tried in promises.items():
        changed, given = applied(text, f, args, args[0].sharding.mesh)
        target = "v5e:2x2" if name == "reshape" else "v5e:2x4"
        assert again(changed, given, compiler, target) == facts(tried.program), text
        if all(c.executions for c in found.program.collectives):
            assert tried.program.price < found.program.price
            said = f"{tried.program.price:,} bytes instead of {found.program.price:,}"
            assert said in re.sub(r"\s+", " ", str(found))


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_missing_spec(compiler: str) -> None:
    """A tensor-parallel MLP: the weight that is cut along the wrong dimension is found, and nothing takes more memory."""
    found = asked("missing", compiler)
    best = {answer.cheaper[0].change.text for answer in found.answers}
    assert best == {"argument down: P('y', None) instead of P(None, 'y')"}
    assert [c.kind for c in found.answers[0].cheaper[0].program.collectives] == ["all-reduce"]
    assert len(found.answers[0].cheaper) == 1


@pytest.mark.thorough
def test_a_change_that_repeats_work_is_none() -> None:
    """A batch that every device has whole would move nothing, and multiply the FLOPs: it is not shown."""
    found = asked("gradient", "cpu")
    assert found.tried > 2 and found.answers[0].cheaper == ()
    assert f"none of {found.answers[0].tried} changes that were compiled moves fewer bytes" in str(found)


@pytest.mark.thorough
def test_a_constraint_is_changed_where_it_stands() -> None:
    """A constraint that forces two moves: its own spec is the change, inside of a function that JAX differentiates too."""
    over = mesh(8)
    at = jax.NamedSharding(over, P(None, "x"))

    def program(x):
        turned = jax.lax.with_sharding_constraint(jnp.tanh(x), at)
        return constrained(jnp.sin(turned) * 2, over, "x", None)

    here = f"test_why.py:{program.__code__.co_firstlineno + 1}"
    x = spec(over, (64, 128), "x", None)
    for f in (program, lambda x: jax.grad(lambda x: program(x).sum())(x)):
        found = lens.why(f, x, tries=TRIES)
        said = {tried.change.text for answer in found.answers for tried in answer.cheaper}
        assert found.program.price > 0 and f"the constraint in {here}: P('x', None)" in said
        assert all(t.program.price == 0 for a in found.answers for t in a.cheaper if here in t.change.text)


@pytest.mark.thorough
def test_in_shardings_static_arguments_and_trees() -> None:
    """A jitted function with in_shardings and a static argument; leaves of a dict have their path for a name."""
    over = mesh(8)
    at = lambda *entries: jax.NamedSharding(over, P(*entries))  # noqa: E731

    def step(params, x, scale):
        return (x @ params["w"]) * scale

    jitted = jax.jit(step, static_argnums=2, in_shardings=(dict(w=at("x", None)), at("x", None)))
    params = dict(w=jax.ShapeDtypeStruct((64, 128), "float32"))
    found = lens.why(jitted, params, jax.ShapeDtypeStruct((1024, 64), "float32"), 2.0)
    (answer,) = found.answers
    assert str(answer.edges[0].has[0]) == "[64, 128] P('x', None), from argument params['w']"
    assert answer.cheaper[0].change.text == "argument params['w']: P(None, None) instead of P('x', None)"
    assert answer.cheaper[0].program.collectives == ()


@pytest.mark.thorough
def test_the_mesh_of_the_context_and_a_leading_mesh() -> None:
    """Under `jax.set_mesh`, and with a mesh as first argument."""
    f, args = programs.fsdp()
    over = args[0].sharding.mesh
    with jax.set_mesh(over):
        placed = lens.why(lambda x, w: jax.lax.with_sharding_constraint(x @ w, P("x")), *args, tries=4)
    led = lens.why(lambda m, x, w: constrained(x @ w, m, "x"), over, *args, tries=4)
    for found in (placed, led):
        assert str(found.answers[0].edges[0].has[0]) == "[64, 128] P('x', None), from argument w"
        assert found.answers[0].line.file == __file__


@pytest.mark.thorough
def test_gradients_scans_and_combined_collectives() -> None:
    """A checkpointed scan's gradient: of each gather the weight on its line is named, of a combined sum each operation."""
    over = mesh(2, 4)

    def block(x, p):
        hidden = jax.nn.gelu(x @ p["up"])
        return x + hidden @ p["down"], None

    def loss(params, x):
        return jnp.sum(jax.lax.scan(jax.checkpoint(block), x, params)[0] ** 2)

    params = dict(up=spec(over, (3, 64, 256), None, "x", "y"), down=spec(over, (3, 256, 64), None, "y", "x"))
    found = lens.why(jax.grad(loss), params, spec(over, (32, 64), "x", None), tries=0)
    gathers = [answer for answer in found.answers if answer.collective.kind == "all-gather"]
    assert len(gathers) >= 4 and len(found.answers) > len(gathers)
    for answer in found.answers:
        assert answer.edges and answer.line.file == __file__, answer.collective
    for answer in gathers:
        named = "up" if "up" in answer.line.text else "down"
        assert any(f"argument params['{named}']" in side.words for side in answer.edges[0].has)
    assert all(len(answer.edges) > 1 for answer in found.answers if len(answer.collective.arrays) > 1)


def test_without_the_passes_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """A jaxlib without Shardy's passes: the line is that of XLA, if it has one, and the origin is not known."""
    monkeypatch.setattr(provenance, "PIPELINE", "no-such-pass")
    text = str(asked("matmul", "cpu"))
    assert re.search(r"line +(why_programs.py:\d+   return a @ b|not known)", text)
    assert "origin not known" in text and "cheaper" not in text


def test_programs_that_are_compiled_hold_no_function() -> None:
    """A lowered or compiled program, or what `inspect` returned, is refused with the mend."""
    f, args = programs.fsdp()
    lowered = jax.jit(f).lower(*args)
    for given in (lowered, lowered.compile(), lens.inspect(f, *args)):
        with pytest.raises(LensError, match="why-needs-a-function") as error:
            lens.why(given, *args)
        assert "pass the function" in error.value.mend


def test_nothing_to_explain() -> None:
    """A program without collectives is one line; the function's own exceptions come through."""
    assert str(lens.why(jnp.sin, spec(mesh(8), (16,), "x"))) == "no collectives, compiled by XLA for CPU"
    with pytest.raises(TypeError, match="dot_general"):
        lens.why(jnp.matmul, spec(mesh(8), (16, 3)), spec(mesh(8), (16, 4)))


def test_html_and_narrow_terminals() -> None:
    """The notebook's tables escape what they show, and set no colour; on 60 columns nothing is lost."""
    found = asked("matmul", "cpu", tries=0)
    page = found._repr_html_()
    assert "P(None, &#x27;y&#x27;), from argument a" in page and "<table" in page
    assert not any(word in page for word in ("rgb", "white", "black", "src=", "http", "class="))
    sink = io.StringIO()
    Console(file=sink, width=60, color_system=None).print(found)
    narrow = re.sub(r"\s+", "", sink.getvalue())
    assert "from argument b".replace(" ", "") in narrow and all(len(text) <= 60 for text in sink.getvalue().splitlines())


FRAMES = {
    "the innermost": (["/me/a.py", "/me/b.py"], "a.py:1"),
    "not a package": (["/venv/lib/python3.11/site-packages/flax/linear.py", "/me/b.py"], "b.py:2"),
    "not ours": ([lens.__file__, "/me/b.py"], "b.py:2"),
    "not Python's": ([re.__file__, "/me/b.py"], "b.py:2"),
    "not what starts a command": ([f"{sysconfig.get_path('scripts')}/pytest", "/me/b.py"], "b.py:2"),
    "nothing else": (["/x/site-packages/flax/linear.py"], "linear.py:1"),
    "a cell": (["/tmp/ipykernel_77/123.py"], "cell:1"),
    "nothing": ([], ""),
}


@pytest.mark.parametrize("case", FRAMES)
def test_the_users_line(case: str) -> None:
    """The innermost frame that is neither a package's, nor Python's, nor this package's."""
    files, expected = FRAMES[case]
    assert str(users_line(Line(file, n) for n, file in enumerate(files, 1))) == expected


def test_flax_is_passed_over() -> None:
    """A layer of Flax multiplies in its own file; the line is that of the model."""
    nnx = pytest.importorskip("flax.nnx")
    over = mesh(8)

    def model(kernel, x):
        layer = nnx.Linear(64, 128, use_bias=False, rngs=nnx.Rngs(0))
        layer.kernel = nnx.Param(kernel)
        return layer(x)

    found = lens.why(model, spec(over, (64, 128), "x", None), spec(over, (1024, 64), "x", None), tries=0)
    assert [answer.line.text for answer in found.answers] == ["return layer(x)"]


@needs_libtpu
def test_callbacks_for_a_target() -> None:
    """What is lowered for devices that are not here, as `inspect` lowers it."""

    def printing(a: jax.Array) -> jax.Array:
        total = a.sum()
        jax.debug.print("{}", total)
        return total

    found = lens.why(printing, spec(mesh(2, 4), (64, 128), "x"), target="v5e:2x4", tries=0)
    assert [(c.kind, c.axes) for c in found.program.collectives] == [("all-reduce", ("x",))]
    assert found.answers[0].line.text == "total = a.sum()" and found.answers[0].edges


@needs_libtpu
def test_a_larger_target() -> None:
    """Shardings meet on the mesh that the target has, not on the arguments' own."""
    over = mesh(2, 4)
    x, w = spec(over, (1024, 256), "x"), spec(over, (256, 512), "x", "y")
    found = lens.why(lambda x, w: jnp.tanh(x @ w), x, w, target="v5e:4x4", axes={"x": 8, "y": 2}, tries=0)
    (answer,) = found.answers
    assert (answer.collective.kind, answer.collective.group_size) == ("all-gather", 8)
    assert math.prod(answer.collective.shape) == 256 * 512 // 2
    (edge,) = answer.edges
    assert edge.axes == {"x"} and str(edge.has[0]) == "[256, 512] P('x', 'y'), from argument w"


@pytest.mark.parametrize("compiler", COMPILERS)
def test_in_branches(compiler: str) -> None:
    """Collectives of branches are the user's own, in a loop too; what the compiler adds has its shardings, if named."""
    over = mesh(8)

    def branches(flag: jax.Array, x: jax.Array) -> jax.Array:
        return jax.lax.cond(flag > 0, lambda x: jax.lax.psum(x, "x"), lambda x: jax.lax.pmax(x * 2, "x"), x)

    def looped(flag: jax.Array, x: jax.Array) -> jax.Array:
        return jax.lax.fori_loop(0, 3, lambda _, x: branches(flag, x), x)

    flag, target = jax.ShapeDtypeStruct((), "int32"), "v5e:2x4" if compiler == "tpu" else None
    for f in (branches, looped):
        mapped = jax.shard_map(f, mesh=over, in_specs=(P(), P("x")), out_specs=P("x"), check_vma=False)
        found = lens.why(mapped, flag, spec(over, (64, 4), "x"), target=target, tries=0)
        assert [answer.written for answer in found.answers] == [True, True]

    def left(flag: jax.Array, x: jax.Array, w: jax.Array) -> jax.Array:
        return jax.lax.cond(flag > 0, lambda x: jnp.tanh(x @ w), lambda x: x, x)

    args = (flag, spec(over, (256, 64), "x"), spec(over, (64, 64), "x"))
    (answer,) = lens.why(left, *args, target=target, tries=0).answers
    assert answer.collective.kind == "all-gather"
    if jax.__version_info__ < (0, 12):
        assert str(answer.edges[0].has[0]) == "[64, 64] P('x', None), from argument w"
    else:  # that XLA names no operation for it
        assert answer.collective.op_name == "" and answer.edges == ()
