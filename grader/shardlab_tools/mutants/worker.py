"""Judges mutants of some questions in a process that may die: a line of JSON before each of its two parts, and after it.

Run as `python -m shardlab_tools.mutants.worker FURTHER`, with the mutants, question by question, on the standard input.
One that takes too long ends the process: an exception from a signal could be caught on its way, or come too late.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import json
import os
import signal
import sys
from typing import Any

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["SHARDLAB_RECORD"] = "1"
os.environ["JAX_TRACEBACK_FILTERING"] = "off"  # a tenth of the time, where every other mutant raises

import jax  # noqa: E402

from shardlab_course.chapters import QUESTIONS  # noqa: E402
from shardlab_tools.mutants import answers, generation  # noqa: E402
from shardlab_tools.mutants.generation import Mutant  # noqa: E402
from shardlab_tools.mutants.judging import Judge  # noqa: E402
from shardlab_tools.mutants.outcomes import outcome  # noqa: E402


def main(mutants: list[dict[str, Any]], further: int) -> None:
    """Judge them all."""
    jax.config.update("jax_num_cpu_devices", 8)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # who started this may have ignored it, and that is inherited
    for question, given in itertools.groupby(mutants, key=lambda mutant: mutant["question"]):
        found = [Mutant(**{**mutant, "items": tuple(mutant["items"])}) for mutant in given]
        reference, *_ = answers.read(question)
        judge = Judge(QUESTIONS[question], generation.HEAD + reference.text)
        for base in dict.fromkeys(mutant.base for mutant in found):
            judge.must_run(base)
        for mutant in found:
            _say(dataclasses.asdict(outcome(judge, mutant, further, functools.partial(_limit, mutant.key))))
            signal.setitimer(signal.ITIMER_PROF, 0)
        jax.clear_caches()


def _limit(key: str, seconds: int) -> None:
    """A part of a mutant begins; SIGPROF, to which nobody listens, ends the process after so many seconds of CPU."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    _say({"begins": key})


def _say(line: dict[str, object]) -> None:
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main(json.load(sys.stdin), int(sys.argv[1]))
