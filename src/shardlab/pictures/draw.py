"""Pictures of who holds which slice: in a notebook, on a page, in a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shardlab.pictures import markup, picture, terminal
from shardlens import Picture, Placement, drawing, placement_of, show_tree

SIDE = 220.0
"""Pixels of the longer side of an array that is drawn beside others."""
BESIDE = 6
"""Arrays of a dict that are drawn; more are told in a table."""
Held = tuple[Placement, Sequence[int] | None]
"""A placement, and the ids of all devices that there are, where they are known."""


def show(x: Any, shape: int | Sequence[int] | None = None, *, title: str | None = None) -> Picture:
    """The picture of who holds which slice; of a tree, such as a model's parameters, the table of what it holds.

    Args:
        x: an array, anything with a shape and a sharding, a sharding, or a `Placement`; or a dict of a few of these by their
            titles, which are drawn beside each other; or any other pytree of arrays: see `shardlens.show_tree`.
        shape: the global shape, for a sharding only.
        title: a line above the picture.
    Raises:
        ShardlabError: `x` has no sharding, is a sharding without a shape, its mesh has no devices, its terms are not added
            up, or it is a tree without arrays.
    """
    title = None if title is None else str(title)
    if isinstance(x, Mapping) and 0 < len(x) <= BESIDE and all(map(_drawn, x.values())):
        return _together({str(name): _held(each) for name, each in x.items()})
    if not isinstance(x, Placement) and _is_tree(x):
        table = show_tree(x, title=title or "")
        return Picture(str(table), table.html())
    placement, devices = _held(x, shape)
    return Picture(text(placement, title, devices=devices), html(placement, title, devices=devices))


def text(placement: Placement, title: str | None = None, *, devices: Sequence[int] | None = None) -> str:
    """The picture in plain characters: facts, a grid of device ids between slices, and the devices that hold nothing.

    Args:
        devices: ids of all devices there are, to name those that hold nothing.
    """
    return "\n".join([*terminal.head(placement, title), *terminal.grids(placement), *terminal.resting(placement, devices)])


def html(placement: Placement, title: str | None = None, *, devices: Sequence[int] | None = None) -> str:
    """The picture as a piece of HTML that stands alone: inline SVG, no scripts, no ids, nothing fetched.

    Args:
        devices: ids of all devices there are, to name those that hold nothing.
    """
    return drawing.framed(markup.headed(placement, title) + markup.drawn(placement) + markup.resting(placement, devices))


def pair(expected: Placement, got: Placement) -> Picture:
    """The two pictures side by side; blocks of the second that others hold in the first are marked with ≠."""
    return _together({"expected": _held(expected), "yours": _held(got)}, expected, _change(expected, got))


def _together(held: Mapping[str, Held], expected: Placement | None = None, note: str = "") -> Picture:
    """Several placements under their titles, those of one shape drawn in one size; compared with one of them, if asked."""
    columns, cards = [], []
    for title, (placement, devices) in held.items():
        other, idle = None if placement is expected else expected, terminal.resting(placement, devices)
        columns.append([*terminal.brief(placement, title), *terminal.grids(placement, other), *idle])
        least = markup.sized([each for each, _ in held.values() if each.shape == placement.shape], SIDE)
        card = markup.headed(placement, title) + markup.drawn(placement, other, SIDE, least)
        cards.append(card + markup.resting(placement, devices))
    lines = drawing.beside(columns, len(columns))
    return Picture("\n".join([*lines, *filter(None, [note])]), markup.beside(cards, note))


def _change(expected: Placement, got: Placement) -> str:
    if expected.shape != got.shape:
        return f"≠ the shapes differ: {drawing.brackets(expected.shape)} and {drawing.brackets(got.shape)}"
    moved = picture.differing(expected, got)
    if not moved:
        return "= every device holds the same slice in both"
    return f"≠ {drawing.named(moved)} hold{'s' * (len(moved) == 1)} something other than expected"


def _held(x: Any, shape: int | Sequence[int] | None = None) -> Held:
    return (x, None) if isinstance(x, Placement) else (placement_of(x, shape), _devices(x))


def _devices(x: Any) -> list[int] | None:
    """Ids of all devices of the backend that holds `x`; `None` for devices without one, such as those of a topology."""
    known = getattr(x, "sharding", x).device_set
    client = getattr(next(iter(known)), "client", None)
    return None if client is None else [device.id for device in client.devices()]


def _drawn(x: Any) -> bool:
    """Whether it is one array, and no tree, that lies on devices."""
    return isinstance(x, Placement) or getattr(x, "sharding", None) is not None


def _is_tree(x: Any) -> bool:
    import jax

    return x is not None and not jax.tree_util.all_leaves([x])
