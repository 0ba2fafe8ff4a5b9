"""One small question of each kind, for tests of the judge."""

from __future__ import annotations

import jax
import numpy as np

from shardlab_judge.cases import Case, Input, axes
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.placement import PlacementItem
from shardlab_judge.items.processes import ProcessesItem
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.launches import Launch
from shardlab_judge.question import Question, WrongCost, WrongProgram, WrongValues
from shardlens.placement import place

P = jax.P
HINTS = ("Look again.", "Look closer.", "Look closest.")


def question(*items, id: str = "0.1", variable: str | None = None) -> Question:
    """A question with these items."""
    return Question(id, "Sample", items, 1, 5, HINTS, "Because it is so.", variable)


def contraction(i: int, j: int, k: int, **mesh: int) -> Case:
    """A[I, J_x] times B[J_x, K], wanted replicated."""
    return Case(axes(**mesh), (Input((i, j), (None, "x")), Input((j, k), ("x",))), ((),))


PLACED = question(
    PlacementItem(
        "picture", {"S": 2}, target=place((16, 8), axes(x=2, y=4), ("x", "y")),
        misconceptions=(WrongValues(
            "swapped", "The two axes are swapped.", 2, like=place((16, 8), axes(x=2, y=4), ("y", "x"))),),
    )
)  # fmt: skip
CHOSEN = question(
    ValueItem("guess", {"P": 1}, key=5, misconceptions=(WrongValues("one-less", "You counted from zero.", like=4),)),
    ValueItem("kinds", {"P": 1}, key=frozenset({"all-gather", "all-to-all"})),
    ValueItem("table", {"P": 2}, key={"a": [2, 8], "b": "ValueError", "c": 0.5, "d": True}, rtol=1e-3),
)
CALLED = question(
    CallsItem(
        "bytes_of", {"C": 3}, oracle=lambda shape, size: size * int(np.prod(shape)), calls=(([4, 6], 2), ([3], 4)),
        draw=lambda rng: ([rng.randrange(1, 9), rng.randrange(1, 9)], rng.choice([1, 2, 4])),
        misconceptions=(WrongValues(
            "elements", "You counted elements, not bytes.", like=lambda shape, size: int(np.prod(shape))),),
    )
)  # fmt: skip
PROGRAM = question(
    ProgramItem(
        "product", {"V": 2, "S": 1, "H": 1}, oracle=lambda a, b: a @ b,
        cases=(contraction(24, 40, 16, x=2, y=4), contraction(8, 64, 12, x=4, y=2)),
        draw=lambda rng: contraction(8 * rng.randrange(1, 4), 16, 20, x=8),
        misconceptions=(
            WrongValues("partial-sums", "The blocks were never added up.", 2, local=lambda at, a, b: a @ b),
            WrongValues("transposed", "The product is transposed.", like=lambda a, b: (a @ b).T),
            WrongCost(
                "gathered", "You gather operands instead of adding up products.", when=lambda o: "all-gather" in o.kinds),
        ),
    )
)  # fmt: skip


def product(mesh: jax.sharding.Mesh, a: jax.Array, b: jax.Array) -> jax.Array:
    """The reference of `PROGRAM`."""
    specs = dict(mesh=mesh, in_specs=(P(None, "x"), P("x")), out_specs=P())
    return jax.shard_map(lambda a, b: jax.lax.psum(a @ b, "x"), **specs)(a, b)


def rows(process: int, length: int) -> dict:
    """The oracle of `LAUNCHED`: each process has rows of its own, which differ by nothing but their place."""
    whole = np.arange(8 * length, dtype="float32")
    return {"x": whole, "sum": float(whole.sum()), "mine": [process, length]}


def gathered(length: int, **given: int) -> Launch:
    """A vector of 8 times this length, wanted over both mesh axes."""
    return Launch((length,), axes(dcn=2, ici=4), ((("dcn", "ici"),),), **given)


LAUNCHED = question(
    ProcessesItem(
        "batches", {"V": 2, "S": 1}, oracle=rows, cases=(gathered(2), gathered(3)),
        draw=lambda rng: gathered(rng.randint(4, 6)),
        misconceptions=(
            WrongCost("hangs", "Only one process gets to the collective.", 3, when=lambda seen: seen.hung),
            WrongCost(
                "swapped", "Each process took the rows of the other.", 2, when=lambda seen: seen.arrays()[0].whole[0] > 0),
            WrongValues("halves", "You summed one process's rows.", like=lambda p, n: {**rows(p, n), "sum": _half(p, n)}),
            WrongProgram("fetched", "A process cannot fetch what others hold.", error="spans non-addressable"),
        ),
    )
)  # fmt: skip


def _half(process: int, length: int) -> float:
    return float(np.arange(8 * length).reshape(2, -1)[process].sum())


def batches(length):  # noqa: ANN001, ANN201
    """The reference of `LAUNCHED`."""
    import jax
    import numpy as np

    mesh = jax.make_mesh((2, 4), ("dcn", "ici"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    process, part = jax.process_index(), 4 * length
    mine = np.arange(part, dtype="float32") + part * process
    x = jax.make_array_from_process_local_data(jax.NamedSharding(mesh, jax.P(("dcn", "ici"))), mine)
    return {"x": x, "sum": float(jax.jit(lambda x: x.sum())(x)), "mine": [process, length]}
