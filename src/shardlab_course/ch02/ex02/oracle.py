"""Chapter 2, exercise 2.2: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random
from typing import Any

from shardlab_course.ch02.shared import HOPS, LINKS


def draw_gather(rng: random.Random) -> tuple[Any, ...]:
    """Bytes from a few to a gigabyte, so that both bounds occur; even and odd rings."""
    return 2.0 ** rng.randint(8, 30), rng.randint(2, 33), rng.choice(LINKS), rng.choice(HOPS), rng.random() < 0.5
