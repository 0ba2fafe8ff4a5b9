"""`lens.show_tree`: what a pytree of arrays occupies; and what is said of things that are no placed arrays."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import shardlens as lens
from shardlens.errors import LensError

P = jax.P
MESH = jax.make_mesh((4, 2), ("x", "y"), axis_types=(jax.sharding.AxisType.Auto,) * 2)


def spread(*spec: Any) -> jax.NamedSharding:
    """A sharding over the mesh of these tests."""
    return jax.NamedSharding(MESH, P(*spec))


def described(shape: tuple[int, ...], *spec: Any, dtype: str = "float32") -> jax.ShapeDtypeStruct:
    """An array that is only described."""
    return jax.ShapeDtypeStruct(shape, dtype, sharding=spread(*spec))


def model(layers: int) -> dict[str, Any]:
    """Parameters of which most are alike in each layer."""
    layer = {"up": described((64, 256), "x", "y"), "down": described((256, 64), "y"), "norm": described((64,))}
    return {"embed": described((1000, 64), None, "y", dtype="bfloat16"), "layers": [layer] * layers}


def test_layers_share_a_row() -> None:
    """37 leaves make four rows, largest first; the bytes add up to those that a device holds of the arrays."""
    assert str(lens.show_tree(model(12), title="parameters")).splitlines() == [
        "parameters",
        "leaf                shape       dtype     placement     on a device  copies",
        "12 x layers/*/down  [256, 64]   float32   P('y')            384 KiB       4",
        "12 x layers/*/up    [64, 256]   float32   P('x', 'y')        96 KiB       1",
        "embed               [1000, 64]  bfloat16  P(None, 'y')     62.5 KiB       4",
        "12 x layers/*/norm  [64]        float32   P()               3,072 B       8",
        "37 arrays                                                 545.5 KiB",
        "mesh x=4 y=2",
    ]


def test_a_leaf_that_is_cut_otherwise_stands_alone() -> None:
    """A layer that was forgotten is not folded with the others."""
    tree = {"layers": [described((64, 64), "x")] * 3 + [described((64, 64))]}
    rows = [(row[0], row[3], row[-1]) for row in lens.show_tree(tree).rows]
    assert rows == [("layers/3", "P()", "8"), ("3 x layers/*", "P('x')", "2")]


def test_the_rest_is_summed_up() -> None:
    """Of more rows than asked for the last says how many arrays are left, and their bytes; totals stay."""
    table = lens.show_tree(model(12), rows=2)
    assert [(row[0], row[4]) for row in table.rows] == [("12 x layers/*/down", "384 KiB"), ("25 more", "161.5 KiB")]
    assert table.totals == lens.show_tree(model(12)).totals


@pytest.mark.parametrize("spec", [(), ("x",), ("y", "x"), (("x", "y"),), (None, "y")])
def test_bytes_and_copies_are_those_of_the_array(spec: tuple[Any, ...]) -> None:
    """On a placed array the row agrees with what JAX holds there, and with `placement_of`."""
    array = jax.device_put(jnp.ones((8, 16)), spread(*spec))
    ((*_, held, copies),) = lens.show_tree([array]).rows
    assert held == lens.drawing.size(array.addressable_shards[0].data.nbytes)
    assert copies == str(lens.placement_of(array).copies)


LEAVES: dict[str, tuple[Callable[[], Any], tuple[str, ...]]] = {
    "key": (lambda: jax.random.split(jax.random.key(0), 8), ("[8]", "key<fry>", "device 0", "64 B", "1")),
    "numpy": (lambda: np.ones(3, np.float32), ("[3]", "float32", "no device", "-", "-")),
    "scalar": (lambda: jnp.float32(1), ("[]", "float32", "device 0", "4 B", "1")),
    "does not divide": (lambda: described((6,), "x"), ("[6]", "float32", "P('x') does not divide it", "-", "-")),
    "abstract mesh": (
        lambda: jax.ShapeDtypeStruct((8,), "int8", sharding=jax.NamedSharding(MESH.abstract_mesh, P("x"))),
        ("[8]", "int8", "P('x')", "2 B", "2"),
    ),
    "host": (
        lambda: jax.device_put(jnp.ones(8), spread("x").with_memory_kind("pinned_host")),
        ("[8]", "float32", "P('x') in pinned_host", "8 B", "2"),
    ),
    "empty": (lambda: described((0, 4), None, "y"), ("[0, 4]", "float32", "P(None, 'y')", "-", "8")),
}


@pytest.mark.parametrize("name", LEAVES)
def test_leaves(name: str) -> None:
    """Whatever has a shape and a dtype has a row."""
    make, row = LEAVES[name]
    assert lens.show_tree({"a": make()}).rows == (("a", *row),)


def test_terms_are_no_copies() -> None:
    """Of an array that is not added up each device holds a term."""
    explicit = jax.make_mesh((4, 2), ("x", "y"), axis_types=(jax.sharding.AxisType.Explicit,) * 2)
    sharding = jax.NamedSharding(explicit, P(None, None, unreduced={"x"}))
    ((*_, copies),) = lens.show_tree([jax.ShapeDtypeStruct((4, 4), "float32", sharding=sharding)]).rows
    assert copies == "terms"


def test_what_is_no_array_is_counted() -> None:
    """Numbers, functions and absent leaves stand below the table, by type."""
    table = lens.show_tree({"w": jnp.ones(2), "n": 3, "bias": None, "gain": None, "act": jnp.sin})
    assert table.lines == ("no arrays: 1 PjitFunction, 2 None, 1 int",) and len(table.rows) == 1


X = jnp.ones((4, 2))
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "no arrays": (lambda: lens.show_tree([1.0, None]), "[no-arrays] this list has 2 leaves, but none of them is an array."),
    "an empty tree": (lambda: lens.show_tree({}), "[no-arrays] this dict has 0 leaves, but none of them is an array."),
    "a list": (lambda: lens.placement_of([X]), "[no-sharding] list has no sharding."),
    "a number": (lambda: lens.placement_of(3.0), "[no-sharding] float has no sharding."),
    "nothing": (lambda: lens.placement_of(None), "[no-sharding] NoneType has no sharding."),
    "numpy": (lambda: lens.placement_of(np.ones(3)), "[no-sharding] ndarray has no sharding."),
    "a spec": (lambda: lens.placement_of(P("x")), "[no-sharding] P has no sharding."),
    "a sharding": (
        lambda: lens.placement_of(spread("x")),
        "[sharding-without-shape] NamedSharding alone does not say which slices its devices hold.",
    ),
    "an abstract mesh": (
        lambda: lens.placement_of(
            jax.ShapeDtypeStruct((8,), "int8", sharding=jax.NamedSharding(MESH.abstract_mesh, P("x")))
        ),
        "[mesh-without-devices] this sharding is over an abstract mesh, which has axes but no devices.",
    ),
    "an array for arguments": (
        lambda: lens.compare(lambda x: x, X, ["here"]),
        "[not-a-list] args is of type ArrayImpl, which is not a list.",
    ),
    "a number for arguments": (
        lambda: lens.compare(lambda x: x, 3.0, ["here"]),
        "[not-a-list] args is of type float, which is not a list.",
    ),
    "a text for targets": (
        lambda: lens.compare(lambda x: x, [X], "here"),
        "[not-a-list] targets is of type str, which is not a list.",
    ),
    "a text for the function": (
        lambda: lens.inspect("f", X),
        "[nothing-to-compile] what was handed in is not a function, but of type str.",
    ),
    "a mesh for the function": (
        lambda: lens.inspect(MESH, X),
        "[nothing-to-compile] what was handed in is not a function, but of type Mesh.",
    ),
    "a text for values": (
        lambda: lens.facts(lambda x: x, X, right="ones"),
        "[no-values] right= compares values, but it holds a str.",
    ),
    "a description for values": (
        lambda: lens.facts(lambda x: x, X, right=described((4, 2))),
        "[no-values] right= compares values, but it holds a ShapeDtypeStruct.",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_placed_array(case: str) -> None:
    """The message says what was given, where, and what to give."""
    call, what = REFUSED[case]
    with pytest.raises(LensError) as caught:
        call()
    first, where, mend = str(caught.value).splitlines()
    assert first == what and re.match("  where: .", where) and re.match("  mend:  .", mend)


def test_the_mend_suits_what_was_given() -> None:
    """A tree is told of the table of trees, a spec of a sharding, anything else of `device_put`."""
    mends = {}
    for name, x in {"tree": [X], "spec": P("x"), "number": 3.0, "nothing": None}.items():
        with pytest.raises(LensError) as caught:
            lens.placement_of(x)
        mends[name] = caught.value.mend
    assert "show_tree(x)" in mends["tree"] and "jax.NamedSharding(mesh, P('x',))" in mends["spec"]
    assert mends["number"] == mends["nothing"] and "jax.device_put" in mends["number"]


def test_a_shape_of_one_dimension_may_be_a_number() -> None:
    """As in `jnp.zeros(8)`."""
    assert lens.placement_of(spread("x"), 8) == lens.placement_of(spread("x"), (8,))


def test_keys_are_values() -> None:
    """Random keys are compared as the numbers that they are."""
    key = jax.random.key(3)
    told = [
        lens.facts(lambda k: jax.random.split(k)[0], key, right=right)["error"] for right in (jax.random.split(key)[0], key)
    ]
    assert told[0] == 0 and told[1] > 0
