"""The command `python -m shardlab`: `doctor` says the course's devices too; all else is the lens's, as `inspect`."""

from __future__ import annotations

import argparse
import importlib.metadata
import sys
from collections.abc import Sequence

from shardlab.errors import ShardlabError
from shardlens import lens_command


def main(words: Sequence[str] | None = None) -> int:
    """Runs one command, and gives its exit status: 0, or 1 after a mistake, which is said on stderr."""
    given = list(sys.argv[1:] if words is None else words)
    return doctor(given[1:]) if given[:1] == ["doctor"] else lens_command(given)


def doctor(words: Sequence[str]) -> int:
    """Prints the devices that a course's cells would have, Shardlab's version, and what the lens has to compile with."""
    from shardlab.devices import setup

    parser = argparse.ArgumentParser("python -m shardlab doctor", description="Print devices and versions.")
    parser.add_argument("--devices", type=int, default=8, help="how many devices are wanted")
    try:
        print(setup(parser.parse_args(words).devices))
    except ShardlabError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"shardlab {importlib.metadata.version('shardlab')}")
    return lens_command(["doctor"])
