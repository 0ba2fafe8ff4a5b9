"""Formulas as MathML, made when the book is built: browsers draw it themselves, without a script of a megabyte."""

from __future__ import annotations

import html
import re

import latex2mathml.converter
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator


def mathml(tex: str, display: bool) -> str:
    """The `<math>` element of a formula; its TeX is what a reader copies and a screen reader may say.

    Raises:
        ValueError: the formula is not TeX that can be read; the build ends there.
    """
    try:
        made = latex2mathml.converter.convert(tex, display="block" if display else "inline")
    except Exception as error:  # its own errors are plain ones of many kinds
        raise ValueError(f"the formula {tex!r} cannot be written as MathML: {error}") from error
    # Widths relative to what is inside are no part of MathML Core: a browser would cut the word over an arrow.
    made = re.sub(r"<mpadded [^>]*>", "<mpadded>", made)
    return made.replace("<math ", f'<math alttext="{html.escape(tex)}" ', 1)


def inline(translator: HTML5Translator, node: nodes.math) -> None:
    """A formula in a sentence."""
    translator.body.append(f'<span class="math">{mathml(node.astext(), display=False)}</span>')
    raise nodes.SkipNode


def block(translator: HTML5Translator, node: nodes.math_block) -> None:
    """A formula that stands alone; it scrolls where it is wider than the page."""
    translator.body.append(f'<div class="math">{mathml(node.astext(), display=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx's entry."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
