"""`show_ring`: who sends which chunk to whom in each step of a collective."""

from __future__ import annotations

from html import escape

from shardlens.charts import drawing
from shardlens.charts.drawing import Picture
from shardlens.rings import motion as ring_motion
from shardlens.rings import ring_grid
from shardlens.rings.ring import Schedule, schedule


def show_ring(kind: str, n: int = 4, bidirectional: bool = False, animated: bool = True) -> Picture:
    """The picture of a collective on a ring, step by step; its schedule is simulated with chunks that carry their names.

    Args:
        kind: "all-gather", "reduce-scatter", "all-reduce" or "all-to-all".
        n: devices in the ring, 2 to 16.
        bidirectional: whether both directions of the ring carry chunks.
        animated: whether to show it in motion too, up to 8 devices; the grid of all steps is always there.
    Raises:
        LensError: another kind, or another number of devices.
    Example:
        >>> show_ring("all-gather", 3)
        all-gather on a ring of 3, one way: 2 steps; 2 chunks of 1/3 of the array over the busiest link
                device 0  device 1  device 2
        start   A         B         C
        step 1  A C*      A* B      B* C
        step 2  A B* C    A B C*    A* B C
        * just arrived or added to. B: the part that device 1 had.
    """
    return pictured(schedule(kind, n, bidirectional), animated)


def pictured(made: Schedule, animated: bool = True) -> Picture:
    """The picture of a schedule; in motion too if `animated`, up to 8 devices."""
    return Picture("\n".join(ring_grid.text(made)), _html(made, animated and made.n <= ring_motion.MOST))


def described(made: Schedule) -> str:
    """The steps in words, for those who do not see them."""
    said = []
    for k, step in enumerate(made.steps[1:], start=1):
        hops = ", ".join(f"{ring_grid.label(made, h.chunk)} from {h.source} to {h.target}" for h in step.hops[:16])
        said.append(f"Step {k}: {hops}{' and more' * (len(step.hops) > 16)}.")
    return f"{ring_grid.summary(made)}. {ring_grid.legend(made)} {' '.join(said)}"


def _html(made: Schedule, animated: bool) -> str:
    head = f'<div style="font-weight:600">{escape(ring_grid.summary(made))}</div>'
    note = f"Heavy outline: just arrived or added to. {ring_grid.legend(made)}"
    foot = f'<div style="font-size:12.5px;opacity:.85">{escape(note)}</div>'
    grid = (
        f'<div role="img" aria-label="{escape(described(made))}" style="flex:0 1 auto;min-width:0;overflow-x:auto">'
        f"{ring_grid.draw(made)}</div>"
    )
    moving = (
        '<details open style="flex:0 1 auto"><summary style="font-size:12.5px;opacity:.85;cursor:pointer">'
        f"in motion (point at it to pause, close to stop)</summary>{ring_motion.draw(made)}</details>"
    )
    look = "display:flex;flex-wrap:wrap;gap:1em 2em;align-items:center;margin:.4em 0"
    row = f'<div style="{look}">{grid}{moving * animated}</div>'
    return drawing.framed(head + row + foot)
