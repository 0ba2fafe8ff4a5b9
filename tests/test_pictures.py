"""Pictures of meshes, collectives, memory, schedules and roofs: their words, and that they stand alone."""

import dataclasses
import re
import xml.etree.ElementTree as ElementTree

import jax
import pytest

import hlo_texts
from shardlab.errors import ShardlabError
from shardlens.charts.drawing import Picture
from shardlens.charts.memory import show_memory
from shardlens.charts.roofline import Work, matmul, show_roofline
from shardlens.charts.timeline import show_schedule, ticks, timelines
from shardlens.programs.program import Memory, Program
from shardlens.reading.collectives import Collective, read_collectives
from shardlens.rings.exchange import show_collective
from shardlens.rings.lattice import show_mesh

AUTO = jax.sharding.AxisType.Auto


def stored(name: str) -> str:
    """A stored HLO text."""
    return (hlo_texts.FOLDER / f"{name}.txt").read_text()


def collectives(name: str) -> tuple[Collective, ...]:
    """The collectives of a stored text."""
    return read_collectives(stored(name), tuple(hlo_texts.PROGRAMS[name.partition("_")[2]][0].items()))


BYTES = Memory(600, 300, 100, 0, 1000)


def program(*found: Collective, memory: Memory = BYTES) -> Program:
    """A program of these collectives."""
    return Program(found, memory, 1e9, "", (), 8, "cpu")


PICTURES = {
    "mesh": lambda: show_mesh(jax.make_mesh((2, 4), ("x", "y"), axis_types=(AUTO,) * 2)),
    "mesh of one axis": lambda: show_mesh(jax.make_mesh((8,), ("<x>",), axis_types=(AUTO,))),
    "mesh of three axes": lambda: show_mesh(jax.make_mesh((2, 2, 2), ("a", "b", "c"), axis_types=(AUTO,) * 3)),
    "mesh without devices": lambda: show_mesh(jax.sharding.AbstractMesh((16, 32), ("x", "y"), axis_types=(AUTO,) * 2)),
    "gather": lambda: show_collective(*collectives("cpu_gather_slow")),
    "permute": lambda: show_collective(*collectives("cpu_shift")),
    "ragged": lambda: show_collective(*collectives("v5e_ragged")),
    "64 chips": lambda: show_collective(collectives("v5p_cube")[2]),
    "unknown": lambda: show_collective(Collective("unknown", (8,), "f32", 32, 32, name="y (all-shuffle)")),
    "program": lambda: show_collective(program(*collectives("cpu_loops"))),
    "nothing": lambda: show_collective(program()),
    "memory": lambda: show_memory({"one": program(), "other": program(memory=Memory(0, 0, 0, 0, 0))}),
    "memory of a chip": lambda: show_memory(program(), on="v5e"),
    "schedule": lambda: show_schedule(stored("v5e_overlapped")),
    "schedule of a loop": lambda: show_schedule(stored("v5e_ring_attention")),
    "schedule on CPU": lambda: show_schedule(stored("cpu_softmax")),
    "roofline": lambda: show_roofline(["v5e", "v5p"], dtypes=["bf16", "int8"], network=True),
    "roofline of programs": lambda: show_roofline(programs={"p": program(*collectives("cpu_loop"))}, network=True),
}


@pytest.mark.parametrize(("name", "sums"), [("cpu_gather_slow", False), ("cpu_softmax", True)])
def test_letters_are_explained(name: str, sums: bool) -> None:
    """Where terms are added up, what `A1` is; elsewhere that a letter is a device."""
    made = show_collective(next(c for c in collectives(name) if c.groups))
    assert ("device&#x27;s term of chunk A" in made.html, "letters and numbers count" in made.html) == (sums, not sums)


@pytest.mark.thorough(after=17)
@pytest.mark.parametrize("name", PICTURES)
def test_picture(name: str) -> None:
    """Each picture has words, is well formed, fetches nothing, and says in words what it shows."""
    made: Picture = PICTURES[name]()
    assert made.text and made.html == made._repr_html_()
    root = ElementTree.fromstring(made.html)
    links = made.html.replace("http://www.w3.org/2000/svg", "").replace("http://www.w3.org/1999/xlink", "")
    assert "http" not in links and "<script" not in links and "#808080" not in links
    drawn = [e for e in root.iter() if e.tag.endswith("svg")]
    assert len([e for e in root.iter() if e.get("aria-label")]) >= bool(drawn)
    assert all(e.get("aria-hidden") == "true" for e in drawn)


def test_mesh_text() -> None:
    """Rows are the first axis, columns the last; a ring has open ends on both sides."""
    lines = str(PICTURES["mesh"]()).splitlines()
    assert lines[0] == "mesh x=2 y=4: 8 devices; y closes into a ring"
    assert lines[2:] == ["x=0 ~  0  -  1  -  2  -  3  ~", "x=1 ~  4  -  5  -  6  -  7  ~"]


def test_collective_text() -> None:
    """Pairs for a permute, groups for the others."""
    assert str(PICTURES["permute"]()).splitlines() == [
        "collective-permute of f32[8, 128] over y, 1 time",
        "  each source gives its whole block to its target",
        "  0→1  1→2  2→3  4→5  5→6  6→7",
    ]
    assert "0 4 | 1 5 | 2 6 | 3 7" in str(PICTURES["gather"]())


def test_memory_text() -> None:
    """Bars to one scale, and the numbers."""
    lines = str(show_memory(program())).splitlines()
    assert lines[0] == "each of 8 devices" and lines[1].count("▓") == 29
    assert lines[2] == "  ▓ arguments 600 B, ▒ outputs 300 B, ░ temporary 100 B; peak 1,000 B"


def test_aliased_outputs_take_no_room() -> None:
    """An output in the place of a donated argument is not counted twice."""
    assert "outputs 0 B" in str(show_memory(program(memory=Memory(600, 300, 0, 300, 600))))


def test_schedule_of_a_tpu() -> None:
    """A gather runs beside the first product, as the stored text has it; a CPU runs nothing beside anything."""
    (entry,) = timelines(stored("v5e_overlapped"))
    (beside,) = [bar for bar in entry.bars if bar.beside and bar.kind == "collective"]
    assert entry.estimated and 0 < beside.stop - beside.start < entry.end
    assert not any(bar.beside for t in timelines(stored("cpu_overlapped")) for bar in t.bars)
    loop = timelines(stored("v5e_ring_attention"))[1]
    assert sum(bar.beside and bar.kind == "collective" and bar.stop > bar.start for bar in loop.bars) == 2


def test_a_schedule_says_what_and_how_long() -> None:
    """Blocks of compute are named, the axis says that its time is estimated, and no title is a name of the compiler's."""
    drawn = show_schedule(stored("v5e_overlapped"))
    assert drawn.text.startswith("Schedule of the program: ") and "_spmd" not in drawn.text + drawn.html
    assert "cycles of compute (estimated)</text>" in drawn.html and "Blocks of compute: " in drawn.html
    assert "dot_general" in drawn.text
    assert "not a time</text>" not in drawn.html and "(not a time)</text>" in show_schedule(stored("cpu_softmax")).html


def test_ticks_are_round() -> None:
    """Multiples of 1, 2 or 5 and zeros, from 0 to no more than the end; few, and more than one."""
    assert [ticks(end) for end in (0, 1, 5, 6, 9)] == [[0], [0, 1], [0, 1, 2, 3, 4, 5], [0, 2, 4, 6], [0, 2, 4, 6, 8]]
    assert ticks(88_066) == [0, 20_000, 40_000, 60_000, 80_000]


def test_a_schedule_without_an_estimate_is_in_steps() -> None:
    """Where the compiler estimates no operation that is drawn, each takes one step, and nothing is said to take no time."""
    drawn = show_schedule(re.sub(r'"estimated_cycles":"\d+"', '"estimated_cycles":"0"', stored("v5e_overlapped")))
    assert "cycles of compute" not in drawn.html and "operations in order, one step each" in drawn.html


@pytest.mark.thorough
def test_panels_stand_below_each_other_on_a_phone() -> None:
    """Each panel is an element of its own, that shows nothing of the other; the figure is as it was."""
    chart = show_roofline(["v5e", "v5p"], network=True)
    first, second = chart.html.split("<svg ")[1:]
    assert "memory roof" in first and "interconnect roof" not in first and "interconnect roof" in second
    assert "flex-wrap:wrap" in chart.html and all(axes.get_visible() for axes in chart.figure.axes)
    assert show_roofline(["v5e", "v5p"], network=True).html == chart.html


def test_equal_operands_are_counted() -> None:
    """An exchange of eight equal blocks is not a line of eight types."""
    exchange = Collective("all-to-all", (8,), "f32", 32, 32)
    many = dataclasses.replace(exchange, arrays=(("f32", (1, 2)),) * 8 + (("s32", (4,)),))
    assert str(show_collective(many)).startswith("all-to-all of 8 \u00d7 f32[1, 2] + s32[4] in groups")


def test_a_text_without_an_order() -> None:
    """HLO that was not scheduled has no schedule to show."""
    with pytest.raises(ShardlabError, match="not-scheduled"):
        show_schedule("HloModule m\n\nENTRY %main (x: f32[8]) -> f32[8] {\n  ROOT %x = f32[8]{0} parameter(0)\n}\n")


def test_batches_meet_the_roof_at_the_critical_size() -> None:
    """Scaling-book, Part 1: on v5e a bf16 matmul is bound by compute from about 240 tokens on."""
    lines = [line.split() for line in str(show_roofline("v5e", (200, 300))).splitlines()]
    assert [line[-1] for line in lines[2:4]] == ["memory", "compute"]
    assert matmul(1, 64, 64).flops == 2 * 64 * 64


@pytest.mark.thorough
def test_roofline_figure() -> None:
    """The figure is matplotlib's, transparent, one panel a roof, every line and marker told apart without colour."""
    figure = show_roofline(["v5e", "v5p"], programs={"w": Work(1e12, 1e9, 1e8)}, network=True).figure
    assert figure.get_facecolor()[3] == 0 and [ax.get_title() for ax in figure.axes] == ["memory roof", "interconnect roof"]
    assert {line.get_linestyle() for line in figure.axes[0].lines if len(line.get_xdata()) == 3} == {"-", "--"}
    with pytest.raises(ShardlabError, match="no-roof.*v5e has no peak rate for fp8"):
        show_roofline(dtypes="fp8")
    with pytest.raises(ShardlabError, match="no-roof"):
        show_roofline(dtypes="f64")
