"""Markdown and code of a student's as HTML of known elements, in a process of its own.

    python -P -m shardlab_grader.nbgrader.rendered

reads lines of JSON, `[name, source, language]`, and writes for each a line of JSON: the HTML, and its seconds of CPU time.
"""

from __future__ import annotations

import html
import json
import re
import resource
import signal
import sys
import time

import latex2mathml.converter
import nh3
from nbconvert.filters.highlight import Highlight2HTML
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from shardlab_grader.nbgrader import admonitions
from shardlab_grader.nbgrader.rendering import MEMORY, SECONDS, unrendered

UNSTYLED = re.compile(r'<span class="(?:n|p|w)">([^<]*)</span>')
"""Names, brackets and spaces, a third of a page: they have no colour of their own."""
MATH = """
    math menclose merror mfenced mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow ms mspace msqrt
    mstyle msub msubsup msup mtable mtd mtext mtr munder munderover none semantics
    """.split()
TEXT = """
    a abbr b blockquote br caption code dd del details div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i img ins kbd li
    mark ol p pre q s samp small span strong sub summary sup table tbody td tfoot th thead tr u ul var
    """.split()
MATH_ATTRIBUTES = """
    accent accentunder columnalign columnlines columnspacing depth display displaystyle fence form height linethickness
    lspace mathcolor mathsize mathvariant maxsize minsize movablelimits notation rowlines rowspacing rspace scriptlevel
    separator stretchy symmetric voffset width xmlns
    """.split()
TEXT_ATTRIBUTES = ["align", "alt", "class", "colspan", "id", "rowspan", "start", "title"]
PICTURE = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]*")


def _kept(tag: str, name: str, value: str) -> str | None:
    """An attribute's value, or `None` where it may not stand: data are for pictures, and pictures are data."""
    match tag, name:
        case "img", "src":
            return value if PICTURE.fullmatch(value) else None
        case "a", "href":
            return None if value.strip().lower().startswith("data:") else value
    return value


CLEANER = nh3.Cleaner(
    tags={*TEXT, *MATH},
    attributes={
        **dict.fromkeys(TEXT, set(TEXT_ATTRIBUTES)),
        **dict.fromkeys(MATH, set(MATH_ATTRIBUTES)),
        "a": {*TEXT_ATTRIBUTES, "href"},
        "img": {*TEXT_ATTRIBUTES, "src"},
    },
    attribute_filter=_kept,
    url_schemes={"http", "https", "mailto", "data"},
    link_rel=None,
)


class Renderer(IPythonRenderer):
    """nbconvert's, with formulas as MathML, which browsers show without a script."""

    def block_math(self, body: str) -> str:
        return _formula(body, "block")

    def inline_math(self, body: str) -> str:
        return _formula(body, "inline")

    def latex_environment(self, name: str, body: str) -> str:
        return _formula(f"\\begin{{{name}}}{body}\\end{{{name}}}", "block")

    def image(self, text: str, url: str, title: str | None = None) -> str:
        return str(super().image(text, url if PICTURE.fullmatch(url) else "", title))


def to_colours(source: str, language: str) -> str:
    """What `highlighted` shows, in the process that renders."""
    return UNSTYLED.sub(r"\1", str(Highlight2HTML(pygments_lexer=language)(source)))


def to_html(source: str, language: str = "") -> str:
    """What `markdown` shows, in the process that renders."""
    rendered = MarkdownWithMath(renderer=Renderer(escape=False, allow_harmful_protocols=False)).render(
        admonitions.quoted(source)
    )
    return CLEANER.clean(rendered)


def main() -> None:
    """Serve until the other end closes."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    render = {"markdown": to_html, "highlighted": to_colours}
    for line in sys.stdin:
        name, source, language = json.loads(line)
        started = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, SECONDS)  # which ends this process, also inside of a regular expression
        try:
            page = render[name](source, language)
        except Exception:
            page = unrendered(source, "could not be formatted")
        signal.setitimer(signal.ITIMER_PROF, 0)
        print(json.dumps([page, time.process_time() - started]), flush=True)


def _formula(body: str, display: str) -> str:
    try:
        return latex2mathml.converter.convert(body, display=display)
    except Exception:  # its own errors, and plain ones for what TeX would not take either
        return f"<code>{html.escape(body)}</code>"


if __name__ == "__main__":
    main()
