"""When each direct dependency was last released, from the package index (`make dependencies`).

Prints one line a package, the longest silent first: this Python's pin in `constraints.txt`, the newest stable version, and
the day of its last file, of a development version too. CONTRIBUTING.md says why those stay that are silent for a year.
"""

from __future__ import annotations

import json
import pathlib
import platform
import tomllib
import urllib.request
from collections.abc import Mapping
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from rich.console import Console
from rich.table import Table

from shardlab_authoring import lanes

INDEX = "https://pypi.org/pypi/{}/json"


def direct(root: pathlib.Path) -> list[str]:
    """The packages of others that `pyproject.toml` asks for, in any extra."""
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    return sorted({canonicalize_name(Requirement(one).name) for one in wanted} - {"shardlens"})


def last_file(said: Mapping[str, Any]) -> str:
    """The day of a package's last file, as the index's JSON has it; `-` without one."""
    return max((file["upload_time"][:10] for files in said["releases"].values() for file in files), default="-")


def main() -> None:
    """Ask the index and print."""
    root, rows = pathlib.Path.cwd(), []
    pinned = lanes.pins((root / lanes.CONSTRAINTS).read_text(), platform.python_version())
    for name in direct(root):
        with urllib.request.urlopen(INDEX.format(name), timeout=60) as answer:
            said = json.load(answer)
        rows.append((last_file(said), name, pinned.get(name, "-"), said["info"]["version"]))
    table = Table("last file", "package", "pin", "newest", box=None)
    for row in sorted(rows):
        table.add_row(*row)
    Console().print(table)


if __name__ == "__main__":
    main()
