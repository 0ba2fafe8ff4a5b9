"""`python -m shardlab_tools.golf [FILE]` at the root of the repository (`make golf FILE=mine.py`)."""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
from collections.abc import Sequence

from shardlab_tools.golf import kept
from shardlab_tools.golf.entry import read
from shardlab_tools.golf.score import TARGETS, Score, differences, score

HERE = pathlib.Path("jupyter_book", "golf")


def main() -> int:
    """Charge one entry and say its place; without a file charge all of them again and keep the figures."""
    parser = argparse.ArgumentParser(prog="make golf", description="One training step, as cheap as you can make it.")
    parser.add_argument("file", nargs="?", type=pathlib.Path, help="an entry; all of jupyter_book/golf if left out")
    parser.add_argument("--target", choices=TARGETS, action="append", help="v5e:16x16 and h100:8x8 if left out")
    asked = parser.parse_args()
    os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
    targets = asked.target or [*TARGETS]
    if asked.file:
        return int(charged(asked.file, targets) is None)
    found = {path.stem: charged(path, targets) for path in sorted(HERE.glob("*.py"))}
    right = {name: scores for name, scores in found.items() if scores is not None}
    kept.write(HERE, right)
    return int(len(right) < len(found))


def charged(path: pathlib.Path, targets: Sequence[str]) -> dict[str, Score] | None:
    """The scores by target, told as they come; None if the values are wrong."""
    entry = read(path)
    print(f"{path}: {entry.title}", flush=True)
    if wrong := differences(entry):
        print("  not charged, because three steps on eight devices are wrong:", *wrong, sep="\n    ")
        return None
    print("  three steps on eight devices give the plain program's losses and weights", flush=True)
    scores = {}
    for target in targets:
        if TARGETS[target] in entry.axes:
            scores[target] = found = score(entry, target)
            print(f"  {target}: {kept.told(found)}; {kept.place(found, kept.others(path.stem, target))}", flush=True)
    return scores


if __name__ == "__main__":
    sys.exit(main())
