"""Judging placements: device-to-index maps are compared, never specs or meshes."""

from __future__ import annotations

import dataclasses

from shardlab.placement import Placement
from shardlab_judge.expression_items import ExpressionItem
from shardlab_judge.findings import Judged, explained
from shardlab_judge.question import PlacementItem
from shardlab_judge.verdict import Finding


def judge_placement(item: PlacementItem | ExpressionItem, got: Placement) -> Judged:
    """Full points where every device holds the target's slice."""
    letter = next(iter(item.points))
    if got.same_as(item.target):
        return {letter: 1.0}, []
    miss = next((m for m in item.misses if isinstance(m.like, Placement) and got.same_as(m.like)), None)
    shown = dataclasses.replace(item.target, axes=None, spec=None)
    finding = Finding(item.name, letter, _difference(item.target, got), _placed(item.target), _placed(got),
                      pictures=(shown, got) if got.shape == item.target.shape else None)  # fmt: skip
    return {}, [explained(finding, miss)]


def _placed(placement: Placement) -> str:
    return f"shape {list(placement.shape)}, shards {list(placement.shard_shape)} on devices {list(placement.devices)}"


def _difference(target: Placement, got: Placement) -> str:
    if got.shape != target.shape:
        return "The array has another shape."
    if got.devices != target.devices:
        return "Other devices hold it."
    if got.copies != target.copies:
        return f"Each element lies on {got.copies} device{'s' * (got.copies > 1)} instead of {target.copies}."
    if got.shard_shape != target.shard_shape:
        return "The shards have another shape."
    wrong = [device for (device, a), (_, b) in zip(target.shards, got.shards) if a != b]
    return f"The shards have the right shape, but {len(wrong)} devices hold another one: {wrong}."
