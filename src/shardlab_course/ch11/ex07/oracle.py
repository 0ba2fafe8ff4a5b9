"""Chapter 11, exercise 11.7: its oracle, drawn arguments, and the estimates with something wrong."""

from __future__ import annotations

import random
from collections.abc import Callable

Held = dict[str, int]
GIB = 2**30
FIRST: tuple[Held, dict[str, Held], int] = (
    {
        "arguments": 4_160_749_568,
        "outputs": 4_026_531_872,
        "gradients": 10 * 2**30,
        "weights": 5 * 2**30,
        "rest": 1_677_727_232,
    },
    {"a": {"outputs": 0}, "b": {"weights": 2**29}, "c": {"gradients": 5 * 2**28}, "d": {"rest": 838_863_616}},
    int(15.75 * GIB),
)
"""The first program's table, and its four changes."""
EXACT: tuple[Held, dict[str, Held], int] = (
    {"weights": 60, "state": 40},
    {
        "cut": {"weights": 30, "state": 20},
        "less": {"state": 1},
        "more": {"weights": 10},
        "near": {"weights": 11},
        "none": {},
    },
    50,
)


def fitting(held: Held, changes: dict[str, Held], room: int) -> list[str]:
    """The changes that leave enough room, each counted array by array from what it saves."""
    found = []
    for name in changes:
        left = room
        for array, size in held.items():
            left -= changes[name].get(array, size)
        if left >= 0:
            found.append(name)
    return found


def fitting_with(rest: Callable[[Held, Held], int], exact: bool = True) -> Callable[..., list[str]]:
    """The same with another count of the bytes that are left, or without those that fit exactly."""

    def wrong(held: Held, changes: dict[str, Held], room: int) -> list[str]:
        return [name for name, after in changes.items() if rest(held, after) <= room - (not exact)]

    return wrong


def whole(held: Held, after: Held) -> int:
    """The right count."""
    return sum(held.values()) - sum(held[array] - size for array, size in after.items())


def others(held: Held, after: Held) -> int:
    """What a change does not touch."""
    return sum(size for array, size in held.items() if array not in after)


def accumulated(held: Held, changes: dict[str, Held], room: int) -> list[str]:
    """Each change on top of those before it."""
    held, found = dict(held), []
    for name, after in changes.items():
        held |= after
        found += [name] if sum(held.values()) <= room else []
    return found


def best(held: Held, changes: dict[str, Held], room: int) -> list[str]:
    """Only the change that saves most."""
    names = fitting(held, changes, room)
    return sorted(names, key=lambda name: whole(held, changes[name]))[:1]


def draw(rng: random.Random) -> tuple[Held, dict[str, Held], int]:
    """Some arrays, changes of one or two of them, and as much room as one of the changes leaves, or a little less.

    Names are in order, because what is sent into the sandbox is sorted by them.
    """
    held = {name: rng.randint(50, 900) for name in rng.sample(("state", "weights", "batch", "gradients", "outputs"), 4)}
    changes = {}
    for name in sorted(rng.sample("pqrstu", 4)):
        changed = rng.sample(sorted(held), rng.randint(1, 2))
        changes[name] = {array: held[array] // rng.choice((2, 4, 8)) for array in changed}
    room = rng.choice(sorted(whole(held, after) for after in changes.values())[1:3]) - rng.choice((0, 0, 1))
    return held, changes, room
