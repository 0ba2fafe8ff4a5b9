"""What `sl.check` costs beside compiling and running the answer itself: ratios of CPU time, paired and interleaved.

    python bench/checking.py [--repeats 15] [--write build/bench.json]

The answer is the exercise's solution, executed again for each side of each pair, so that JAX
knows none of its functions. One side calls `sl.check` and renders the feedback, with nothing judged before; the other
lowers, compiles and runs each of the answer's programs in each public case. Both begin with warm imports and devices.
In the ratio called first- each side is the first thing that a new process does after `sl.setup`, with its imports.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import gc
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import jax
from entries import keep
from laboratory import Ratio, ratio

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tests"))

import shardlab as sl
from variants import REFERENCE, of

QUESTIONS = ("4.2", "8.2", "9.2")
MOST = 1.2
FIRST = 1.6
WARM = 2


def check(question: str, answer: dict[str, Any]) -> None:
    """What a student's cell does: `sl.check`, and its feedback shown."""
    from shardlab_course.chapters import QUESTIONS
    from shardlab_course.checking.exercise import check
    from shardlab_judge.measuring import measure

    measure.cache_clear()
    feedback = check(question, **{name: answer[name] for name in QUESTIONS[question].variables})
    feedback._repr_html_()
    if feedback.verdict.status != "passed":
        raise RuntimeError(f"{question}: {feedback}")


def compile_and_run(question: str, answer: dict[str, Any]) -> None:
    """The same programs in the same cases, by JAX alone."""
    from shardlab.answers.context import situation
    from shardlab_course.chapters import QUESTIONS
    from shardlab_judge.inputs import hidden_inputs
    from shardlab_judge.items.program import ProgramItem

    for item in QUESTIONS[question].items:
        for case in item.cases_of(question, None) if isinstance(item, ProgramItem) else ():
            mesh, specs = situation(case.to_json())
            explicit = jax.set_mesh(mesh) if case.explicit else contextlib.nullcontext()
            with explicit:
                program = jax.jit(lambda *arrays, f=answer[item.name], mesh=mesh: f(mesh, *arrays), keep_unused=True)
                compiled = program.lower(*specs).compile()
            given = [jax.device_put(x, spec.sharding) for x, spec in zip(hidden_inputs(case, None), specs)]
            jax.block_until_ready(compiled(*given))


def compare(question: str, repeats: int) -> Ratio:
    """The ratio for one question."""
    pairs = []
    for i in range(repeats + WARM):
        sides = (check, compile_and_run) if i % 2 else (compile_and_run, check)
        taken = {side: seconds(side, question) for side in sides}
        pairs.append((taken[check], taken[compile_and_run]))
    compared = f"sl.check({question!r}, ...) and its feedback : compiling and running the answer, all public cases, CPU time"
    return ratio(f"check-{question}", compared, MOST, pairs[WARM:])


def first(question: str, repeats: int) -> Ratio:
    """The ratio for a question's first check in a kernel: what a student waits for once."""
    sides = ("check", "compile_and_run")
    pairs = []
    for i in range(repeats):
        taken = {side: _in_a_new_process(side, question) for side in (sides if i % 2 else sides[::-1])}
        pairs.append((taken["check"], taken["compile_and_run"]))
    compared = f"the first sl.check({question!r}, ...) in a process : compiling and running the answer first there, CPU time"
    return ratio(f"first-{question}", compared, FIRST, pairs)


def _in_a_new_process(side: str, question: str) -> float:
    command = [sys.executable, __file__, "--side", side, "--question", question]
    return float(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()[-1])


def seconds(side: Callable[[str, dict[str, Any]], None], question: str) -> float:
    """CPU seconds of one side, all threads together, with an answer that is new to JAX."""
    answer = of(question)[REFERENCE].variables()
    started = time.process_time()
    side(question, answer)
    return time.process_time() - started


def main() -> None:
    """Run the comparisons on eight simulated devices and print one line each."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--repeats", type=int, default=15)
    arguments.add_argument("--write", type=pathlib.Path)
    arguments.add_argument("--side", choices=("check", "compile_and_run"), help="one side alone, the first in this process")
    arguments.add_argument("--question", default=QUESTIONS[0])
    options = arguments.parse_args()
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["SHARDLAB_PROGRESS"] = str(pathlib.Path(scratch, "progress.json"))
        if options.side:
            sl.setup(8)
            print(seconds({"check": check, "compile_and_run": compile_and_run}[options.side], options.question))
            return
        gc.disable()
        ratios = [compare(question, options.repeats) for question in QUESTIONS]
        ratios.append(first(QUESTIONS[0], options.repeats))
    for r in ratios:
        low, high = r.interval
        ours, theirs = r.microseconds
        mark = "ok" if r.ratio <= r.most else f"above {r.most}"
        times = f"{ours / 1e3:7.0f} : {theirs / 1e3:7.0f} ms"
        print(f"{r.name:12} {r.ratio:6.3f}  [{low:.3f}, {high:.3f}]  {times}  n={r.repeats} {mark}")
    if options.write:
        keep([dataclasses.asdict(each) for each in ratios], options.write)


if __name__ == "__main__":
    main()
