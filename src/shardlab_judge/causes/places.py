"""Causes of a wrong placement that any array may have: how what devices hold relates to what they should hold."""

from __future__ import annotations

from shardlab_judge.question import Misconception
from shardlens import Placement

IDS = frozenset(
    {
        "blocks-in-other-order", "cut-nowhere", "other-dimension-cut", "cut-too-little", "cut-too-much", "devices-left-out",
        "devices-too-many",
    }
)  # fmt: skip
"""What it names."""


def likely(target: Placement, got: Placement) -> Misconception | None:
    """What a wrong placement of the right shape on the right devices is, if it is one of these."""
    if got.shape != target.shape or got.same_as(target):
        return None
    if got.devices != target.devices:
        return _on_other_devices(set(target.devices), set(got.devices))
    mine, wanted = _pieces(got), _pieces(target)
    swapped = [(m, w) for d, (m, w) in enumerate(zip(mine, wanted)) if m != w]
    if mine == wanted:
        return Misconception(
            "blocks-in-other-order",
            "It is cut as it should be, but its blocks are on the wrong devices: the mesh axes, or the devices of the "
            "mesh, are in another order or place.",
        )
    if set(mine) == {1}:
        return Misconception("cut-nowhere", "Every device holds all of it: no mesh axis cuts any dimension.")
    if sorted(mine) == sorted(wanted):
        cuts = " and ".join(f"dimension {d} into {w}" for d, w in enumerate(wanted) if w > 1)
        return Misconception("other-dimension-cut", f"It is cut along the wrong dimension: cut {cuts}.")
    few, many = (all(m <= w for m, w in swapped), all(m >= w for m, w in swapped))
    along = ", ".join(str(d) for d, (m, w) in enumerate(zip(mine, wanted)) if m != w)
    if few:
        told = f"It is cut into too few pieces along dimension {along}: a mesh axis is missing there, or it is too small."
        return Misconception("cut-too-little", told)
    if many:
        told = f"It is cut into too many pieces along dimension {along}: by one mesh axis too many, or by one too large."
        return Misconception("cut-too-much", told)
    return None


def _on_other_devices(wanted: set[int], mine: set[int]) -> Misconception | None:
    for id, devices, words in (("devices-left-out", wanted - mine, "none"), ("devices-too-many", mine - wanted, "some")):
        if devices and (wanted < mine or mine < wanted):
            told = ", ".join(map(str, sorted(devices)))
            return Misconception(id, f"There is {words} of it on device {told}: look at which devices the mesh is made of.")
    return None


def _pieces(placement: Placement) -> tuple[int, ...]:
    """Into how many pieces each dimension is cut."""
    return tuple(whole // part if part else 1 for whole, part in zip(placement.shape, placement.shard_shape))
