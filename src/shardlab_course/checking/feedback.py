"""A verdict in words: for a terminal, and as HTML for notebooks and feedback pages. Everything is escaped."""

from __future__ import annotations

import dataclasses
import html as markup
import re
import textwrap
from collections.abc import Sequence

from shardlab.pictures import draw
from shardlab_judge.question import LETTERS, Question
from shardlab_judge.verdict import Finding, Verdict

SIGNS = {"passed": "✓", "failed": "✗", "unattempted": "·", "ungraded": "!"}
STATES = {"passed": "passed", "failed": "not yet", "unattempted": "to do", "ungraded": "not graded"}
EDGES = {"passed": "#2e9e5b", "failed": "#d9822b", "unattempted": "#8a8f98", "ungraded": "#8a5bd9"}
WIDTH = 100
OBSERVED = "Observed: judged by what the processes said as they ran, since a run of several processes cannot be exported."
SHOWN = 4
"""Findings told at once; more would bury the first."""


@dataclasses.dataclass(frozen=True)
class Feedback:
    """What `sl.check` returns: the last expression of a cell shows it, `print` writes it."""

    question: Question
    verdict: Verdict
    again: str = ""

    @property
    def passed(self) -> bool:
        """Whether the question is solved."""
        return self.verdict.status == "passed"

    def __repr__(self) -> str:
        return text(self.verdict, self.question, self.again)

    def _repr_html_(self) -> str:
        return html(self.verdict, self.question, again=self.again)


def text(verdict: Verdict, question: Question, again: str = "") -> str:
    """The verdict as plain text, at most `SHOWN` findings; `again` is said of a cause that was named before."""
    lines = [headline(verdict, question)]
    if verdict.reason:
        lines.append(f"  {verdict.reason}")
    shown = _shown(verdict.findings)
    for finding in shown[:SHOWN]:
        lines += ["", *_told(finding)]
        if finding.pictures:
            lines += ["", *("    " + line for line in draw.pair(*finding.pictures).text.splitlines())]
    lines += [f"  {line}" for line in _closing(verdict, question, len(shown), hints=True, again=again)]
    return "\n".join(lines)


def html(verdict: Verdict, question: Question, *, hints: bool = True, again: str = "") -> str:
    """The verdict as a self-contained HTML fragment that follows the page's light or dark colours.

    Args:
        verdict: the judge's words.
        question: what was asked.
        hints: whether to name the call that opens a hint (in a notebook), or not (on a feedback page).
        again: a line about a cause that was named before.
    """
    blocks = [f"<p style='margin:.2em 0'><strong>{_rich(headline(verdict, question))}</strong></p>"]
    if verdict.reason:
        blocks.append(f"<p style='margin:.2em 0'>{_rich(verdict.reason)}</p>")
    shown = _shown(verdict.findings)
    blocks += [_finding_html(finding) for finding in shown[:SHOWN]]
    blocks += [
        f"<p style='margin:.4em 0'>{_rich(line)}</p>" for line in _closing(verdict, question, len(shown), hints, again)
    ]
    style = f"border-left:4px solid {EDGES[verdict.status]};padding:.4em .9em;margin:.3em 0;max-width:60em"
    return f"<div role='status' style='{style}'>{''.join(blocks)}</div>"


def headline(verdict: Verdict, question: Question) -> str:
    """One line: sign, question, state, points."""
    points = f"{verdict.points:g} of {question.points:g} points"
    observed = " (observed)" * question.observed
    return f"{SIGNS[verdict.status]} {question.id} {question.title}: {STATES[verdict.status]}, {points}{observed}"


def _shown(findings: Sequence[Finding]) -> list[Finding]:
    """The findings as one reads them: what is said of several items alike is said once, and so is each cause."""
    alike: dict[tuple[Finding, str], list[Finding]] = {}
    for finding in findings:
        plain = dataclasses.replace(finding, item="", letter="", what=finding.what.removeprefix(f"{finding.item} "))
        alike.setdefault((finding if finding.pictures else plain, finding.line), []).append(finding)
    shown: list[Finding] = []
    said: set[str] = set()
    for (plain, _), same in alike.items():
        told = same[0]
        if len(same) > 1:
            items, letters = (dict.fromkeys(named) for named in zip(*((each.item, each.letter) for each in same)))
            what = plain.what if len(items) > 1 else told.what
            told = dataclasses.replace(told, item=", ".join(items), letter="".join(letters), what=what)
        again = bool(told.cause) and told.cause in said
        said.add(told.cause)
        shown.append(dataclasses.replace(told, cause="The same as above.") if again else told)
    return shown


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
    return (
        f"<pre style='margin:0;white-space:pre;overflow-x:auto'>{markup.escape(value)}</pre>"
        if "\n" in value
        else _rich(value)
    )


def _closing(verdict: Verdict, question: Question, told: int, hints: bool, again: str) -> list[str]:
    rest = told - SHOWN
    lines = [f"... and {rest} more."] if rest > 0 else []
    lines += [again] * bool(again)
    lines += [OBSERVED] * (question.observed and verdict.status in ("passed", "failed"))
    if hints and verdict.status == "failed" and verdict.findings:
        lines.append(f'Stuck? `sl.hint("{question.id}", {verdict.findings[0].hint})`')
    if hints and verdict.status == "passed":
        lines.append(f'Why it works: `sl.explain("{question.id}")`')
    if hints and verdict.status == "unattempted":
        lines.append(f'Replace the `...  # TODO`, then run this cell again. A first nudge: `sl.hint("{question.id}")`')
    return lines


def _rich(text: str) -> str:
    """Escaped, with `code` between backticks."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", markup.escape(text))
