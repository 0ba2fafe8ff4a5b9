"""The stored HLO texts: the course's reader and the answers to exercise 3.1 agree on what is in them."""

import random

import pytest

from shardlab import listings
from shardlab_course.ch03.ex02.oracle import bytes_by_kind, counted
from shardlab_course.chapters import question
from shardlab_course.shared import programs
from shardlens.reading.collectives import UNKNOWN, read_collectives

COUNTED = {
    "gather": {"all-gather": 16 * 48 * 4},
    "none": {},
    "combined": {"all-reduce": 4 * (12 * 20 + 20 + 20 * 16 + 16 + 16 * 24 + 24 + 24 * 8 + 8)},
    "loop": {"all-reduce": 10 * 32 * 4 * 4},
    "nested": {"all-reduce": 3 * (4 * 32 * 4 * 4 + 4)},
    "exchange": {"all-to-all": 2 * 24 * 4},
    "scatter": {"reduce-scatter": 4 * 40 * 4},
    "largest": {"all-gather": 2 * 8 * 24 * 4},
    "half_tpu": {"all-gather": 16 * 512 * 2},
    "roll_tpu": {"collective-permute": 128 * 4},
}


@pytest.mark.stored
@pytest.mark.parametrize("name", COUNTED)
def test_bytes_follow_from_shapes(name: str) -> None:
    """The oracle of 3.2 says of each text what the shapes of its JAX program say."""
    assert bytes_by_kind(listings.hlo(name)) == COUNTED[name]


@pytest.mark.stored
def test_lettered_lines_are_read_right() -> None:
    """The key of 3.1 is what the reader finds, once the letters are taken off."""
    key = [item.key for item in question("3.1").items if item.key != "none"]
    found = [c for name in ("reading_cpu", "reading_tpu") for c in read_collectives(listings.hlo(name))]
    said = [{"kind": c.kind, "bytes": c.payload_bytes, "group": c.group_size, "times": c.executions} for c in found]
    assert sorted(map(str, said)) == sorted(map(str, key))
    texts = [listings.listing(name) for name in ("reading_cpu", "reading_tpu")]
    lines = [line for text in texts for line in text.splitlines() if " = " in line]
    assert [line[0] for line in lines if line[0] != " "] == [item.name for item in question("3.1").items]


@pytest.mark.parametrize("name", listings.PROGRAMS)
def test_listing_is_complete(name: str) -> None:
    """Every text is there, read without remainder, and names no file of the machine that it was made on."""
    text = listings.hlo(name)
    assert UNKNOWN not in {c.kind for c in read_collectives(text)}
    assert "/" not in text.replace("/*index=", "").replace("*/", "") or "op_name" in text
    assert "source_file" not in text and "FileNames" not in text


def test_unknown_listing_names_the_others() -> None:
    """A name that does not exist gets the list of those that do."""
    with pytest.raises(KeyError, match="there are gather, none"):
        listings.listing("nothing")


def test_drawn_texts_are_counted_alike() -> None:
    """Two counters, written apart, agree on made-up modules."""
    rng = random.Random(3)
    for _ in range(50):
        (text,) = programs.draw_text(rng)
        assert counted()(text) == bytes_by_kind(text)
