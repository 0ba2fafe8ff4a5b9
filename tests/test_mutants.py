"""Mutation testing of the judge: operators, proofs, claims, what is kept; and a fixed sample, in which none survives."""

from __future__ import annotations

import ast
import dataclasses
import fnmatch
import functools
import json
import pathlib
import re
import sys
import types

import jax
import numpy as np
import pytest

from sample_questions import CALLED, PLACED, PROGRAM, contraction, question
from shardlab_course import answers
from shardlab_course.chapters import CHAPTERS, QUESTIONS
from shardlab_judge.cases import Case, Input, Observed
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Misconception, Question, WrongProgram, WrongValues
from shardlab_tools.mutants import claims, generation, running, sampling, table, wider
from shardlab_tools.mutants.answers import Answer, read, source_of
from shardlab_tools.mutants.answers import of as rights
from shardlab_tools.mutants.devices import DEVICES
from shardlab_tools.mutants.equivalence import difference
from shardlab_tools.mutants.judging import Judge, Tried
from shardlab_tools.mutants.operators import PLAIN
from shardlab_tools.mutants.outcomes import BARE, CAUSE, EQUIVALENT, SURVIVED, Outcome, outcome
from shardlab_tools.mutants.truths import NAMES

EXAMPLES = {
    "operation": ("a < b", "a <= b"),
    "operand": ("i % n", "i"),
    "order": ("a @ b", "b @ a"),
    "off by one": ("3", "2"),
    "rounds": ("range(n)", "range(n - 1)"),
    "bounds": ("x[:k]", ":k - 1"),
    "function": ("math.ceil(x)", "math.floor(x)"),
    "flag": ("True", "False"),
    "collective dropped": ("jax.lax.psum(x, 'x')", "x"),
    "collective doubled": ("jax.lax.psum(x, 'x')", "jax.lax.psum(jax.lax.psum(x, 'x'), 'x')"),
    "collective swapped": ("lax.psum(x, 'x')", "lax.pmean(x, 'x')"),
    "scaled": ("lax.psum(x, 'x')", "lax.psum(x, 'x') / jax.lax.axis_size('x')"),
    "option dropped": ("lax.all_gather(x, 'x', tiled=True)", "lax.all_gather(x, 'x')"),
    "dimension": ("lax.psum_scatter(x, 'x', scatter_dimension=1)", "lax.psum_scatter(x, 'x', scatter_dimension=0)"),
    "spec": ("P('x', None)", "P(None, 'x')"),
    "index": ("lax.axis_index('x')", "0"),
    "size assumed": ("lax.axis_size('x')", "4"),
    "direction": ("[(i, (i + 1) % n) for i in range(n)]", "[((i + 1) % n, i) for i in range(n)]"),
    "mask": ("jnp.where(m, x, 0)", "jnp.where(m, 0, x)"),
    "dtype": ("jnp.float32", "jnp.bfloat16"),
    "transposed": ("a.T", "a"),
    "gathered first": ("lax.psum(x, 'x')", "lax.psum(jax.lax.all_gather(x, 'x')[jax.lax.axis_index('x')], 'x')"),
    "sent for nothing": ("lax.psum(x, 'x')", "lax.psum(x, 'x') + 0 * jax.lax.psum(x.sum(), 'x')"),
    "axis": ("'x'", "'y'"),
}
PRODUCT = """
def product(mesh, a, b):
    def body(a, b):
        return jax.lax.psum(a @ b, 'x')
    return jax.shard_map(body, mesh=mesh, in_specs=(jax.P(None, 'x'), jax.P('x')), out_specs=jax.P())(a, b)
"""
PARTS = "def parts(n, k):\n    return -(-n // k)\n"


@functools.cache
def few() -> list[generation.Mutant]:
    """The fixed sample: some mutants of each chapter, question by question."""
    return sorted(sampling.few(each=22, programs=2), key=lambda mutant: mutant.question)


def divided(low: int) -> Question:
    """How many parts of k there are in n, drawn so that k divides n never (`low` 1) or sometimes (0)."""
    draw = lambda rng: (7 * rng.randrange(1, 50) + rng.randrange(low, 7), 7)  # noqa: E731
    return question(CallsItem("parts", {"C": 1}, oracle=lambda n, k: -(-n // k), calls=((10, 7), (20, 7)), draw=draw))


def judged(asked: Question, right: str, wrong: str) -> Outcome:
    """How a mutant of a right answer ends."""
    base, text = generation.HEAD + right, generation.HEAD + wrong
    names = tuple(item.name for item in asked.items)
    mutant = generation.Mutant(asked.id, "reference", "by hand", text, base, names)
    with jax.numpy_rank_promotion("allow"), jax.numpy_dtype_promotion("standard"):
        return outcome(Judge(asked, base), mutant, 6)


@pytest.mark.parametrize("name", EXAMPLES)
def test_operator(name: str) -> None:
    """Each makes its mistake."""
    text, changed = EXAMPLES[name]
    nodes = [*ast.walk(ast.parse(text, mode="eval").body)]
    made = [ast.unparse(ast.fix_missing_locations(new)) for node in nodes for new in (PLAIN | DEVICES)[name](node)]
    assert changed in made


def test_every_operator_has_an_example() -> None:
    """But for the two that change statements."""
    assert {*PLAIN, *DEVICES} - {*EXAMPLES} == {"step left out", "left to the compiler"}


def test_left_to_the_compiler() -> None:
    """The body runs on whole arrays, with a constraint at its end, and once more beside a dead `shard_map`."""
    (function,) = ast.parse(PRODUCT).body
    plain, dead = (ast.unparse(new) for new in DEVICES["left to the compiler"](function))
    assert "return a @ b" in plain and "with_sharding_constraint(body(a, b), jax.NamedSharding(mesh, jax.P()))" in plain
    assert "shard_map" not in plain and "shard_map" in dead


def test_a_mutant_changes_one_place_of_what_the_item_uses(tmp_path: pathlib.Path) -> None:
    """Of a variant its own statements, of the solution all; and nothing that no item reaches."""
    (tmp_path / "04_text.md").write_text(
        "<!-- exercise 4.2 -->\n\n```{code-cell} ipython3\n### BEGIN SOLUTION\nother = 5\n\n"
        "def f(x):\n    return g(x) + 1\n\ndef g(x):\n    return x * 2\n### END SOLUTION\n```\n"
    )
    (tmp_path / "answers.py").write_text(
        "from shardlab_course.answers import right, told, wrong\n\n"
        "@right\ndef short():\n    def f(x):\n        return x\n\n@wrong('a', 0)\ndef bad():\n    f = 1\n"
        "@told('a')\ndef predicted():\n    f = 2\n"
    )
    reference, short = rights(answers.read(tmp_path / "answers.py", tmp_path / "04_text.md", "4.2"))
    assert "told" not in reference.text
    found = [*generation.mutants(reference, ["f"])]
    assert {m.items for m in found} == {("f",)} and all("other = 5" in m.text for m in found)
    assert "return x / 2" in " ".join(m.text for m in found) and len({m.key for m in found}) == len(found)
    assert [*generation.mutants(short, ["f"])] == [] and short.name == "short"
    assert found[0].base == generation.HEAD + reference.text, "the answer is as it was"
    assert source_of(short.text, {"f"}) == "def f(x):\n    return x"


def test_a_sample_takes_the_operators_in_turn() -> None:
    """Always the same ones, of every operator one before of any two."""
    reference = Answer("4.2", "reference", *[tuple(ast.parse(PRODUCT).body)] * 2)
    found = [*generation.mutants(reference, ["product"])]
    some = generation.sample(found, 12)
    assert len({m.operator for m in some}) == 12 and some == generation.sample(found[::-1], 12)


@pytest.mark.thorough(after=3)
@pytest.mark.parametrize(
    ("changed", "to", "end"),
    [
        ("jax.lax.psum(a @ b, 'x')", "jax.numpy.sin(jax.lax.psum(a @ b, 'x'))", BARE),
        ("'x')\n", "'x') * 3\n", CAUSE),
        ("'x')\n", "'x') * 2\n", CAUSE),
        ("jax.lax.psum(a @ b, 'x')", "jax.lax.psum(2 * a @ b, 'x') / 2", EQUIVALENT),
        ("jax.lax.psum(a @ b, 'x')", "jax.lax.all_gather(a @ b, 'x', to='invarying').sum(0)", CAUSE),
        ("return jax.shard_map", "return 3 + jax.shard_mapp", CAUSE),
    ],
    ids=["wrong", "trebled", "doubled", "right", "dear", "raises"],
)
def test_programs_end_as_they_should(changed: str, to: str, end: str) -> None:
    """Wrong ones are refused, and one that only differs in its text is proved right."""
    found = judged(PROGRAM, PRODUCT, PRODUCT.replace(changed, to))
    assert (found.end, found.raised) == (end, "mapp" in to), found


def test_what_a_cell_raises_is_told() -> None:
    """As of a submission: where no function is left to be called, the cause of the cell's own exception."""
    found = judged(PROGRAM, PRODUCT, "mesh_of_none = {}['mesh']\n" + PRODUCT)
    assert (found.end, found.raised, found.causes) == (CAUSE, True, ("product: no-such-key",))


def test_mutants_of_what_does_not_run_say_nothing() -> None:
    """They would all be refused, and nothing would be wrong with the judge."""
    with pytest.raises(RuntimeError, match="0.1: a right answer does not run"):
        judged(divided(0), "undefined\n" + PARTS, "undefined\n" + PARTS.replace("-n", "n"))


@pytest.mark.parametrize("id", QUESTIONS)
def test_right_answers_run(id: str) -> None:
    """As mutants are made from them: without what marks them in the corpus."""
    chosen = QUESTIONS[id]
    for answer in read(id):
        Judge(chosen, answer.text).must_run(generation.HEAD + answer.text)


@pytest.mark.thorough
def test_a_case_that_no_reference_is_made_for_tells_nothing() -> None:
    """A sum over a first dimension of one is that of the only row: another base may be right where there are two."""
    case = Case((("x", 2),), (Input((2, 8), ("x", None)),), (("x", None),))
    item = ProgramItem("f", {"V": 1}, oracle=lambda a: np.tanh(a), cases=(case,))
    specs = "mesh=mesh, in_specs=jax.P('x', None), out_specs=jax.P('x', None)"
    body = "import jax.numpy as jnp\ndef f(mesh, a):\n    return jax.shard_map(lambda a: BODY, SPECS)(a)".replace(
        "SPECS", specs
    )
    texts = [generation.HEAD + body.replace("BODY", b) for b in ("jnp.tanh(a[0])[None]", "jnp.tanh(a)", "jnp.tanh(a[:1])")]
    reference, base, wrong = texts
    judge = Judge(question(item), reference)
    right, changed = (Tried.run(judge.question, text) for text in (base, wrong))
    assert difference(judge, item, right, changed, 6) == ""
    assert difference(Judge(question(item), base), item, right, changed, 6).startswith("wider than drawn")


def test_what_only_wide_cases_tell_survives() -> None:
    """Rounding up is adding one, but where it is exact: draws that have no such case let it pass."""
    wrong = PARTS.replace("-(-n // k)", "n // k + 1")
    assert judged(divided(1), PARTS, wrong).end == SURVIVED
    assert judged(divided(0), PARTS, wrong).end == CAUSE, "one too large, wherever it is wrong"
    assert judged(divided(1), PARTS, PARTS.replace("-(-n // k)", "(n + k - 1) // k")).end == EQUIVALENT


@pytest.mark.thorough
def test_what_only_wide_values_tell_survives() -> None:
    """A sum of squares is the sum of absolute values for plus and minus ones."""
    case = contraction(8, 16, 4, x=2)
    ones = dataclasses.replace(case.inputs[0], values=lambda rng, shape, before: rng.choice([-1.0, 1.0], shape))
    item = ProgramItem("f", {"V": 1}, oracle=lambda a: (a**2).sum(), cases=(dataclasses.replace(case, inputs=(ones,)),))
    right, wrong = "def f(mesh, a): return (a * a).sum()", "def f(mesh, a): return abs(a).sum()"
    assert judged(question(item), right, wrong).end == EQUIVALENT, "what a question says of its values is no accident"
    plainly = dataclasses.replace(case, inputs=case.inputs[:1])
    assert judged(question(dataclasses.replace(item, cases=(plainly,))), right, wrong).end == BARE


@pytest.mark.thorough
def test_one_that_never_ends_is_stopped() -> None:
    """Whatever it catches; the next worker goes on behind it."""
    first, second = few()[:2]
    endless = "while True:\n    try:\n        exec('while True: pass')\n    except BaseException:\n        pass"
    first, last = running.judged([dataclasses.replace(first, text=endless), second], 2)
    assert (
        (first.end, first.why) == (BARE, "it hung, or ended the process")
        and last.key == second.key
        and last.why != first.why
    )


@pytest.mark.parametrize("chosen", [CALLED, PLACED], ids=["calls", "placement"])
def test_likeness_is_a_cause(chosen: Question) -> None:
    """A wrong answer that is known is refused with its cause, which is true."""
    rights = {
        "bytes_of": "import numpy as np\ndef bytes_of(shape, size): return size * int(np.prod(shape))",
        "picture": "mesh = jax.make_mesh((2, 4), ('x', 'y'), (jax.sharding.AxisType.Auto,) * 2)\n"
        "picture = jax.NamedSharding(mesh, jax.P('x', 'y'))",
    }
    right = rights[chosen.items[0].name]
    found = judged(chosen, right, right.replace("size * int", "int").replace("jax.P('x', 'y')", "jax.P('y', 'x')"))
    assert (found.end, found.false) == (CAUSE, ()) and found.causes


def test_a_false_cause_is_found() -> None:
    """A sentence whose words are not true of the answer, and one that is told in some cases only."""
    wrong = PRODUCT.replace("'x')\n", "'x') * 2\n")
    known = WrongValues("dear", "The values are right, and dear.", when=lambda o: True, breaks=True)
    some = WrongValues("wide", "It is doubled.", when=lambda o: o.case.axes[0][1] == 2, breaks=True)
    true = WrongValues("true", "It is doubled.", when=lambda o: True, breaks=True)
    (item,) = PROGRAM.items
    told = {
        m.id: judged(question(dataclasses.replace(item, misconceptions=(m,))), PRODUCT, wrong) for m in (known, some, true)
    }
    assert {name: found.false for name, found in told.items()} == {
        "dear": ("product, dear: 'values are right'",),
        "wide": (),
        "true": (),
    }
    assert [name for name, found in told.items() if found.unsteady] == ["wide"]


def test_claims_are_made_by_causes_of_the_course() -> None:
    """No words that no cause has."""
    causes = [m.cause for q in QUESTIONS.values() for item in q.items for m in item.misconceptions]
    import re

    assert [words for words, _ in claims.CLAIMS if not any(re.search(words, cause) for cause in causes)] == []


def test_every_misconception_has_something_that_must_be_true() -> None:
    """By its words, by its name, or of values; and no name is listed that no misconception has."""
    known = [m for q in QUESTIONS.values() for item in q.items for m in item.misconceptions]
    assert all(claims.claimed(m) for m in known)
    patterns = [pattern for names, _ in NAMES for pattern in names.split()]
    assert [p for p in patterns if not any(fnmatch.fnmatchcase(m.id, p) for m in known)] == []


@pytest.mark.parametrize(
    ("name", "lost", "kinds", "true"),
    [
        ("gathers-everything", "H", {"all-gather"}, True),
        ("gathers-everything", "H", set(), False),
        ("summed-again", "V", {"all-reduce"}, True),
        ("summed-again", "V", {"all-gather"}, False),
        ("ring-is-open", "V", {"collective-permute"}, True),
        ("ring-is-open", "V", {"all-gather"}, False),
        ("weights-travel", "V", {"collective-permute"}, True),
        ("weights-travel", "V", set(), False),
        ("only-renamed", "V", set(), True),
        ("only-renamed", "V", {"all-to-all"}, False),
        ("sum-not-cut", "S", set(), True),
        ("sum-not-cut", "P", set(), False),
        ("own-mean", "V", {"all-reduce"}, True),
        ("own-mean", "H", {"all-reduce"}, False),
        ("step-zero", "V", set(), False),
        ("imaginary-part-kept", "V", set(), False),
        ("divided-by-a-constant", "V", set(), False),
    ],
)
def test_what_a_name_says_is_looked_at(name: str, lost: str, kinds: set[str], true: bool) -> None:
    """A cause of values needs wrong values, one of a collective this collective, one of places a wrong place or price."""
    (item,) = PROGRAM.items
    collectives = tuple(types.SimpleNamespace(kind=kind, executions=1) for kind in kinds)
    blocks = (((0, (slice(0, 2),), np.ones(2)),),)
    seen = Observed(contraction(2, 2, 2, x=2), shards=blocks, collectives=collectives)
    evidence = claims.Evidence(item, "return a @ b", "", ((seen, frozenset(lost)),))
    assert (claims.untrue(Misconception(name, "It is so."), evidence) == "") is true


@pytest.mark.parametrize(
    ("error", "true"), [("out_specs says that it is replicated", True), ("name 'x' is not defined", False)]
)
def test_what_a_name_says_of_an_exception_is_looked_at(error: str, true: bool) -> None:
    """A promise that was not proved is not what JAX said when a name was missing."""
    (item,) = PROGRAM.items
    known = WrongProgram("promise-not-proved", "It is so.", error="")
    assert (claims.untrue(known, claims.Evidence(item, "", error)) == "") is true


def test_proportion_is_that_of_the_mesh() -> None:
    """Twice and half the right values on an axis of two, and not three times."""
    (item,) = PROGRAM.items
    case = contraction(2, 2, 2, x=2)
    inputs = (np.array([[1.0, 2], [3, 5]]), np.array([[2.0, 1], [1, 4]]))

    def holds(factor: float) -> bool:
        block = factor * inputs[0] @ inputs[1]
        shards = (((0, (slice(0, 2), slice(0, 2)), block),),)
        seen = Observed(case, inputs=inputs, shards=shards)
        return claims._in_proportion(claims.Evidence(item, "", "", ((seen, frozenset("V")),)))

    assert [holds(2), holds(0.5), holds(3)] == [True, True, False]


def test_wider_arguments_have_exact_fits() -> None:
    """One number changed in each, of the same type, and never to zero or below."""
    made = [*wider.calls([(13, [4, 8], {"a": 2.5}, "text", True)])]
    assert all(a[3:] == ("text", True) and sum(x != y for x, y in zip(a, (13, [4, 8], {"a": 2.5}))) == 1 for a in made)
    assert any(a[0] % 4 == 0 for a in made) and all(type(a[0]) is int and a[0] > 0 for a in made)


@pytest.mark.thorough
def test_what_is_kept_is_not_judged_again(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of a chapter is read again, and begun anew when what judges the chapter is another."""
    monkeypatch.setattr(running, "KEPT", tmp_path)
    one = Outcome("key", "2.1", "reference", "spec", CAUSE, causes=("a: b",), letters="V")
    running.Kept(2, 50).add(one)
    assert running.Kept(2, 50).outcomes == {"key": one}
    assert running.Kept(2, 49).outcomes == {} and running.Kept(2, 50).outcomes == {}


def test_a_worker_that_dies_costs_one_mutant(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant at which it ended is refused, or survives where it was accepted before, and another goes on behind it."""
    worker = tmp_path / "worker.py"
    worker.write_text(
        "import json, os, sys\nfor mutant in json.load(sys.stdin):\n    key = mutant['answer']\n"
        "    print(json.dumps({'begins': key}), flush=True)\n    if key == 'b': os.abort()\n"
        "    print(json.dumps({'begins': key}), flush=True)\n    if key == 'c': os.abort()\n"
        "    made = {name: mutant[name] for name in ('question', 'answer', 'operator')}\n"
        "    print(json.dumps({'key': key, 'end': 'equivalent', **made}), flush=True)\n"
    )
    monkeypatch.setattr(running, "WORKER", (sys.executable, str(worker)))
    four = [generation.Mutant("2.1", each, "order", f"{each} = 1", "", ()) for each in "abcd"]
    ends = {made.answer: made.end for made in running.judged(four, 1)}
    assert ends == {"a": EQUIVALENT, "b": BARE, "c": SURVIVED, "d": EQUIVALENT}


def test_the_last_line() -> None:
    """How many ended in which way; a survivor and a false cause are faults."""
    ends = [Outcome(str(i), "2.1", "reference", "spec", end) for i, end in enumerate([CAUSE, BARE, BARE, SURVIVED])]
    ends += [Outcome("5", "2.1", "reference", "spec", CAUSE, false=("a: b",), raised=True, line=True)]
    assert table.line(ends) == "mutants: 5 judged, 2 refused with a cause, 2 refused without, 0 equivalent, 1 survived"
    assert table.faults(ends) == 2
    counted = table.figures(ends)
    assert (counted["values or costs"], counted["of them with a cause"]) == (3, 1)
    assert (counted["raised"], counted["of them with the line"], counted["false causes"]) == (1, 1, 1)
    assert [bool(table.told(o)) for o in ends] == [False, False, False, True, True]


def test_figures_of_other_chapters_stay(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run over some chapters renews theirs."""
    monkeypatch.setattr(table, "FIGURES", tmp_path / "mutants.json")
    table.keep({10: [Outcome("1", "10.1", "reference", "spec", CAUSE)], 2: [Outcome("2", "2.1", "reference", "spec", BARE)]})
    table.keep({2: [Outcome(str(n), "2.1", "reference", "spec", BARE) for n in range(3)]})
    kept = json.loads(table.FIGURES.read_text())["chapters"]
    assert [(chapter, counts["judged"]) for chapter, counts in kept.items()] == [("2", 3), ("10", 1)]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", counts["date"]) for counts in kept.values())


@pytest.mark.thorough
def test_the_sample_is_of_every_chapter() -> None:
    """About 300, of which programs are the fewer."""
    assert {int(m.question.partition(".")[0]) for m in few()} == {*CHAPTERS}
    assert 200 <= len(few()) <= 320 and len({m.operator for m in few()}) >= 20


@pytest.fixture(scope="module")
def sampled() -> list[Outcome]:
    """How each of the sample ends, in processes of their own: one may hang, or end its process."""
    return list(running.judged(few(), 2))


@pytest.mark.thorough
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_no_mutant_of_the_sample_survives(chapter: int, sampled: list[Outcome]) -> None:
    """Each is refused, with no false cause, or proved to be as right as the reference."""
    assert [made.key for made in sampled] == [mutant.key for mutant in few()]
    found = [made for made in sampled if made.question.startswith(f"{chapter}.")]
    assert found and "".join(map(table.told, found)) == ""


def test_tried_answers_are_run_as_they_stand() -> None:
    """What raises is an answer too."""
    tried = Tried.run(PROGRAM, "raise ValueError('no')")
    assert isinstance(tried.error, ValueError) and tried.given(PROGRAM.items[0]) is ...
