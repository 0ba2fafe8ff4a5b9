"""The leaderboard: `jupyter_book/golf.json`, which `make golf` writes and the book's page reads."""

from __future__ import annotations

import hashlib
import json
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import jax

from shardlab_tools.golf import model
from shardlab_tools.golf.score import Score

FILE = pathlib.Path("jupyter_book", "golf.json")


def fingerprint(path: pathlib.Path) -> str:
    """Of what an entry's figures depend on: its file, and the model."""
    return hashlib.sha256(path.read_bytes() + pathlib.Path(model.__file__).read_bytes()).hexdigest()[:16]


def write(folder: pathlib.Path, found: Mapping[str, Mapping[str, Score]]) -> None:
    """Keep the figures of all entries, which are in `folder`."""
    entries = {
        name: {"of": fingerprint(folder / f"{name}.py")} | {target: score._asdict() for target, score in each.items()}
        for name, each in found.items()
    }
    FILE.write_text(json.dumps({"jax": jax.__version__, "entries": entries}, indent=1) + "\n")


def scores(kept: Mapping[str, Any], target: str) -> dict[str, Score]:
    """The entries that have figures for a target, best first; what does not fit comes last."""
    found = {name: Score(**each[target]) for name, each in kept["entries"].items() if target in each}
    return dict(sorted(found.items(), key=lambda pair: pair[1].rank))


def others(name: str, target: str) -> list[Score]:
    """The kept scores of all entries but one."""
    kept = json.loads(FILE.read_text()) if FILE.exists() else {"entries": {}}
    return [score for other, score in scores(kept, target).items() if other != name]


def place(score: Score, others: Sequence[Score]) -> str:
    """Where it stands among others, in words."""
    if not score.fits:
        return "it does not fit, so it has no place"
    better = sum(other.rank < score.rank for other in others)
    return f"place {better + 1} of {1 + sum(other.fits for other in others)}"


def told(score: Score) -> str:
    """The figures in a line."""
    return (
        f"{score.milliseconds:,.0f} ms if nothing overlaps, {score.overlapped:,.0f} ms if everything does; "
        f"{score.received / 1e9:,.1f} GB received; peak {score.peak / 1e9:,.1f} of {score.room / 1e9:,.0f} GB"
    )
