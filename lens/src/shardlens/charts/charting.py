"""A matplotlib figure that shows itself in the page's own colour, with its contents in words."""

from __future__ import annotations

import dataclasses
import io
import re
from html import escape
from typing import TYPE_CHECKING

from shardlens.charts import drawing
from shardlens.charts.drawing import Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

CHART_TONE = "#808080"
"""Text and axes: readable on white and on black; in HTML it becomes the colour of the page's text."""
CHART_COLOURS = ("#4477AA", "#EE6677", "#228833", "#AA3377", "#B8860B", "#2299BB")
"""Lines told apart under the common kinds of colour blindness, on white and on black: after Paul Tol's "bright" scheme."""
MARKERS = ("o", "s", "^", "D", "v", "P")
DASHES = ("-", "--", "-.", ":")


@dataclasses.dataclass(frozen=True, repr=False)
class Chart(Picture):
    """A picture that is also a matplotlib `figure`, to be changed or saved.

    Example:
        >>> lens.show_roofline("v5e").figure.axes[0].get_xscale()
        'log'
    """

    figure: Figure


def chart(figure: Figure, text: str, described: str) -> Chart:
    """The figure with its words.

    Args:
        text: what terminals show.
        described: what is read to those who do not see it.
    """
    panels = "".join(
        f'<div style="flex:1 1 18em;max-width:{width * 72:.0f}pt">{svg}</div>' for svg, width in _panels(figure)
    )
    style = "display:flex;flex-wrap:wrap;gap:1em"
    html = f'<div role="img" aria-label="{escape(described)}" style="{style}">{panels}</div>'
    return Chart(text, drawing.framed(html), figure)


def blank(width: float, height: float, panels: int = 1) -> tuple[Figure, list[Axes]]:
    """A transparent figure and its axes, side by side; sizes in inches."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", facecolor="none")
    axes = [figure.add_subplot(1, panels, k + 1, facecolor="none") for k in range(panels)]
    for each in axes:
        each.tick_params(which="both", colors=CHART_TONE, labelsize=9)
        each.spines[:].set_color(CHART_TONE)
        each.spines[["top", "right"]].set_visible(False)
        each.xaxis.label.set_color(CHART_TONE)
        each.yaxis.label.set_color(CHART_TONE)
        each.title.set_color(CHART_TONE)
        each.grid(True, color=CHART_TONE, alpha=0.25, linewidth=0.6)
    return figure, axes


def _panels(figure: Figure) -> list[tuple[str, float]]:
    """Each panel as an element of a page, and its width in inches: where two have no room, one goes below the other."""
    if len(figure.axes) == 1:
        return [(_svg(figure), figure.get_figwidth())]
    figure.draw_without_rendering()
    laid_out = figure.get_layout_engine()
    figure.set_layout_engine("none")  # else the panel that is left would take all the room
    found = []
    for panel in figure.axes:
        for each in figure.axes:
            each.set_visible(each is panel)
        if (drawn := panel.get_tightbbox()) is not None:
            box = drawn.transformed(figure.dpi_scale_trans.inverted()).padded(0.05)
            found.append((_svg(figure, box), box.width))
    for each in figure.axes:
        each.set_visible(True)
    figure.set_layout_engine(laid_out)
    return found


def _svg(figure: Figure, box: Bbox | None = None) -> str:
    """The figure, or what of it is in a box, as an element of a page."""
    import matplotlib

    sink = io.StringIO()
    # Text stays text, in the page's own font. With a salt of its own and no date, equal figures are equal bytes, and a page
    # that is built again does not change.
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "shardlens", "font.family": "sans-serif"}):
        figure.savefig(sink, format="svg", transparent=True, bbox_inches=box, metadata={"Date": None, "Creator": None})
    body = sink.getvalue()[sink.getvalue().index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r' id="[a-z0-9]+_\d+"', "", body)  # of its parts; several figures on a page would repeat them
    hidden = '<svg aria-hidden="true" style="max-width:100%;height:auto" '
    return body.replace(CHART_TONE, "currentColor").replace("<svg ", hidden, 1).strip()
