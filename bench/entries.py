"""The file of figures that every benchmark adds to."""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import os
import pathlib
import platform
from collections.abc import Sequence
from typing import Any


def keep(entries: Sequence[dict[str, Any]], path: pathlib.Path) -> None:
    """Write these entries, dated, beside those of other benchmarks, in place of older ones of the same names."""
    on = {"date": datetime.date.today().isoformat(), "versions": versions(), "load": load()}
    path.parent.mkdir(parents=True, exist_ok=True)
    kept = json.loads(path.read_text()) if path.exists() else []
    new = {entry["name"] for entry in entries}
    dated = [{**entry, **on} for entry in entries]
    path.write_text(json.dumps([*(e for e in kept if e["name"] not in new), *dated], indent=1) + "\n")


def versions() -> dict[str, str]:
    """What the figures were measured on."""
    return {"python": platform.python_version(), "jax": importlib.metadata.version("jax")}


def load() -> str:
    """How busy the machine was, benchmark included: on a quiet one it is at most its number of cores."""
    return f"load {os.getloadavg()[1]:.1f} on {os.cpu_count()} cores"
