"""Two rings that gather the same array side by side, one way round and both ways, under one slider (chapter 2)."""

from __future__ import annotations

import dataclasses
import re

from shardlens.rings import motion
from shardlens.rings.ring import Schedule, schedule

DEVICES = 8
KIND = "all-gather"


def figure() -> str:
    """Both films, as a page takes them; `touch.js` puts the slider below."""
    long, short = (schedule(KIND, DEVICES, bidirectional) for bidirectional in (False, True))
    drawn = _lane("one way", motion.draw(long)) + _lane("both ways", _waiting(short, long.hops))
    lead = (
        f"An array on {DEVICES} devices is gathered in two ways, over the same links. Every step takes the same time. "
        "Which way is done first, and by how much?"
    )
    return f'```{{raw}} html\n<figure class="race"><figcaption>{lead}</figcaption><div>{drawn}</div></figure>\n```\n'


def _lane(name: str, film: str) -> str:
    return f"<div><p>{name}</p>{film}</div>"


def _waiting(done: Schedule, hops: int) -> str:
    """The film of a schedule that rests at its end until another one of so many hops is done."""
    rest = dataclasses.replace(done.steps[-1], hops=())
    film = motion.draw(dataclasses.replace(done, steps=done.steps + (rest,) * (hops - done.hops)))

    def caption(found: re.Match[str]) -> str:
        step = int(found[1])
        return f"step {step} of {done.hops}" if step <= done.hops else f"done after {done.hops}"

    return re.sub(rf"step (\d+) of {hops}(?!\d)", caption, film).replace(">0 chunks a link<", "><")
