"""`show_tokens`: a permutation, your own or a program's, as letters that are passed on between devices."""

from __future__ import annotations

from collections.abc import Sequence

from shardlens.charts import drawing
from shardlens.charts.drawing import Picture
from shardlens.errors import LensError
from shardlens.programs.program import Program
from shardlens.reading.collectives import Collective
from shardlens.rings.ring import MOST, PERMUTE, Schedule, passed
from shardlens.rings.steps import pictured

Pairs = tuple[tuple[int, int], ...]


def show_tokens(
    what: Sequence[tuple[int, int]] | Collective | Program,
    n: int | None = None,
    steps: int | None = None,
    animated: bool = True,
) -> Picture:
    """The picture of who holds whose block while a permutation is applied again and again.

    Args:
        what: (source, target) pairs as `jax.lax.ppermute` takes them, a collective-permute, or a program: then each
            permutation that differs is drawn by itself, as many steps as it runs.
        n: devices; unless given, up to the highest in the pairs. At most 16.
        steps: how often it is applied; unless given, as often as it runs, and for pairs n - 1 times. At most 16.
        animated: whether to show it in motion too, up to 8 devices; the grid of all steps is always there.
    Raises:
        LensError: no pairs, a device that sends or receives twice, or too many devices or steps.
    Example:
        >>> show_tokens([(0, 1), (1, 2), (2, 0)])
        ppermute on 3 devices, 2 times; every device holds a block in the end
                device 0  device 1  device 2
        start   A         B         C
        step 1  C*        A*        B*
        step 2  B*        C*        A*
        * just arrived or added to. B: the block that device 1 had; ...
    """
    drawn = [pictured(_schedule(pairs, n, steps or runs), animated) for pairs, runs in _permutations(what)]
    return Picture("\n".join(p.text for p in drawn), "".join(p.html for p in drawn))


def _permutations(what: Sequence[tuple[int, int]] | Collective | Program) -> list[tuple[Pairs, int]]:
    """The permutations that differ, and how often each runs; 0 where that is not known."""
    if isinstance(what, Program | Collective):
        given = what.collectives if isinstance(what, Program) else (what,)
        runs: dict[Pairs, int] = {}
        for c in (c for c in given if c.kind == PERMUTE):
            pairs = tuple((a, b) for a, b in c.groups)
            runs[pairs] = runs.get(pairs, 0) + (c.executions or 0)
        if runs:
            return list(runs.items())
        raise _no_tokens("it has no collective-permute.", str(what))
    return [(tuple((int(a), int(b)) for a, b in what), 0)]


def _schedule(pairs: Pairs, n: int | None, steps: int) -> Schedule:
    if not pairs:
        raise _no_tokens("there are no pairs.", "[]")
    devices = max(max(pair) for pair in pairs) + 1 if n is None else n
    steps = steps or max(devices - 1, 1)
    where = f"{drawing.brackets(pairs)}, n={devices}, steps={steps}"
    if any(len({pair[side] for pair in pairs}) < len(pairs) for side in (0, 1)):
        raise _no_tokens("a device sends twice or receives twice.", where)
    if not all(0 <= d < devices for pair in pairs for d in pair):
        raise _no_tokens(f"a device is not one of the {devices}.", where)
    if devices > MOST or steps > MOST:
        raise _no_tokens(f"at most {MOST} devices and steps are drawn.", where)
    return passed(pairs, devices, steps)


def _no_tokens(what: str, where: str) -> LensError:
    return LensError(
        "no-tokens",
        what,
        where=where,
        mend=f"pass (source, target) pairs in which each device is a source at most once and a target at most once, on at "
        f"most {MOST} devices.",
    )
