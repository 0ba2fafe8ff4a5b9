"""How grading grows with the class: seconds a submission, and the grader's memory, for classes of several sizes.

    python bench/growth.py [--sizes 30 100 300] [--rounds 1] [--chapter 04] [--small]

Each class is graded from `submitted/` to gradebook and feedback pages by a Python of its own; its submissions are all
different. A ratio is one class's figure over the smallest one's in the same round: 1 means that nothing grows. The memory is
the most that the grader's own process had resident; sandboxes are other processes, two at a time whatever the class.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from bench import classes
from bench.entries import keep

from shardlab_grader.releases.release import Release, release

ROOT = pathlib.Path(__file__).parents[1]
PLACE = ROOT / "build" / "bench.json"
Measured = dict[str, Any]


def main() -> None:
    """Measure, print and write."""
    arguments = _arguments()
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    with tempfile.TemporaryDirectory() as scratch:
        made = release(arguments.chapter, pathlib.Path(scratch) / "released", ROOT)
        rounds = [{n: _class(made, n, pathlib.Path(scratch)) for n in arguments.sizes} for _ in range(arguments.rounds)]
    first, *others = arguments.sizes
    entries = []
    for n in others:
        for figure, unit in (("wall", "seconds a submission"), ("rss", "memory of the grader")):
            ratios = [found[n][figure] / found[first][figure] for found in rounds]
            compared = f"{unit} in a class of {n} : of {first}, chapter {arguments.chapter}, submitted/ to feedback pages"
            entries.append(_entry(f"growth, {unit}, {n} against {first}", ratios, compared))
    for entry in entries:
        print(f"{entry['name']}: {entry['ratio']:.2f}  [{entry['interval'][0]:.2f}, {entry['interval'][1]:.2f}]")
    keep(entries, PLACE)


def one(course_dir: str, assignment: str) -> None:
    """Grade a class and print what it took, as JSON."""
    from shardlab_grader.classes import classroom

    steps: dict[str, float] = {}

    @contextlib.contextmanager
    def progress(step: str, length: int) -> Iterator[Callable[[], None]]:
        started = time.monotonic()
        yield lambda: None
        steps[step] = (time.monotonic() - started) / length

    started = time.monotonic()
    rows = classroom.grade(pathlib.Path(course_dir), assignment, "bubblewrap", os.cpu_count() or 1, progress)
    wall = (time.monotonic() - started) / len(rows)
    if lost := [row.reason for row in rows if row.status == "ungraded"]:
        raise RuntimeError(lost[0])
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"wall": wall, "cpu": time.process_time() / len(rows), "rss": megabytes, "steps": steps}))


def _class(released: Release, students: int, scratch: pathlib.Path) -> Measured:
    folder = scratch / "course"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(released.course_dir, folder)
    made = Release.load(folder, released.assignment)
    classes.hand_in(made, [f"s{i:03d}" for i in range(students)], seed=students)
    command = [sys.executable, __file__, "--one", str(folder), made.assignment]
    said = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    steps = ", ".join(f"{step} {seconds:.2f}" for step, seconds in said["steps"].items())
    own = f"grader's own CPU {said['cpu']:.2f}"
    print(f"{students:4} submissions: {said['wall']:.2f} s each ({steps}; {own}); {said['rss']:.0f} MB")
    return said


def _entry(name: str, ratios: list[float], compared: str) -> dict[str, Any]:
    interval = [round(min(ratios), 3), round(max(ratios), 3)]
    spread = "smallest and largest of the rounds" if len(ratios) > 1 else "one round, no interval"
    said = {"compared": compared, "rounds": len(ratios), "interval_is": spread}
    return {"name": name, "ratio": round(statistics.median(ratios), 3), "interval": interval, **said}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[30, 100, 300])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--chapter", default="04")
    parser.add_argument("--small", action="store_true", help="classes of 6 and 18")
    given = parser.parse_args()
    if given.small:
        given.sizes = [6, 18]
    return given


if __name__ == "__main__":
    one(*sys.argv[2:]) if sys.argv[1:2] == ["--one"] else main()
