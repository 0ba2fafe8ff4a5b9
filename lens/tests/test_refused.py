"""What is handed in and is of no use: what happened, where, and how to mend it, and no exception of Python's or JAX's."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import shardlens as lens
from shardlens.errors import LensError

X = jnp.ones((4, 2))
MESH = jax.make_mesh((4, 2), ("x", "y"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
FOREIGN: dict[str, Any] = {
    "a text": "text",
    "bytes": b"text",
    "a function": jnp.sin,
    "an array of texts": np.array(["a"]),
    "an object": object(),
    "a spec": jax.P("x"),
    "a sharding": jax.NamedSharding(MESH, jax.P("x")),
    "a set": {1},
    "a type": np.dtype("float32"),
}
PLACED: dict[str, tuple[tuple[Any, ...], str]] = {
    "unknown axis": (((4,), {"x": 2}, ("z",)), "The mesh has no axis 'z'."),
    "axis twice": (((4, 4), {"x": 2}, ("x", "x")), "The axis 'x' appears in the spec 2 times."),
    "long spec": (((4,), {"x": 2}, ("x", None)), "The spec has 2 entries, but the array has 1 dimension."),
    "uneven": (((4, 5), {"x": 2}, (None, "x")), "2 blocks do not divide dimension 1 of size 5."),
    "two faults": (
        ((5,), {"x": 2}, ("x", "y")),
        "The mesh has no axis 'y'. The spec has 2 entries, but the array has 1 dimension. "
        "2 blocks do not divide dimension 0 "
        "of size 5.",
    ),
    "a number in the spec": (((4,), {"x": 2}, (3,)), "The mesh has no axis '3'."),
    "a tuple in a tuple": (((4,), {"x": 2}, ((("x",),),)), "The mesh has no axis \"('x',)\"."),
    "a text for the spec": (((4, 4), {"x": 2, "y": 2}, "xy"), "a str is not a spec."),
    "nothing for the spec": (((4,), {"x": 2}, None), "a NoneType is not a spec."),
    "a number for the shape": ((4, {"x": 2}, ("x",)), "the shape is not a tuple of sizes."),
    "an array for the shape": ((X, {"x": 2}, ("x",)), "the shape is not a tuple of sizes."),
    "a negative size": (((-4,), {"x": 2}, ("x",)), "the shape is not a tuple of sizes."),
    "a mesh for the axes": (((4,), MESH, ("x",)), "the axes are not names with sizes."),
    "a text for the axes": (((4,), "x=2", ("x",)), "the axes are not names with sizes."),
    "no devices": (((4,), {"x": 0}, ("x",)), "the axes are not names with sizes."),
    "a text for a size": (((4,), {"x": "2"}, ("x",)), "the axes are not names with sizes."),
    "one name twice": (((4,), (("x", 2), ("x", 2)), ("x",)), "the axes are not names with sizes."),
    "few ids": (((4,), {"x": 2}, ("x",), [0]), "the order does not name 2 devices, each once."),
    "an id twice": (((4,), {"x": 2}, ("x",), [0, 0]), "the order does not name 2 devices, each once."),
    "a text for an id": (((4,), {"x": 2}, ("x",), [0, "1"]), "the order does not name 2 devices, each once."),
    "a list for an id": (((4,), {"x": 2}, ("x",), [[0], [1]]), "the order does not name 2 devices, each once."),
    "a number for an axis": (((4,), {1: 2}, (2,)), "the axes are not names with sizes."),
    "a number for the ids": (((4,), {"x": 2}, ("x",), 3), "the order does not name 2 devices, each once."),
}


def said(call: Callable[[], Any], reference: str) -> str:
    """What happened, of a message with all three parts."""
    with pytest.raises(LensError) as caught:
        call()
    assert caught.value.reference == reference
    assert re.fullmatch(r"\[[a-z-]+\] .+[.]\n  where: \S.*\n  mend:  \S(.|\n)*[.)]", str(caught.value))
    return caught.value.what


@pytest.mark.parametrize("name", PLACED)
def test_what_makes_no_placement(name: str) -> None:
    """All that does not fit is named."""
    given, what = PLACED[name]
    assert said(lambda: lens.place(*given), "spec-does-not-fit") == what


@pytest.mark.parametrize("name", FOREIGN)
@pytest.mark.parametrize(
    "call",
    [
        lambda x: lens.inspect(lambda x: x, x),
        lambda x: lens.inspect(lambda a, b=1: a, X, b=x),
        lambda x: lens.inspect(jax.jit(lambda tree: X), {"a": [X, x]}),
        lambda x: lens.why(lambda x: X, x, tries=0),
        lambda x: lens.facts(lambda x: x, x),
        lambda x: lens.compare(lambda x: x, [x], ["here"]),
        lambda x: lens.assert_communicates(lambda x: x, x),
        lambda x: lens.diverge(jnp.sin, jnp.sin, x),
    ],
    ids=["inspect", "keyword", "in a tree", "why", "facts", "compare", "assert", "diverge"],
)
def test_an_argument_that_is_no_array(call: Callable[[Any], Any], name: str) -> None:
    """Its type is named, and where it stands."""
    given = FOREIGN[name]
    assert (
        said(lambda: call(given), "no-array") == f"an argument is of type {type(given).__name__}, which JAX does not trace."
    )


def test_where_it_stands() -> None:
    """In the positions, the keywords and the trees of the call."""
    places = {}
    for name, call in {
        "second": lambda: lens.inspect(lambda a, b: a, X, "text"),
        "keyword": lambda: lens.inspect(lambda a, mode: a, X, mode="text"),
        "leaf": lambda: lens.inspect(lambda a: a, {"w": [X, "text"]}),
        "jitted": lambda: lens.inspect(jax.jit(lambda a: X), {"w": [X, "text"]}),
    }.items():
        with pytest.raises(LensError) as caught:
            call()
        places[name] = caught.value.where
    assert places == {"second": "args[1]", "keyword": "mode", "leaf": "args[0]['w'][1]", "jitted": "a['w'][1]"}


def test_what_jit_holds_static_is_none() -> None:
    """And what is given by `functools.partial` is no argument."""
    f = jax.jit(lambda x, mode: x + 1, static_argnames="mode")
    assert lens.inspect(f, X, mode="text").price == lens.why(f, X, mode="text", tries=0).program.price == 0
    assert lens.inspect(functools.partial(lambda x, mode: x + 1, mode="text"), X).price == 0


@pytest.mark.parametrize("given", [None, 3.0, [X], "text", MESH, X], ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("call", [lens.why, lens.inspect, lambda f, x: lens.diverge(jnp.sin, f, x)])
def test_what_is_no_function(call: Callable[..., Any], given: Any) -> None:
    """The same is said by all."""
    kind = "why-needs-a-function" if call is lens.why and not callable(given) else "nothing-to-compile"
    assert type(given).__name__ in said(lambda: call(given, X), kind)


LIMITS: dict[str, dict[str, Any]] = {
    "a text that is no size": {"at_most": "much"},
    "an array": {"at_most": np.ones(2)},
    "by axis": {"at_most": {"x": "much"}},
    "per round": {"per_round": []},
    "memory": {"memory": "16 gigabytes"},
    "a time": {"time": "1 ms"},
    "kinds as one text": {"kinds": "all-reduce"},
    "what it may not have as one text": {"no": "all-to-all"},
    "a kind that is misspelt": {"no": ("all_to_all",)},
    "axes as one text": {"only_over": "x"},
    "numbers for axes": {"only_over": [1]},
}


@pytest.mark.parametrize("name", LIMITS)
def test_what_limits_nothing(name: str) -> None:
    """A limit that would hold for every program, or for none, is no limit."""
    assert said(lambda: lens.assert_communicates(lambda x: x, X, **LIMITS[name]), "no-limit")


OTHERS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "diff": ("not-facts", lambda x: lens.diff(x, x)),
    "cost": ("unknown-chip", lambda x: lens.inspect(lambda x: x, X).cost(x)),
    "chip": ("unknown-chip", lens.chip),
    "diagnose": ("no-message", lens.diagnose),
    "target": ("unknown-target", lambda x: lens.inspect(lambda x: x, X, target=x)),
    "num_slices": ("no-slices", lambda x: lens.inspect(lambda x: x, X, target="v5e:2x4", num_slices=x)),
    "target_mesh": ("not-a-mesh", lambda x: lens.target_mesh("v5e:2x4", x)),
}


@pytest.mark.parametrize("given", [3.5, [X], X, MESH, {"a": X}, jnp.sin], ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("name", OTHERS)
def test_another_kind_of_thing(name: str, given: Any) -> None:
    """Whatever it is."""
    reference, call = OTHERS[name]
    assert said(lambda: call(given), reference)


def test_numbers_and_keys_are_followed() -> None:
    """A Python number and a random key are arguments of `diverge` like any other."""
    assert lens.diverge(jnp.sin, jnp.sin, 3.0).first is None
    assert lens.diverge(lambda key: key, jax.jit(lambda key: key), jax.random.key(0)).first is None


def test_a_leading_mesh_is_taken() -> None:
    """It is no array, and stays as it is; `diverge`, which runs both programs, has no use for one."""
    x = jax.ShapeDtypeStruct((4, 2), "float32", sharding=jax.NamedSharding(MESH, jax.P("x")))
    (answer,) = lens.why(lambda mesh, x: x.sum(0), MESH, x, tries=0).answers
    assert answer.collective.kind == lens.inspect(lambda mesh, x: x.sum(0), MESH, x).collectives[0].kind == "all-reduce"
    with pytest.raises(LensError, match="of type Mesh"):
        lens.diverge(lambda mesh, x: x, lambda mesh, x: x, MESH, X)
