"""The picture of what each device can multiply."""

from __future__ import annotations

from html.parser import HTMLParser

import jax
import numpy as np
import pytest

import shardlab as sl
from shardlab.errors import ShardlabError
from shardlab.pictures.product import COLOURS
from shardlens.charts.drawing import fill

P = jax.P


def matrices(left: jax.P, right: jax.P, rng: np.random.Generator) -> tuple[jax.Array, jax.Array]:
    """A[8, 12] and B[12, 16] on a (2, 4) mesh."""
    mesh = jax.make_mesh((2, 4), ("x", "y"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    arrays = rng.standard_normal((8, 12), np.float32), rng.standard_normal((12, 16), np.float32)
    return tuple(jax.device_put(x, jax.NamedSharding(mesh, s)) for x, s in zip(arrays, (left, right)))


@pytest.mark.parametrize(
    "left, right, text",
    [
        pytest.param(
            P("x"), P(None, "x"),
            "devices 0, 1, 2, 3: A[0:4, 0:12]  B[0:12, 0:8]  finished\n"
            "devices 4, 5, 6, 7: A[4:8, 0:12]  B[0:12, 8:16]  finished",
            id="diagonal",
        ),
        pytest.param(
            P(None, "x"), P("x"),
            "devices 0, 1, 2, 3: A[0:8, 0:6]  B[0:6, 0:16]  a term\ndevices 4, 5, 6, 7: A[0:8, 6:12]  B[6:12, 0:16]  a term",
            id="terms",
        ),
        pytest.param(
            P(None, "x"), P(),
            "devices 0, 1, 2, 3: A[0:8, 0:6]  B[0:12, 0:16]  no fit\n"
            "devices 4, 5, 6, 7: A[0:8, 6:12]  B[0:12, 0:16]  no fit",
            id="no fit",
        ),
    ],
)  # fmt: skip
def test_product_in_words(left: jax.P, right: jax.P, text: str, rng: np.random.Generator) -> None:
    """Devices that hold the same are told together, with what their blocks make."""
    assert str(sl.show_product(*matrices(left, right, rng))) == text


def test_product_as_html(rng: np.random.Generator) -> None:
    """The figure is complete markup, has its words as text alternative, and asks for nothing from outside."""
    html = sl.show_product(*matrices(P("x", "y"), P("y"), rng)).html
    labels: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
            labels.extend(value or "" for name, value in attributes if name == "aria-label")

    Reader().feed(html)
    assert len(labels) == 8 and labels[0].endswith("a term") and "http" not in html


def test_empty_matrices_have_a_picture() -> None:
    """Without rows and columns there is nothing to scale."""
    a = jax.device_put(np.zeros((0, 0), np.float32))
    shown = sl.show_product(a, a)
    assert shown.text == "device 0: a[0:0, 0:0]  a[0:0, 0:0]  finished" and "<svg" in shown.html


def test_matrices_that_do_not_fit_are_refused(rng: np.random.Generator) -> None:
    """Shapes are told as they are."""
    a, _ = matrices(P("x"), P(), rng)
    with pytest.raises(ShardlabError, match=r"a: \[8, 12\], b: \[8, 12\]"):
        sl.show_product(a, a)


def test_matrices_have_their_names_and_no_device_colour(rng: np.random.Generator) -> None:
    """What the caller calls them, in words and in the figure; A and B where they have no name; colours are no device's."""
    X, W1 = matrices(P("x"), P(None, "x"), rng)
    drawn = sl.show_product(X, W1)
    assert "X[0:4, 0:12]  W1[0:12, 0:8]" in drawn.text
    assert all(f">{name}</text>" in drawn.html for name in ("X", "W1", "X W1")) and ">A</text>" not in drawn.html
    A, B = X, W1
    del X, W1
    assert all(f">{name}</text>" in sl.show_product(A, B).html for name in "ABC")
    assert not {*COLOURS.values()} & {fill(device) for device in range(64)}
