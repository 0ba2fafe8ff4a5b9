"""`sl.viva`: a student alone gets questions about the program that passed, and hears at once whether an answer is right."""

from __future__ import annotations

import contextlib
import dataclasses
import html
import inspect
import random
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from shardlab.answers.record import record
from shardlab_course.checking.elsewhere import examined_elsewhere
from shardlab_course.checking.exercise import PASSED, Note, need_devices
from shardlab_course.checking.limits import TimeUp, limited
from shardlab_course.checking.naming import exercise
from shardlab_course.variants import names_here, translated, with_names
from shardlab_course.viva.changes import programs
from shardlab_course.viva.leaving_out import LeftOut
from shardlab_course.viva.questions import Asked, Facts, sheet, worded
from shardlab_course.viva.tried import Tried, tried
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question

MOST, FUNCTIONS = 3, 2
"""Questions of one exercise, and functions that they are about."""
EVERY = 99
"""As many changes as there are, of functions of which the first few give no question."""
WIDTH = 100
_DRAWN: dict[str, tuple[Mapping[str, Any], Viva]] = {}
"""By exercise the variables that the last questions are about, and the questions."""


@dataclasses.dataclass(frozen=True)
class Viva:
    """Questions about a student's functions, beside their code; it shows itself as the last expression of a cell."""

    exercise: Question
    asked: Sequence[Asked]
    code: Mapping[str, str]

    def __repr__(self) -> str:
        lines = [self._title]
        for number, one in enumerate(self.asked, 1):
            if one.function not in {before.function for before in self.asked[: number - 1]}:
                lines += ["", *(f"  {n:>3} | {line}" for n, line in enumerate(self.code[one.function].splitlines(), 1))]
            filled = textwrap.wrap(f"{number}. {one.text}", WIDTH, initial_indent="  ", subsequent_indent="     ")
            lines += ["", *filled, f"     {self._call(number)}"]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        parts = [f"<p><strong>{html.escape(self._title)}</strong></p>"]
        for number, one in enumerate(self.asked, 1):
            if one.function not in {before.function for before in self.asked[: number - 1]}:
                lines = "\n".join(f"{n:>3} | {line}" for n, line in enumerate(self.code[one.function].splitlines(), 1))
                parts.append(f"<pre style='overflow-x:auto'>{html.escape(lines)}</pre>" * bool(lines))
            parts.append(f"<p style='max-width:46em'>{number}. {html.escape(one.text)}</p>")
            parts.append(f"<p style='margin-left:1em'><code>{html.escape(self._call(number))}</code></p>")
        return f"<div style='max-width:60em'>{''.join(parts)}</div>"

    @property
    def _title(self) -> str:
        count = f"{len(self.asked)} question{'s' * (len(self.asked) > 1)}"
        return f"{self.exercise.id}: {count} about your program. Type your answer in place of the dots."

    def _call(self, number: int) -> str:
        return f'sl.viva("{self.exercise.id}", {number}, ...)    # for example {self.asked[number - 1].form.example}'

    def said(self, number: int, typed: Any) -> Note:
        """What is said of an answer; of `...` the key."""
        if number not in range(1, len(self.asked) + 1):
            return Note(f"{self.exercise.id} has no question {number}.", f"They are numbered 1 to {len(self.asked)}.")
        one = self.asked[number - 1]
        if typed is ...:
            return Note(f"{number}. {one.key}", one.reason)
        try:
            right = one.form.right(typed)
        except (ValueError, TypeError):
            return Note(f"{number}. {typed!r} is not an answer to this question.", f"Write it as {one.form.example}.")
        if right:
            return Note(f"{number}. Right: {one.key}", one.reason)
        shows = f'sl.viva("{self.exercise.id}", {number}, ...)'
        return Note(f"{number}. Not {typed}.", f"Look again at {one.overlooked}.\n\n{shows} shows the answer.")


def viva(question: str | float | None = None, number: int | None = None, answer: Any = None, /) -> Viva | Note:
    """Two or three questions about your own program, once the exercise is passed. They earn no points.

    Your functions are compiled in other situations: on another mesh, for larger arrays, without one of their collectives.
    Each right answer is computed in two ways; where the ways differ, the question is not asked. The same program gets the
    same questions.

    Args:
        question: as for `sl.hint`.
        number: the question that you answer.
        answer: your answer, as `32` or `"0:8, 4:8"`; `...` shows the right one.
    Returns:
        The questions beside your code, or what is said of your answer.
    Raises:
        ShardlabError: there is no such exercise, or there are too few devices.
    """
    about = exercise(question)
    if not programs(about):
        return Note(f"{about.id} asks for no program.", "The questions are about programs.")
    if about.id not in PASSED:
        text = f"Pass {about.id} first, in this session: the questions are about the functions that passed."
        return Note(f"{about.id}: there is no program to ask about.", text)
    if about.id not in _DRAWN or _DRAWN[about.id][0] is not PASSED[about.id]:
        need_devices()
        _DRAWN[about.id] = PASSED[about.id], _drawn(about, PASSED[about.id])
    drawn = _DRAWN[about.id][1]
    if not drawn.asked:
        return Note(f"{about.id}: nothing to ask about your program.", "No question has an answer that two ways agree on.")
    return drawn if number is None else drawn.said(number, answer)


def _drawn(about: Question, namespace: Mapping[str, Any]) -> Viva:
    given = namespace if about.variable is None else namespace[about.variable]
    code = {item.name: _source(given[item.name]) for item in programs(about)}
    rng = random.Random(f"{about.id} {code}")

    def asked(of: Sequence[ProgramItem], most: int = 0) -> list[Asked]:
        found = [tried(about, item, code[item.name], rng, most) for item in of]
        drawn = [asked for one in found for asked in one.asked(_measured(one, namespace), rng)]
        return worded(drawn, names_here(about.id))

    # A small draw may hit only what this program does not survive.
    chosen = rng.sample(programs(about), min(FUNCTIONS, len(programs(about))))
    return Viva(about, sheet(asked(chosen) or asked(programs(about), EVERY), rng, MOST), code)


def _measured(one: Tried, namespace: Mapping[str, Any]) -> dict[tuple[str, int], Facts]:
    answers = {}
    for name, left in zip((one.whole, *one.names), (None, *one.left_out)):
        # A function without a collective of it may never end, or not run at all.
        with contextlib.suppress(Exception, TimeUp), limited():
            variables = namespace if left is None else {one.item.name: _without(namespace[one.item.name], left)}
            names = names_here(one.question.id)
            answers[name] = translated(record(with_names(one.manifests[name], names), variables, {}), names)
    found = {}
    for program in one.programs(answers):
        # Not in this process: devices that wait for each other's collectives in vain end theirs.
        told = examined_elsewhere({**program, "seed": 0})
        if "facts" in told:
            found[program["of"]] = told["facts"]
    return found


def _source(function: Any) -> str:
    """The text of a function at the top of a module or a cell; empty where Python does not know it."""
    plain = inspect.unwrap(function)
    if not inspect.isfunction(plain) or "<" in plain.__qualname__:
        return ""
    try:
        return inspect.getsource(plain).rstrip()
    except OSError:
        return ""


def _without(function: Any, left: LeftOut) -> Any:
    """The function made of its text without a call, among the names that it knows."""
    plain = inspect.unwrap(function)
    names = {**plain.__globals__}
    exec(left.source, names)
    return names[plain.__name__]
