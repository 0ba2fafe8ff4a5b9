"""The report as one HTML page: pictures are inline SVG, nothing is fetched, and it follows light and dark."""

from __future__ import annotations

import dataclasses
import html
import math
import pathlib
import re
import statistics
from collections.abc import Iterable, Mapping, Sequence

from shardlab_grader.plain import plain
from shardlab_grader.reports import report
from shardlab_grader.reports.figures import STATES, Cause, Exercise, Figures, Guess
from shardlab_grader.reports.report import Row
from shardlab_judge.question import LETTERS

COLOURS: Mapping[str, str] = {
    "passed": "#44BB99",
    "partly": "#EEDD88",
    "failed": "#EE8866",
    "unattempted": "#DDDDDD",
    "ungraded": "#BBAAEE",
}
"""Fills told apart under the common kinds of colour blindness, after Paul Tol's "light" scheme."""
PLAIN = "#77AADD"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
BINS = 12
WIDE, TALL, FOOT, LEFT = 340.0, 150.0, 34.0, 30.0
"""Pixels of a histogram: of its plot, and of the margins for its labels. With them it fits a phone unscaled."""
STYLE = pathlib.Path(__file__).with_suffix(".css")


@dataclasses.dataclass(frozen=True)
class Segment:
    """A part of a bar: its length, its colour, and whether it is drawn as an outline only."""

    length: float
    colour: str
    hollow: bool = False


def page(
    title: str,
    found: Figures,
    rows: Sequence[Row] = (),
    points: Mapping[str, float] | None = None,
    changed: Sequence[str] = (),
) -> str:
    """The page's text.

    Args:
        title: of the assignment.
        rows: one a submission, named as they are to be shown; none unless given.
        points: of each question, for the table of `rows`.
        changed: lines about changed scores and versions.
    """
    body = [
        _head(title, found),
        _exercises(found),
        _guesses(found),
        _misconceptions(found),
        _lost(found),
        _equal(found),
        _spread(found),
        _changed(changed),
    ]
    observed = {one.question for one in found.exercises if one.observed}
    body += [_submissions(rows, points or {}, observed)] * bool(rows)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"<title>{escape(title)}: report</title><style>\n{STYLE.read_text()}</style></head>\n"
        f"<body>\n<main>\n{chr(10).join(body)}\n</main>\n</body></html>\n"
    )


def escape(text: str) -> str:
    """Text for the page, whatever a student has put into it."""
    return html.escape(plain(text))


def prose(text: str) -> str:
    """The same, with what stands in backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _changed(lines: Sequence[str]) -> str:
    return "".join(["<h2>Changed scores</h2>", *(f"<p>{escape(line)}</p>" for line in lines)]) if lines else ""


def bar(segments: Sequence[Segment], whole: float, described: str) -> str:
    """A bar as wide as its place; equal lengths in equal colours are told apart by their outlines."""
    x, parts = 0.0, []
    for one in segments:
        wide = 1000 * one.length / whole if whole else 0.0
        look = 'fill="none"' if one.hollow else f'fill="{one.colour}"'
        parts.append(f'<rect x="{x:.1f}" y="1" width="{wide:.1f}" height="18" {look} {EDGE}/>')
        x += wide
    return (
        f'<svg class="bar" role="img" aria-label="{escape(described)}" viewBox="-1 0 1002 20" preserveAspectRatio="none">'
        f"{''.join(parts)}</svg>"
    )


EDGE = 'stroke="currentColor" stroke-opacity="0.55" vector-effect="non-scaling-stroke"'


def histogram(values: Sequence[float], top: float, unit: str, described: str) -> str:
    """How many values lie in each of equal parts from 0 to `top`; a dashed line stands at the median."""
    counts = [0] * BINS
    for value in values:
        counts[min(BINS - 1, int(BINS * value / top))] += 1
    most, each = max(counts), WIDE / BINS
    bars, parts = [], []
    for n, count in enumerate(counts):
        high = (TALL - 14) * count / most
        x, y = LEFT + n * each, TALL - high
        if count:
            place = f'x="{x + 1:.1f}" y="{y:.1f}" width="{each - 2:.1f}" height="{high:.1f}"'
            bars.append(f'<rect {place} fill="{PLAIN}" {EDGE}/>')
            parts.append(f'<text x="{x + each / 2:.1f}" y="{y - 3:.1f}" text-anchor="middle">{count}</text>')
    middle = LEFT + WIDE * min(1.0, statistics.median(values) / top)
    bars.append(f'<path d="M{middle:.1f} 4V{TALL:g}" stroke="currentColor" stroke-width="2" stroke-dasharray="5 3"/>')
    bars.append(f'<path d="M{LEFT:g} {TALL:g}h{WIDE:g}" stroke="currentColor" stroke-opacity=".7"/>')
    marks = [(LEFT, "0", "middle"), (LEFT + WIDE / 2, f"{top / 2:g}", "middle"), (LEFT + WIDE, f"{top:g}", "middle")]
    parts += [f'<text x="{x:.1f}" y="{TALL + 15:g}" text-anchor="{a}">{word}</text>' for x, word, a in marks]
    parts.append(
        f'<text x="{LEFT + WIDE / 2:g}" y="{TALL + 31:g}" text-anchor="middle">{escape(unit)} (dashed: median)</text>'
    )
    wide, tall = WIDE + 2 * LEFT, TALL + FOOT
    return (
        f'<svg role="img" aria-label="{escape(described)}" width="{wide:g}" height="{tall:g}" '
        f'viewBox="0 0 {wide:g} {tall:g}" style="height:auto">{"".join(bars + parts)}</svg>'
    )


def _head(title: str, found: Figures) -> str:
    many = f"{found.submissions} submission{'s' * (found.submissions != 1)}"
    told = "".join(f"<p>{escape(line)}</p>" for line in report.sentences(found))
    note = "All counts are numbers of submissions. The page is one file that fetches nothing."
    return f'<h1>{escape(title)}</h1><p class="soft">{many}. {note}</p>{told}'


def _exercises(found: Figures) -> str:
    key = "".join(f'<span><i style="background:{COLOURS[name]}"></i>{name}</span>' for name in STATES)
    words = "<em>Partly</em>: wrong, with points for what was right. <em>Ungraded</em>: a person must look."
    if any(one.observed for one in found.exercises):
        words += " <em>Observed</em>: judged by what running processes said, not by a program that is run again here."
    rows = "".join(_exercise(one) for one in found.exercises)
    return f'<h2>Exercises</h2><div class="key soft">{key}</div><p class="soft">{words}</p>{rows}'


def _exercise(one: Exercise) -> str:
    counts = [(name, one.counts[name]) for name in STATES if one.counts[name]]
    told = ", ".join(f"{count} {name}" for name, count in counts) or "no submissions"
    parts = [Segment(count, COLOURS[name]) for name, count in counts]
    drawn = bar(parts, sum(one.counts.values()), f"{one.question}: {told}")
    mean = report.number(one.mean and round(one.mean, 2))
    title = f"<b>{escape(one.question)}</b> {escape(one.title)}" + " <em>observed</em>" * one.observed
    return _row(title, f"mean {mean} of {one.of:g}" if one.of else "does not count", drawn, told)


def _row(left: str, right: str, drawn: str, below: str) -> str:
    return (
        f'<div class="row"><header><span>{left}</span><span class="soft">{right}</span></header>{drawn}'
        f'<div class="soft">{escape(below)}</div></div>'
    )


def _guesses(found: Figures) -> str:
    rows = "".join(_guess(one, guess) for one in found.exercises for guess in one.guesses if guess.made)
    what = (
        "Students predict before the code runs, and predicting earns the points. A lecture may begin with what few foresaw."
    )
    return f"<h2>Predictions</h2><p class='soft'>{what}</p>{rows}" * bool(rows)


def _guess(one: Exercise, guess: Guess) -> str:
    parts = [Segment(guess.right, COLOURS["passed"]), Segment(guess.made - guess.right, "", hollow=True)]
    told = f"{guess.right} of {guess.made} came true"
    drawn = bar(parts, guess.made, f"{one.question}, {guess.name}: {told}")
    return _row(f"<b>{escape(one.question)}</b> <code>{escape(guess.name)}</code>", told, drawn, one.title)


def _misconceptions(found: Figures) -> str:
    parts = []
    for one in found.exercises:
        cards = "".join(_card(cause, sum(one.counts.values())) for cause in one.misconceptions)
        other = f'<p class="soft">{one.other} more with mistakes that have no name here.</p>' * bool(one.other)
        parts.append(f"<h3>{escape(one.question)} {escape(one.title)}</h3>{cards}{other}" * bool(cards or other))
    told = "".join(parts) or "<p>None was met.</p>"
    lead = (
        "Known mistakes, by the number of submissions that behave in the same way. An explanation is likely, not measured."
    )
    return f"<h2>Misconceptions</h2><p class='soft'>{lead}</p>{told}"


def _card(cause: Cause, many: int) -> str:
    parts = [Segment(cause.count, COLOURS["failed"]), Segment(many - cause.count, "", hollow=True)]
    drawn = bar(parts, many, f"{cause.name}: {cause.count} of {many} submissions")
    head = f"<header><code>{escape(cause.name)}</code><span>{cause.count} of {many}</span></header>"
    return f'<div class="miss row">{head}{drawn}<p>{prose(cause.cause)}</p></div>'


def _lost(found: Figures) -> str:
    if not found.losses:
        return ""
    rows, titles = [], {one.question: one.title for one in found.exercises}
    for one in found.losses:
        told = f"{one.lost:.1f} of {one.of:g} points"
        parts = [Segment(one.lost, COLOURS["failed"]), Segment(one.of - one.lost, "", hollow=True)]
        drawn = bar(parts, one.of, f"{one.question}: {told} lost")
        why = f"mostly {LETTERS.get(one.letter, one.letter)}"
        rows.append(_row(f"<b>{escape(one.question)}</b> {escape(titles[one.question])}", told, drawn, why))
    what = "Mean loss of the half of the class around the median total. A full bar is all points of the exercise."
    return f"<h2>Where the middle of the class lost points</h2><p class='soft'>{what}</p>{''.join(rows)}"


def _equal(found: Figures) -> str:
    rows = "".join(_groups(one) for one in found.exercises if one.groups)
    if not rows:
        return ""
    what = (
        "Each filled piece is a group of submissions whose programs are equal, operation for operation; the outline holds "
        "the others. This shows in how many ways the class did an exercise, not who worked with whom: right answers to a "
        "short one are often the same program."
    )
    return f"<h2>Equal programs</h2><p class='soft'>{what}</p>{rows}"


def _groups(one: Exercise) -> str:
    many, grouped = sum(one.counts.values()), sum(group.size for group in one.groups)
    parts = [Segment(group.size, COLOURS[group.state]) for group in one.groups]
    told = f"{report.groups(one)}; {many - grouped} others"
    drawn = bar([*parts, Segment(many - grouped, "", hollow=True)], many, f"{one.question}: {told}")
    head = f"<b>{escape(one.question)}</b> {escape(one.title)}"
    return _row(head, f"{len(one.groups)} group{'s' * (len(one.groups) != 1)}", drawn, told)


def _spread(found: Figures) -> str:
    parts = []
    if found.totals:
        said = f"Histogram of total points; median {statistics.median(found.totals):g} of {found.of:g}"
        parts.append(f"<div><h2>Total points</h2>{histogram(found.totals, found.of, 'points', said)}</div>")
    if found.seconds:
        top = _round(found.seconds[-1])
        said = f"Histogram of machine time; median {statistics.median(found.seconds):.1f} s"
        parts.append(f"<div><h2>Machine time</h2>{histogram(found.seconds, top, 'seconds, run and judged', said)}</div>")
    return f'<div class="cards">{"".join(parts)}</div>' * bool(parts)


def _round(value: float) -> float:
    """The next of 1, 2, 5, 10, 20, ... that is not below."""
    scale = 10.0 ** math.floor(math.log10(max(value, 1e-3)))
    return next(step * scale for step in (1, 2, 5, 10) if step * scale >= value)


def _submissions(rows: Sequence[Row], points: Mapping[str, float], observed: set[str]) -> str:
    asked = (f"{question} /{of:g}" + " observed" * (question in observed) for question, of in points.items())
    head = ["submission", "state", *asked, "total", "reason"]
    lines = [_line((escape(word) for word in head), "th")]
    for one in rows:
        marks = [report.number(one.points.get(question)) for question in points]
        cells = map(escape, [one.student, one.status, *marks, report.number(one.total)])
        lines.append(_line([*cells, prose(one.reason)], "td"))
    return f'<h2>Submissions</h2><div class="wide" tabindex="0"><table>{"".join(lines)}</table></div>'


def _line(cells: Iterable[str], tag: str) -> str:
    return f"<tr>{''.join(f'<{tag}>{cell}</{tag}>' for cell in cells)}</tr>"
