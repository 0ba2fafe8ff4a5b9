"""A plan against what the compiler makes of it: collectives by kind and bytes, memory, FLOPs."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding

from shardlab.errors import ShardlabError
from shardlab.planner.layouts import Layout
from shardlab.programs.program import Program, read_program
from shardlab.programs.reading.collectives import Collective
from shardlab.tables import Table

if TYPE_CHECKING:
    from shardlab.planner.plans import Plan

QUICK: dict[str, Any] = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
Sent = tuple[tuple[str, int], ...]


@dataclasses.dataclass(frozen=True, repr=False)
class Verification:
    """What the plan said and what was compiled; prints as a table.

    Args:
        plan: what was verified.
        program: what the CPU compiler made of it.
    """

    plan: Plan
    program: Program

    @property
    def planned(self) -> Sent:
        """Kind and payload bytes of each collective of the plan, sorted."""
        return sent(self.plan.collectives)

    @property
    def compiled(self) -> Sent:
        """The same of the compiled program."""
        return sent(self.program.collectives)

    @property
    def agrees(self) -> bool:
        """Whether the compiled program sends what the plan says, and holds as many bytes of arguments and output."""
        return self.planned == self.compiled and self._bytes(0) == self._bytes(1)

    def __bool__(self) -> bool:
        return self.agrees

    def _bytes(self, side: int) -> tuple[int, int]:
        plan, memory = self.plan, self.program.memory
        return (memory.argument, memory.output) if side else (plan.argument_bytes, plan.output_bytes)

    def __rich__(self) -> Table:
        columns, sides = ("one device", "planned", "compiled", ""), ("left", "right", "right", "left")
        verdict = "the compiler does what the plan says" if self.agrees else "the compiler does something else"
        return Table(columns, sides, tuple(self._rows()), (verdict,), self.plan.chain.said.text)

    def __str__(self) -> str:
        return str(self.__rich__())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.__rich__().html()

    def _rows(self) -> Iterator[tuple[str, ...]]:
        planned, compiled = (collections.Counter(self.planned), collections.Counter(self.compiled))
        for kind, nbytes in sorted(planned | compiled):
            one, other = planned[kind, nbytes], compiled[kind, nbytes]
            yield f"{kind}, {nbytes:,} bytes", str(one), str(other), "" if one == other else "differs"
        for name, one, other in zip(("argument bytes", "output bytes"), self._bytes(0), self._bytes(1)):
            yield name, f"{one:,}", f"{other:,}", "" if one == other else "differs"
        yield "FLOPs", f"{self.plan.flops:,.0f}", f"{self.program.flops:,.0f}", "additions of sums are counted when compiled"


def verify(plan: Plan) -> Verification:
    """The plan, and the program that the CPU compiler makes of it."""
    mesh = _mesh(plan)
    chain = plan.chain
    arguments = [jax.ShapeDtypeStruct(a.shape, chain.dtype, sharding=_sharding(mesh, a)) for a in chain.arguments]
    out = None if chain.output is None else _sharding(mesh, chain.output)
    compiled = jax.jit(_multiply(plan), out_shardings=out).lower(*arguments).compile(QUICK)
    return Verification(plan, read_program(compiled, plan.axes))


def sent(sequence: tuple[Collective, ...]) -> Sent:
    """Kind and payload bytes of each collective, sorted."""
    return tuple(sorted((c.kind, c.payload_bytes) for c in sequence))


def _multiply(plan: Plan) -> Any:
    """The products, made from left to right."""
    letters: dict[str, str] = {}
    for layout in plan.arguments:
        for name in layout.names:
            letters.setdefault(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[len(letters)])

    def multiply(first: jax.Array, *rest: jax.Array) -> jax.Array:
        for right, (a, b, c) in zip(rest, plan.chain.said.products):
            one, other, out = ("".join(letters[n] for n in names) for names in (a, b, c))
            first = jax.numpy.einsum(f"{one},{other}->{out}", first, right)
        return first

    return multiply


def _mesh(plan: Plan) -> Mesh:
    """A mesh of CPU devices with Auto axes: the plan's own where it has one, else of the first devices."""
    n = int(np.prod([size for _, size in plan.axes]))
    own = list(plan.mesh.devices.flat) if plan.mesh is not None else jax.devices()
    cpu = own if own[0].platform == "cpu" else jax.devices("cpu")
    if len(cpu) < n:
        raise ShardlabError(
            "too-few-devices", f"the plan is for {n} devices, and there are {len(cpu)} CPU devices to compile for.",
            where=f"{plan.chain.said.text}", mend=f"call sl.setup({n}) first.",
        )  # fmt: skip
    names, sizes = zip(*plan.axes)
    return Mesh(np.array(cpu[:n]).reshape(sizes), names, axis_types=(AxisType.Auto,) * len(names))


def _sharding(mesh: Mesh, layout: Layout) -> NamedSharding:
    return NamedSharding(mesh, jax.P(*layout.spec))
