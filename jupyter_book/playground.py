"""What the playgrounds show: each function takes what is in a form, and gives HTML.

Run by Pyodide in a browser, and by tests. Only modules of Shardlab that need neither JAX nor NumPy are used, so that the
pictures and the errors are the package's own.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from html import escape

from shardlab.errors import ShardlabError
from shardlab.expressions import resolution
from shardlab.pictures import draw
from shardlab.pictures.product import show_product
from shardlens.charts.timeline import show_schedule
from shardlens.costs import alphabeta
from shardlens.costs.chips import chip
from shardlens.placement import Axes, Spec
from shardlens.placement import place as placed
from shardlens.programs.table import collectives_table, summary
from shardlens.reading.arithmetic import added_by_rounds
from shardlens.reading.collectives import read_collectives
from shardlens.reading.depth import depth
from shardlens.rings import ring_grid as grid
from shardlens.rings.ring import schedule
from shardlens.tables import Table, seconds, shares

MOST = 64
"""Devices and rows that a picture may have."""
LONG = 60
"""Characters of an input that a message quotes."""
LONGEST = 4_000_000
"""Characters of an HLO text that the lens reads."""
UNREAD = (
    "what stands here cannot be shown: change it back to the last that could",
    "this text cannot be followed, for lines are missing or changed: paste all that compiled.as_text() gives",
)
"""What is said where a text breaks its reader: of a form, and of the lens."""
SPECS = ("P", "jax.P", "PartitionSpec", "jax.sharding.PartitionSpec")
TIMES: dict[str, Callable[..., float]] = {
    "all-gather": alphabeta.all_gather,
    "reduce-scatter": alphabeta.reduce_scatter,
    "all-reduce": alphabeta.all_reduce,
    "all-to-all": alphabeta.all_to_all,
}


class Unfit(ValueError):
    """What stands in a form cannot be shown; its text says why, and what to write."""


def answered(name: str, **given: str) -> str:
    """The HTML of one playground; what cannot be shown is an error with its place and what to do."""
    try:
        return SHOWN[name](**given)
    except (ShardlabError, Unfit) as error:
        return _fault(str(error))
    except Exception:  # a text of somebody's own may break a reader anywhere, and the page shows no traceback
        return _fault(UNREAD[name == "lens"])


def place(mesh: str, shape: str, said: str) -> str:
    """Who holds which slice: a spec as `P("x", None)`, or an expression as `a b -> a@x b`."""
    axes, sizes = axes_in(mesh), whole(shape, "the shape")
    if max(sizes, default=0) > MOST or math.prod(n for _, n in axes) > MOST:
        raise Unfit(f"pictures end at {MOST} devices, and at {MOST} along a dimension: write less")
    if "->" not in said:
        return draw.show(placed(sizes, axes, fitting(spec_in(said), sizes, axes))).html
    found = resolution.resolve_on(said, sizes, axes) or resolution.resolve(said, sizes, math.prod(n for _, n in axes))
    where = ", ".join(f"{name}={size}" for name, size in found.axes)
    spec = f"<p><code>P{escape(_repr(found.spec))}</code> on the mesh <code>{escape(where)}</code></p>"
    return spec + draw.show(placed(sizes, found.axes, found.spec)).html


def ring(kind: str, n: str, both: str, step: str, nbytes: str, on: str) -> str:
    """The first steps of a collective, with the bytes over the busiest link and the time so far."""
    made = schedule(kind, int(n), both == "yes")
    at = min(int(step), made.hops)
    here, names = range(at + 1), ["start", *(f"step {k}" for k in range(1, at + 1))]
    picture = grid.draw(made, {k: names[k] for k in here})
    chunk, used = amount(nbytes) / made.fraction, chip(on)
    loads: list[int] = []
    for done in made.steps[1 : at + 1]:
        links: dict[tuple[int, int], int] = {}
        for hop in done.hops:
            links[hop.source, hop.target] = links.get((hop.source, hop.target), 0) + 1
        loads.append(max(links.values(), default=0))
    took = sum(max(used.hop_latency, load * chunk / used.link_bandwidth) for load in loads)
    line = (
        f"Step {at} of {made.hops}. Over the busiest link so far: {sum(loads)} chunks of {chunk:,.0f} bytes, "
        f"{sum(loads) * chunk:,.0f} bytes; at least {seconds(took)} on {used.name}, one link, one step after the other."
    )
    head, foot = f'<p data-last="{made.hops}">{escape(line)}</p>', f"<p>{escape(grid.legend(made))}</p>"
    return f'{head}<div class="play-wide">{picture}</div>{foot}'


def cost(on: str, kind: str, nbytes: str, n: str, both: str) -> str:
    """Seconds of a collective by the alpha-beta model, and where latency ends."""
    used, size, devices = chip(on), amount(nbytes), int(n)
    took = TIMES[kind](size, devices, used.link_bandwidth, used.hop_latency, both == "yes")
    hops = TIMES[kind](0.0, devices, used.link_bandwidth, used.hop_latency, both == "yes")
    wires = TIMES[kind](size, devices, used.link_bandwidth, 0.0, both == "yes")
    edge = size * hops / wires if wires else math.inf
    bound = "hops decide (latency)" if hops >= wires else "bytes decide (bandwidth)"
    rows = (
        ("bytes over links", seconds(wires)),
        ("hops", seconds(hops)),
        ("the larger of the two", seconds(took)),
        ("latency ends at", f"{edge:,.0f} bytes" if math.isfinite(edge) else "-"),
    )
    ways = "both directions" if both == "yes" else "one direction"
    words = f"{kind} of {size:,.0f} bytes over {devices} chips of {used.name}, {ways}: {bound}."
    return (
        f"<p>{escape(words)}</p>"
        + Table(("part", "time"), ("left", "right"), rows, bars=shares([wires, hops, took, 0])).html()
    )


def roof(on: str, tokens: str, d: str, f: str, n: str) -> str:
    """A two-layer MLP in bf16 with its weights cut over n chips: what its compute, its weights and its sum take.

    Source: scaling-book, Part 5 (How to Parallelize a Transformer for Training), tensor parallelism.
    """
    used, b, width, hidden, chips = chip(on), int(tokens), int(d), int(f), int(n)
    compute = 4 * b * width * hidden / chips / used.flops
    memory = 2 * (2 * width * hidden / chips + 2 * b * width + b * hidden / chips) / used.hbm_bandwidth
    ring = used.is_ring(chips)
    sums = alphabeta.all_reduce(2 * b * width, chips, used.link_bandwidth, used.hop_latency, ring) if chips > 1 else 0.0
    took = {"compute": compute, "memory": memory, "communication": sums}
    longest = max(took, key=lambda name: took[name])
    rows = tuple((name, seconds(value)) for name, value in took.items())
    words = f"{longest[0].upper()}{longest[1:]} takes longest."
    if sums:  # the sum's bytes stay as they are with more chips, and the products are shared among them
        words += (
            f" The sum of bf16[{b:,}, {width:,}] takes as long as the products at about {compute * chips / sums:,.1f}"
            " chips; beyond that, more of them help less."
        )
    return (
        Table(("bound by", "at least"), ("left", "right"), rows, bars=shares([*took.values()])).html()
        + f"<p>{escape(words)}</p>"
    )


def product(left: str, right: str) -> str:
    """What each device can multiply of A[I, J] and B[J, K], and what must move."""
    axes: Axes = (("x", 2), ("y", 2))
    a, b = spec_in(left), spec_in(right)
    picture = show_product(placed((8, 8), axes, a), placed((8, 8), axes, b))
    inner_a, inner_b = _names(a, 1), _names(b, 0)
    if set(_names(a, 0)) & set(_names(b, 1)):
        words = "Rows of A and columns of B are cut over one axis, and C can have it once: gather one of the two first."
    elif inner_a != inner_b:
        words = "The inner dimensions are cut differently, so blocks do not fit: gather one, or cut both alike."
    elif inner_a:
        over = ", ".join(inner_a)
        words = (
            f"Each device makes a term of a sum over {over}: an all-reduce gives all of it, a reduce-scatter a part to each."
        )
    else:
        words = "The inner dimension is whole on every device: each makes its block of C, and nothing moves."
    return f"<p>{escape(words)}</p>{picture.html}"


def lens(text: str, mesh: str) -> str:
    """The collectives of a compiled program, from its HLO text, as `sl.inspect` shows them."""
    text = text.strip()
    if not text:
        raise Unfit("there is nothing to read: paste the output of compiled.as_text(), beginning with HloModule")
    if len(text) > LONGEST:
        raise Unfit(f"the text has {len(text):,} characters, and this page reads {LONGEST:,}: use sl.inspect in a notebook")
    found = read_collectives(text, axes_in(mesh) if mesh.strip() else None)
    lines = summary(found)
    try:
        chain = str(depth(text, {c.name for c in found}) if found else 0)
        if added_by_rounds(text) is None:
            lines.append("a loop's number of rounds depends on data")
    except Exception:  # a text from which lines were cut: what was read of it stays
        chain = "unknown, for lines are missing in this text or changed"
    lines.append(f"in the longest chain of those that wait for one another: {chain}")
    return f'<div class="play-wide">{collectives_table(found, tuple(lines)).html()}</div>{_scheduled(text)}'


def _scheduled(text: str) -> str:
    try:
        picture = show_schedule(text).html
    except ShardlabError as error:
        return f"<p>There is no schedule: {escape(error.what)}</p>"
    except Exception:
        return "<p>There is no schedule, for lines are missing in this text or changed.</p>"
    wide = f'<div class="play-wide">{picture}</div>'
    return f"<details><summary>The schedule</summary>{wide}</details>" if "<svg" in picture else ""


def axes_in(text: str) -> Axes:
    """`x=2, y=4` as axes."""
    parts = [part.partition("=") for part in text.split(",") if part.strip()]
    axes = tuple((name.strip(), _number(size)) for name, _, size in parts)
    if not axes or not all(name.isidentifier() and size for name, size in axes):
        raise Unfit(f"the mesh {_quoted(text)} is not names and sizes: write x=2, y=4")
    if len(dict(axes)) < len(axes):
        raise Unfit(f"the mesh {_quoted(text)} names an axis twice: give each a name of its own")
    return tuple((name, size or 0) for name, size in axes)


def amount(text: str) -> float:
    """Bytes, at least one."""
    try:
        number = float(text.replace(",", ""))
    except ValueError:
        number = 0.0
    if not 1 <= number < math.inf:
        raise Unfit(f"{_quoted(text)} is not a number of bytes: write 1000000, or 1e6")
    return number


def whole(text: str, what: str) -> tuple[int, ...]:
    """`8, 16` as numbers."""
    parts = [_number(part) for part in text.strip("()[] ").split(",") if part.strip()]
    found = tuple(part for part in parts if part is not None)
    if len(found) < len(parts):
        raise Unfit(f"{what} {_quoted(text)} is not whole numbers: write 8, 16")
    return found


def spec_in(text: str) -> Spec:
    """`P("x", None)`, or the same without `P`, as entries."""
    try:
        read = ast.parse(text.strip() or "P()", mode="eval").body
        if isinstance(read, ast.Call) and not read.keywords and ast.unparse(read.func) in SPECS:
            entries = tuple(map(ast.literal_eval, read.args))  # of P(("x", "y")) the one entry is the tuple
        else:
            value = ast.literal_eval(read)
            entries = value if isinstance(value, tuple) else (value,)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise Unfit(f"{_quoted(text)} is not a spec: write P('x', None), or an expression as a b -> a@x b") from None
    names = [name for entry in entries for name in (entry if isinstance(entry, tuple) else (entry,))]
    if not all(name is None or isinstance(name, str) for name in names):
        raise Unfit(f"{_quoted(text)}: an entry is the name of an axis, a tuple of names, or None")
    return entries


def fitting(spec: Spec, shape: tuple[int, ...], axes: Axes) -> Spec:
    """The spec, if it can place an array of this shape on this mesh."""
    sizes, said = dict(axes), f"P{_repr(spec)}"
    if len(spec) > len(shape):
        raise Unfit(f"{said} has more entries than the array has dimensions, {len(spec)} and {len(shape)}: leave some away")
    used: list[str] = []
    for dimension, size in enumerate(shape):
        for axis in (names := _names(spec, dimension)):
            if axis not in sizes:
                raise Unfit(f"{said} names the axis {axis!r}, and the mesh has {', '.join(sizes)}: write one of these")
            if axis in used:
                raise Unfit(
                    f"{said} names the axis {axis!r} twice, and an axis cuts one dimension: leave one of the two away"
                )
            used.append(axis)
        if size % (parts := math.prod(sizes[axis] for axis in names)):
            raise Unfit(
                f"{said} cuts dimension {dimension} in {parts}, and its size is {size}: make it a multiple of {parts}"
            )
    return spec


def _number(text: str) -> int | None:
    """A whole number of at most nine digits; nobody has more devices, and no picture more rows."""
    digits = text.strip()
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else None


def _quoted(text: str) -> str:
    """What somebody wrote, or its beginning."""
    text = text.strip()
    return repr(text if len(text) <= LONG else f"{text[:LONG]}…")


def _names(spec: Spec, dimension: int) -> tuple[str, ...]:
    entry = spec[dimension] if dimension < len(spec) else None
    return () if entry is None else (entry,) if isinstance(entry, str) else entry


def _repr(spec: Spec) -> str:
    return f"({spec[0]!r})" if len(spec) == 1 else repr(tuple(spec))


def _fault(text: str) -> str:
    return f'<pre class="play-fault">{escape(text)}</pre>'


SHOWN: dict[str, Callable[..., str]] = {
    "place": place,
    "ring": ring,
    "cost": cost,
    "roof": roof,
    "product": product,
    "lens": lens,
}
