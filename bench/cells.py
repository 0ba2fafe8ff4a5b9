"""The CPU time of a solution's cells and answers, for which the grader's limit of a cell must leave room.

python bench/cells.py 04 [...]     prints each chapter's three slowest, and the sum of all
"""

from __future__ import annotations

import io
import pathlib
import sys
import tempfile
import time
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from bench import classes, ours

from shardlab_course.editions import edition
from shardlab_grader.classes import restore
from shardlab_grader.inside import runner
from shardlab_grader.records.forms import parse
from shardlab_grader.releases.release import release

ROOT = pathlib.Path(__file__).parents[1]


class Timed(runner.Runner):
    """Notes the seconds of CPU time, and what they were for."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.took: list[tuple[float, str]] = []

    def _execute(self, index: int, source: str) -> None:
        started = time.process_time()
        super()._execute(index, source)
        self.took.append((time.process_time() - started, f"cell {index}: {source.splitlines()[0]}"))

    def _entry(self, manifest: dict[str, Any]) -> dict[str, Any]:
        started = time.process_time()
        try:
            return super()._entry(manifest)
        finally:
            self.took.append((time.process_time() - started, f"{manifest['id']}: {manifest['items'][0]['name']}"))


def slowest(chapter: str) -> str:
    """The three slowest, and the sum."""
    with tempfile.TemporaryDirectory() as scratch:
        made = release(chapter, pathlib.Path(scratch), ROOT)
        solved = classes.submission(made.notebook, {question: classes.REFERENCE for question in made.manifests})
        released = restore.restore(parse(edition.to_ipynb(solved).encode()), made.notebook)
    run = Timed(ours.generous(released, made), io.StringIO())
    run.run()
    lines = [f"  {seconds:6.2f} s  {what}" for seconds, what in sorted(run.took, reverse=True)[:3]]
    return "\n".join([f"{chapter}: {sum(seconds for seconds, _ in run.took):.1f} s of CPU time", *lines])


if __name__ == "__main__":
    runner.warm()
    for chapter in sys.argv[1:]:
        sys.stderr.write(f"{slowest(chapter)}\n")
