"""Sharding expressions, as text: compared by the index maps that they give."""

from __future__ import annotations

import dataclasses
from typing import Any

from shardlab.errors import ShardlabError
from shardlab.expressions.parsing import parse
from shardlab_judge.items.placement import judge_placement
from shardlab_judge.question import Item, Judged, Response, Setting
from shardlab_judge.reading import AS_VALUE, placed, unread
from shardlens import Axes, Placement

COUNT = "The numbers must multiply to the number of devices. Which number goes where follows from the exercise."


@dataclasses.dataclass(frozen=True)
class ExpressionItem(Item):
    """The text of an expression that must put `target`'s slices on `target`'s devices.

    Args:
        target: where what should lie; its shape is the one that the expression is applied to.
        axes: the mesh whose axes it may name; without it, the numbers are for `devices` in their order.
        devices: how many there are.
    """

    target: Placement = dataclasses.field(kw_only=True)
    axes: Axes | None = dataclasses.field(default=None, kw_only=True)
    devices: int = dataclasses.field(default=8, kw_only=True)
    kind = "expression"
    form = "a sharding expression, as text"

    def asks(self, question: str, seed: int | None) -> dict[str, Any]:
        """Recorded as a value."""
        return AS_VALUE

    def judge(self, response: Response, setting: Setting) -> Judged:
        """Full points where the expression puts every slice where the target has it."""
        got = response["value"]
        try:
            if not isinstance(got, str):
                parse(got)
            placement = placed(got, self.target.shape, self.axes, self.devices)
        except ShardlabError as error:
            finding = unread(self, error)
            # What the laboratory proposes fits the devices, and hardly ever the place that is asked for.
            proposed = finding.misconception is None and error.mend.startswith('write "')
            return {}, [dataclasses.replace(finding, cause=COUNT) if proposed else finding]
        share, findings = judge_placement(self, self.target, placement)
        return share, [dataclasses.replace(finding, where=f'"{got}"') for finding in findings]
