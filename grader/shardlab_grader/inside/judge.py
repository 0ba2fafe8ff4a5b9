"""The expendable judge: reads answers, writes one verdict a line. A program of a student's may kill it, and only it.

    python -P judge.py JOB OUTPUT

JOB is JSON: `answers`, from question id to answer; `refused`, from question id to the reason why its answer cannot be
judged; `known`, from question id to item to the findings in each case, or null where this program is new; `references`, the
file of reference programs or null for the packaged one; `seed`, the release's seed or null; `points`, from question id to
its points in the release; `question_seconds` and `question_wall_seconds`.

OUTPUT is JSON lines: `{"question": id}` before a question is judged, `{"item": name, "case": n, "findings": [...]}` for each
new program in its n-th case, `{"verdict": {...}}` after it, `{"failed": text}` when our own code raised, and nothing more of
a question that killed the child. A question that takes more than `question_seconds` of CPU time is ended by SIGPROF, and one
that takes longer than `question_wall_seconds` by SIGALRM: the kernel delivers both even inside native code. The environment
gives JAX eight CPU devices.
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
import signal
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from shardlab_course.chapters import QUESTIONS, reference_of
from shardlab_judge.items.program import judge_program
from shardlab_judge.judging import judge
from shardlab_judge.question import JudgeOne, Question
from shardlab_judge.references import References
from shardlab_judge.verdict import Finding, Part, Verdict

Say = Callable[[dict[str, Any]], None]
EMPTY: dict[str, Any] = {"question": "", "status": "failed", "parts": [], "findings": [], "reason": ""}


def warm() -> None:
    """What judging needs initialised once, before a server forks; no backend of JAX is started."""
    if "jax" in sys.modules:
        from shardlens import warm_jax

        warm_jax(public=False)


def main(job: str, output: str) -> None:
    """Judge everything in the job."""
    read = json.loads(pathlib.Path(job).read_text())
    references = References.load(pathlib.Path(read["references"])) if read["references"] else None
    limits = {signal.SIGPROF: signal.ITIMER_PROF, signal.SIGALRM: signal.ITIMER_REAL}
    for number in limits:
        signal.signal(number, signal.SIG_DFL)  # whoever started the grader may have ignored it, and that is inherited
    with open(output, "a", encoding="utf-8") as file:

        def say(line: dict[str, Any]) -> None:
            file.write(json.dumps(line) + "\n")
            file.flush()

        asked = {id: _asked(id, read["points"]) for id in (*read["refused"], *read["answers"])}
        for id, reason in read["refused"].items():
            _attempt(id, say, partial(refuse, asked[id], reason))
        for id, answer in read["answers"].items():
            one = _remembering(id, read["known"].get(id, {}), say)
            signal.setitimer(signal.ITIMER_PROF, read["question_seconds"])
            signal.setitimer(signal.ITIMER_REAL, read["question_wall_seconds"])
            _attempt(id, say, partial(judge, asked[id], answer, references or reference_of(id), read["seed"], one))
            for timer in limits.values():
                signal.setitimer(timer, 0)


def _asked(id: str, points: Mapping[str, float]) -> Question:
    """The declared question, with its points in the release: a later version of the course may give it others."""
    return QUESTIONS[id].worth(points[id]) if id in points else QUESTIONS[id]


def refuse(question: Question, reason: str) -> Verdict:
    """The failed verdict on an answer that cannot be judged."""
    parts = tuple(Part(item.name, letter, 0.0, of) for item in question.items for letter, of in item.points.items())
    return Verdict(question.id, "failed", parts, (Finding(parts[0].item, parts[0].letter, reason),))


def _remembering(id: str, known: dict[str, list[Any]], say: Say) -> JudgeOne:
    def judge_one(item: Any, case: Any, entry: Any, costs: Any, seed: int | None) -> list[Finding]:
        if case not in (cases := item.cases_of(id, seed)):  # a free design puts its arguments where it likes
            return judge_program(item, case, entry, costs, seed)
        n = cases.index(case)
        if (before := known[item.name][n]) is not None:
            return list(Verdict.from_json({**EMPTY, "findings": before}).findings)
        found = judge_program(item, case, entry, costs, seed)
        raw = dataclasses.replace(Verdict.from_json(EMPTY), findings=tuple(found)).to_json()
        say({"item": item.name, "case": n, "findings": raw["findings"]})
        return found

    return judge_one


def _attempt(id: str, say: Say, verdict: Callable[[], Verdict]) -> None:
    say({"question": id})
    try:
        say({"verdict": verdict().to_json()})
    except Exception as error:
        say({"failed": f"{type(error).__name__}: {error}"[:500]})


if __name__ == "__main__":
    main(*sys.argv[1:])
