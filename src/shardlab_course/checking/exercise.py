"""`sl.check` and its company: what a student calls about a question."""

from __future__ import annotations

import contextlib
import dataclasses
import html
import operator
import os
import re
import textwrap
from collections.abc import Sequence
from typing import Any

import jax

from shardlab.answers.context import undisturbed
from shardlab.answers.in_the_box import exercise_id
from shardlab.answers.record import record
from shardlab.devices import set_up_anew
from shardlab.errors import ShardlabError
from shardlab_course.checking import examples, progress_file
from shardlab_course.checking.elsewhere import Deadlock, judge_elsewhere, reached_elsewhere
from shardlab_course.checking.limits import SECONDS, Stopped, TimeUp, limited
from shardlab_course.checking.moment import Moment, moment, reached
from shardlab_course.checking.naming import exercise
from shardlab_course.checking.predictions import predicted
from shardlab_course.renaming import Renaming
from shardlab_course.variants import asking, names_here, told, translated, worded
from shardlens import Placement, known_messages, raised_at

DEVICES = 8
_RECORDING: list[str] = []
"""The question whose answer is being called, so that an answer that checks itself does not do so without an end."""
PASSED: dict[str, dict[str, Any]] = {}
"""The variables of the last full pass in this session, by question."""


@dataclasses.dataclass(frozen=True)
class Note:
    """A short text under a title, an empty line between paragraphs; the last expression of a cell shows it."""

    title: str
    text: str = ""

    def __repr__(self) -> str:
        filled = (textwrap.fill(part, 88, initial_indent="  ", subsequent_indent="  ") for part in self.text.split("\n\n"))
        return "\n".join([self.title, *filter(None, ["\n\n".join(filled)])])

    def _repr_html_(self) -> str:
        parts = "".join(f"<p style='max-width:46em'>{html.escape(part)}</p>" for part in self.text.split("\n\n"))
        return f"<p><strong>{html.escape(self.title)}</strong></p>{parts}"


class NotPassed(Exception):
    """A question that nbgrader's Validate must count as failed; its traceback is the feedback and nothing else."""

    # IPython shows what this method of an exception returns in place of a traceback.
    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()


def check(question: str | float, /, *answers: Any, **named: Any) -> Any:
    """Compare an answer with what the question asks, at once: pass, or what differs, why, and which hint to open.

    Args:
        question: the number in the exercise's heading, `"4.2"` or `4.2`.
        answers: the student's variables, in the order of the exercise; or by name, all of them or some.
    Returns:
        Feedback that shows itself as the last expression of a cell. Points and tries go to the progress file.
    Raises:
        ShardlabError: there is no such question, it takes other answers, or there are too few devices.
        NotPassed: nbgrader validates the notebook, and looks for cells that raise.
        KeyboardInterrupt: you stopped it.
    """
    number: str = exercise_id(question)
    _refuse_other_grading(number)
    from shardlab_course.chapters import asked as find
    from shardlab_course.checking.feedback import Feedback, text

    asked = find(number)
    namespace = _named(asked, answers, named)
    need_devices()
    if _RECORDING:
        raise RuntimeError(
            f"sl.check({number!r}, ...) is called by the answer that it checks; put it into a cell of its own"
        )
    verdict, answer = _verdict(asked, namespace)
    # nbgrader sets it for the kernel in which it validates, and there counts cells by whether they raise.
    if os.environ.get("NBGRADER_EXECUTION") == "validate" and verdict.status != "passed":
        raise NotPassed(text(verdict, asked))
    before = frozenset(progress_file.of(number).get("told", ()))
    _keep(asked, verdict)
    said = _of_these(verdict, [*namespace], asked.variables) if named else verdict
    again = examples.pointer(number, examples.causes(said))
    if verdict.status != "passed":
        return Feedback(asked, said, again, before, Moment())
    PASSED[number] = namespace
    return Feedback(asked, said, again, before, moment(asked, _reached(asked, answer), progress_file.read()["questions"]))


def _verdict(asked: Any, namespace: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The verdict on these variables, within the time that a check may take, and what was recorded of them.

    Raises:
        Stopped: somebody pressed Ctrl-C.
    """
    names = names_here(asked.id)
    try:
        with limited():
            _RECORDING.append(asked.id)
            try:
                answer = translated(record(asking(asked, names), namespace, predicted(asked.id)), names)
            finally:
                _RECORDING.clear()
            return told(_judge(asked.id, answer), names), answer
    except TimeUp as stopped:
        stopped.__context__ = None  # one that the answer caught came through lines that say nothing of this one
        return _endless(asked, [*namespace], raised_at(stopped), stopped.kept), {}
    except Deadlock as waiting:
        return _deadlock(asked, [*namespace], str(waiting)), {}
    except KeyboardInterrupt:
        raise Stopped(f"{asked.id}: you stopped the check, and nothing was judged. Your variables are all there.") from None


def _endless(asked: Any, given: Sequence[str], line: str, kept: bool) -> Any:
    """The verdict on answers of which one was stopped, in this line of it; `kept` says that an `except:` kept it going."""
    what = f"Your answer was stopped after {SECONDS:g} seconds of computing."
    cause = "A loop has no end: look at what its condition needs, and where that changes inside the loop."
    if kept:
        cause = "An `except:` without a type also caught the end of the check: write `except Exception:`."
    if not line:
        what = "Your compiled program did not end, and was stopped."
        cause = "Look at the condition of its jax.lax.while_loop, or at the number of rounds of its jax.lax.fori_loop."
    return _stopped(asked, given, what, cause, line)


def _deadlock(asked: Any, given: Sequence[str], said: str) -> Any:
    """The verdict on answers of which one waits for ever, of which XLA said this."""
    row = next(each for each in known_messages() if each.name == "hang")
    kind = re.search(r"waiting for `([a-z ]+) RendezvousKey", said)
    which = kind[1].replace(" ", "-") if kind else "collective"
    what = f"{row.means.replace('a collective', f'the {which}')}, so your program was stopped."
    return _stopped(asked, given, what, f"{row.mistake} {row.cure}", "")


def _stopped(asked: Any, given: Sequence[str], what: str, cause: str, line: str) -> Any:
    from shardlab_judge.verdict import Finding, Part, Verdict

    parts = tuple(Part(item.name, letter, 0.0, of) for item in asked.items for letter, of in item.points.items())
    items = [item for item in asked.items if not getattr(item, "predicted", False)] or list(asked.items)
    form = f"an answer within {SECONDS:g} seconds"
    finding = Finding(", ".join(given) or asked.id, items[0].first, what, form, cause=cause, line=line)
    return Verdict(asked.id, "failed", parts, (finding,), reason="It was stopped, and nothing was judged.")


def _of_these(verdict: Any, given: Sequence[str], asked: Sequence[str]) -> Any:
    """What the verdict says of these answers: whoever gives one of six by its name is not told that five are missing."""
    missing = set(asked) - set(given)
    findings = tuple(finding for finding in verdict.findings if finding.item not in missing)
    if len(findings) == len(verdict.findings):
        return verdict
    reason = f"Of {', '.join(given)} alone{'' if findings else ': right'}. The other answers were not given."
    return dataclasses.replace(verdict, findings=findings, reason=reason)


def _refuse_other_grading(question: str) -> None:
    # Without our configuration nbgrader gives a cell full points unless it raises; with it, no cell runs in its process.
    if os.environ.get("NBGRADER_EXECUTION", "validate") == "validate":
        return
    raise ShardlabError(
        "graded-elsewhere",
        "nbgrader grades this notebook without Shardlab's configuration, which alone can judge it; no cell gets points.",
        where=f"sl.check({question!r})   NBGRADER_EXECUTION={os.environ['NBGRADER_EXECUTION']}",
        mend="in nbgrader_config.py of the course: from shardlab_grader.nbgrader_plugin import configure; configure(c);\n"
        "or: shardlab-grader grade ASSIGNMENT.",
    )


def hint(question: str | float | None = None, number: int | None = None, /) -> Note:
    """The next hint of an exercise, or the one of this number, 1 to 3.

    Args:
        question: the exercise, `4.2`; or a chapter, `4`, for its current exercise; or nothing, for the one checked last.
    """
    asked = worded(exercise(question))
    question, hints = asked.id, asked.hints
    opened = progress_file.of(question).get("hints", 0)
    number = min(opened + 1, len(hints)) if number is None else number
    with contextlib.suppress(TypeError):  # a float is refused below: it would be kept, and be no number of a hint
        number = operator.index(number)
    if not isinstance(number, int) or number not in range(1, len(hints) + 1):
        raise ShardlabError(
            "no-such-hint",
            f"question {question} has no hint {number}.",
            where=f"sl.hint({question!r}, {number})",
            mend=f"the hints are numbered 1 to {len(hints)}.",
        )
    told = Note(f"Hint {number} of {len(hints)} for {question}", hints[number - 1])
    progress_file.note(question, hints=max(opened, number))
    return told


def example(question: str | float | None = None, /) -> Any:
    """A smaller program about the idea behind the last cause that `sl.check` named for a question; never its solution.

    The program is run where it is shown, in names of its own.

    Args:
        question: as for `sl.hint`.
    Returns:
        The program with what it prints; or, where no cause was named yet or there is none for it, a note that says so.
    Raises:
        ShardlabError: there is no such question, or there are too few devices.
    """
    question = exercise(question).id
    earlier = examples.before(question)
    found = next((idea for cause in reversed(earlier) if (idea := examples.about(cause))), None)
    if found is None:
        what = "no cause with an example was named yet" if earlier else "no check has named a cause yet"
        return Note(f"{question}: {what}.", f'An example is about a mistake. Until then: sl.hint("{question}")')
    need_devices()
    return examples.Example(found, examples.run(found))


def explain(question: str | float | None = None, /) -> Note:
    """Why the solution works; shown once the exercise is passed.

    Args:
        question: as for `sl.hint`.
    """
    asked = worded(exercise(question))
    question = asked.id
    if progress_file.of(question).get("status") != "passed":
        return Note(
            f"{question} is not passed yet.",
            f'The explanation opens with the first full pass. Until then: sl.hint("{question}")',
        )
    return Note(f"{question} {asked.title}", asked.explanation)


def target(question: str | float, item: str, /) -> Placement:
    """The placement that a question asks for, without the mesh and spec that make it."""
    from shardlab_judge.items.placement import PlacementItem

    asked = exercise(question)
    question, items = asked.id, {i.name: i.target for i in asked.items if isinstance(i, PlacementItem)}
    if item not in items:
        raise ShardlabError(
            "no-such-target",
            f"question {question} shows no target {item!r}.",
            where=f"sl.target({question!r}, {item!r})",
            mend=f"it shows {', '.join(items) or 'none'}.",
        )
    return dataclasses.replace(items[item], axes=None, spec=None)


def _named(asked: Any, answers: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    names = asked.variables
    unknown = [name for name in named if name not in names]
    if len(answers) > len(names) or unknown:
        given = ", ".join(["..."] * len(answers) + [f"{name}=..." for name in named])
        raise ShardlabError(
            "other-answers",
            f"question {asked.id} takes {', '.join(names) or 'only predictions'}.",
            where=f"sl.check({asked.id!r}, {given})",
            mend=f"write sl.check({', '.join([repr(asked.id), *names])}).",
        )
    for name, answer in zip(names, answers):
        own = getattr(answer, "__name__", name)
        if own != name and own in names:
            raise ShardlabError(
                "other-answers",
                f"{own} stands where {name} is asked for.",
                where=f"sl.check({', '.join([repr(asked.id), *(getattr(a, '__name__', '...') for a in answers)])})",
                mend=f"write sl.check({', '.join([repr(asked.id), *names])}).",
            )
    return {**dict(zip(names, answers)), **named}


def need_devices() -> None:
    """Raise a ShardlabError unless the eight devices are there, or can be."""
    set_up_anew(DEVICES)
    count = jax.device_count()
    if count < DEVICES:
        raise ShardlabError(
            "too-few-devices",
            f"JAX has {count} device{'s' * (count != 1)}, and the checks need {DEVICES}.",
            where="the first cell of this notebook",
            mend=f"restart the kernel, then run sl.setup({DEVICES}) first.",
        )


def _judge(question: str, answer: dict[str, Any]) -> Any:
    from shardlab_course.checking.local import Unsafe, judge_here

    if jax.default_backend() == "cpu":
        with contextlib.suppress(Unsafe), undisturbed():
            return judge_here(question, answer, unsafe=False)
    return judge_elsewhere(question, answer)


def _reached(asked: Any, answer: dict[str, Any]) -> list[str]:
    if jax.default_backend() != "cpu":
        said = reached_elsewhere(asked.id, answer)
    else:
        with undisturbed():
            said = list(reached(asked, answer))
    return [*map(Renaming(names_here(asked.id)).text, said)]


def _keep(asked: Any, verdict: Any) -> None:
    from shardlab_course.checking.feedback import differs

    if verdict.status == "unattempted":
        return
    question = asked.id
    before = progress_file.of(question)
    best = max(verdict.points, before.get("points", 0))
    status = "passed" if "passed" in (verdict.status, before.get("status")) else verdict.status
    causes = {"causes": examples.noted(question, examples.causes(verdict))} if verdict.status == "failed" else {}
    differing = sorted({*before.get("told", ()), *(f.item for f in verdict.findings if differs(f, asked))})
    more = {**causes, **({"told": differing} if differing else {})}
    progress_file.note_check(question, status=status, points=best, of=verdict.of, tries=before.get("tries", 0) + 1, **more)
