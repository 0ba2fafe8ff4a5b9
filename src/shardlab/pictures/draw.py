"""Pictures of who holds which slice: in a notebook, on a page, in a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shardlab.errors import ShardlabError
from shardlab.pictures import markup, picture, terminal
from shardlens import Picture, Placement, drawing, placement_of

SIDE = 220.0
"""Pixels of the longer side of an array that is drawn beside others."""


def show(x: Any, shape: Sequence[int] | None = None, *, title: str | None = None) -> Picture:
    """The picture of who holds which slice.

    Args:
        x: an array, anything with a shape and a sharding, a sharding, or a `Placement`; or a dict of some of these by their
            titles, which are drawn beside each other.
        shape: the global shape, for a sharding only.
        title: a line above the picture.
    Raises:
        ShardlabError: `x` has no sharding, is a sharding without a shape, or its mesh has no devices.
    """
    if isinstance(x, Mapping) and x:
        return _together(
            {str(name): each if isinstance(each, Placement) else placement_of(each) for name, each in x.items()}
        )
    if isinstance(x, Placement):
        return Picture(text(x, title), html(x, title))
    _need_devices(x)
    try:
        placement = placement_of(x, shape)
    except TypeError as error:
        raise _not_shown(x) from error
    except NotImplementedError as error:  # JAX gives no index map for partial sums
        raise _partial(x) from error
    devices = _devices(x)
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


def pair(expected: Placement, got: Placement, captions: tuple[str, str] = ("expected", "yours")) -> Picture:
    """The two pictures side by side; blocks of the second that others hold in the first are marked with ≠."""
    note = _change(expected, got)
    columns, cards, least = [], [], markup.sized((expected, got), SIDE)
    for caption, placement, against in zip(captions, (expected, got), (None, expected)):
        idle = terminal.resting(placement, None)
        columns.append([*terminal.brief(placement, caption), *terminal.grids(placement, against), *idle])
        card = markup.headed(placement, caption) + markup.drawn(placement, against, SIDE, least)
        cards.append(card + markup.resting(placement, None))
    return Picture("\n".join([*drawing.beside(columns, 2), note]), markup.beside(cards, note))


def _together(placements: Mapping[str, Placement]) -> Picture:
    """Several placements under their titles, those of one shape drawn in one size."""
    columns, cards, shapes = [], [], {placement.shape for placement in placements.values()}
    least = {shape: markup.sized([p for p in placements.values() if p.shape == shape], SIDE) for shape in shapes}
    for title, placement in placements.items():
        columns.append([*terminal.brief(placement, title), *terminal.grids(placement), *terminal.resting(placement, None)])
        card = markup.headed(placement, title) + markup.drawn(placement, None, SIDE, least[placement.shape])
        cards.append(card + markup.resting(placement, None))
    return Picture("\n".join(drawing.beside(columns, len(columns))), markup.beside(cards))


def _change(expected: Placement, got: Placement) -> str:
    if expected.shape != got.shape:
        return f"≠ the shapes differ: {drawing.brackets(expected.shape)} and {drawing.brackets(got.shape)}"
    moved = picture.differing(expected, got)
    if not moved:
        return "= every device holds the same slice in both"
    return f"≠ {drawing.named(moved)} hold{'s' * (len(moved) == 1)} something else than expected"


def _devices(x: Any) -> list[int] | None:
    """Ids of all devices of the backend that holds `x`; `None` for devices without one, such as those of a topology."""
    known = getattr(x, "sharding", x).device_set
    client = getattr(next(iter(known)), "client", None)
    return None if client is None else [device.id for device in client.devices()]


def _partial(x: Any) -> ShardlabError:
    return ShardlabError(
        "partial-sums",
        "this array is not added up yet: each device holds one term of its elements, and no device a slice.",
        where=f"sl.show(x)   x: {getattr(x, 'sharding', x).spec}",
        mend="add the terms up first, by jax.reshard(x, P(...)); the terms are in x.addressable_shards.",
    )


def _not_shown(x: Any) -> ShardlabError:
    import jax

    if isinstance(x, jax.sharding.Sharding):
        return ShardlabError(
            "sharding-without-shape",
            f"{type(x).__name__} alone does not say which slices its devices hold.",
            where="sl.show(sharding)",
            mend="give the global shape too: sl.show(sharding, (16, 16)).",
        )
    if isinstance(x, jax.P):
        return ShardlabError(
            "no-sharding",
            "a spec alone lies on no devices: it has neither a mesh nor a shape.",
            where=f"sl.show({x})",
            mend=f"give the mesh and a shape too: sl.show(jax.NamedSharding(mesh, {x}), (16, 16)).",
        )
    return ShardlabError(
        "no-sharding",
        f"{type(x).__name__} has no sharding to show.",
        where=f"sl.show(x)   x is a {type(x).__module__}.{type(x).__qualname__}",
        mend="give a JAX array (jax.device_put(x, sharding) makes one); inside jit, print jax.typeof(x) instead.",
    )


def _need_devices(x: Any) -> None:
    import jax

    if isinstance(getattr(getattr(x, "sharding", x), "mesh", None), jax.sharding.AbstractMesh):
        raise ShardlabError(
            "mesh-without-devices",
            "this sharding is over an abstract mesh, which has axes but no devices.",
            where=f"sl.show(x)   x is a {type(x).__name__}, such as jax.typeof gives",
            mend="show the array itself, or a NamedSharding over a mesh of jax.make_mesh with its shape.",
        )
