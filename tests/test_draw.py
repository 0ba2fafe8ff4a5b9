"""Pictures of placements: the whole text, and the promises of the HTML."""

import math
import re
from html.parser import HTMLParser

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.sharding import AxisType, NamedSharding, SingleDeviceSharding

import shardlab as sl
from shardlab.pictures import draw, facts, picture, svg
from shardlens import show_tree
from shardlens.charts import drawing
from shardlens.placement import Placement, place

MESH = {"x": 2, "y": 4}
CUBE = {"a": 2, "b": 2, "c": 2}
EVEN = {"x": 2, "y": 2}

PLACEMENTS = {
    "blocks": place((16, 16), MESH, ("x", "y")),
    "rows-with-copies": place((16, 16), MESH, ("x",)),
    "rows": place((16, 16), {"x": 8}, ("x", None)),
    "columns": place((16, 16), {"x": 8}, (None, "x")),
    "line-over-both-axes": place((16,), MESH, (("y", "x"),)),
    "scalar": place((), MESH, ()),
    "replicated": place((8, 64), MESH, ()),
    "every-second-device": place((16, 16), EVEN, ("x", "y"), order=(0, 2, 4, 6)),
    "permuted": place((16, 16), MESH, ("y", "x"), order=(0, 4, 1, 5, 2, 6, 3, 7)),
    "three-dimensions": place((4, 16, 16), CUBE, ("a", "b", "c")),
    "four-dimensions": place((4, 4, 6, 6), CUBE, ("a", "b", "c")),
    "long-names": place((65536, 128), {"data": 4, "model": 2}, (("data", "model"),)),
    "overlap-and-gap": Placement((6, 6), ((0, ((0, 4), (0, 6))), (1, ((3, 6), (0, 3))))),
    "empty": place((0, 4), MESH, ()),
    "nobody": Placement((2, 2), ()),
    "too-wide": place((64, 64), {"x": 32}, (None, "x")),
}

TEXTS = {
    "blocks": """\
shape [16, 16]  mesh x=2 y=4  P('x', 'y')  A[16_x, 16_y]
shard [8, 4]  32 elements a device, 1 copy
         0:4     4:8     8:12   12:16
      ┌───────┬───────┬───────┬───────┐
 0:8  │   0   │   1   │   2   │   3   │
 8:16 │   4   │   5   │   6   │   7   │
      └───────┴───────┴───────┴───────┘""",
    "rows-with-copies": """\
shape [16, 16]  mesh x=2 y=4  P('x')  A[16_x, 16]
shard [8, 16]  128 elements a device, 4 copies
          0:16
      ┌─────────┐
 0:8  │ 0 1 2 3 │
 8:16 │ 4 5 6 7 │
      └─────────┘""",
    "rows": """\
shape [16, 16]  mesh x=8  P('x', None)  A[16_x, 16]
shard [2, 16]  32 elements a device, 1 copy
         0:16
       ┌──────┐
  0:2  │  0   │
  2:4  │  1   │
  4:6  │  2   │
  6:8  │  3   │
  8:10 │  4   │
 10:12 │  5   │
 12:14 │  6   │
 14:16 │  7   │
       └──────┘""",
    "line-over-both-axes": """\
shape [16]  mesh x=2 y=4  P(('y', 'x'))  A[16_{yx}]
shard [2]  2 elements a device, 1 copy
    0:2     2:4     4:6     6:8     8:10   10:12   12:14   14:16
 ┌───────┬───────┬───────┬───────┬───────┬───────┬───────┬───────┐
 │   0   │   4   │   1   │   5   │   2   │   6   │   3   │   7   │
 └───────┴───────┴───────┴───────┴───────┴───────┴───────┴───────┘""",
    "scalar": """\
shape []  mesh x=2 y=4  P()
shard []  1 element a device, 8 copies
 ┌─────────────────┐
 │ 0 1 2 3 4 5 6 7 │
 └─────────────────┘""",
    "replicated": """\
shape [8, 64]  mesh x=2 y=4  P()  A[8, 64]
shard [8, 64]  512 elements a device, 8 copies
             0:64
     ┌─────────────────┐
 0:8 │ 0 1 2 3 4 5 6 7 │
     └─────────────────┘""",
    "every-second-device": """\
shape [16, 16]  mesh x=2 y=2  P('x', 'y')  A[16_x, 16_y]
shard [8, 8]  64 elements a device, 1 copy
        0:8    8:16
      ┌──────┬──────┐
 0:8  │  0   │  2   │
 8:16 │  4   │  6   │
      └──────┴──────┘
devices 1, 3, 5, 7 hold nothing""",
    "permuted": """\
shape [16, 16]  mesh x=2 y=4  P('y', 'x')  A[16_y, 16_x]
shard [4, 8]  32 elements a device, 1 copy
         0:8    8:16
       ┌──────┬──────┐
  0:4  │  0   │  2   │
  4:8  │  4   │  6   │
  8:12 │  1   │  3   │
 12:16 │  5   │  7   │
       └──────┴──────┘""",
    "three-dimensions": """\
shape [4, 16, 16]  mesh a=2 b=2 c=2  P('a', 'b', 'c')  A[4_a, 16_b, 16_c]
shard [2, 8, 8]  128 elements a device, 1 copy
[0:2, :, :]             [2:4, :, :]
        0:8    8:16             0:8    8:16
      ┌──────┬──────┐         ┌──────┬──────┐
 0:8  │  0   │  1   │    0:8  │  4   │  5   │
 8:16 │  2   │  3   │    8:16 │  6   │  7   │
      └──────┴──────┘         └──────┴──────┘""",
    "four-dimensions": """\
shape [4, 4, 6, 6]  mesh a=2 b=2 c=2  P('a', 'b', 'c')  A[4_a, 4_b, 6_c, 6]
shard [2, 2, 3, 6]  72 elements a device, 1 copy
[0:2, 0:2, :, :]   [0:2, 2:4, :, :]
       0:6                0:6
     ┌─────┐            ┌─────┐
 0:3 │  0  │        0:3 │  2  │
 3:6 │  1  │        3:6 │  3  │
     └─────┘            └─────┘
[2:4, 0:2, :, :]   [2:4, 2:4, :, :]
       0:6                0:6
     ┌─────┐            ┌─────┐
 0:3 │  4  │        0:3 │  6  │
 3:6 │  5  │        3:6 │  7  │
     └─────┘            └─────┘""",
    "overlap-and-gap": """\
shape [6, 6]
shard up to [4, 6]  up to 24 elements a device, 1 copy
       0:3   3:6
     ┌─────┬─────┐
 0:3 │  0  │  0  │
 3:4 │ 0 1 │  0  │
 4:6 │  1  │  -  │
     └─────┴─────┘
devices 2, 3, 4, 5, 6, 7 hold nothing""",
    "empty": """\
shape [0, 4]  mesh x=2 y=4  P()  A[0, 4]
shard [0, 4]  0 elements a device, 8 copies
  [0:0, 0:4]  devices 0, 1, 2, 3, 4, 5, 6, 7""",
    "nobody": """\
shape [2, 2]
no shards  nothing held, 0 copies
devices 0, 1, 2, 3, 4, 5, 6, 7 hold nothing""",
}

PAIRS = {
    "moved": (
        place((8,), {"x": 4}, ("x",)),
        place((8,), EVEN, (("y", "x"),)),
        """\
expected                          yours
shape [8]  P('x')                 shape [8]  P(('y', 'x'))
mesh x=4                          mesh x=2 y=2
shard [2], 1 copy                 shard [2], 1 copy
   0:2   2:4   4:6   6:8             0:2   2:4   4:6   6:8
 ┌─────┬─────┬─────┬─────┐         ┌─────┬─────┬─────┬─────┐
 │  0  │  1  │  2  │  3  │         │  0  │ ≠ 2 │ ≠ 1 │  3  │
 └─────┴─────┴─────┴─────┘         └─────┴─────┴─────┴─────┘
devices 4, 5, 6, 7 hold nothing   devices 4, 5, 6, 7 hold nothing
≠ devices 1, 2 hold something other than expected""",
    ),
    "elsewhere": (
        place((4, 4), EVEN, ("x", "y"), order=(0, 2, 4, 6)),
        place((4, 4), EVEN, ("x", "y")),
        """\
expected                          yours
shape [4, 4]  P('x', 'y')         shape [4, 4]  P('x', 'y')
mesh x=2 y=2                      mesh x=2 y=2
shard [2, 2], 1 copy              shard [2, 2], 1 copy
       0:2   2:4                         0:2   2:4
     ┌─────┬─────┐                     ┌─────┬─────┐
 0:2 │  0  │  2  │                 0:2 │  0  │ ≠ 1 │
 2:4 │  4  │  6  │                 2:4 │ ≠ 2 │ ≠ 3 │
     └─────┴─────┘                     └─────┴─────┘
devices 1, 3, 5, 7 hold nothing   devices 4, 5, 6, 7 hold nothing
≠ devices 1, 2, 3, 4, 6 hold something other than expected""",
    ),
    "same": (
        place((4,), {"x": 8}, ()),
        place((4,), MESH, ()),
        """\
expected               yours
shape [4]  P()         shape [4]  P()
mesh x=8               mesh x=2 y=4
shard [4], 8 copies    shard [4], 8 copies
         0:4                    0:4
 ┌─────────────────┐    ┌─────────────────┐
 │ 0 1 2 3 4 5 6 7 │    │ 0 1 2 3 4 5 6 7 │
 └─────────────────┘    └─────────────────┘
= every device holds the same slice in both""",
    ),
    "other-shape": (
        place((4, 2), {"x": 8}, ()),
        place((4,), {"x": 8}, ()),
        """\
expected                   yours
shape [4, 2]  P()          shape [4]  P()
mesh x=8                   mesh x=8
shard [4, 2], 8 copies     shard [4], 8 copies
             0:2                     0:4
     ┌─────────────────┐    ┌───────────────────┐
 0:4 │ 0 1 2 3 4 5 6 7 │    │ ≠ 0 1 2 3 4 5 6 7 │
     └─────────────────┘    └───────────────────┘
≠ the shapes differ: [4, 2] and [4]""",
    ),
}

HOSTILE = '<script src="http://x.example/a.js">&\'"\x1b[31m\n</div>'


class Page(HTMLParser):
    """Reads a piece of HTML strictly: every element closed in order, all text and attributes kept."""

    VOID = frozenset({"br", "hr", "img", "input", "link", "meta"})

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.words: list[str] = []
        self.blocks: list[str] = []
        self.feed(html)
        self.close()
        assert not self.open, f"left open: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the element and its attributes."""
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element that closes itself."""
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        """Close the innermost element."""
        assert self.open and self.open.pop() == tag, f"</{tag}> out of order"

    def handle_data(self, text: str) -> None:
        """Note the text, and apart from it that of the blocks, which is heavier than the ticks."""
        self.words.append(text)
        if self.open[-1:] == ["text"] and ("font-weight", "600") in self.attributes[-7:]:
            self.blocks.append(text)

    def values(self, name: str) -> list[str]:
        """All values of an attribute."""
        return [value for key, value in self.attributes if key == name]

    def numbers(self) -> set[int]:
        """All whole numbers in the text."""
        return {int(n) for words in self.words for n in re.findall(r"\d+", words)}


@pytest.mark.parametrize("case", TEXTS)
def test_text(case: str) -> None:
    """The whole picture in plain characters."""
    assert draw.text(PLACEMENTS[case]) == TEXTS[case]


@pytest.mark.parametrize(("expected", "got", "text"), PAIRS.values(), ids=PAIRS)
def test_pair_as_text(expected: Placement, got: Placement, text: str) -> None:
    """Two pictures side by side, what differs marked."""
    assert str(draw.pair(expected, got)) == text


def test_a_pair_that_is_too_wide_stands_one_below_the_other() -> None:
    """No line is longer than a terminal."""
    lines = str(draw.pair(PLACEMENTS["columns"], PLACEMENTS["columns"])).splitlines()
    assert lines.index("expected") < lines.index("yours")
    assert max(map(len, lines)) <= 80


def test_a_grid_too_wide_for_a_terminal_becomes_a_list() -> None:
    """One line a slice instead of lines that wrap."""
    lines = draw.text(PLACEMENTS["too-wide"]).splitlines()
    assert lines[2] == "  [0:64, 0:2]  device 0"
    assert len(lines) == 2 + 32


def test_a_long_list_ends_with_how_many_are_left_out() -> None:
    """Sixty-four slices, then the number of the others."""
    many = place((512,), {"x": 512}, ("x",))
    assert draw.text(many).splitlines()[-1] == "  and 448 more slices"
    assert "and 448 more slices" in Page(draw.html(many)).words[-1]


@pytest.mark.parametrize("case", PLACEMENTS)
def test_html_stands_alone(case: str) -> None:
    """Well-formed, without scripts, ids, classes, links or anything fetched."""
    page = Page(draw.html(PLACEMENTS[case], "Title"))
    assert page.tags <= {"div", "span", "b", "i", "sub", "svg", "rect", "path", "text"}
    assert not {name for name, _ in page.attributes} & {"id", "class", "href", "src", "onclick", "onload"}
    assert not [value for name, value in page.attributes if name != "xmlns" and ("http" in value or "url(" in value)]


@pytest.mark.parametrize("case", PLACEMENTS)
def test_html_shows_and_says_who_holds_what(case: str) -> None:
    """Every device is in the picture and every slice in the text alternative."""
    placement = PLACEMENTS[case]
    page = Page(draw.html(placement))
    (said,) = page.values("aria-label")
    assert page.values("role") == ["img"]
    assert set(placement.devices) <= page.numbers()
    assert all(drawing.written(index) in said or index == () for index in placement.holders())


def test_the_text_alternative_in_whole() -> None:
    """What a screen reader says."""
    said = Page(draw.html(place((4,), EVEN, ("x",)))).values("aria-label")
    assert said == [
        "shape [4], mesh x=2 y=2, P('x'), shard [2], 2 elements a device, 2 copies. "
        "[0:2] on devices 0, 1; [2:4] on devices 2, 3."
    ]


def test_html_marks_the_blocks_that_differ() -> None:
    """The mark is a sign and a dashed outline, never colour alone."""
    page = Page(draw.pair(*PAIRS["elsewhere"][:2]).html)
    assert [word for word in page.words if word.startswith("≠")][:3] == ["≠ 1", "≠ 2", "≠ 3"]
    assert page.values("stroke-dasharray") == ["6 3"] * 3


def test_copies_are_hatched() -> None:
    """A block that several devices hold has lines across it; what device 0 has alone has none."""
    alone = Placement((8, 64), ((0, ((0, 8), (0, 64))),))
    assert draw.html(PLACEMENTS["replicated"]).count("<path") == 1 and "<path" not in draw.html(alone)
    assert draw.html(PLACEMENTS["rows-with-copies"]).count("<path") == 2


def test_one_array_has_one_size_beside_itself() -> None:
    """However it is cut: in a pair, and in a dict of pictures, which has all titles in one text."""
    cuts = {name: PLACEMENTS[name] for name in ("blocks", "rows", "columns")}
    drawn = sl.show(cuts)
    for placements in (drawn.html, draw.pair(cuts["blocks"], cuts["columns"]).html):
        widths, heights = set(), set()
        for panel in re.findall(r"<svg.*?</svg>", placements):
            number = r"=\"([\d.]+)\" "
            found = re.findall(f"<rect x{number}y{number}width{number}height{number}rx", panel)
            boxes = [tuple(map(float, box)) for box in found]
            widths.add(round(max(x + w for x, _, w, _ in boxes) - min(x for x, _, _, _ in boxes)))
            heights.add(round(max(y + h for _, y, _, h in boxes) - min(y for _, y, _, _ in boxes)))
        assert max(widths) - min(widths) <= 1 and max(heights) - min(heights) <= 1
    assert all(f"{name}\n" in drawn.text or f"{name} " in drawn.text for name in cuts)


def test_titles_and_names_cannot_break_out() -> None:
    """Tags, quotes and control characters in a title, an axis or a dtype are shown, not obeyed."""
    placement = Placement((4,), ((0, ((0, 4),)),), ((HOSTILE, 1),), (HOSTILE,), HOSTILE)
    page = Page(draw.html(placement, HOSTILE))
    assert "script" not in page.tags
    assert any("<script" in words for words in page.words)
    text = draw.text(placement, HOSTILE)
    assert "\x1b" not in text and all(line.isprintable() for line in text.splitlines())
    assert len(text.splitlines()) == len(draw.text(place((4,), {"x": 1}, ("x",)), "t").splitlines())


def test_a_title_may_be_a_number() -> None:
    """Of an array and of a tree."""
    x = jax.numpy.ones(4)
    for shown, said in ((sl.show(x, title=0), "0"), (sl.show([x], title=4), "4")):
        assert shown.text.splitlines()[0] == said and f">{said}<" in shown.html


def luminance(colour: str) -> float:
    """Relative luminance of a colour (WCAG 2.2)."""
    parts = (v / 255 for v in bytes.fromhex(colour[1:]))
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
    return float(np.dot((0.2126, 0.7152, 0.0722), linear))


@pytest.mark.parametrize("device", range(24))
def test_device_numbers_stand_out_from_their_block(device: int) -> None:
    """Contrast of at least 7 (WCAG AAA), in the light and the dark page alike: both colours are the picture's own."""
    assert (luminance(drawing.fill(device)) + 0.05) / (luminance(drawing.INK) + 0.05) >= 7


def test_24_devices_have_24_colours() -> None:
    """Colours return only from the 25th device on."""
    assert len({drawing.fill(device) for device in range(24)}) == 24


@st.composite
def placements(draws: st.DrawFn) -> Placement:
    """A mesh of up to 32 devices in any order, and a shape of up to 4 dimensions that it divides."""
    sizes = draws(st.lists(st.integers(1, 4), min_size=1, max_size=3).filter(lambda s: math.prod(s) <= 32))
    axes = {f"axis{k}": n for k, n in enumerate(sizes)}
    rank = draws(st.integers(0, 4))
    spec: list[tuple[str, ...]] = [()] * rank
    for axis in draws(st.permutations(list(axes))):
        home = draws(st.integers(0, rank))
        if home < rank:
            spec[home] = (*spec[home], axis)
    shape = [math.prod(axes[axis] for axis in entry) * draws(st.integers(1, 300)) for entry in spec]
    return place(shape, axes, tuple(spec), draws(st.permutations(range(math.prod(sizes)))))


def held(lines: list[str]) -> list[str]:
    """Device ids in blocks and lists, without the slices beside them."""
    blocks = [line.partition("device")[2] or line for line in lines if "│" in line or "]  device" in line]
    return re.findall(r"(?<![\d:])[\d–]+(?![\d:])", " ".join(blocks))


@settings(deadline=None, max_examples=60, derandomize=True)
@given(placements())
def test_every_device_is_shown_in_text_and_html(placement: Placement) -> None:
    """Whatever the mesh, the order and the shape."""
    expected = sorted(word for block in placement.holders().values() for word in drawing.ids(block))
    page = Page(draw.html(placement))
    assert sorted(held(draw.text(placement).splitlines()[2:])) == expected
    assert sorted(" ".join(page.blocks).split() or held(page.words)) == expected


def test_arrays_shardings_and_shapes_with_shardings_are_shown() -> None:
    """All that has a shape and a sharding; one device of eight leaves seven idle."""
    mesh = jax.make_mesh((2, 4), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
    sharding = NamedSharding(mesh, jax.P("x", "y"))
    array = jax.device_put(np.zeros((16, 16), np.float32), sharding)
    text = TEXTS["blocks"].replace("shape [", "float32[", 1).replace("32 elements", "128 B")
    assert str(sl.show(array)) == repr(sl.show(array)) == text
    assert str(sl.show(jax.ShapeDtypeStruct((16, 16), "float32", sharding=sharding))) == text
    assert str(sl.show(sharding, (16, 16))) == str(sl.show(PLACEMENTS["blocks"])) == TEXTS["blocks"]
    assert sl.show(array, title="A")._repr_html_() == draw.html(sl.placement_of(array), "A")
    single = str(sl.show(SingleDeviceSharding(jax.devices()[2]), (4,)))
    assert single.splitlines()[-1] == "devices 0, 1, 3, 4, 5, 6, 7 hold nothing"


NOT_SHOWN = {
    "numpy-array": (
        lambda mesh: np.zeros(3),
        """\
[no-sharding] ndarray has no sharding.
  where: x is a numpy.ndarray
  mend:  give a JAX array (jax.device_put(x, sharding) makes one); inside jit, print jax.typeof(x) instead.""",
    ),
    "sharding-alone": (
        lambda mesh: NamedSharding(mesh, jax.P("x")),
        """\
[sharding-without-shape] NamedSharding alone does not say which slices its devices hold.
  where: x is a sharding
  mend:  give the global shape too, after the sharding: (16, 16).""",
    ),
    "abstract-mesh": (
        lambda mesh: jax.ShapeDtypeStruct((8,), "float32", sharding=NamedSharding(mesh.abstract_mesh, jax.P("x"))),
        """\
[mesh-without-devices] this sharding is over an abstract mesh, which has axes but no devices.
  where: x is a ShapeDtypeStruct, like the one that jax.typeof returns
  mend:  give the array itself, or a NamedSharding over a mesh from jax.make_mesh, and the array's shape.""",
    ),
}


@pytest.mark.parametrize("case", NOT_SHOWN)
def test_what_cannot_be_shown_says_why(case: str) -> None:
    """The whole message."""
    make, message = NOT_SHOWN[case]
    mesh = jax.make_mesh((8,), ("x",), axis_types=(AxisType.Auto,))
    with pytest.raises(sl.ShardlabError) as caught:
        sl.show(make(mesh))
    assert str(caught.value) == message


SIZES = {0: "0 B", 9999: "9,999 B", 10240: "10 KiB", 65536: "64 KiB", 3 << 29: "1.5 GiB", 1 << 60: "1,024 PiB"}


@pytest.mark.parametrize(("count", "text"), SIZES.items())
def test_size(count: int, text: str) -> None:
    """Exact while that is readable, then binary units."""
    assert drawing.size(count) == text


DTYPES = ["float32", "bfloat16", "float8_e4m3fn", "int4", "uint8", "bool", "complex64"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_bytes_are_those_that_jax_counts(dtype: str) -> None:
    """`nbytes` of the shard."""
    array = jax.device_put(np.zeros(64, jax.numpy.dtype(dtype)))
    assert facts.facts(sl.placement_of(array)).bytes == drawing.size(array.nbytes) + " a device"


def test_a_dtype_without_a_size_is_counted_in_elements() -> None:
    """Random keys have no bytes to count."""
    assert facts.facts(sl.placement_of(jax.random.key(0))).bytes == "1 element a device"


def test_a_tree_is_a_table() -> None:
    """A dict of a few arrays is drawn; more of them, and every other tree, are told in a table, in a notebook too."""
    x = jax.numpy.ones(4)
    assert "┌" in str(sl.show({"a": x, "b": x}))
    for tree in ([x], (x, x), {"a": {"b": x}}, {"a": x, "b": None}, {f"w{i}": x for i in range(draw.BESIDE + 1)}):
        shown = sl.show(tree, title="held")
        assert str(shown) == str(show_tree(tree, title="held")) and "<table" in shown._repr_html_()


def test_beside_each_other_arrays_have_the_devices_that_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of four devices four are named, as for an array alone; a `Placement` knows of the course's eight."""
    monkeypatch.setattr(draw, "_devices", lambda x: [0, 1, 2, 3])
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:4]), ("x",), axis_types=(AxisType.Auto,))
    rows = jax.device_put(np.zeros(4, np.float32), NamedSharding(mesh, jax.P("x")))
    one = jax.device_put(np.zeros(4, np.float32), jax.devices()[3])
    shown = sl.show({"rows": rows, "one": one})
    for said in (shown.text, shown.html):
        assert re.findall(r"devices? [\d, ]+ hold\w* nothing", said) == ["devices 0, 1, 2 hold nothing"]
    assert "devices 4, 5, 6, 7 hold nothing" in str(sl.show({"rows": sl.placement_of(rows)}))


def test_partial_sums_are_told() -> None:
    """An unreduced array has no slices to draw; the message says what it holds and how to add it up."""
    mesh = jax.make_mesh((2, 4), ("x", "y"), axis_types=(jax.sharding.AxisType.Explicit,) * 2)
    place_on = lambda *spec: jax.NamedSharding(mesh, jax.P(*spec))  # noqa: E731
    a = jax.device_put(np.arange(24, dtype=np.float32).reshape(4, 6), place_on(None, "x"))
    b = jax.device_put(np.arange(30, dtype=np.float32).reshape(6, 5), place_on("x", None))
    with jax.set_mesh(mesh):
        terms = jax.numpy.dot(a, b, out_sharding=jax.P(None, None, unreduced={"x"}))
    with pytest.raises(sl.ShardlabError, match="partial-sums"):
        sl.show(terms)


def test_a_scalar_has_its_devices_side_by_side() -> None:
    """Not one below the other."""
    (panel,) = picture.panels(place((), MESH, ()))
    assert svg.layout(panel, 200.0).lines == [[["0 1 2 3", "4 5 6 7"]]]
