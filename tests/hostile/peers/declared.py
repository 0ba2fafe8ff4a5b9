"""The question of the small chapter with processes; the tests put it where the course has the exercises of a chapter 90."""

from __future__ import annotations

import random

from shardlab_judge.items.processes import ProcessesItem
from shardlab_judge.launches import Launch
from shardlab_judge.question import Question


def called(n: int) -> Launch:
    """Two processes of one device each."""
    return Launch((n,), devices=1)


def drawn(rng: random.Random) -> Launch:
    """A number that no notebook is told."""
    return called(rng.randrange(1000, 10**6))


MET = ProcessesItem("met", {"V": 2}, oracle=lambda process, n: [n, 2 * n], cases=(called(3), called(5)), draw=drawn)
QUESTIONS = (Question("90.1", "Met", (MET,), 2, 5, ("one", "two", "three"), "because"),)
