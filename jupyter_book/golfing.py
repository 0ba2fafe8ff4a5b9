"""The page on pod golf: its leaderboards, their bars, and each entry as a difference from the one before."""

from __future__ import annotations

import difflib
import html
import json
import pathlib
from collections.abc import Mapping
from typing import Any

from shardlab_tools.golf import kept
from shardlab_tools.golf.entry import read
from shardlab_tools.golf.score import TARGETS, Score
from shardlens.charts.ledger import FILLS

BOARD = "| | entry | ms | if all overlaps | GB received | peak GB | mesh |\n|:--|:--|--:|--:|--:|--:|:--|"
FIRST = "v5e:16x16"
"""By the times on this target entries are in order."""


def parts(folder: pathlib.Path) -> dict[str, str]:
    """What stands in each marked place of the page, by the name in the mark; `folder` is that of the book's sources."""
    found = json.loads((folder / "golf.json").read_text())
    boards = {f"golf {target}": f"{board(folder, found, target)}\n{bars(kept.scores(found, target))}" for target in TARGETS}
    return {**boards, "golf entries": entries(folder, found)}


def board(folder: pathlib.Path, found: Mapping[str, Any], target: str) -> str:
    """The leaderboard of a target, as Markdown."""
    rows = []
    for place, (name, score) in enumerate(kept.scores(found, target).items(), 1):
        axes = read(folder / "golf" / f"{name}.py").axes[TARGETS[target]]
        mesh = ", ".join(f"{axis} {size}" for axis, size in axes.items())
        times = f"{score.milliseconds:,.0f} | {score.overlapped:,.0f}"
        figures = f"{times} | {score.received / 1e9:,.1f} | {score.peak / 1e9:,.1f}"
        rows.append(f"| {place if score.fits else 'does not fit'} | [{name}](#golf-{name}) | {figures} | {mesh} |")
    return "\n".join([BOARD, *rows, ""])


def bars(scores: Mapping[str, Score]) -> str:
    """For each entry that fits, the time in which it computes and that in which bytes move, as HTML."""
    shown = {name: score for name, score in scores.items() if score.fits}
    longest = max(score.milliseconds for score in shown.values())
    rows = "".join(_bar(name, score, longest) for name, score in shown.items())
    parts = zip(("computing and memory", "moving bytes"), FILLS)
    names = "".join(f'<span><b style="background: {fill}"></b>{part}</span> ' for part, fill in parts)
    return f'```{{raw}} html\n<figure class="moved">{rows}<p class="moved-legend">{names}</p></figure>\n```\n'


def _bar(name: str, score: Score, longest: float) -> str:
    shares = (score.milliseconds - score.moving) / longest, score.moving / longest
    wide = [f"width: {100 * share:.4g}%; background: {fill}" for share, fill in zip(shares, FILLS)]
    spans = "".join(f'<span style="{style}"></span>' for style in wide)
    return f'<p>{html.escape(name)}</p><div class="moved-bar" aria-hidden="true">{spans}</div>'


def entries(folder: pathlib.Path, found: Mapping[str, Any], after: str | None = None) -> str:
    """Each entry after the one that it began from: what it tries, and what it changed. Of several the slowest is first."""
    texts = []
    ranked = [*kept.scores(found, FIRST)]
    for name in [*reversed(ranked), *(name for name in found["entries"] if name not in ranked)]:
        entry = read(folder / "golf" / f"{name}.py")
        if entry.after == after:
            shown = changed(folder, name, after)
            texts += [f"(golf-{name})=\n### {name}\n\n{entry.title}\n\n{shown}", entries(folder, found, name)]
    return "\n".join(texts)


def changed(folder: pathlib.Path, name: str, after: str | None) -> str:
    """An entry's file, or how it differs from the one that it began from, as Markdown."""
    text = (folder / "golf" / f"{name}.py").read_text()
    if after is None:
        return f"```python\n{text.rstrip()}\n```\n"
    before = (folder / "golf" / f"{after}.py").read_text()
    lines = "\n".join([*difflib.unified_diff(before.splitlines(), text.splitlines(), n=1, lineterm="")][2:])
    return f"From [{after}](#golf-{after}):\n\n```diff\n{lines}\n```\n"
