"""Questions about a student's own program: every key is computed twice, and asked only where both agree."""

from __future__ import annotations

import base64
import dataclasses
import json
import pathlib
import random
from collections.abc import Iterator
from typing import Any

import jax
import pytest
from jax import P

import shardlab as sl
import variants
from shardlab.answers.record import record
from shardlab.errors import ShardlabError
from shardlab_course.chapters import QUESTIONS
from shardlab_course.checking import alone, elsewhere, exercise
from shardlab_course.checking.alone import Viva
from shardlab_course.viva import questions
from shardlab_course.viva.changes import changes
from shardlab_course.viva.facts import counted, facts
from shardlab_course.viva.forms import Devices, Form, Number, Slices
from shardlab_course.viva.leaving_out import without_one
from shardlab_course.viva.questions import Asked
from shardlab_course.viva.tried import tried
from shardlab_judge.items.program import ProgramItem
from variants import REFERENCE

PROGRAMS = [(q.id, item) for q in QUESTIONS.values() for item in q.items if isinstance(item, ProgramItem)]
SEED = 5
SUMMED = """\
def case_3(mesh, A, B):
    specs = P(None, "x"), P("x", None)
    return jax.shard_map(
        lambda a, b: jax.lax.psum(a @ b, "x"), mesh=mesh, in_specs=specs, out_specs=P(), check_vma=False)(A, B)
"""
# By hand: bytes that a device moves on the mesh that is named, with the first public case's arrays.
BY_HAND = {
    # All of A, 8 by 48 floats, comes to each device, whatever the mesh.
    ("4.2", "case_2", "(x=2, y=4)"): 8 * 48 * 4,
    # An all-reduce of C, 8 by 20 floats, counts twice.
    ("4.2", "case_3", "(x=2, y=4)"): 2 * 8 * 20 * 4,
    # All of B, 24 by 16 floats, comes to each device.
    ("4.2", "case_4", "(x=4, y=2)"): 24 * 16 * 4,
    # A reduce-scatter moves what goes in: all of C, 16 by 12 floats.
    ("4.5", "case_3_scattered", "(x=2, y=4)"): 16 * 12 * 4,
    # Rows of C, 16 by 16 floats, are cut over x, and added up over y.
    ("4.6", "block_by_row", "(x=2, y=4)"): 2 * 16 // 2 * 16 * 4,
    ("9.2", "mlp_by_hand", "(model=4)"): 2 * 16 * 24 * 4,
}


def programs(question: str, item: ProgramItem, namespace: dict[str, Any] | None = None) -> list[dict[str, Any] | None]:
    """The facts of a reference in every changed case; `None` where it does not survive the change."""
    cases = [change.case for change in changes(item)]
    asked = {**item.manifest(question, None), "cases": [case.to_json() for case in cases]}
    manifest = {"id": question, "variable": QUESTIONS[question].variable, "items": [asked]}
    # As in a student's process, where JAX is less strict than in these tests.
    with pytest.MonkeyPatch.context() as patch, jax.numpy_rank_promotion("allow"), jax.numpy_dtype_promotion("standard"):
        patch.setenv("SHARDLAB_RECORD", "1")
        recorded = record(manifest, namespace or variants.of(question)[REFERENCE].variables(), {})["items"][item.name]
    return [
        json.loads(json.dumps(facts(item, case, base64.b64decode(one["module"]), SEED))) if "module" in one else None
        for case, one in zip(cases, recorded["programs"])
    ]


def item_of(question: str, name: str) -> ProgramItem:
    """An exercise's item."""
    return next(item for other, item in PROGRAMS if (other, item.name) == (question, name))


def test_the_guide_names_the_chapters_without_questions() -> None:
    """Those in which no exercise asks for a program, and no others."""
    able = {id.partition(".")[0] for id, _ in PROGRAMS}
    none = [chapter for chapter in dict.fromkeys(id.partition(".")[0] for id in QUESTIONS) if chapter not in able]
    guide = pathlib.Path(__file__).parents[1] / "jupyter_book" / "instructors.md"
    assert f"Chapters {' and '.join(none)} have none." in guide.read_text()


@pytest.mark.parametrize(("question", "item"), PROGRAMS, ids=[f"{q}-{item.name}" for q, item in PROGRAMS])
def test_changes_can_be_cut(question: str, item: ProgramItem) -> None:
    """The first is the first public case; every other one differs from it, and its arrays go over its mesh."""
    from shardlab.answers.context import situation

    first, *others = changes(item)
    assert first.kind == "given" and first.case == item.cases[0]
    assert others and len({json.dumps(change.case.to_json()) for change in [first, *others]}) == len(others) + 1
    for change in others:
        for spec in situation(change.case.to_json())[1]:
            spec.sharding.shard_shape(spec.shape)


@pytest.mark.parametrize(("question", "name", "mesh"), BY_HAND, ids=lambda part: str(part))
def test_bytes_by_hand(question: str, name: str, mesh: str) -> None:
    """Both counts are what a person counts."""
    item = item_of(question, name)
    found = {change.what: one for change, one in zip(changes(item), programs(question, item))}
    (on_it,) = (one for what, one in found.items() if f"mesh {mesh} " in what)
    assert on_it is not None and on_it["bytes"] == [BY_HAND[question, name, mesh]] * 2 and on_it["wrong"] == [[], []]


@pytest.mark.thorough
@pytest.mark.parametrize(("question", "item"), PROGRAMS, ids=[f"{q}-{item.name}" for q, item in PROGRAMS])
def test_two_ways_agree(question: str, item: ProgramItem) -> None:
    """Where both ways can tell, they do not differ, and where a device keeps its values is where it says."""
    given, *others = programs(question, item)
    assert given is not None and given["wrong"] in ([[], []], [None, None])
    # Of larger arrays or on other meshes a tolerance may be too small for one draw of values: then nothing is asked of them.
    for one in [given, *filter(None, others)]:
        for name in ("bytes", "memory", "slices", "copies"):
            first, second = one[name]
            assert None in (first, second) or first == second, (name, first, second)


def test_a_sum_left_out() -> None:
    """Each device then has a term of the sum, and the question says so."""
    item, (left_out,) = item_of("4.2", "case_3"), without_one(SUMMED)
    namespace: dict[str, Any] = {"jax": jax, "P": jax.P}
    exec(left_out.source, namespace)
    (now, *_) = programs("4.2", item, namespace)
    assert now is not None
    (asked,) = questions.without({"exercise": "4.2", "function": "case_3"}, left_out.line, left_out.name, now)
    assert asked.key.startswith("It is wrong on every device. There it is a term of the sum over x")


def test_without_one_keeps_the_rest() -> None:
    """Bytes of UTF-8 are no columns, a call over lines goes whole, and what is no Python gives nothing."""
    source = 'label = "größe"; y = jax.lax.psum(\n    a @ b,\n    "x",\n) + 1  # é\nz = ppermute(y, "x", [(0, 1)])'
    first, second = without_one(source)
    assert first.source == 'label = "größe"; y = (a @ b) + 1  # é\nz = ppermute(y, "x", [(0, 1)])'
    assert (first.name, first.line) == ("psum", '1, label = "größe"; y = jax.lax.psum(')
    assert second.source.endswith("z = (y)") and without_one("def (") == []


def test_counted_gives_up_where_it_cannot_count() -> None:
    """A loop's rounds are not in its line."""
    line = "  %g = f32[8,4]{1,0} all-gather(%a), replica_groups={{0,1},{2,3}}\n"
    assert counted(line) == 8 * 4 * 4 and counted(f"{line}  %w = (s32[]) while(%t)") is None
    assert counted("  %r = bf16[8]{0} reduce-scatter(%a), replica_groups=[2,4]<=[8]\n") == 8 * 2 * 4
    for axes, size in {"{'x'}": 4, "{'x','y'}": 8, "{'x':(1)2}": 2}.items():
        groups = f"replica_groups=mesh['x'=4,'y'=2] {axes}"
        assert counted(f"  %r = bf16[8]{{0}} reduce-scatter(%a), channel_id=1, {groups}, to_apply=%add\n") == 8 * 2 * size
    assert counted("  %r = (f32[2]{0}, s8[4]{0}) all-reduce(%a, %b), to_apply=%add\n") == 2 * (8 + 4)


def test_a_sheet_has_other_kinds_and_exercises() -> None:
    """It is drawn by a seed, asks nothing twice, and what all of a class were asked tells nobody from anybody."""
    found = [asked(kind, exercise) for kind in ("bytes", "where", "copies") for exercise in ("4.2", "4.5", "4.10")]
    one, again = (questions.sheet(found, random.Random(7)) for _ in range(2))
    assert one == again and len(one) == questions.MOST and {each.kind for each in one} == {"bytes", "where", "copies"}
    assert {each.exercise for each in one} == {"4.2", "4.5", "4.10"}
    assert [each.exercise for each in one] == sorted((e.exercise for e in one), key=lambda e: int(e.partition(".")[2]))
    assert questions.sheet(found[:1], random.Random(7)) == found[:1]
    assert questions.of_everyone([found[:2], found[1:3], found[:4]]) == {(found[1].text, found[1].key)}
    assert questions.of_everyone([found[:2], found[:2]]) == set()


def asked(kind: str, exercise: str) -> Asked:
    """A question."""
    return Asked(kind, exercise, f"f{exercise}", f"{kind} of {exercise}?", kind, Number(1), "", "")


@pytest.mark.parametrize(
    ("form", "typed"),
    [
        (Number(1536), 1536),
        (Number(1536), "1,536 B"),
        (Number(0.5), "0.5 times"),
        (Slices([[0, 8], [4, 8]], (8, 16)), "[0:8, 4:8]"),
        (Slices([[0, 8], [4, 8]], (8, 16)), (slice(None), slice(4, 8))),
        (Slices([[0, 8], [4, 16]], (8, 16)), ": , 4:"),
        (Slices([[4, 8]], (8,)), ((4, 8),)),
        (Slices([[4, 8]], (8,)), slice(4, 8)),
        (Devices([0, 1, 2, 3], 4), "all"),
        (Devices([0, 1, 2, 3], 4), "on every device"),
        (Devices([1, 3], 4), "3 and 1"),
        (Devices([1, 3], 4), [1, 3]),
    ],
    ids=lambda part: str(part),
)
def test_forms(form: Form, typed: Any) -> None:
    """What is right may be typed in several ways; the example is another answer."""
    assert form.right(typed) and not form.right(form.example.partition(", or")[0])


@pytest.mark.parametrize(
    ("form", "typed"),
    [
        (Number(1), "many"),
        (Number(1), "8 by 16"),
        (Slices([[0, 8], [4, 8]], (8, 16)), "0:8"),
        (Slices([[0, 8]], (8,)), 8),
        (Devices([1], 4), "none"),
    ],
    ids=lambda part: str(part),
)
def test_what_is_no_answer(form: Form, typed: Any) -> None:
    """It is not taken for a wrong one."""
    with pytest.raises(ValueError):
        form.right(typed)


def summed(mesh: jax.sharding.Mesh, A: jax.Array, B: jax.Array) -> jax.Array:
    specs = P(None, "x"), P("x", None)
    body = jax.shard_map(lambda a, b: jax.lax.psum(a @ b, "x"), mesh=mesh, in_specs=specs, out_specs=P(), check_vma=False)
    return body(A, B)


@pytest.fixture
def passed(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> dict[str, Any]:
    """What was passed in this session, and nothing was asked yet."""
    monkeypatch.setenv("SHARDLAB_PROGRESS", str(tmp_path / "progress.json"))
    monkeypatch.setattr(alone, "_DRAWN", {})
    monkeypatch.setattr(exercise, "PASSED", kept := {})
    monkeypatch.setattr(alone, "PASSED", kept)
    return kept


def every(question: str, name: str) -> Iterator[tuple[str, str, str]]:
    """Whatever can be asked about a reference, of any device, and its key."""
    item, of = item_of(question, name), {"exercise": question, "function": name}
    (given, *others), (first, *there) = programs(question, item), changes(item)
    for change, now in zip(there, others):
        for seed in range(30 if now else 0):
            for one in questions.asked(of, first.case, change, given or {}, now or {}, random.Random(seed)):
                yield name, one.text, one.key


def test_questions_say_how_arrays_are_placed() -> None:
    """On paper nothing else does; an argument that is a number has no placement."""
    (given, *others), (first, *there) = programs("16.3", item_of("16.3", "append")), changes(item_of("16.3", "append"))
    texts = [
        one.text
        for change, now in zip(there, others)
        for one in questions.asked(
            {"exercise": "16.3", "function": "append"}, first.case, change, given or {}, now or {}, random.Random(SEED)
        )
        if now
    ]
    begins = "append takes arrays of 3 by 64 by 6 with P(None, 'x'), 3 by 6 with P(), a number. It runs "
    assert texts and all(text.startswith(begins) for text in texts)


def test_nothing_to_ask_about(passed: dict[str, Any]) -> None:
    """Before a pass, and of an exercise without a program, a line says so."""
    assert "Pass 4.2 first" in repr(sl.viva("4.2")) and "asks for no program" in repr(sl.viva("4.1"))


def test_a_student_alone(passed: dict[str, Any]) -> None:
    """Who has passed is asked about the functions that passed; the same program gets the same questions."""
    cases = variants.of("4.2")[REFERENCE].variables()
    with jax.numpy_rank_promotion("allow"), jax.numpy_dtype_promotion("standard"):
        feedback = sl.check("4.2", *(cases[f"case_{n}"] for n in (1, 2, 3, 4)))
        assert "`sl.viva(4.2)`" in repr(feedback)
        drawn = sl.viva()
        passed["4.2"] = {**passed["4.2"]}
        again = sl.viva(4.2)
    assert isinstance(drawn, Viva) and drawn is not again and drawn.asked == again.asked and len(drawn.asked) == alone.MOST
    right = {pair for name in drawn.code for pair in every("4.2", name)}
    for number, one in enumerate(drawn.asked, 1):
        assert (one.function, one.text, one.key) in right
        assert one.text in drawn._repr_html_().replace("&#x27;", "'") and f"  1 | def {one.function}(mesh" in repr(drawn)
        assert repr(sl.viva(4.2, number, one.key)).startswith(f"{number}. Right: {one.key}\n")
        assert repr(sl.viva(4.2, number, ...)).startswith(f"{number}. {one.key}\n")
        wrong = repr(sl.viva(4.2, number, one.form.example.partition(", or")[0]))
        assert "Look again at" in wrong and one.reason not in wrong
    assert "Write it as" in repr(sl.viva(4.2, 1, "so")) and "numbered 1 to 3" in repr(sl.viva(4.2, 4, 1))


@pytest.mark.thorough
@pytest.mark.parametrize("question", dict(PROGRAMS))
def test_whoever_passes_is_asked(passed: dict[str, Any], question: str) -> None:
    """Of every exercise whose verdict promises questions there is one about the reference, whatever a draw hits first."""
    with jax.numpy_rank_promotion("allow"), jax.numpy_dtype_promotion("standard"):
        passed[question] = variants.of(question)[REFERENCE].variables()
        assert isinstance(sl.viva(question), Viva)


def test_a_call_of_one_s_own_is_left_out(passed: dict[str, Any]) -> None:
    """Of a function at the top of a module; one inside another function, whose names are not to be had, keeps its calls."""
    passed["4.2"] = variants.of("4.2")[REFERENCE].variables() | {"case_3": summed}
    source = alone._source(jax.jit(summed))
    (left,) = without_one(source)
    made = alone._without(jax.jit(summed), left)
    assert made is not summed and "psum" in source and left.name == "psum"
    assert alone._source(lambda: 0) == alone._source(print) == ""
    item = item_of("4.2", "case_3")
    one = tried(QUESTIONS["4.2"], item, source.replace("summed", "case_3"), random.Random(1))
    one = dataclasses.replace(one, left_out=(left,))
    with jax.numpy_rank_promotion("allow"), jax.numpy_dtype_promotion("standard"):
        facts = alone._measured(one, passed["4.2"])
    (now,) = (each for (name, _), each in facts.items() if name in one.names)
    assert len(now["wrong"][0]) == 8 and facts[one.whole, 0]["wrong"] == [[], []]


def test_a_program_that_ends_the_judge_is_not_asked_about(passed: dict[str, Any]) -> None:
    """The notebook goes on, and so does the next program."""
    program = {"question": "4.2", "item": "case_3", "change": 0, "module": "", "seed": 0}
    refused = elsewhere.examined_elsewhere(program)
    assert ": " in refused["refused"]
    child, _ = elsewhere._child()
    child.kill()
    child.wait()
    assert elsewhere.examined_elsewhere(program) == {"refused": ShardlabError.__name__}
    assert elsewhere.examined_elsewhere(program) == refused
