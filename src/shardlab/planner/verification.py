"""A plan against what the compiler makes of it: collectives by kind and bytes, memory, FLOPs."""

from __future__ import annotations

import collections
import dataclasses
import functools
from collections.abc import Iterable, Iterator
from typing import Any

import jax
import jaxlib.version
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding

from shardlab.errors import ShardlabError
from shardlab.expressions.resolution import axes_text
from shardlab.planner.layouts import Layout
from shardlab.planner.plans import Path, Plan, Printed
from shardlab.programs.program import Program, read_program
from shardlab.programs.reading.collectives import Collective
from shardlab.tables import Table

# They spare the CPU backend the work on machine code; the partitioner, which makes the collectives, runs before it.
QUICK: dict[str, Any] = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
Sent = tuple[tuple[str, int], ...]


@dataclasses.dataclass(frozen=True, repr=False)
class Verification(Printed):
    """The textbook's cheapest way and what was compiled; prints as a table.

    Args:
        plan: what was verified.
        program: what the compiler made of it.
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
    def compiler(self) -> str:
        """Who compiled, for what: `XLA for cpu, jaxlib 0.10.2`."""
        return f"XLA for {self.program.platform}, jaxlib {jaxlib.version.__version__}"

    @property
    def figures(self) -> tuple[tuple[str, int, int], ...]:
        """Name, the textbook's number and the compiled one: of each collective, of price, and of bytes that are held."""
        planned, compiled = collections.Counter(self.planned), collections.Counter(self.compiled)
        return (
            *((f"{kind}, {n:,} bytes", planned[kind, n], compiled[kind, n]) for kind, n in sorted(planned | compiled)),
            ("price, bytes", self.plan.price, self.program.price),
            ("argument bytes", self.plan.argument_bytes, self.program.memory.argument),
            ("output bytes", self.plan.output_bytes, self.program.memory.output),
        )

    @property
    def agrees(self) -> bool:
        """Whether the compiled program sends what the plan says, and holds as many bytes of arguments and output."""
        return all(one == other for _, one, other in self.figures)

    @functools.cached_property
    def alike(self) -> Path | None:
        """The first of the textbook's ways, cheapest or not, that sends what was compiled; `None` where none does."""
        paths = self.plan.paths()
        return next((path for path in paths if sent(c for way in path for c in way.collectives) == self.compiled), None)

    def __bool__(self) -> bool:
        return self.agrees

    def __rich__(self) -> Table:
        columns, sides = ("one device", "textbook", "compiled", ""), ("left", "right", "right", "left")
        title = f"{self.plan.said.text}   on {axes_text(self.plan.axes)}; compiled by {self.compiler}"
        return Table(columns, sides, tuple(self._rows()), tuple(self._lines()), title)

    def _rows(self) -> Iterator[tuple[str, ...]]:
        for name, one, other in self.figures:
            yield name, f"{one:,}", f"{other:,}", "" if one == other else "differs"
        yield "FLOPs", f"{self.plan.flops:,.0f}", f"{self.program.flops:,.0f}", "additions of sums are counted when compiled"

    def _lines(self) -> Iterator[str]:
        if self.planned == self.compiled:
            elsewhere = "" if self.agrees else ", and holds other arrays"
            yield f"the compiler sends what the textbook's cheapest way sends{elsewhere}"
        elif self.alike is not None:
            steps = "; ".join(f"{way.product.labels[2]}: {way}" for way in self.alike)
            yield f"the compiler sends something else, as another of the textbook's ways does: {steps}"
        elif _shapes(self.program.collectives) == _shapes(self.plan.collectives):
            wide, asked = ({c.dtype for c in made.collectives} for made in (self.program, self.plan))
            yield f"the compiler sends the same collectives of {', '.join(sorted(wide))} in place of {', '.join(asked)}"
        else:
            yield "the compiler sends something else, as none of the textbook's ways does"


def verify(plan: Plan) -> Verification:
    """The plan, and the program that the compiler of the devices in use makes of it."""
    mesh = _mesh(plan)
    arguments = [jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=_sharding(mesh, a)) for a in plan.arguments]
    out = None if plan.asked is None else _sharding(mesh, plan.asked)
    lowered = jax.jit(_multiply(plan), out_shardings=out).lower(*arguments)
    compiled = lowered.compile(QUICK if mesh.devices.flat[0].platform == "cpu" else None)
    return Verification(plan, read_program(compiled, plan.axes))


def sent(sequence: Iterable[Collective]) -> Sent:
    """Kind and payload bytes of each collective, sorted."""
    return tuple(sorted((c.kind, c.payload_bytes) for c in sequence))


def _shapes(sequence: Iterable[Collective]) -> list[tuple[str, tuple[int, ...]]]:
    return sorted((c.kind, c.shape) for c in sequence)


def _multiply(plan: Plan) -> Any:
    """The products, made from left to right."""
    names = dict.fromkeys(name for layout in plan.arguments for name in layout.names)
    letters = dict(zip(names, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))

    def multiply(first: jax.Array, *rest: jax.Array) -> jax.Array:
        for right, product in zip(rest, plan.said.products):
            one, other, out = ("".join(letters[n] for n in names) for names in product)
            first = jax.numpy.einsum(f"{one},{other}->{out}", first, right)
        return first

    return multiply


def _mesh(plan: Plan) -> Mesh:
    """A mesh with Auto axes: of the devices of the plan's own mesh where it has one, else of the first in use."""
    names, sizes = zip(*plan.axes)
    n = int(np.prod(sizes))
    devices = jax.devices() if plan.mesh is None else list(plan.mesh.devices.flat)
    if len(devices) < n:
        raise ShardlabError(
            "too-few-devices",
            f"the plan is for {n} devices, and there are {len(devices)} to compile for.",
            where=plan.said.text,
            mend=f"call sl.setup({n}) first.",
        )
    return Mesh(np.array(devices[:n]).reshape(sizes), names, axis_types=(AxisType.Auto,) * len(names))


def _sharding(mesh: Mesh, layout: Layout) -> NamedSharding:
    return NamedSharding(mesh, jax.P(*(cut or None for cut in layout.cuts)))
