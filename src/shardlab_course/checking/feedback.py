"""A verdict in words: for a terminal, and as HTML for notebooks and feedback pages. Everything is escaped."""

from __future__ import annotations

import dataclasses
import html as markup
import re
import textwrap
from collections.abc import Collection, Sequence

from shardlab.pictures import draw
from shardlab_course.checking.moment import Moment
from shardlab_course.viva.changes import programs
from shardlab_judge.items.value import DIFFERENT
from shardlab_judge.question import LETTERS, Question
from shardlab_judge.verdict import Finding, Verdict

SIGNS = {"passed": "✓", "failed": "✗", "unattempted": "·", "ungraded": "!"}
STATES = {"passed": "passed", "failed": "not yet", "unattempted": "to do", "ungraded": "not graded"}
EDGES = {"passed": "#2e9e5b", "failed": "#d9822b", "unattempted": "#8a8f98", "ungraded": "#8a5bd9"}
WIDTH = 100
OBSERVED = "Observed: judged by what the processes said as they ran, since a run of several processes cannot be exported."
NONE = Moment()
SHOWN = 4
"""Findings told at once; more would bury the first."""


@dataclasses.dataclass(frozen=True)
class Feedback:
    """What `sl.check` returns: the last expression of a cell shows it, `print` writes it.

    `again` is said of a cause that was named before. `told` are predictions whose outcome an earlier check has said.
    `moment` stands below a pass.
    """

    question: Question
    verdict: Verdict
    again: str = ""
    told: frozenset[str] = frozenset()
    moment: Moment = NONE

    @property
    def passed(self) -> bool:
        """Whether the question is solved."""
        return self.verdict.status == "passed"

    def __repr__(self) -> str:
        return text(self.verdict, self.question, self.again, told=self.told, moment=self.moment)

    def _repr_html_(self) -> str:
        return html(self.verdict, self.question, again=self.again, told=self.told, moment=self.moment)


def text(verdict: Verdict, question: Question, again: str = "", *, told: Collection[str] = (), moment: Moment = NONE) -> str:
    """The verdict as plain text: a scoreboard, at most `SHOWN` findings, and one line of predictions; see `Feedback`."""
    lines = [headline(verdict, question)]
    if verdict.reason:
        lines.append(f"  {verdict.reason}")
    findings, different = _apart(verdict, question)
    if board := scoreboard(verdict, question):
        lines += ["", f"  {board}"]
    shown = _shown(findings)
    for finding in shown[:SHOWN]:
        lines += ["", *_told(finding)]
        if finding.pictures:
            lines += ["", *("    " + line for line in draw.pair(*finding.pictures).text.splitlines())]
    if (rest := len(shown) - SHOWN) > 0:
        lines += ["", f"  ... and {rest} more: {'; '.join(_title(finding) for finding in shown[SHOWN:])}"]
    for finding in (news := _news(different, told)):
        lines += ["", *_told(finding)] if len(news) == 1 else []
    if len(news) > 1:
        lines += ["", f"  {_counted(news)}: " + "; ".join(f"{f.item}, {f.expected} instead of {f.got}" for f in news)]
    lines += [f"  {line}" for line in [*moment.lines(), *_closing(verdict, question, hints=True, again=again)]]
    return "\n".join(lines)


def html(
    verdict: Verdict,
    question: Question,
    *,
    hints: bool = True,
    again: str = "",
    told: Collection[str] = (),
    moment: Moment = NONE,
) -> str:
    """The verdict as a self-contained HTML fragment that follows the page's light or dark colours.

    Args:
        verdict: the judge's words.
        question: what was asked.
        hints: whether to name the call that opens a hint, as in a notebook, or the points, as on a feedback page.
        again: a line about a cause that was named before.
        told: predictions whose outcome an earlier check has said.
        moment: what stands below a pass.
    """
    blocks = [_paragraph(f"<strong>{_rich(headline(verdict, question, points=not hints))}</strong>")]
    if verdict.reason:
        blocks.append(_paragraph(_rich(verdict.reason)))
    findings, different = _apart(verdict, question)
    if board := scoreboard(verdict, question):
        blocks.append(_paragraph(_rich(board)))
    shown = _shown(findings)
    blocks += [_finding_html(finding) for finding in shown[:SHOWN]]
    if rest := shown[SHOWN:]:
        blocks.append(_folded(f"and {len(rest)} more", rest))
    if news := _news(different, told if hints else ()):
        blocks.append(_folded(f"{_counted(news)}: show", news))
    blocks += [_paragraph(line) for line in moment.html_lines()]
    blocks += [_paragraph(_rich(line), ".4em 0") for line in _closing(verdict, question, hints, again)]
    style = f"border-left:4px solid {EDGES[verdict.status]};padding:.4em .9em;margin:.3em 0;max-width:60em"
    return f"<div role='status' style='{style}'>{''.join(blocks)}</div>"


def headline(verdict: Verdict, question: Question, *, points: bool = False) -> str:
    """One line: sign, question, state; on an instructor's pages the points."""
    of = verdict.of if verdict.parts else question.points
    worth = f", {verdict.points:g} of {of:g} points" if of else ", does not count in your course"
    earned = worth if points else ""
    observed = " (observed)" * question.observed
    return f"{SIGNS[verdict.status]} {question.id} {question.title}: {STATES[verdict.status]}{earned}{observed}"


def scoreboard(verdict: Verdict, question: Question) -> str:
    """Which parts of an exercise are right, where it has several and not all are; empty for every other verdict."""
    if verdict.status != "failed" or verdict.reason:
        return ""
    items = [item.name for item in question.items if not getattr(item, "predicted", False)]
    earned = {name: [part for part in verdict.parts if part.item == name] for name in items}
    right = [name for name, parts in earned.items() if parts and all(part.points == part.of for part in parts)]
    if len(items) < 2 or not earned:
        return ""
    still = [name for name in items if name not in right]
    return (
        f"{len(right)} of {len(items)} right"
        + (f": {', '.join(right)}" if right else "")
        + (f". Not yet: {', '.join(still)}." if still else ".")
    )


def differs(finding: Finding, question: Question) -> bool:
    """Whether it only says that something was predicted otherwise, which costs no points."""
    predicted = {item.name for item in question.items if getattr(item, "predicted", False)}
    return finding.item in predicted and finding.what.endswith(DIFFERENT)


def _apart(verdict: Verdict, question: Question) -> tuple[list[Finding], list[Finding]]:
    """The findings that cost points, and those about predictions."""
    different = [finding for finding in verdict.findings if differs(finding, question)]
    return [finding for finding in verdict.findings if finding not in different], different


def _news(different: Sequence[Finding], told: Collection[str]) -> list[Finding]:
    """Of predictions those that no earlier check has told; all of them, where one is new."""
    return [*different] if any(finding.item not in told for finding in different) else []


def _counted(news: Sequence[Finding]) -> str:
    return f"{len(news)} prediction{'s were' if len(news) > 1 else ' was'} different"


def _paragraph(inner: str, margin: str = ".2em 0") -> str:
    return f"<p style='margin:{margin}'>{inner}</p>"


def _folded(summary: str, findings: Sequence[Finding]) -> str:
    inner = "".join(map(_finding_html, findings))
    return f"<details><summary style='cursor:pointer'>{markup.escape(summary)}</summary>{inner}</details>"


def _shown(findings: Sequence[Finding]) -> list[Finding]:
    """The findings as one reads them: what is said of several items alike is said once, and so is each cause."""
    alike: dict[tuple[Finding, str], list[Finding]] = {}
    for finding in findings:
        plain = dataclasses.replace(finding, item="", letter="", what=finding.what.removeprefix(f"{finding.item} "))
        alike.setdefault((finding if finding.pictures else plain, finding.line), []).append(finding)
    shown: list[Finding] = []
    said: set[str] = set()
    for (plain, _), same in sorted(alike.items(), key=lambda each: _lesson(each[1])):
        told = same[0]
        if len(same) > 1:
            items, letters = (dict.fromkeys(named) for named in zip(*((each.item, each.letter) for each in same)))
            what = plain.what if len(items) > 1 else told.what
            told = dataclasses.replace(told, item=", ".join(items), letter="".join(letters), what=what)
        again = bool(told.cause) and told.cause in said
        said.add(told.cause)
        shown.append(dataclasses.replace(told, cause="The same as above.") if again else told)
    return shown


def _lesson(same: Sequence[Finding]) -> tuple[bool, int, bool]:
    """The larger the lesson the smaller: what is not written yet teaches nothing, and a cause teaches more than none."""
    return same[0].got == "nothing", -len({finding.item for finding in same}), not same[0].cause


def _told(finding: Finding) -> list[str]:
    lines = [f"  {_title(finding)}"]
    for label, value in _rows(finding):
        first, *rest = value.split("\n") if "\n" in value else textwrap.wrap(value, WIDTH) or [""]
        lines += [f"    {label + ':':10} {first}", *(" " * 15 + line for line in rest)]
    return lines


def _title(finding: Finding) -> str:
    return f"{finding.item} ({', '.join(LETTERS[letter] for letter in finding.letter)}): {finding.what}"


def _rows(finding: Finding) -> list[tuple[str, str]]:
    measured = [(label, getattr(finding, label)) for label in ("expected", "got", "line", "where")]
    # The judge compares what an answer does with what known mistakes do; that somebody made this one is an inference.
    return [(label, value) for label, value in (*measured, ("likely", finding.cause)) if value]


def _finding_html(finding: Finding) -> str:
    rows = "".join(
        f"<div style='opacity:.7'>{label}</div><div style='min-width:0;overflow-wrap:anywhere'>{_value(value)}</div>"
        for label, value in _rows(finding)
    )
    grid = f"<div style='display:grid;grid-template-columns:max-content 1fr;gap:.15em .9em'>{rows}</div>" if rows else ""
    pictures = draw.pair(*finding.pictures).html if finding.pictures else ""
    return f"<p style='margin:.8em 0 .2em'><strong>{_rich(_title(finding))}</strong></p>{grid}{pictures}"


def _value(value: str) -> str:
    """One row's value; text of several lines has carets below the first, and keeps its columns."""
    wraps = "pre-wrap;overflow-wrap:anywhere" if "^" not in value else "pre;overflow-x:auto"
    return f"<pre style='margin:0;white-space:{wraps}'>{markup.escape(value)}</pre>" if "\n" in value else _rich(value)


def _closing(verdict: Verdict, question: Question, hints: bool, again: str) -> list[str]:
    lines = [again] * bool(again)
    lines += [OBSERVED] * (question.observed and verdict.status in ("passed", "failed"))
    if hints and verdict.status == "failed" and verdict.findings:
        lines.append(f"Stuck? `sl.hint({question.typed}, {verdict.findings[0].hint})`")
    if hints and verdict.status == "passed":
        asks = f". Questions about your program: `sl.viva({question.typed})`" * bool(programs(question))
        lines.append(f"Why it works: `sl.explain({question.typed})`{asks}")
    if hints and verdict.status == "unattempted":
        lines.append(f"Replace the `...  # TODO`, then run this cell again. A first nudge: `sl.hint({question.typed})`")
    return lines


def _rich(text: str) -> str:
    """Escaped, with `code` between backticks."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", markup.escape(text))
