"""Chapter 2, exercise 2.5: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from shardlab_course.ch02.shared import time_all_gather
from shardlens import chip

Layer = Mapping[str, Any]
ChipNumbers = Mapping[str, float]
BF16 = 2
CHIPS: tuple[ChipNumbers, ...] = tuple(
    {"flops": c.flops, "hbm": c.hbm_bandwidth, "link": c.link_bandwidth, "hop": c.hop_latency}
    for c in map(chip, ("v5e", "v5p"))
)


def layer_seconds(layer: Layer, chip: ChipNumbers) -> dict[str, float]:
    """Compute, memory and communication of one layer on one chip; sizes from the blocks that it multiplies."""
    b, d, f, n = (layer[name] for name in ("B", "D", "F", "n"))
    by_rows = layer["moves"] in ("nothing", "gather")
    x, w, y = ((b // n, d), (d, f), (b // n, f)) if by_rows else ((b, d // n), (d // n, f), (b, f))
    traffic = BF16 * sum(rows * columns for rows, columns in (x, w, y))
    moved = {"nothing": (), "gather": (w,), "reduce": (y, y), "scatter": (y,)}[layer["moves"]]
    passes = (time_all_gather(BF16 * rows * columns, n, chip["link"], chip["hop"], True) for rows, columns in moved)
    return {"compute": 2 * x[0] * x[1] * w[1] / chip["flops"], "memory": traffic / chip["hbm"], "communication": sum(passes)}


def draw_layer(rng: random.Random) -> tuple[Any, ...]:
    """A layer whose sizes n divides, and a chip; even and odd rings."""
    n = rng.choice((3, 4, 5, 8, 16))
    layer = {"B": n * 2 ** rng.randint(0, 12), "D": n * 2 ** rng.randint(7, 12), "F": n * 2 ** rng.randint(7, 12), "n": n}
    return {**layer, "moves": rng.choice(("nothing", "gather", "reduce", "scatter"))}, dict(rng.choice(CHIPS))
