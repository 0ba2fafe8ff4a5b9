"""Causes of exceptions: each mistake is made here, and what Python and JAX say of it is known by its words."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import P, lax
from jax.sharding import AxisType, Mesh, NamedSharding

from sample_questions import PROGRAM
from shardlab.answers.record import record
from shardlab_course.checking import feedback
from shardlab_judge.causes.exceptions import OWN, likely
from shardlab_judge.judging import judge
from shardlab_judge.references import References
from shardlens import recognise

Program = Callable[..., Any]
KEPT: list[Any] = []
INS, COPIES = (P(None, "x"), P("x")), P()


def mapped(body: Callable[..., Any], ins: Any = INS, outs: Any = COPIES, **options: Any) -> Program:
    """The program of one body."""
    return lambda mesh, A, B: jax.shard_map(body, mesh=mesh, in_specs=ins, out_specs=outs, **options)(A, B)


def looped(a: Any, b: Any) -> Any:
    return lax.fori_loop(0, 2, lambda i, total: total + (a @ b).sum(), 0.0)[None]


def keeps(mesh: Mesh, A: Any, B: Any) -> Any:
    jax.shard_map(KEPT.append, mesh=mesh, in_specs=P("x"), out_specs=P())(A)
    return KEPT.pop() + 1


def again(mesh: Mesh, A: Any, B: Any) -> Any:
    return again(mesh, A, B)


def unbound(mesh: Mesh, A: Any, B: Any) -> Any:
    if A is None:
        C = A
    return C


def left(mesh: Mesh, A: Any, B: Any) -> Any:
    raise SystemExit(3)


def later(mesh: Mesh, A: Any, B: Any) -> Any:
    raise NotImplementedError


def placed(mesh: Mesh, x: Any, *spec: Any) -> Any:
    return lax.with_sharding_constraint(x, NamedSharding(mesh, P(*spec)))


MADE: dict[str, tuple[Any, str]] = {
    "result": (np.ones(3), "a-call-for-a-function"),
    "fewer arguments": (lambda mesh, A: A, "other-arguments"),
    "more arguments": (lambda mesh, A, B, C: A, "other-arguments"),
    "body's arguments": (mapped(lambda a: a), "other-arguments"),
    "split": (mapped(lambda a, b: jnp.split(a @ b, 5)[0], outs=P("x")), "uneven-split"),
    "named argument": (mapped(lambda a, b: lax.pcast(a @ b, "x")), "named-argument-missing"),
    "max": (lambda mesh, A, B: max(A[n] for n in range(0)), "nothing-to-choose-from"),
    "group": (lambda mesh, A, B: re.match("a", "a")[1], "no-such-group"),
    "divisor": (lambda mesh, A, B: A * (1 // len(A[:0])), "divided-by-zero"),
    "modulo": (lambda mesh, A, B: A * (1 % len(A[:0])), "divided-by-zero"),
    "fraction's divisor": (lambda mesh, A, B: A * (1 / len(A[:0])), "divided-by-zero"),
    "NumPy's place": (lambda mesh, A, B: np.zeros((4, 2)).__setitem__(slice(2), np.ones((3, 2))), "place-of-another-shape"),
    "NumPy's sum": (lambda mesh, A, B: np.ones(3) + np.ones(4), "shapes-do-not-fit"),
    "transpose": (lambda mesh, A, B: A.transpose(1, 1), "dimensions-not-once-each"),
    "pad": (lambda mesh, A, B: jnp.pad(A, ((0, -1), (0, 0))), "negative-width"),
    "half a shape": (lambda mesh, A, B: jnp.zeros((4, A.shape[0] / 2)), "fraction-in-a-shape"),
    "large slice": (lambda mesh, A, B: lax.dynamic_slice(A, (0, 0), (1000, 2)), "slice-too-large"),
    "flat update": (lambda mesh, A, B: lax.dynamic_update_slice(A, A[0], (0, 0)), "update-of-another-rank"),
    "numpy": (lambda mesh, A, B: np.linalg.norm(A), "numpy-inside"),
    "if": (lambda mesh, A, B: A if A.sum() > 0 else B, "python-branch"),
    "range": (lambda mesh, A, B: [A for _ in range(A[0, 0].astype(int))], "traced-index"),
    "list index": (lambda mesh, A, B: [1, 2][A[0, 0].astype(int)], "traced-index"),
    "slice": (lambda mesh, A, B: A[A[0, 0].astype(int) :], "traced-slice"),
    "block's slice": (
        mapped(lambda a, b: a @ b[lax.axis_index("x") * 20 : (lax.axis_index("x") + 1) * 20], (P(None, "x"), P())),
        "traced-slice",
    ),
    "fraction": (lambda mesh, A, B: A[: A.shape[0] / 2], "no-whole-index"),
    "half a block": (lambda mesh, A, B: A[A.shape[0] / 2], "no-whole-index"),
    "NumPy's fraction": (lambda mesh, A, B: np.ones(4)[4 / 2], "no-whole-index"),
    "condition": (lambda mesh, A, B: A[A > 0], "boolean-index"),
    "float": (lambda mesh, A, B: A * float(A.sum()), "needs-a-value"),
    "item": (lambda mesh, A, B: A * A.sum().item(), "needs-a-value"),
    "shape": (lambda mesh, A, B: jnp.zeros(A[0, 0].astype(int)), "needs-a-value"),
    "format": (lambda mesh, A, B: f"{A[0, 0]:.2f}", "needs-a-value"),
    "kept": (keeps, "kept-from-elsewhere"),
    "assigned": (lambda mesh, A, B: A.__setitem__(0, 0), "assigned"),
    "in_specs' axis": (mapped(lambda a, b: a @ b, (P("row"), P())), "axis-of-no-specs"),
    "out_specs' axis": (mapped(lambda a, b: a @ b, outs=P("row")), "axis-of-no-specs"),
    "spec's axis": (lambda mesh, A, B: placed(mesh, A, "row"), "axis-of-no-mesh"),
    "axis twice": (lambda mesh, A, B: placed(mesh, A, "x", "x"), "axis-twice"),
    "axis twice in an entry": (lambda mesh, A, B: placed(mesh, A, ("x", "x")), "axis-twice"),
    "own mesh": (lambda mesh, A, B: jax.make_mesh((16,), ("x",), axis_types=(AxisType.Auto,)), "too-large-a-mesh"),
    "spec alone": (lambda mesh, A, B: lax.with_sharding_constraint(A @ B, P("x")), "no-mesh-around"),
    "no mesh": (lambda mesh, A, B: jax.shard_map(lambda a: a, in_specs=P("x"), out_specs=P("x"))(A), "no-mesh-around"),
    "reshard": (lambda mesh, A, B: jax.reshard(A, NamedSharding(mesh, P("x"))), "reshard-on-auto"),
    "set_mesh": (lambda mesh, A, B: jax.set_mesh(mesh), "set-mesh-inside"),
    "uneven": (lambda mesh, A, B: mapped(lambda a, b: a)(mesh, A[:, :3], B), "uneven-blocks"),
    "long in_spec": (mapped(lambda a, b: a, (P("x", None, None), P())), "specs-too-long"),
    "long out_spec": (mapped(lambda a, b: a.sum(), outs=P("x")), "specs-too-long"),
    "one in_spec of two": (mapped(lambda a, b: a, (P("x"),)), "count-of-specs"),
    "list of in_specs": (mapped(lambda a, b: a, [P("x"), P()]), "count-of-specs"),
    "two out_specs of one": (mapped(lambda a, b: a, outs=(P("x"), P())), "count-of-specs"),
    "specs as text": (mapped(lambda a, b: a, ("x", "y")), "specs-of-another-kind"),
    "promise": (mapped(lambda a, b: a @ b), "promised-copies"),
    "carry": (mapped(looped, outs=P("x")), "varying-carry"),
    "psum over copies": (mapped(lambda a, b: lax.psum(a @ b, ("x", "y"))), "sums-copies"),
    "axis in capitals": (mapped(lambda a, b: lax.psum(a @ b, "X")), "axis-named-otherwise"),
    "gather that stacks": (
        mapped(lambda a, b: a @ lax.all_gather(b, "y", axis=1), (P("x"), P(None, "y"))), "untiled-gather"),
    "axis_size": (mapped(lambda a, b: a * lax.axis_size("q")), "axis-named-otherwise"),
    "ppermute": (mapped(lambda a, b: lax.ppermute(a, "x", [(0, 1), (1, 1)]), outs=P("x")), "not-a-permutation"),
    "psum_scatter": (mapped(lambda a, b: lax.psum_scatter(a @ b, "x", scatter_dimension=1)), "scattered-unevenly"),
    "all_to_all": (mapped(lambda a, b: lax.all_to_all(a @ b, "x", 1, 0)), "scattered-unevenly"),
    "check_rep": (mapped(lambda a, b: a, check_rep=False), "old-shard-map"),
    "by position": (lambda mesh, A, B: jax.shard_map(lambda a: a, mesh, P("x"), P("x"))(A), "old-shard-map"),
    "product": (mapped(lambda a, b: b @ a), "shapes-do-not-fit"),
    "sum": (lambda mesh, A, B: A + B, "shapes-do-not-fit"),
    "where": (lambda mesh, A, B: jnp.where(A > 0, A, B), "shapes-do-not-fit"),
    "einsum": (lambda mesh, A, B: jnp.einsum("n,nw->w", A, B), "letters-and-dimensions"),
    "reshape": (lambda mesh, A, B: A.reshape(7, -1), "shapes-do-not-fit"),
    "a mesh's shape": (lambda mesh, A, B: Mesh(np.array(jax.devices()).reshape(2, 3), ("x", "y")), "device-mesh-size"),
    "another's shape": (lambda mesh, A, B: Mesh(np.arange(8).reshape(2, 3), ("x", "y")), "shapes-do-not-fit"),
    "grad": (lambda mesh, A, B: jax.grad(lambda a: a @ B)(A), "gradient-of-many"),
    "no return": (lambda mesh, A, B: None, "nothing-returned"),
    "body without return": (mapped(lambda a, b: None), "nothing-returned"),
    "mapped, not called": (lambda mesh, A, B: jax.jit(jnp.sin), "function-returned"),
    "list as key": (lambda mesh, A, B: {"x": A}[["x"]], "list-as-a-key"),
    "no digits": (lambda mesh, A, B: A[int("")], "no-digits"),
    "None": (lambda mesh, A, B: None + A, "nothing-there"),
    "text": (lambda mesh, A, B: "C", "not-jax-returned"),
    "name": (lambda mesh, A, B: produkt(A, B), "not-defined"),  # noqa: F821
    "local name": (unbound, "not-defined"),
    "module": (lambda mesh, A, B: __import__("jax.experimental.nothing"), "not-installed"),
    "attribute": (lambda mesh, A, B: lax.allgather(A, "x"), "no-such-name"),
    "recursion": (again, "without-end"),
    "exit": (left, "left"),
    "later": (later, "not-written-yet"),
    "index": (lambda mesh, A, B: [A, B][2], "counted-too-far"),
    "index of a pair": (mapped(lambda a, b: lax.ppermute(a, "x", [(0, 1)][1]), outs=P("x")), "counted-too-far"),
    "NumPy's index": (lambda mesh, A, B: np.ones(4)[5], "counted-too-far"),
    "indices": (lambda mesh, A, B: A[0, 0, 0, 0], "too-many-indices"),
    "key": (lambda mesh, A, B: mesh.shape["z"], "no-such-key"),
    "unpacked": (lambda mesh, A, B: [a for a, b, c in [A.shape]], "unpacked-otherwise"),
    "subscript": (lambda mesh, A, B: mesh["x"], "of-another-type"),
    "call": (lambda mesh, A, B: A(B), "called-no-function"),
    "pmap": (lambda mesh, A, B: jax.pmap(lambda a, b: a)(B[:8], B[:6]), "pmapped"),
}  # fmt: skip
if jax.__version_info__ < (0, 12):  # JAX 0.12 counts this dimension from the end, too
    MADE["last dimension scattered"] = (
        mapped(lambda a, b: lax.psum_scatter((a @ b)[:, :16], "x", scatter_dimension=-1, tiled=True), outs=P(None, "x")),
        "counted-from-the-end",
    )


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("mistake", MADE)
def test_the_cause_is_told(mistake: str) -> None:
    """Of a program that raises, when it is traced, or whose answer is no program: this cause, and no other row says so."""
    program, cause = MADE[mistake]
    answer = record(PROGRAM.manifest(), {"product": program}, {})
    (finding, *_) = judge(PROGRAM, answer, References({}, {})).findings
    assert finding.misconception == cause, finding
    assert finding.cause and "\\" not in finding.cause
    entry = answer["items"]["product"]
    error = entry.get("error") or entry["programs"][0]["error"]
    assert known(f"{error['type']}: {error['message']}", error["line"]) == {cause}


def known(text: str, line: str = "") -> set[str]:
    """The causes whose patterns are found in a text: of what the recording says, and of the lens's table."""
    kind, _, said = text.partition(": ")
    own = {id for id, pattern, _ in OWN if re.search(pattern, f"{text}\nat {line}", re.DOTALL)}
    return own | {each.message.name for each in recognise(kind, said, line)}


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("LensError: [no-sharding] P has no sharding.", "spec-alone"),
        ("LensError: [no-sharding] PartitionSpec has no sharding.", "spec-alone"),
        ("LensError: [no-sharding] ndarray has no sharding.", "no-sharding"),
        ("LookupError: no such entry in cases, which has 'a'", "other-entries"),
        ("TypeError: filter is not a number, a string, a list or a dict of these", "not-made-yet"),
        (
            "ValueError: Cannot lower jaxpr with verifier errors:\n\t'stablehlo.reduce_scatter' op attribute "
            "'scatter_dimension' failed to satisfy constraint: 64-bit signless integer attribute whose value is "
            "non-negative",
            "counted-from-the-end",
        ),
        ("RuntimeError: `host_callback` is gone", "host-callback"),
        ("LaboratoryCalled: shardlens.placement.show was called", "laboratory-called"),
        ("ValueError: Received incompatible devices for jitted computation", "incompatible-devices"),
        ("ValueError: passed to with_sharding_constraint can only refer to Auto axes", "constraint-on-explicit"),
    ],
)
def test_what_no_program_says(text: str, cause: str) -> None:
    """Of values and placements, and along Explicit axes."""
    found = likely(text)
    assert found is not None and found.id == cause
    assert known(text) == {cause}


def test_each_is_tried() -> None:
    """No row of the recording's own that no mistake here meets; those of the lens have tests there."""
    tried = {cause for _, cause in MADE.values()} | {each.values[1] if hasattr(each, "values") else each[1]
             for each in test_what_no_program_says.pytestmark[0].args[1]}  # fmt: skip
    assert {id for id, _, _ in OWN} <= tried


@pytest.mark.parametrize(
    ("chapter", "told"),
    [
        ("0", "Define the function with the arguments that it is called with."),
        ("1", "Define the function with the arguments that it is called with."),
        ("4", "The body of jax.shard_map has one argument for each entry of in_specs."),
    ],
)
def test_advice_is_of_what_a_chapter_knows(chapter: str, told: str) -> None:
    """Nothing about jax.shard_map before the chapter that introduces it."""
    asked = dataclasses.replace(PROGRAM, id=f"{chapter}.1")
    answer = record(asked.manifest(), {"product": lambda mesh, A: A}, {})
    (finding, *_) = judge(asked, answer, References({}, {})).findings
    assert "was called with arguments that it does not accept." in finding.cause and finding.cause.endswith(told)


@pytest.mark.parametrize(
    "text",
    [
        "Odd: the ring is full",
        "IndexError: an index can only have a single ellipsis ('...')",
        "IndexError: boolean index did not match indexed array along axis 0",
        "ValueError: 'NoneType' is no name of a mesh",
        "RuntimeError: it has no attribute",
        "RuntimeError: the function returned None",
        "RuntimeError: the shapes must have the same shape",
    ],
)
def test_what_is_not_known(text: str) -> None:
    """An exception of the student's own has no cause; nor has one with the type or the words of a known one alone."""
    assert likely(text) is None


def test_ours_keeps_its_parts() -> None:
    """A message of Shardlab's: what in `got`, where with its carets, and how to mend for a cause."""
    import shardlab as sl

    answer = record(PROGRAM.manifest(), {"product": lambda mesh, A, B: sl.einshard(A, "a b -> a3 b", mesh)}, {})
    (finding, *_) = judge(PROGRAM, answer, References({}, {})).findings
    assert finding.got == "ShardingError: [numbers-do-not-multiply] the numbers give 3 parts, and there are 8 devices."
    quoted, carets, case = finding.where.split("\n")
    assert quoted[carets.index("^") : carets.rindex("^") + 1] == "a3" and case.startswith("mesh (")
    assert finding.cause == 'write "a b -> a8 b".'


def test_what_is_alike_is_said_once() -> None:
    """Of items that fail alike one finding is shown, of letters that fail alike too, and a cause once in a report."""
    finding = judge(PROGRAM, record(PROGRAM.manifest(), {"product": 3}, {}), References({}, {})).findings[0]
    verdict = judge(PROGRAM, record(PROGRAM.manifest(), {"product": 3}, {}), References({}, {}))
    others = [dataclasses.replace(finding, item=item, what=f"{item} could not be read as an answer.") for item in "ab"]
    third = dataclasses.replace(finding, item="c", got="else")
    said = feedback.text(dataclasses.replace(verdict, findings=(*others, third)), PROGRAM)
    assert "  a, b (values): could not be read as an answer." in said
    assert said.count(finding.cause[:40]) == 1 and "likely:    The same as above." in said
    letters = tuple(dataclasses.replace(finding, letter=letter) for letter in "VSH")
    assert "(values, shardings, communication): product could" in feedback.text(
        dataclasses.replace(verdict, findings=letters), PROGRAM
    )
