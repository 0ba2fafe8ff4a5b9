"""Ours against stock `nbgrader autograde`: a class of varied submissions, from `submitted/` to a complete gradebook.

    python bench/grading.py [--students 120] [--stock 4] [--rounds 3] [--chapter 04] [--defective] [--small]

Feedback pages are made by neither. Stock grades only some of the class; its time for all of it is its start-up and as many
times what each of these took. With `--defective` a tenth of the class hands in what ends a kernel, fills memory or does not
end; none of these is among stock's, which they would hold up. Rounds are interleaved; ratios are medians over the rounds
with 95 % intervals.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from bench import classes, ours, stock
from bench.entries import keep

from shardlab_grader.releases.release import Release, release

ROOT = pathlib.Path(__file__).parents[1]
PLACE = ROOT / "build" / "bench.json"
T = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31, 10: 2.26}
"""Student's t for 95 %, by number of rounds."""
Round = dict[str, Any]


def main() -> None:
    """Measure, print and write."""
    arguments = _arguments()
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    names = [f"{chr(97 + i % 26)}{i:03d}" for i in range(arguments.students)]
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        print(f"releasing chapter {arguments.chapter} and handing in {len(names)} submissions")
        made = release(arguments.chapter, folder / "ours", ROOT)
        classes.hand_in(made, names, defective=len(names) // 10 if arguments.defective else 0)
        few = names[: arguments.stock]
        theirs = stock.course(made, folder / "stock", few)
        rounds = [_round(made, theirs, few, names) for _ in range(arguments.rounds)]
        agree = sum(stock.passed(theirs, made.assignment, name) == ours.passed(made, name) for name in few)
        own = [ours.in_a_warm_process(made, name) for name in few]
    _show(rounds, arguments, agree, statistics.mean(own))


def _round(made: Release, theirs: pathlib.Path, few: list[str], names: list[str]) -> Round:
    measured: Round = {"start-up": stock.start_up(theirs)}
    measured["serial"] = _scaled(stock.autograde(theirs, made.assignment, few), measured["start-up"], len(few), len(names))
    both = stock.autograde(theirs, made.assignment, few, at_once=2)
    measured["both"] = _scaled(both, measured["start-up"], len(few), len(names))
    for name in ("autograded", "shardlab/verdicts"):
        shutil.rmtree(made.course_dir / name, ignore_errors=True)
    command = [sys.executable, str(ROOT / "bench" / "ours.py"), str(made.course_dir), made.assignment]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    said = json.loads(subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout)
    measured |= {"ours": (said["wall"], said["cpu"]), "stages": said["stages"], "run_cpu": said["run_cpu"]}
    walls = [measured[key][0] for key in ("serial", "both", "ours")]
    print("round: stock {:.0f} s, on both cores {:.0f} s, ours {:.1f} s".format(*walls))
    return measured


def _scaled(few: stock.Seconds, start_up: stock.Seconds, count: int, students: int) -> stock.Seconds:
    wall, cpu = (start + (all_ - start) * students / count for all_, start in zip(few, start_up))
    return wall, cpu


def _show(rounds: list[Round], arguments: argparse.Namespace, agree: int, own: float) -> None:
    n, last = arguments.students, rounds[-1]
    print(f"\nchapter {arguments.chapter}, {n} submissions, {len(rounds)} rounds; seconds a submission, wall and CPU:")
    for name, key in (("stock nbgrader, serial", "serial"), ("stock nbgrader, both cores", "both"), ("ours", "ours")):
        wall, cpu = (statistics.median(r[key][i] for r in rounds) / n for i in range(2))
        print(f"  {name:<28} {wall:7.2f} {cpu:7.2f}" + f"   (from {arguments.stock}, scaled)" * (key != "ours"))
    print("\nours, stage by stage in the last round (seconds for all):")
    for stage, seconds in last["stages"].items():
        print(f"  {stage:<44} {seconds:7.2f}")
    if agree < arguments.stock:
        raise SystemExit(f"of {arguments.stock} submissions graded by both, only {agree} have the same questions right")
    further = last["run_cpu"] / n
    print(f"CPU time of a further run: {further:.2f} s; of its cells in a warm process: {own:.2f} s")
    what = f"{n} submissions of {arguments.chapter}, submitted/ to gradebook.db; stock from {arguments.stock}, scaled"
    grading = (
        "grading"
        + f" chapter {arguments.chapter}" * (arguments.chapter != "04")
        + ", a tenth defective" * arguments.defective
    )
    stock_to_ours, run_to_cells = f"stock : ours, {what}", f"a run : its cells in a warm process, {what}"
    entries = [
        _entry(f"{grading}, against stock nbgrader", [r["serial"][0] / r["ours"][0] for r in rounds], stock_to_ours),
        _entry(f"{grading}, against stock on both cores", [r["both"][0] / r["ours"][0] for r in rounds], stock_to_ours),
        _entry(f"{grading}, CPU time against stock", [r["serial"][1] / r["ours"][1] for r in rounds], stock_to_ours),
        _entry(f"{grading}, CPU of a run against its own cells", [r["run_cpu"] / n / own for r in rounds], run_to_cells),
    ]
    for entry in entries:
        print(f"{entry['name']}: {entry['ratio']:.2f}  [{entry['interval'][0]:.2f}, {entry['interval'][1]:.2f}]")
    keep(entries, PLACE)


def _entry(name: str, ratios: list[float], compared: str) -> dict[str, Any]:
    middle, half = statistics.median(ratios), 0.0
    if len(ratios) > 1:
        half = T[min(len(ratios), 10)] * statistics.stdev(ratios) / len(ratios) ** 0.5
    interval = [round(middle - half, 3), round(middle + half, 3)]
    entry = {"name": name, "ratio": round(middle, 3), "interval": interval, "compared": compared, "rounds": len(ratios)}
    return entry if len(ratios) > 1 else entry | {"interval_is": "one round, no interval"}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--students", type=int, default=120)
    parser.add_argument("--stock", type=int, default=4, help="submissions that stock nbgrader grades in each round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--chapter", default="04")
    parser.add_argument("--defective", action="store_true", help="a tenth of the class, beside stock's sound ones")
    parser.add_argument("--small", action="store_true", help="12 submissions, 2 of them by stock nbgrader, one round")
    given = parser.parse_args()
    if given.small:
        given.students, given.stock, given.rounds = 12, 2, 1
    return given


if __name__ == "__main__":
    main()
