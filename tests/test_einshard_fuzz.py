"""Drawn expressions: the oracle's index map for what fits, one error class for everything else.

`SHARDLAB_FUZZ` is how many expressions are drawn for the one error class, and four times how many for the oracle: 2,000
unless set.
"""

from __future__ import annotations

import math
import os
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from einshard_oracle import index_map
from shardlab.errors import ShardingError
from shardlab.expressions.inverse import letter_names, write_axes, write_counts
from shardlab.expressions.parsing import parse
from shardlab.expressions.resolution import axis_spec, resolve, resolve_on
from shardlab.expressions.sharding import make_sharding
from shardlens.placement import place

COUNT = int(os.environ.get("SHARDLAB_FUZZ", "2000"))
BATCH = 10
drawn = settings(max_examples=max(1, COUNT // BATCH), deadline=None, suppress_health_check=list(HealthCheck))
drawn_fewer = settings(drawn, max_examples=max(1, COUNT // BATCH // 4))
PIECES = (
    *("->", "->", "->", " ", " ", " ", " ", "\t", "\u3000", "\n", "...", "..", "*", "@", "(", ")", "a", "b", "ab", "_"),
    *("0", "1", "2", "3", "4", "8", "16", "007", "9" * 40, "٤", "²", "８", "é", "e\u0301", "日本", "x", "y", "@x", "@(x y)"),
    *("a2", "b4*", "2*", "a*", "a@x", "\x00", "\ud800", "\u2028", "-", ">", ".", "😀", "ⅷ", "𝟚", '"', "\\", "{}", "%s"),
)


def expression(rng: random.Random) -> tuple[str, tuple[int, ...], int]:
    """A well-formed expression, a shape that it divides, and a number of devices that its numbers make up."""
    names, ratio = letter_names(rng.randint(0, 5)), rng.choice((1, 1, 2, 2, 3, 4))
    right, parts, devices = [], dict.fromkeys(names, 1), 1
    for _ in range(rng.randint(0, 6)):
        name, base, star = rng.choice((*names, "")), rng.choice((1, 1, 2, 2, 3, 4)), rng.random() < 0.4
        size = base * ratio if star else base
        if devices * size <= 64:
            right.append(f"{name}{base if base > 1 or not star or rng.random() < 0.5 else ''}{'*' * star}")
            devices, parts = devices * size, parts | ({name: parts[name] * size} if name else {})
    elided = not names or rng.random() < 0.3
    whole = [name for name in names if not any(word.startswith(name) for word in right)]
    for word in (*whole, *(["..."] if elided else [])):
        right.insert(rng.randint(0, len(right)), word)
    left, shape = list(names), [parts[name] * rng.randint(1, 3) for name in names]
    if elided:
        at = rng.randint(0, len(left))
        left.insert(at, "...")
        shape[at:at] = [rng.randint(1, 5) for _ in range(rng.randint(0, 5 - len(names)))]
    return f"{' '.join(left)} -> {' '.join(right)}", tuple(shape), devices


@drawn_fewer
@given(st.integers(min_value=0, max_value=2**64))
def test_agrees_with_oracle(seed: int) -> None:
    """Every device holds the slice that the definition gives it; so it does after a round trip through a sharding."""
    rng = random.Random(seed)
    for _ in range(BATCH):
        text, shape, devices = expression(rng)
        found, wanted = resolve(text, shape, devices), index_map(text, shape, devices)
        assert dict(place(shape, found.axes, found.spec).shards) == wanted, text
        again = write_counts(found, letter_names(len(shape)))
        assert index_map(again, shape, devices) == wanted, (text, again)


@drawn_fewer
@given(st.integers(min_value=0, max_value=2**64))
def test_axes_round_trip(seed: int) -> None:
    """Written with `@`, the same placement comes back on its mesh."""
    rng = random.Random(seed)
    for _ in range(BATCH):
        text, shape, devices = expression(rng)
        found = resolve(text, shape, devices)
        assert resolve_on(write_axes(found, letter_names(len(shape))), shape, found.axes) == found
        assert resolve_on(text, shape, found.axes) == found


@pytest.mark.thorough
@drawn_fewer
@given(st.integers(min_value=0, max_value=2**64))
def test_agrees_on_misfits(seed: int) -> None:
    """With other devices or another shape it fits exactly where the oracle says that it does."""
    rng = random.Random(seed)
    for _ in range(BATCH):
        text, shape, devices = expression(rng)
        shape, devices = tuple(rng.choice((n, rng.randint(1, 9))) for n in shape), rng.randint(1, 64)
        wanted = index_map(text, shape, devices)
        whole = wanted and all(_covered(wanted, d, n) for d, n in enumerate(shape))
        assert bool(whole) == fits(text, shape, devices), (text, shape, devices)


@pytest.mark.thorough
@drawn
@given(st.lists(st.one_of(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), st.text(max_size=20)),
                min_size=BATCH, max_size=BATCH))  # fmt: skip
def test_one_error_class(texts: list[str]) -> None:
    """Whatever the text, it resolves or ends in a ShardingError whose message can be printed."""
    for text in texts:
        for ask in (
            lambda t: parse(t),
            lambda t: resolve(t, (8, 6), 8),
            lambda t: resolve(t, 1, 64),
            lambda t: resolve_on(t, (8, 6), (("x", 4), ("y", 2))),
            lambda t: axis_spec(t),
            lambda t: make_sharding(t, (8, 6)),
        ):
            try:
                ask(text)
            except ShardingError as error:
                assert error.reference and error.mend and len(str(error).splitlines()) >= 3


def fits(text: str, shape: tuple[int, ...], devices: int) -> bool:
    """Whether an expression resolves."""
    try:
        resolve(text, shape, devices)
    except ShardingError:
        return False
    return True


def _covered(held: dict[int, tuple[tuple[int, int], ...]], dimension: int, size: int) -> bool:
    """Whether the distinct slices of a dimension are equal and make up all of it."""
    slices = {index[dimension] for index in held.values()}
    return math.fsum(stop - start for start, stop in slices) == size and len({stop - start for start, stop in slices}) == 1
