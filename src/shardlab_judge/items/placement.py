"""Placements: device-to-index maps are compared, never specs or meshes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from shardlab_judge import responses
from shardlab_judge.causes import places
from shardlab_judge.findings import explained
from shardlab_judge.question import Item, Judged, Response, Setting
from shardlab_judge.verdict import Finding
from shardlens import Placement


@dataclasses.dataclass(frozen=True)
class PlacementItem(Item):
    """An array or a sharding that must put `target`'s slices on `target`'s devices."""

    target: Placement = dataclasses.field(kw_only=True)
    kind = "placement"
    form = "an array or a sharding"

    def asks(self, question: str, seed: int | None) -> dict[str, Any]:
        """The shape, which a sharding by itself does not have."""
        return {"shape": list(self.target.shape)}

    @classmethod
    def admit(cls, asked: Mapping[str, Any], raw: Any) -> Response:
        """A placement, and no more."""
        return responses.single(raw, "placement", responses.placement)

    def judge(self, response: Response, setting: Setting) -> Judged:
        """Full points where every device holds the target's slice."""
        return judge_placement(self, self.target, Placement.from_json(response["placement"]))


def judge_placement(item: Item, target: Placement, got: Placement) -> Judged:
    """Full points where every device holds the target's slice."""
    if got.same_as(target):
        return {item.first: 1.0}, []
    known = next((m for m in item.misconceptions if isinstance(m.like, Placement) and got.same_as(m.like)), None)
    known = known or places.likely(target, got)
    # Without mesh and spec: these would be the answer.
    shown = dataclasses.replace(target, axes=None, spec=None)
    finding = Finding(
        item.name,
        item.first,
        _difference(target, got),
        _placed(target),
        _placed(got),
        pictures=(shown, got) if got.shape == target.shape else None,
    )
    return {}, [explained(finding, known)]


def _placed(placement: Placement) -> str:
    return f"shape {list(placement.shape)}, shards {list(placement.shard_shape)} on devices {list(placement.devices)}"


def _difference(target: Placement, got: Placement) -> str:
    if got.shape != target.shape:
        return "The array has the wrong shape."
    if got.devices != target.devices:
        return "It is on the wrong devices."
    if got.copies != target.copies:
        return f"Each element is on {got.copies} device{'s' * (got.copies > 1)} instead of {target.copies}."
    if got.shard_shape != target.shard_shape:
        return "The shards have the wrong shape."
    wrong = [device for (device, a), (_, b) in zip(target.shards, got.shards) if a != b]
    return f"The shards have the right shape, but {len(wrong)} devices hold the wrong one: {wrong}."
