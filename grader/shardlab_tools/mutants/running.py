"""Every mutant judged once: chapters one after another, each in a process that may die, and what it said kept on disk."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import pathlib
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from shardlab_course import dependence
from shardlab_course.chapters import CHAPTERS
from shardlab_tools.mutants import sampling
from shardlab_tools.mutants.generation import Mutant
from shardlab_tools.mutants.outcomes import BARE, SURVIVED, Outcome

KEPT = pathlib.Path("build", "mutants")
WORKER = (sys.executable, "-m", "shardlab_tools.mutants.worker")
PATIENCE = 900
"""Seconds without a word after which a worker is ended, and its mutant counts as one that hangs."""


class Kept:
    """The outcomes of a chapter, in a file that is begun anew when what judges the chapter has changed."""

    def __init__(self, chapter: int, further: int) -> None:
        self.path = KEPT / f"{chapter:02}.jsonl"
        text = json.dumps([dependence.judging(chapter), dependence.versions(), further, _own_sources()], sort_keys=True)
        version = hashlib.sha256(text.encode()).hexdigest()
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        self.outcomes: dict[str, Outcome] = {}
        if lines and json.loads(lines[0]) == {"version": version}:
            self.outcomes = {o.key: o for o in map(_outcome, lines[1:])}
        else:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(json.dumps({"version": version}) + "\n")

    def add(self, outcome: Outcome) -> None:
        """Keep one more."""
        self.outcomes[outcome.key] = outcome
        with self.path.open("a") as file:
            file.write(json.dumps(dataclasses.asdict(outcome)) + "\n")


def of_chapter(chapter: int, many: int, further: int) -> list[Outcome]:
    """The outcomes of a chapter's mutants, at most `many` of each right answer; those that are kept are not judged again."""
    kept = Kept(chapter, further)
    chosen = [mutant for question in CHAPTERS[chapter] for mutant in sampling.chosen(question.id, many)]
    for made in judged([mutant for mutant in chosen if mutant.key not in kept.outcomes], further):
        kept.add(made)
    return [kept.outcomes[mutant.key] for mutant in chosen]


def judged(mutants: Sequence[Mutant], further: int) -> Iterator[Outcome]:
    """The outcome of each, the one at which a worker dies included: another goes on behind it."""
    while mutants:
        ended = 0
        for made in _worker(mutants, further):
            ended += 1
            yield made
        if not ended:
            raise RuntimeError(f"a worker ended before its first mutant, of question {mutants[0].question}")
        mutants = mutants[ended:]


def _worker(mutants: Sequence[Mutant], further: int) -> Iterator[Outcome]:
    """Runs one worker to its end; the outcome of the mutant at which it died, if it did, is the last."""
    worker = subprocess.Popen(
        [*WORKER, str(further)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert worker.stdin is not None
    worker.stdin.write(json.dumps([dataclasses.asdict(mutant) for mutant in mutants]))
    worker.stdin.close()
    left = iter(mutants)
    begun = 0
    with worker:
        for line in _lines(worker):
            if "begins" in json.loads(line):
                begun += 1
            else:
                begun = 0
                next(left)
                yield _outcome(line)
        worker.kill()
    if begun:
        yield _died(next(left), accepted=begun > 1)


def _died(mutant: Mutant, accepted: bool) -> Outcome:
    """It hung, or ended its process: while it was judged, or while it was proved."""
    made = Outcome(mutant.key, mutant.question, mutant.answer, mutant.operator, BARE, difference=mutant.difference)
    if accepted:
        return dataclasses.replace(made, end=SURVIVED, why="beyond what is judged it does not end, or not in time")
    return dataclasses.replace(made, why="it hung, or ended the process")


def _lines(worker: subprocess.Popen[str]) -> Iterator[str]:
    """What it says, until it ends or is silent for too long."""
    lines: queue.Queue[str] = queue.Queue()

    def read() -> None:
        assert worker.stdout is not None
        for line in worker.stdout:
            lines.put(line)
        lines.put("")

    threading.Thread(target=read, daemon=True).start()
    try:
        while line := lines.get(timeout=PATIENCE):
            yield line
        worker.wait(PATIENCE)
    except (queue.Empty, subprocess.TimeoutExpired):
        return


def _outcome(line: str) -> Outcome:
    raw: dict[str, Any] = json.loads(line)
    for name in ("causes", "false", "unsteady"):
        raw[name] = tuple(raw.get(name, ()))
    return Outcome(**raw)


def _own_sources() -> str:
    """How mutants are judged; how they are made shows in their texts."""
    here = pathlib.Path(__file__).parent
    return "".join(
        (here / name).read_text()
        for name in ("judging.py", "equivalence.py", "outcomes.py", "claims.py", "truths.py", "wider.py")
    )
