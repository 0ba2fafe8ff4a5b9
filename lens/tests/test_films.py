"""Films of rings, sampled over their loops: every frame against the schedule."""

import itertools
import math
import re
from collections import Counter
from xml.etree import ElementTree

import pytest

from shardlens.rings import motion, ring_grid
from shardlens.rings.ring import KINDS, Schedule, passed, schedule

FILMS = {
    **{
        f"{kind}-{n}-{both}": schedule(kind, n, both)
        for kind, n, both in itertools.product(KINDS, (2, 4, 5, 8), (False, True))
    },
    "shift": passed(((0, 1), (1, 2), (2, 3)), 4, 3),
    "round": passed(((0, 1), (1, 2), (2, 3), (3, 0)), 4, 2),
    "exchange": passed(((0, 1), (1, 0)), 4, 1),
}  # fmt: skip
FRAMES = 240
SVG = "{http://www.w3.org/2000/svg}"


class Film:
    """What CSS shows of a film at a time, from its keyframes alone: of `opacity`, between two keyframes in proportion."""

    def __init__(self, made: Schedule) -> None:
        style, mark, drawn = motion.draw(made).partition("<svg")
        (seconds,) = re.findall(r"animation:([\d.]+)s linear infinite", style)
        self.seconds = float(seconds)
        rules = re.findall(r"@keyframes [\w-]+-([htc]\d+(?:-(?:\d+|end))?)\{(.*?\})\}", style)
        self.frames = {name: self._keyframes(text) for name, text in rules}
        groups = ElementTree.fromstring(mark + drawn).iter(f"{SVG}g")
        self.groups = [group for group in groups if group.get("class", "").startswith("m ")]
        self.made = made

    @staticmethod
    def _keyframes(text: str) -> list[tuple[float, float]]:
        found = []
        for selectors, opacity in re.findall(r"([\d.,%]+)\{opacity:(\d)", text):
            found += [(float(at.rstrip("%")), float(opacity)) for at in selectors.split(",")]
        return sorted(found)

    def opacity(self, part: str, percent: float) -> float:
        """Of a class at a part of the loop."""
        frames = self.frames[part]
        before = max((frame for frame in frames if frame[0] <= percent), default=frames[0])
        after = min((frame for frame in frames if frame[0] >= percent), default=frames[-1])
        if after[0] == before[0]:
            return before[1]
        return before[1] + (after[1] - before[1]) * (percent - before[0]) / (after[0] - before[0])

    def at(self, steps: float) -> dict[str, list[ElementTree.Element]]:
        """The groups that are seen at a time, counted in steps, by the first letter of their class."""
        seen: dict[str, list[ElementTree.Element]] = {"h": [], "t": [], "c": []}
        for group in self.groups:
            part = group.get("class", "").split()[1]
            if self.opacity(part, 100 * steps * motion.SECONDS / self.seconds) > 0.5:
                seen[part[0]].append(group)
        return seen


def labels(group: ElementTree.Element) -> list[str]:
    """The texts of a group."""
    return [text.text or "" for text in group.iter(f"{SVG}text")]


def beside(made: Schedule, groups: list[ElementTree.Element]) -> list[Counter[str]]:
    """What is drawn beside each device, by the places of the texts."""
    found: list[Counter[str]] = [Counter() for _ in range(made.n)]
    across, down = ring_grid.slots(made.room)
    for group in groups:
        (text,) = group.iter(f"{SVG}text")
        x, y = float(text.get("x", "")), float(text.get("y", ""))
        corners = [motion._place(made, d, 0) for d in range(made.n)]
        (device,) = [
            d for d, (left, top) in enumerate(corners)
            if left < x < left + across * ring_grid.SLOT and top < y < top + down * ring_grid.SLOT
        ]  # fmt: skip
        found[device][text.text or ""] += 1
    return found


def due(made: Schedule, steps: float) -> tuple[list[Counter[str]], Counter[str]]:
    """What is to be beside each device, and on its way, at a time counted in steps."""
    k = min(math.floor(steps), made.hops)
    held = [Counter(ring_grid.label(made, chunk) for chunk in chunks) for chunks in made.steps[k].held]
    if k == made.hops or steps - k < motion.LEAVES:
        return held, Counter()
    step = made.steps[k + 1]
    if steps - k > motion.ARRIVES:
        return [Counter(ring_grid.label(made, chunk) for chunk in chunks) for chunks in step.held], Counter()
    for hop in step.hops:
        if hop.chunk not in step.held[hop.source]:  # sent, and not kept
            held[hop.source][ring_grid.label(made, hop.chunk)] -= 1
    return [+each for each in held], Counter(ring_grid.label(made, hop.chunk) for hop in step.hops)


@pytest.mark.parametrize("made", [pytest.param(made, id=name) for name, made in FILMS.items()])
def test_every_frame_is_as_the_schedule(made: Schedule) -> None:
    """Beside every device what it holds, on the way what is sent, in the middle the step; at the end nothing is empty."""
    film = Film(made)
    wholly = made.hops + motion.REST / motion.SECONDS
    for frame in range(FRAMES):
        steps = wholly * (frame + 0.5) / FRAMES
        if min(abs(steps % 1 - at) for at in (0, motion.LEAVES, motion.ARRIVES, 1)) < 0.01:
            continue  # where one frame becomes another
        seen = film.at(steps)
        held, sent = due(made, steps)
        assert beside(made, seen["h"]) == held, steps
        moving = Counter(itertools.chain.from_iterable(map(labels, seen["t"])))
        assert moving == sent, steps
        assert [labels(group)[1] for group in seen["c"]] == [
            f"step {min(math.floor(steps) + 1, made.hops)} of {made.hops}"
        ], steps


def test_a_loop_ends_with_what_everyone_has() -> None:
    """For as long as it rests; half of a second is too short to read it."""
    film = Film(schedule("all-gather", 4))
    assert film.seconds - 3 * motion.SECONDS >= 1.5
    for steps in (3.05, 3.4, 3.85):
        assert beside(film.made, film.at(steps)["h"]) == [Counter("ABCD")] * 4
