"""What a finger and the keyboard do on a phone, a tablet and a desktop: menus, curtains, and the first page's switch."""

from __future__ import annotations

import itertools
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import P
from jax.sharding import AxisType, NamedSharding
from playwright.sync_api import Browser, Page

import shardlab as sl
from shardlab_course.chapters import QUESTIONS
from shardlens.rings import motion, ring

from .conftest import CHAPTER, FIRST, ROOT

sys.path.insert(0, str(ROOT / "jupyter_book"))

import chapters  # noqa: E402
import cutting  # noqa: E402
import forms  # noqa: E402
import landing  # noqa: E402
import playground  # noqa: E402
import racing  # noqa: E402
import sending  # noqa: E402
import sliders  # noqa: E402

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("ignore::ResourceWarning")]
WIDTHS = (360, 390, 800)
WIDE = "document.documentElement.scrollWidth"


@pytest.fixture
def touched(browser: Browser, pages: Path) -> Iterator[Callable[..., Page]]:
    """`touched(name, width)` opens a page on a touch screen; nothing may go wrong in its scripts."""
    opened: list[Page] = []
    faults: list[str] = []

    def visit(name: str, width: int = 390, **options: object) -> Page:
        context = browser.new_context(viewport={"width": width, "height": 844}, has_touch=True, **options)  # type: ignore[arg-type]
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto((pages / f"{name.partition('#')[0]}.html").as_uri() + name.removeprefix(name.partition("#")[0]))
        opened.append(page)
        return page

    yield visit
    for page in opened:
        page.context.close()
    assert faults == []


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("width", WIDTHS)
def test_menus_open_under_a_finger(touched: Callable[..., Page], width: int) -> None:
    """Contents and "On this page" open and lead on; search opens its field; the mode changes, and no tooltip stays."""
    page = touched(CHAPTER, width)
    page.locator("button.primary-toggle:visible").tap()
    page.locator("#pst-primary-sidebar-modal[open]").get_by_role("link", name="Playground").tap()
    page.wait_for_url("**/playground.html")
    page.go_back()
    page.locator("button.secondary-toggle:visible").tap()
    link = page.locator("#pst-secondary-sidebar-modal[open] a.nav-link").nth(1)
    wanted = link.get_attribute("href")
    link.tap()
    page.wait_for_url(f"**{wanted}")
    before = page.evaluate("document.documentElement.dataset.mode")
    page.locator("button.theme-switch-button:visible").tap()
    assert page.evaluate("document.documentElement.dataset.mode") != before
    page.locator("button.search-button:visible").tap()
    page.locator("#pst-search-dialog[open] input[type=search]").fill("ring")
    assert page.locator(".tooltip").count() == 0


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("width", WIDTHS)
def test_the_curtain_lifts(touched: Callable[..., Page], width: int) -> None:
    """What follows a prediction is out of reach until somebody answers all of it; then it stays open in this browser."""
    page = touched(CHAPTER, width)
    form = page.locator("#predict-4-4")
    curtain = page.locator("#predict-4-4 ~ .curtain").first
    assert curtain.locator(".cell_output").count() > 0
    assert "blur" in page.evaluate("c => getComputedStyle(c).filter", curtain.locator("> div").element_handle())
    for box in form.locator(".choices").all():
        box.locator("label").first.tap()
    form.get_by_role("button", name="Compare").tap()
    assert form.locator(".predict-said p").count() == 2
    assert curtain.locator("> div").evaluate("c => [c.inert, getComputedStyle(c).filter]") == [False, "none"]
    page.reload()
    assert page.locator("#predict-4-4 ~ .curtain:not(.lifted)").count() == 0


def test_the_curtain_stays_while_something_is_open(touched: Callable[..., Page]) -> None:
    """One of two predictions, also after a reload."""
    page = touched(CHAPTER, 1280)
    form = page.locator("#predict-4-4")
    form.locator(".choices").first.locator("label").first.tap()
    form.get_by_role("button", name="Compare").tap()
    assert "Still open" in form.locator(".predict-said").inner_text()
    page.reload()
    assert page.locator("#predict-4-4 ~ .curtain:not(.lifted)").count() > 0


def test_the_curtain_lifts_without_an_answer(touched: Callable[..., Page]) -> None:
    """By keyboard, from the button above it; the focus goes to what was behind."""
    page = touched(CHAPTER, 1280)
    before = page.locator(".curtain-bar").count()
    assert before > 2
    page.locator(".curtain-bar button").first.press("Enter")
    assert page.locator(".curtain-bar").count() == before - 1
    assert page.evaluate("document.activeElement.parentElement.className") == "curtain lifted"


def test_nothing_is_covered_without_scripts_or_on_paper(touched: Callable[..., Page]) -> None:
    """All text can be read."""
    assert touched(CHAPTER, java_script_enabled=False).locator(".curtain").count() == 0
    page = touched(CHAPTER)
    page.emulate_media(media="print")
    filters = page.eval_on_selector_all(".curtain > div", "all => all.map(each => getComputedStyle(each).filter)")
    assert len(filters) > 2 and {*filters} == {"none"}


def test_what_can_wait_is_folded(touched: Callable[..., Page]) -> None:
    """The part More and an optional exercise open by a tap or an address that leads there; without scripts all is open."""
    page = touched(CHAPTER, 800)
    folds = page.locator("details.fold")
    assert [fold.get_attribute("open") for fold in folds.all()] == [None] * folds.count() and folds.count() == 4
    hint = page.locator("section[id^=exercise-4-3] details.hint").first
    assert not hint.is_visible()
    page.locator("section[id^=exercise-4-3] summary", has_text="Open this exercise").tap()
    assert hint.is_visible()
    assert not page.get_by_role("heading", name="Two axes at once").is_visible()
    led = touched(f"{CHAPTER}#two-axes-at-once")
    assert led.get_by_role("heading", name="Two axes at once").is_visible()
    assert touched(f"{CHAPTER}#exercise-4-6").locator("section[id^=exercise-4-6] details.hint").first.is_visible()
    assert touched(CHAPTER, java_script_enabled=False).locator("details.fold").count() == 0


def test_what_is_long_is_shortened_on_a_phone(touched: Callable[..., Page]) -> None:
    """By one fifth of the page at least; a button shows all, by keys too, and so does reaching what is inside."""
    page = touched(CHAPTER)
    assert page.locator(".long").count() > 5 and touched(CHAPTER, 800).locator(".long").count() == 0
    tall = "document.querySelector('article').offsetHeight"
    before = page.evaluate(tall)
    first = page.locator("button.whole").first
    assert first.inner_text() == "Show the whole picture"
    first.press("Enter")
    assert page.evaluate("document.activeElement.matches('.cell_output:not(.long)')")
    for _ in range(2):
        page.locator(".long").last.dispatch_event("focusin")
    assert page.locator("button.whole").count() == page.locator(".long").count()
    page.evaluate("document.querySelectorAll('button.whole').forEach(button => button.click())")
    assert page.locator(".long").count() == 0 and page.evaluate(tall) > 1.2 * before


LEADING = "start exercise-1 early late exercise-2 exercise-3 both exercise-4 exercise-5 the-answer exercise-6".split()
CORE = "exercise-5"


def test_a_section_that_leads_to_optional_exercises_alone_is_folded(alone: Callable[..., Page]) -> None:
    """The one right before them, if no core exercise follows; what comes before the first exercise is for all."""
    facts = {name: "a paragraph" if name == CORE or not name.startswith("exercise") else "optional" for name in LEADING}
    drawn = (f'<section id="{name}"><h2>{name}</h2><p>{said}</p><p>more</p></section>' for name, said in facts.items())
    page = alone(f"<article>{''.join(drawn)}</article>")
    folded = page.locator("section:has(> details.fold)").evaluate_all("all => all.map(section => section.id)")
    assert folded == ["exercise-1", "late", *(f"exercise-{n}" for n in (2, 3, 4, 6))]


def test_many_choices_are_asked_in_turn_on_a_phone(browser: Browser, tmp_path: Path) -> None:
    """One group is open; a tap on a choice opens the next; arrow keys go through all choices; a tap opens a group again."""
    path = tmp_path / "form.html"
    style, script = ((ROOT / "jupyter_book" / "_static" / name).as_uri() for name in ("course.css", "predict.js"))
    head = f'<link rel="stylesheet" href="{style}"><script src="{script}"></script>'
    form = forms.form(QUESTIONS["3.4"])
    path.write_text(f'<!doctype html><html data-theme="light"><head>{head}</head><body>{form}</body></html>')
    with browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True) as context:
        page = context.new_page()
        page.goto(path.as_uri())
        groups = page.locator(".choices:not(.told)").all()
        shown = [group.locator("label").locator("visible=true").count() for group in groups]
        assert shown[0] > 4 and not any(shown[1:])
        groups[0].locator("label").nth(2).tap()
        assert [group.locator("label").locator("visible=true").count() for group in groups[:3]] == [1, shown[0], 0]
        groups[2].get_by_role("button", name="choose").press("Enter")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        assert (
            groups[2].locator(":checked").count() == 1
            and groups[2].locator("label").locator("visible=true").count() == shown[0]
        )
        groups[0].locator("label").locator("visible=true").tap()
        assert groups[0].locator("label").locator("visible=true").count() == shown[0]


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("width", WIDTHS)
def test_the_switch_turns(touched: Callable[..., Page], width: int) -> None:
    """It shows what the line costs on the first screen, keeps its state in the address, and runs its numbers."""
    page = touched("intro#without", width)
    figure = page.locator("figure.turn")
    box = figure.bounding_box()
    assert box and box["y"] + 60 < 844 and box["x"] + box["width"] <= width
    assert figure.locator(".turn-runs").all_inner_texts() == ["0", "8,192"]
    figure.locator("label", has_text="with this line").tap()
    page.wait_for_function("document.querySelectorAll('.turn-runs')[1].textContent === '65,536'")
    assert figure.locator(".turn-runs").all_inner_texts() == ["8,192", "65,536"]
    assert figure.locator("dd").last.inner_text() == "the same"
    assert page.url.endswith("#with")
    page.wait_for_function(
        "[...document.querySelectorAll('.turn-flies')].every(b => getComputedStyle(b).transform === 'none')"
    )
    assert page.locator(".turn-flies").count() == 8 * 7


def test_the_switch_turns_without_scripts(touched: Callable[..., Page]) -> None:
    """By style alone."""
    page = touched("intro", java_script_enabled=False)
    page.locator("figure.turn label", has_text="with this line").tap()
    assert page.locator("figure.turn dd").all_inner_texts() == ["8,192", "65,536", "the same"]


def test_the_switch_says_what_the_compiler_does() -> None:
    """Its bytes and FLOPs are those of the two programs, compiled."""
    mesh = jax.make_mesh((landing.DEVICES,), ("x",), axis_types=(AxisType.Auto,))
    rows, whole = NamedSharding(mesh, P("x", None)), NamedSharding(mesh, P())
    rng = np.random.default_rng(3)
    A = jax.device_put(jnp.asarray(rng.standard_normal((landing.ROWS, landing.INNER)), jnp.float32), rows)
    B = jax.device_put(jnp.asarray(rng.standard_normal((landing.INNER, landing.COLUMNS)), jnp.float32), whole)

    def careful(A: jax.Array, B: jax.Array) -> jax.Array:
        return jax.lax.with_sharding_constraint(A, whole) @ B

    def plain(A: jax.Array, B: jax.Array) -> jax.Array:
        return A @ B

    for n, (f, gathered) in enumerate(((careful, landing.GATHERED), (plain, 0))):
        compiled = jax.jit(f).lower(A, B).compile()
        (cost,) = [analysis] if isinstance(analysis := compiled.cost_analysis(), dict) else analysis
        assert cost["flops"] == landing.FLOPS[n]
        assert sum(c.payload_bytes for c in sl.inspect(f, A, B).collectives) == gathered


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("width", WIDTHS)
def test_an_axis_is_dragged_to_what_it_cuts(touched: Callable[..., Page], width: int) -> None:
    """The picture follows the finger; taps and arrow keys do the same; a device shows its block; the address keeps it."""
    page = touched(FIRST, width)
    figure = page.locator("figure.cut")
    figure.scroll_into_view_if_needed()
    line, said = figure.locator("code"), figure.locator(".cut-said")
    chip = {name: figure.locator(f".cut-chip[data-axis={name}]") for name in "xy"}
    assert line.inner_text() == 'P("x", "y")' and figure.locator("svg rect").count() == 8
    rows = figure.locator("[data-zone=rows]").bounding_box()
    start = chip["y"].bounding_box()
    assert rows and start
    page.mouse.move(start["x"] + 10, start["y"] + 10)
    page.mouse.down()
    page.mouse.move(rows["x"] + rows["width"] - 12, rows["y"] + rows["height"] / 2, steps=4)
    assert line.inner_text() == 'P(("x", "y"))'
    page.mouse.up()
    assert figure.locator("[data-zone=rows] .cut-chip").count() == 2 and page.url.endswith("#cut-xy,")
    assert figure.locator(".cut-index").inner_text() == "A[Ixy, J]"
    chip["x"].tap()
    assert line.inner_text() == 'P("y", "x")'
    chip["x"].press("ArrowRight")
    assert line.inner_text() == 'P("y")' and "2 devices hold each block" in said.inner_text()
    figure.get_by_role("button", name="6", exact=True).tap()
    assert said.inner_text().startswith("Device 6 holds A[4:6, 0:16].")
    assert figure.locator("svg g[opacity]").count() == 3
    box = figure.bounding_box()
    assert box and box["x"] + box["width"] <= width and page.evaluate(WIDE) <= width
    again = touched(f"{FIRST}#cut-,yx", width).locator("figure.cut")
    assert again.locator("code").inner_text() == 'P(None, ("y", "x"))'


def test_without_scripts_the_array_is_cut_as_in_the_chapter(touched: Callable[..., Page]) -> None:
    """And nothing is empty."""
    figure = touched(FIRST, java_script_enabled=False).locator("figure.cut")
    assert figure.locator("code").inner_text() == 'P("x", "y")' and figure.locator("svg rect").count() == 8
    assert "4 by 4 elements, 64 bytes" in figure.locator(".cut-said").inner_text()


def test_a_cut_is_what_jax_makes_of_it() -> None:
    """Every device's block, by JAX, for each of the cuts that can be dragged; no two of them have one spec."""
    sizes, names = tuple(cutting.MESH.values()), tuple(cutting.MESH)
    mesh = jax.make_mesh(sizes, names, axis_types=(AxisType.Auto,) * len(names))
    found = list(cutting.cuts())
    assert len(found) == 11 == len({cutting.spec(cut) for cut in found})
    for cut in found:
        sharding = NamedSharding(mesh, eval(cutting.spec(cut), {"P": P}))
        due = sharding.devices_indices_map(cutting.SHAPE)
        held = cutting.blocks(cut)
        for device in jax.devices():
            assert held[device.id] == [list(s.indices(n)[:2]) for s, n in zip(due[device], cutting.SHAPE)]


@pytest.mark.thorough(after=3)
@pytest.mark.parametrize("name", [CHAPTER, "intro", "playground"])
@pytest.mark.parametrize("width", WIDTHS)
def test_text_twice_as_large_stays_inside(touched: Callable[..., Page], name: str, width: int) -> None:
    """Text at 200 % makes the page longer and not wider."""
    page = touched(name, width)
    assert page.evaluate(WIDE) <= width
    page.add_style_tag(content="html { font-size: 212% !important; }")
    assert page.evaluate(WIDE) <= width


def test_figures_have_a_place_in_their_chapters() -> None:
    """Each stands before one heading."""
    for name, figures in chapters.FIGURES.items():
        lines = (ROOT / "solutions" / f"{name}.md").read_text().splitlines()
        assert [lines.count(heading) for heading in figures] == [1] * len(figures)


def jax_holds(pairs: sending.Pairs, steps: int) -> str:
    """The letters of blocks that JAX sends."""
    n = len(sending.LETTERS)
    mesh = jax.make_mesh((n,), ("x",), axis_types=(AxisType.Auto,), devices=jax.devices()[:n])

    def body(block: jax.Array) -> jax.Array:
        for _ in range(steps):
            block = jax.lax.ppermute(block, "x", pairs)
        return block

    after = jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(jnp.arange(1.0, n + 1))
    return "".join((sending.ZEROS + sending.LETTERS)[int(number)] for number in after)


def test_arrows_are_drawn_and_jax_sends_so(alone: Callable[..., Page]) -> None:
    """Dragged, tapped, by keys or from the address: after each number of steps every device holds what JAX gives it."""
    drawn = sending.figure().split("\n", 1)[1].removesuffix("```\n")
    page = alone(drawn)
    figure = page.locator("figure.send")
    senders, receivers = (figure.locator(f".send-{row} button") for row in ("sends", "holds"))

    def shown(page: Page = page) -> str:
        return "".join(page.locator(".send-holds b").all_inner_texts())

    assert shown() == sending.held(sending.BEGIN, 1) == jax_holds(sending.BEGIN, 1)
    senders.nth(0).tap()
    receivers.nth(2).tap()
    senders.nth(2).press("Enter")
    receivers.nth(1).press("Enter")
    start, end = senders.nth(0).bounding_box(), receivers.nth(1).bounding_box()
    assert start and end
    page.mouse.move(start["x"] + 9, start["y"] + 9)
    page.mouse.down()
    page.mouse.move(end["x"] + 9, end["y"] + 9, steps=3)
    page.mouse.up()
    pairs = [(1, 3), (3, 0), (0, 1)]
    assert figure.locator("code").inner_text() == f'lax.ppermute(block, "x", {pairs})'
    assert figure.locator("svg g path").count() == 3 and page.url.endswith("#send-13.30.01*1")
    for steps in range(1, sending.MOST + 1):
        figure.locator("input").fill(str(steps))
        assert shown() == sending.held(pairs, steps) == jax_holds(pairs, steps)
    assert figure.locator(".send-said").inner_text() == "After 4 steps device 2 holds zeros."
    senders.nth(0).tap()
    receivers.nth(3).tap()
    refused = [*pairs, (0, 3)]
    with pytest.raises(ValueError, match="must be unique") as raised:
        jax_holds(refused, 1)
    assert figure.locator(".send-said").inner_text() == f"ValueError: {raised.value}"
    assert shown(alone(drawn, "#send-01.10.23.32*2")) == sending.LETTERS
    assert shown(alone(drawn, "#send-*1")) == jax_holds([], 1) == sending.ZEROS * 4


def test_sliders_move_what_a_device_holds(alone: Callable[..., Page]) -> None:
    """On 64 devices the stages hold what the ZeRO paper's figure 1 says; the address keeps where the sliders are."""
    drawn = sliders.stages().split("\n", 1)[1].removesuffix("```\n")
    page = alone(drawn)
    stage, devices = page.locator("input").all()
    bar, said = page.locator(".moved-bar span"), page.locator(".moved-said")
    devices.fill(str(sliders.DEVICES.index(64)))
    for n, due in enumerate((120, 31.4, 16.6, 1.9)):
        stage.fill(str(n))
        assert float(said.inner_text().partition(" GB")[0]) == pytest.approx(due, abs=0.05)
        wide = bar.evaluate_all("all => all.reduce((sum, each) => sum + parseFloat(each.style.width), 0)")
        assert wide == pytest.approx(100 * due / 120, abs=0.05)
    assert page.url.endswith("#moved-3.6") and said.inner_text().endswith("Memory enough: v5e and H100.")
    assert page.locator("output").all_inner_texts() == ["3", "64"]
    again = alone(drawn, "#moved-2.1").locator(".moved-said").inner_text()
    assert again == "67.5 GB on each device: weights 15 GB, gradients 7.5 GB, optimizer 45 GB. Memory enough: H100."


def test_sliders_find_the_row_that_keeps_a_chip_busy() -> None:
    """Fewer rows than a chip has FLOPs for a byte leave it waiting for its memory, and twice as many do not."""
    for name in sliders.CHIPS:
        balance = sl.chip(name).flops / sl.chip(name).hbm_bandwidth
        for count in sliders.ROWS:
            lengths, said = sliders.roof(name, count)
            computing, moving = lengths
            assert max(lengths) == pytest.approx(100)
            if not balance <= count < 2 * balance:
                assert (computing > moving) == (count > balance) == ("computes all the time" in said)


def test_sliders_say_what_the_compiler_moves() -> None:
    """For every pair of specs, price and FLOPs are those of the program that XLA for CPU makes."""
    mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
    i, j, k = sliders.SIZES
    for left, right in itertools.product(range(len(sliders.CUTS)), repeat=2):
        specs = [(P(), P("x", None), P(None, "x"))[n] for n in (left, right)]
        operands = [
            jax.ShapeDtypeStruct(shape, "float32", sharding=NamedSharding(mesh, spec))
            for shape, spec in zip(((i, j), (j, k)), specs)
        ]
        program = sl.inspect(jnp.matmul, *operands)
        said = sliders.case(left, right)[1]
        assert [f"{spec}".replace("'", '"') for spec in specs] == [sliders.CUTS[left], sliders.CUTS[right]]
        assert f"Price {program.price:,} B;" in said, specs
        assert f"; {program.flops:,.0f} FLOPs" in said, specs


CLIPPED = """() => [...document.querySelectorAll("article svg")].filter(svg => svg.getClientRects().length).flatMap(svg => {
    const frame = svg.getBoundingClientRect();
    const outside = part => {
        const {left, right, top, bottom} = part.getBoundingClientRect();
        return left < frame.left - 2 || right > frame.right + 2 || top < frame.top - 2 || bottom > frame.bottom + 2;
    };
    const parts = [...svg.querySelectorAll("rect, text, path, circle")].filter(part => !part.closest(".m, .turn-flies"));
    return parts.filter(outside).map(part => part.outerHTML.slice(0, 120));
})"""
HIDDEN = """() => [...document.querySelectorAll("article svg")].filter(svg => {
    for (let box = svg.parentElement; box && box.tagName !== "ARTICLE"; box = box.parentElement) {
        const {overflowX} = getComputedStyle(box);
        if (/auto|scroll/.test(overflowX)) return false;
        const beyond = svg.getBoundingClientRect().right - box.getBoundingClientRect().right;
        if (/hidden|clip/.test(overflowX) && beyond > 2) return true;
    }
    return false;
}).map(svg => svg.outerHTML.slice(0, 120))"""


@pytest.mark.thorough(after=2)
@pytest.mark.parametrize("name", [CHAPTER, "intro", "playground"])
@pytest.mark.parametrize("width", (390, 1280))
def test_no_drawing_is_cut(touched: Callable[..., Page], name: str, width: int) -> None:
    """Every part of a drawing is inside of it, and a drawing that is wider than its place scrolls."""
    page = touched(name, width)
    page.evaluate("document.querySelectorAll('.curtain-bar button').forEach(button => button.click())")
    assert page.locator("article svg").count() > 0
    assert page.evaluate(CLIPPED) == []
    assert page.evaluate(HIDDEN) == []


def test_playgrounds_begin_with_an_answer(touched: Callable[..., Page]) -> None:
    """Each shows what stands in it before Python is loaded, and every bar of a time has a width."""
    page = touched("playground")
    answers = page.locator(".play-said").all_inner_texts()
    assert len(answers) == 6 and all(len(answer) > 40 for answer in answers)
    bars = re.findall(r"linear-gradient\(to right, [^%]*%, transparent\) ([\d.]+)%", page.content())
    bars = bars or re.findall(r"\) ([\d.]+)%, transparent [\d.]+%\)", page.content())
    assert len(bars) >= 5 and all(float(bar) > 0 for bar in bars)


def test_a_fault_of_a_playground_is_read_whole(touched: Callable[..., Page]) -> None:
    """Its last line, which says what to do, is inside of a phone's window."""
    page = touched("playground")
    said = playground.answered("place", mesh="x=2, y=4", shape="8, 16", said="P('x', 'x')")
    page.evaluate(f"document.querySelector('.play-said').innerHTML = {json.dumps(said)}")
    fault = page.locator(".play-fault")
    assert fault.evaluate("box => box.scrollWidth <= box.clientWidth") and "leave one of the two away" in fault.inner_text()


HELD = """() => [...document.querySelectorAll("g.m")].filter(group => getComputedStyle(group).opacity === "1")
    .filter(group => /\\bh/.test(group.getAttribute("class"))).map(group => group.textContent).sort().join("")"""


@pytest.fixture
def alone(browser: Browser, tmp_path: Path) -> Iterator[Callable[..., Page]]:
    """`alone(drawn, kept)` opens a page with nothing but a drawing and the book's scripts, `kept` in its address."""
    static = ROOT / "jupyter_book" / "_static"
    scripts = "".join(f'<script src="{(static / name).as_uri()}"></script>' for name in ("touch.js", "folds.js"))
    context = browser.new_context(reduced_motion="no-preference", has_touch=True)

    def visit(drawn: str, kept: str = "") -> Page:
        path = tmp_path / "drawing.html"
        path.write_text(f"<!doctype html><title>drawing</title>{scripts}{drawn}")
        page = context.new_page()
        page.goto(path.as_uri() + kept)
        return page

    yield visit
    context.close()


@pytest.fixture
def film(alone: Callable[..., Page]) -> Page:
    """An all-gather on four devices."""
    return alone(motion.draw(ring.schedule("all-gather", 4)))


def test_films_end_with_what_everyone_has(film: Page) -> None:
    """A browser shows a film's last frames as its schedule has them."""
    for part in (0.8, 0.999):
        film.evaluate(
            """part => document.getAnimations().forEach(each => {
                each.pause();
                each.currentTime = part * each.effect.getComputedTiming().duration;
            })""",
            part,
        )
        assert film.evaluate(HELD) == "AAAABBBBCCCCDDDD"


def test_a_film_is_led_by_its_slider(film: Page) -> None:
    """By arrow keys to what everyone holds after a step; Play lets it run again."""
    slider = film.locator(".scrub input")
    slider.focus()
    held = []
    for after in range(4):
        if after:
            for _ in range(4):
                film.keyboard.press("ArrowRight")
            assert film.locator(".scrub output").inner_text() == f"after step {after}"
        else:
            film.keyboard.press("Home")
            film.keyboard.press("ArrowRight")
            film.keyboard.press("ArrowLeft")
        held.append(film.evaluate(HELD))
    steps = ring.schedule("all-gather", 4).steps
    assert held == ["".join(sorted("ABCD"[c.home] for each in step.held for c in each)) for step in steps]
    film.locator(".scrub button").click()
    assert film.evaluate("document.getAnimations().every(each => each.playState === 'running')")


def test_rings_race_under_one_slider(alone: Callable[..., Page]) -> None:
    """After each step both hold what their schedules say; the one that goes both ways is done in four steps, and waits."""
    page = alone(racing.figure().split("\n", 1)[1].removesuffix("```\n"))
    long, short = (ring.schedule(racing.KIND, racing.DEVICES, both) for both in (False, True))
    assert (long.hops, short.hops) == (7, 4) and page.locator(".scrub").count() == 1
    slider = page.locator(".scrub input")
    for after in range(long.hops + 1):
        slider.fill(str(after))
        for lane, made in zip(page.locator(".race > div > div").all(), (long, short)):
            held = made.steps[min(after, made.hops)].held
            shown = lane.evaluate(HELD.replace("() =>", "lane =>").replace("document", "lane"))
            assert shown == "".join(sorted("ABCDEFGH"[chunk.home] for device in held for chunk in device))
    seen = page.locator(".race g.m").filter(has_text="done after 4")
    assert seen.count() == long.hops - short.hops and "0 chunks" not in page.content()
