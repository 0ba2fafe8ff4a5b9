"""How many collectives wait for one another: programs whose chains are known, stored texts, and the judge's use of it."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import pytest
from jax import lax
from jax.sharding import AxisType, NamedSharding

import hlo_texts
from shardlab.answers.record import record
from shardlab_course.checking.feedback import text
from shardlab_judge.cases import Case, Input, Observed, axes
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.judging import judge
from shardlab_judge.question import Question, WrongProgram
from shardlab_judge.references import build
from shardlens.programs.inspection import inspect
from shardlens.reading.collectives import read_collectives
from shardlens.reading.depth import depth

P = jax.P
N = 8


def hop(x: jax.Array, by: int = 1) -> jax.Array:
    """Every block to the device `by` places on."""
    return lax.ppermute(x, "x", [(d, (d + by) % N) for d in range(N)])


def unrolled(x):
    for _ in range(5):
        x = hop(x)
    return x


def looped(x):
    return lax.fori_loop(0, 5, lambda i, x: hop(x), x)


def two_chains(x):
    def both(i, state):
        return hop(state[0]), hop(state[1], -1)

    right, left = lax.fori_loop(0, 3, both, (x, 2 * x))
    return hop(right) + left


def crossed_chains(x):
    def both(i, state):
        return hop(state[1]), state[0]

    return sum(lax.fori_loop(0, 6, both, (x, 2 * x)))


def nested(x):
    return lax.fori_loop(0, 3, lambda i, x: lax.fori_loop(0, 2, lambda j, x: hop(x), x + lax.pmax(x, "x")), x)


def same_input_again(x):
    return lax.fori_loop(0, 4, lambda i, state: (state[0], state[1] + hop(state[0])), (x, x))[1]


def chosen(x):
    return lax.cond(lax.psum(x[0], "x") > 0, lambda x: hop(hop(x)), hop, x)


def local_loop_between(x):
    return hop(lax.fori_loop(0, 10**9, lambda i, x: x * 0.5, hop(x)))


def through_a_combined_sum(x):
    first, second = lax.psum((x, x[:1]), "x")
    return x + lax.psum(first * x, "x") + second


def nothing(x):
    return x + 1


KNOWN: dict[Callable, int] = {
    unrolled: 5, looped: 5, two_chains: 4, crossed_chains: 3, nested: 9, same_input_again: 1, chosen: 3,
    local_loop_between: 2, through_a_combined_sum: 2, nothing: 0,
}  # fmt: skip


@pytest.mark.parametrize("body", KNOWN, ids=lambda body: body.__name__)
def test_known_chains(body: Callable) -> None:
    """Loops count round by round, and chains beside each other do not add up."""
    mesh = jax.make_mesh((N,), ("x",), axis_types=(AxisType.Auto,))
    x = jax.ShapeDtypeStruct((32,), "float32", sharding=NamedSharding(mesh, P("x")))
    assert inspect(jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x")), x).depth == KNOWN[body]


@pytest.mark.parametrize(
    "name, wanted",
    {
        "cpu_case1": 0, "cpu_seven_gathers": 1, "cpu_nested_loops": 18, "cpu_unknown_rounds": None, "cpu_until": None,
        "tpu_ring": 1, "tpu_scatter_fusion": 2, "v5e_overlapped": 1,
    }.items(),
)  # fmt: skip
def test_stored_texts(name: str, wanted: int | None) -> None:
    """Pairs of a start and a done are one; a loop of unknown rounds, or one that decides by a collective, is unknown."""
    hlo = (hlo_texts.FOLDER / f"{name}.txt").read_text()
    assert depth(hlo, {c.name for c in read_collectives(hlo)}) == wanted


BARRIER = """HloModule m, num_partitions=8

ENTRY %main (a: f32[4]) -> f32[4] {
  %a = f32[4]{0} parameter(0)
  %r = f32[4]{0} collective-permute(%a), channel_id=1, source_target_pairs={{0,1},{1,0}}
  %t = (f32[4]{0}, f32[4]{0}) tuple(%r, %a)
  %b = (f32[4]{0}, f32[4]{0}) opt-barrier(%t)
  %s = f32[4]{0} get-tuple-element(%b), index=1
  %h = f32[4]{0} collective-permute(%s), channel_id=2, source_target_pairs={{0,1},{1,0}}
  %f = f32[4]{0} get-tuple-element(%b), index=0
  ROOT %o = f32[4]{0} add(%h, %f)
}
"""


def test_what_passes_a_barrier_stays_apart() -> None:
    """One of two values waited for a collective, and the other did not."""
    assert depth(BARRIER, {"r", "h"}) == 1


def one_after_the_other(mesh, x):
    return jax.shard_map(lambda x: hop(hop(hop(x))), mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)


def side_by_side(mesh, x):
    def body(x):
        return jnp.where(lax.axis_index("x") < 0, hop(x) + hop(x, 2), hop(x, 3))

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)


def sends_far(o: Observed) -> bool:
    return any((b - a) % N > 1 for c in o.collectives for a, b in c.groups)


@pytest.mark.parametrize("deepest, barred, statuses", [(None, False, "pp"), (1, False, "fp"), (None, True, "pf")])
def test_what_the_judge_makes_of_it(deepest: int | None, barred: bool, statuses: str) -> None:
    """As many bytes in a longer chain fail where the item says so; so does a barred way, with its cause."""
    case = Case(axes(x=N), (Input((16, 3), ("x",)),), (("x",),))
    item = ProgramItem(
        "roll", {"V": 1, "H": 1}, oracle=lambda x: jnp.roll(x, 6, 0), cases=(case,),
        deepest=None if deepest is None else lambda case: deepest,
        misconceptions=(WrongProgram("far", "It sends further than one place.", when=sends_far, barred=barred),),
    )  # fmt: skip
    question = Question("8.4", "", (item,), 1, 1, ("",) * 3, "")
    answers = [record(question.manifest(), {"roll": f}, {}) for f in (one_after_the_other, side_by_side)]
    costs = build([question], {"8.4": answers[0]})
    verdicts = [judge(question, answer, costs) for answer in answers]
    assert [verdict.status[0] for verdict in verdicts] == list(statuses)
    said = " ".join(text(verdict, question) for verdict in verdicts)
    assert ("at most 1 one after another" in said) == (deepest == 1)
    assert ("further than one place" in said) == barred
