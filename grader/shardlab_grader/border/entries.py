"""What one item's entry may look like: as the kind of the item says, which the judge has one module for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shardlab_judge.items import kind
from shardlab_judge.responses import Refused as Refused
from shardlab_judge.responses import error_of as error_of
from shardlab_judge.responses import said as said

Entry = Mapping[str, Any]


def entry(item: Mapping[str, Any], raw: Any) -> Entry:
    """A checked copy of one item's entry.

    Args:
        item: the item in its question's manifest.
    Raises:
        Refused: a field, type, count or size is not as the manifest says.
    """
    return kind(item["kind"]).admit(item, raw)


def refused(reason: str) -> Entry:
    """The entry that stands for one that was not accepted or not written."""
    return {"error": {"type": "AnswerRefused", "message": reason}}
