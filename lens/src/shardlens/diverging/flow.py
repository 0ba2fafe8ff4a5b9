"""Which named values a named value is computed from, and over which mesh axes they were summed on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jax.extend.core import Literal

from shardlens.diverging.tapping import Path, Site, inner, opened

Origins = Mapping[Path, frozenset[str]]
"""By the path of a named value: the axes over which all that comes of it has been summed."""
_SUMS = ("psum", "psum_invariant", "psum2", "reduce_scatter", "psum_scatter", "unreduced_psum")


class Flow:
    """The named values nearest before each named value, `before`, and before each output, `outputs`."""

    def __init__(self, jaxpr: Any, chosen: Sequence[Site]) -> None:
        self.paths = {site.path for site in chosen}
        self.before: dict[Path, Origins] = {}
        self.outputs = self._run(jaxpr, [{}] * len(opened(jaxpr)[0].invars), ())

    def _run(self, jaxpr: Any, args: Sequence[Origins], path: Path) -> list[Origins]:
        jaxpr, _ = opened(jaxpr)
        env: dict[Any, Origins] = dict(zip(jaxpr.invars, args))
        for number, eqn in enumerate(jaxpr.eqns):
            ins = [{} if isinstance(v, Literal) else env.get(v, {}) for v in eqn.invars]
            env.update(zip(eqn.outvars, self._equation(eqn, ins, (*path, number))))
        return [{} if isinstance(v, Literal) else env.get(v, {}) for v in jaxpr.outvars]

    def _equation(self, eqn: Any, ins: list[Origins], here: Path) -> list[Origins]:
        kind, bodies = inner(eqn)
        if kind == "cond":
            outs = [self._run(body, ins[1:], (*here, n)) for n, body in enumerate(bodies)]
            return [joined(each) for each in zip(*outs)]
        if kind in ("scan", "while"):
            return self._loop(eqn, kind, bodies[0], ins, here)
        if kind:
            return self._run(bodies[0], ins, (*here, 0))
        out = joined(ins)
        if eqn.primitive.name in _SUMS:
            axes = eqn.params.get("axes", eqn.params.get("axis_name"))
            out = {path: summed | frozenset(axes if isinstance(axes, tuple) else (axes,)) for path, summed in out.items()}
        if here in self.paths:
            self.before[here] = joined([self.before.get(here, {}), out])
            out = {here: frozenset()}
        return [out] * len(eqn.outvars)

    def _loop(self, eqn: Any, kind: str, body: Any, ins: list[Origins], here: Path) -> list[Origins]:
        p = eqn.params
        skipped, consts = (0, p["num_consts"]) if kind == "scan" else (p["cond_nconsts"], p["body_nconsts"])
        ins = ins[skipped:]
        count = p["num_carry"] if kind == "scan" else len(ins) - consts
        for _ in range(2):
            outs = self._run(body, ins, (*here, 0))
            again = [joined(pair) for pair in zip(ins[consts : consts + count], outs)]
            ins = [*ins[:consts], *again, *ins[consts + count :]]
        return outs


def joined(each: Sequence[Origins]) -> Origins:
    """Where a value comes from that is computed from several: summed only as far as on every way."""
    found: dict[Path, frozenset[str]] = {}
    for origins in each:
        for path, summed in origins.items():
            found[path] = found[path] & summed if path in found else summed
    return found
