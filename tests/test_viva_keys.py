"""Keys of vivas held against small oracles written by hand, which read no compiled program and no exported one.

A few exercises in `make test-all`; with `SHARDLAB_FULL=1` as many as make 200 keys.
"""

from __future__ import annotations

import collections
import contextlib
import itertools
import math
import os
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import numpy as np
import pytest

import variants
from shardlab.answers.context import situation
from shardlab_course.chapters import QUESTIONS
from shardlab_course.viva import questions
from shardlab_course.viva.changes import changes
from shardlab_course.viva.leaving_out import without_one
from shardlab_course.viva.questions import Asked
from shardlab_judge.cases import Case
from shardlab_judge.inputs import hidden_inputs
from shardlab_judge.items.program import ProgramItem
from test_viva import PROGRAMS, SEED, SUMMED, item_of, programs
from variants import REFERENCE

FULL = os.environ.get("SHARDLAB_FULL") == "1"
KEYS, OF_ONE = (200, 40) if FULL else (10, 12)
TIMES = {
    "all_gather": 1,
    "all_gather_invariant": 1,
    "psum": 2,
    "psum_invariant": 2,
    "pmax": 2,
    "pmin": 2,
    "ppermute": 1,
    "all_to_all": 1,
}
"""How often the bytes of a collective's result count. Of reduce_scatter those of its operand count."""
Index = list[list[int]]


@contextlib.contextmanager
def as_students_have_it(mesh: jax.sharding.Mesh, case: Case) -> Iterator[None]:
    """JAX is less strict there than in these tests."""
    set_mesh = jax.set_mesh(mesh) if case.explicit else contextlib.nullcontext()
    with jax.numpy_rank_promotion("allow"), jax.numpy_dtype_promotion("standard"), set_mesh:
        yield


def called(function: Any, case: Case) -> Any:
    """The program as JAX traces it."""
    mesh, specs = situation(case.to_json())
    with as_students_have_it(mesh, case):
        return jax.jit(lambda *arrays: function(mesh, *arrays)).trace(*specs).jaxpr


def results(function: Any, case: Case) -> list[jax.Array]:
    """What the program returns for drawn arrays, each put where the case says."""
    mesh, specs = situation(case.to_json())
    given = [jax.device_put(x, spec.sharding) for x, spec in zip(hidden_inputs(case, SEED), specs)]
    with as_students_have_it(mesh, case):
        return list(jax.tree.leaves(jax.jit(lambda *arrays: function(mesh, *arrays))(*given)))


def inner(equation: Any) -> Iterator[Any]:
    """The programs inside of an operation."""
    for value in equation.params.values():
        for one in value if isinstance(value, tuple | list) else [value]:
            if hasattr(one := getattr(one, "jaxpr", one), "eqns"):
                yield one


def every(jaxpr: Any, rounds: int = 1, manual: bool = False) -> Iterator[tuple[Any, int, bool]]:
    """Each operation, how often it runs, and whether a `shard_map` is around it.

    Raises:
        LookupError: data decide how often.
    """
    for equation in jaxpr.eqns:
        name = equation.primitive.name
        if name in ("while", "cond"):
            raise LookupError(name)
        yield equation, rounds, manual
        for one in inner(equation):
            yield from every(one, rounds * equation.params.get("length", 1) if name == "scan" else rounds,
                             manual or name == "shard_map")  # fmt: skip


def size(variable: Any) -> int:
    return int(math.prod(variable.aval.shape) * variable.aval.dtype.itemsize)


def moved(jaxpr: Any, case: Case) -> int:
    """Bytes that a device moves by the collectives that are written, where nothing else moves.

    Raises:
        LookupError: something else may.
    """
    while len(jaxpr.eqns) == 1 and jaxpr.eqns[0].primitive.name in ("jit", "pjit"):
        (jaxpr,) = inner(jaxpr.eqns[0])
    if [equation.primitive.name for equation in jaxpr.eqns] != ["shard_map"]:
        raise LookupError("not one shard_map alone")
    (mapped,) = jaxpr.eqns
    places = {variable: n for n, variable in enumerate(jaxpr.invars)}
    for variable, spec in zip(mapped.invars, mapped.params["in_specs"]):
        if variable not in places or cut(spec, case) != cut(case.inputs[places[variable]].spec, case):
            raise LookupError("an operand changes its place")
    return sum(rounds * counted(equation, dict(case.axes)) for equation, rounds, _ in every(jaxpr))


def counted(equation: Any, sizes: dict[str, int]) -> int:
    """Bytes of one operation; along axes of one device nothing moves."""
    name, params = equation.primitive.name, equation.params
    along = params.get("axes", params.get("axis_name", ()))
    axes = [axis for axis in (along if isinstance(along, tuple) else (along,)) if isinstance(axis, str)]
    if name == "reduce_scatter":
        return sum(map(size, equation.invars))
    if name not in TIMES:
        return 0
    return TIMES[name] * sum(map(size, equation.outvars)) if math.prod(sizes[axis] for axis in axes) > 1 else 0


def multiplied(jaxpr: Any) -> float:
    """FLOPs of the matrix products, all inside of `shard_map` or all outside.

    Raises:
        LookupError: some are here, some there, or data decide.
    """
    found = [(each, rounds, manual) for each, rounds, manual in every(jaxpr) if each.primitive.name == "dot_general"]
    if len({manual for *_, manual in found}) > 1:
        raise LookupError("inside and outside")
    return float(sum(2 * rounds * math.prod(each.outvars[0].aval.shape) * summed(each) for each, rounds, _ in found))


def summed(equation: Any) -> int:
    (left, _), _ = equation.params["dimension_numbers"]
    return int(math.prod(equation.invars[0].aval.shape[d] for d in left))


def cut(spec: Any, case: Case) -> list[tuple[str, ...]]:
    """The axes of more than one device that cut each dimension."""
    sizes = dict(case.axes)
    entries = [e if isinstance(e, tuple | list) else (() if e is None else (e,)) for e in spec]
    found = [tuple(axis for axis in entry if sizes[axis] > 1) for entry in entries]
    while found and not found[-1]:
        found.pop()
    return found


def held(shape: Sequence[int], spec: Any, case: Case) -> dict[int, Index]:
    """The slice of each device, from its coordinates in the mesh."""
    sizes = dict(case.axes)
    entries = [*cut(spec, case), *itertools.repeat((), len(shape))][: len(shape)]
    found = {}
    for device, place in enumerate(itertools.product(*(range(n) for n in sizes.values()))):
        at, index = dict(zip(sizes, place)), []
        for n, entry in zip(shape, entries):
            block, parts = 0, 1
            for axis in entry:
                block, parts = block * sizes[axis] + at[axis], parts * sizes[axis]
            index.append([block * n // parts, (block + 1) * n // parts])
        found[device] = index
    return found


def lies(function: Any, case: Case) -> dict[int, Index]:
    """The slice of the first result that each device has: by the spec that the exercise asks for, else as JAX says."""
    first = results(function, case)[0]
    if case.outputs[0] is not None:
        return held(first.shape, case.outputs[0], case)
    return {
        s.device.id: [[i.start or 0, n if i.stop is None else i.stop] for i, n in zip(s.index, first.shape)]
        for s in first.addressable_shards
    }


def occupied(function: Any, case: Case) -> float:
    """Bytes of arguments and results on the first device."""
    mesh, specs = situation(case.to_json())
    given = sum(
        math.prod(stop - start for start, stop in held(x.shape, each.spec, case)[0]) * x.dtype.itemsize
        for x, each in zip(specs, case.inputs)
    )
    return float(given + sum(x.addressable_shards[0].data.nbytes for x in results(function, case)))


def key(asked: Asked, function: Any, first: Case, case: Case) -> Any:
    """The key that a person would write."""
    match asked.kind:
        case "where":
            device = int(asked.text.partition("does device ")[2].partition(" ")[0])
            return f"[{', '.join(f'{start}:{stop}' for start, stop in lies(function, case)[device])}]"
        case "copies":
            found = lies(function, case)
            return str(sum(index == found[0] for index in found.values()))
        case "flops":
            return f"{multiplied(called(function, case)) / multiplied(called(function, first)):g} times"
        case "memory":
            return f"{occupied(function, case) / occupied(function, first):g} times"
        case _:
            return f"{moved(called(function, case), case):,} B"


def wrong_without(item: ProgramItem, function: Callable[..., Any]) -> str:
    """Where a result is wrong and what it is, by sums over the devices of an axis."""
    case = item.cases[0]
    assert item.oracle is not None
    inputs = [x.astype(np.float64) for x in hidden_inputs(case, SEED)]
    rights = item.oracle(*inputs)
    right = np.asarray(rights[0] if isinstance(rights, tuple) else rights)
    shards = sorted(results(function, case)[0].addressable_shards, key=lambda s: s.device.id)
    blocks = np.stack([np.asarray(s.data) for s in shards])
    dues = np.stack([right[s.index] for s in shards])
    wrong = [n for n, (b, d) in enumerate(zip(blocks, dues)) if not np.allclose(b, d, 1e-4, 1e-4)]
    on = "on every device" if len(wrong) == len(shards) else f"on the devices {', '.join(map(str, wrong))}"
    names, sizes = zip(*case.axes)
    for n, name in enumerate(names):
        total = blocks.reshape(*sizes, *blocks.shape[1:]).sum(n, keepdims=True)
        if np.allclose(total, dues.reshape(*sizes, *dues.shape[1:]), 1e-4, 1e-4):
            what = f"a term of the sum over {name}: the right values come out when the devices along {name} are added up"
            return f"It is wrong {on}. There it is {what}."
    factor = float(np.median(blocks / dues))
    return f"It is wrong {on}. There it is {factor:.4g} times the right values."


def pairs(question: str, item: ProgramItem) -> Iterator[tuple[Asked, str]]:
    """Questions about the solution's function, and the keys by hand; of those without one a `LookupError`'s words."""
    given_by = variants.of(question)[REFERENCE].variables()
    function = given_by[variable][item.name] if (variable := QUESTIONS[question].variable) else given_by[item.name]
    there, found = changes(item), programs(question, item)
    given, rng = found[0], random.Random(f"{SEED}/{question}")
    of = {"exercise": question, "function": item.name}
    for change, now in zip(there[1:], found[1:]):
        if given is None or now is None or given["wrong"][0] or now["wrong"][0]:
            continue
        for asked in questions.asked(of, there[0].case, change, given, now, rng):
            try:
                yield asked, key(asked, function, there[0].case, change.case)
            except LookupError as reason:
                yield asked, f"no oracle: {reason}"


@pytest.mark.thorough
def test_keys_by_hand() -> None:
    """Of exercises in all chapters each key that an oracle can tell is the oracle's."""
    rng, told, without = random.Random(200), collections.Counter[str](), collections.Counter[str]()
    wrong = []
    for question, item in rng.sample(PROGRAMS, len(PROGRAMS)):
        found = list(pairs(question, item))
        for asked, by_hand in rng.sample(found, min(OF_ONE, len(found))):
            if by_hand.startswith("no oracle"):
                without[f"{asked.kind}: {by_hand}"] += 1
                continue
            told[asked.kind] += 1
            if by_hand != asked.key:
                wrong.append(f"{question} {item.name} {asked.text}\n  key {asked.key}\n  by hand {by_hand}")
        print(question, item.name, dict(told), dict(without), len(wrong), flush=True)
        if told.total() >= KEYS and (FULL or len(told) >= 4):
            break
    assert not wrong, "\n".join(wrong)
    assert told.total() >= KEYS


@pytest.mark.thorough
def test_a_key_of_a_call_left_out() -> None:
    """Sums over the devices of an axis say what the result is."""
    item, (left_out,) = item_of("4.2", "case_3"), without_one(SUMMED)
    namespace: dict[str, Any] = {"jax": jax, "P": jax.P}
    exec(left_out.source, namespace)
    now = programs("4.2", item, namespace)[0]
    assert now is not None
    (asked,) = questions.without({"exercise": "4.2", "function": "case_3"}, left_out.line, left_out.name, now)
    assert asked.key == wrong_without(item, namespace["case_3"])
