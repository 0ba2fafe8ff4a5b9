"""A viva on paper: a page for each student, a page of keys for the instructor, and a table for the marks."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from shardlab_course.viva.questions import Asked
from shardlab_grader.reports.report_page import escape
from shardlab_grader.viva.marks import COLUMNS
from shardlab_grader.viva.sitting import Sitting

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
STYLE = """
body { font: 11pt/1.45 sans-serif; max-width: 46em; margin: 2em auto; padding: 0 1em; }
section { break-after: page; } h1 { font-size: 1.3em; } h2 { font-size: 1em; margin: 1.4em 0 .3em; }
article { break-inside: avoid; } .line { border-bottom: 1px solid; height: 2em; } .key { font-weight: bold; }
pre { font: 9pt/1.35 monospace; white-space: pre-wrap; border: 1px solid #888; padding: .6em; }
pre span { display: inline-block; width: 2.5em; color: #555; }
"""


def students(title: str, sittings: Sequence[Sitting]) -> str:
    """The page that students see: questions, their own code with its lines numbered, room to write."""
    return _page(f"{title}: viva", [_section(title, one, keys=False) for one in sittings if one.asked])


def instructor(title: str, sittings: Sequence[Sitting]) -> str:
    """The same with keys, their reasons, and what a wrong answer reveals; and who is asked nothing, and why."""
    silent = [one for one in sittings if not one.asked]
    rows = "".join(f"<li>{escape(one.student)}: {escape(one.problem)}</li>" for one in silent)
    nobody = [f"<section><h1>Not asked</h1><ul>{rows}</ul></section>"] if silent else []
    return _page(f"{title}: viva, keys", [*(_section(title, one, keys=True) for one in sittings if one.asked), *nobody])


def marks(title: str, sittings: Sequence[Sitting]) -> str:
    """CSV: one row a question, with an empty field for the mark."""
    written = io.StringIO()
    table = csv.writer(written)
    table.writerow(COLUMNS)
    for one in sittings:
        table.writerows([title, one.student, n, asked.exercise, asked.kind, ""] for n, asked in enumerate(one.asked, 1))
    return written.getvalue()


def _page(title: str, sections: Sequence[str]) -> str:
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}"><style>{STYLE}</style></head>\n'
        f"<body>\n{chr(10).join(sections)}\n</body></html>\n"
    )


def _section(title: str, one: Sitting, *, keys: bool) -> str:
    articles = [_article(n, asked, one.code.get(asked.function, ""), keys=keys) for n, asked in enumerate(one.asked, 1)]
    return f"<section><h1>{escape(one.student)}</h1><p>{escape(title)}</p>{''.join(articles)}</section>"


def _article(number: int, asked: Asked, code: str, *, keys: bool) -> str:
    room = '<div class="line"></div>' * 2
    if keys:
        reveals = f"A student who answers differently may have overlooked {asked.overlooked}."
        room = f'<p class="key">{escape(asked.key)}</p><p>{escape(asked.reason)}</p><p><i>{escape(reveals)}</i></p>'
    lines = "\n".join(f"<span>{n}</span>{escape(line)}" for n, line in enumerate(code.splitlines(), 1))
    return (
        f"<article><h2>{number}. Exercise {asked.exercise}</h2><p>{escape(asked.text)}</p><pre>{lines}</pre>{room}</article>"
    )
