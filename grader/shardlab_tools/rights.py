"""Right answers under other seeds than the one that they were collected with: a draw must refuse none of them.

Run as `python -m shardlab_tools.rights SEEDS QUESTION...` at the root of the repository.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["SHARDLAB_RECORD"] = "1"

import jax  # noqa: E402

from shardlab_course.chapters import QUESTIONS  # noqa: E402
from shardlab_tools.mutants import answers, generation  # noqa: E402
from shardlab_tools.mutants.judging import Judge, Tried, items  # noqa: E402


def refused(question: str, seeds: Sequence[int]) -> Iterator[str]:
    """Each right answer that is refused, with the seed and what was found."""
    reference, *others = answers.read(question)
    judge = Judge(QUESTIONS[question], generation.HEAD + reference.text)
    for answer in (reference, *others):
        tried = Tried.run(judge.question, generation.HEAD + answer.text)
        for seed in seeds:
            for item in items(judge.question):
                if found := judge.findings(item, tried, seed):
                    first = found[0]
                    yield f"{question}, {answer.name}, seed {seed}, {item.name}: {first.what} {first.got} {first.where}"


def main(many: int, questions: Sequence[str]) -> int:
    """Say which are refused; 1 if one is."""
    jax.config.update("jax_num_cpu_devices", 8)
    found = [said for question in questions or QUESTIONS for said in refused(question, range(1, many + 1))]
    print(*found, f"{len(found)} right answers refused", sep="\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
