"""`python -m shardlab_tools.mutants [--chapters 4 7]` at the root of the repository (`make mutants`)."""

from __future__ import annotations

import argparse
import sys

from shardlab_course.chapters import CHAPTERS
from shardlab_tools.mutants import running, table

MANY = 25


def main() -> int:
    """Judge, say what was found, and keep the chapters' figures; 1 if a mutant survived, or was told what is not true."""
    parser = argparse.ArgumentParser(description="Mutation testing of the judge.")
    parser.add_argument("--chapters", type=int, nargs="*", default=[*CHAPTERS])
    parser.add_argument("--many", type=int, default=MANY, help="mutants of each right answer")
    parser.add_argument("--further", type=int, default=50, help="further drawn cases that an accepted mutant is tried on")
    asked = parser.parse_args()
    found = {}
    for chapter in asked.chapters:
        found[chapter] = running.of_chapter(chapter, asked.many, asked.further)
        print(f"chapter {chapter}: {table.line(found[chapter])}", flush=True)
    outcomes = [outcome for chapter in found.values() for outcome in chapter]
    print(*map(table.told, outcomes), sep="", end="")
    table.keep(found)
    print(table.line(outcomes))
    return int(table.faults(outcomes) > 0)


if __name__ == "__main__":
    sys.exit(main())
