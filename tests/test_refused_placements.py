"""What einshard and its kin refuse: whatever is no mesh, no shape and no array, and meshes that nothing can be placed on."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from shardlab.errors import ShardingError
from shardlab.expressions.inverse import expression
from shardlab.expressions.rules import dry_run
from shardlab.expressions.sharding import einshard, make_sharding, spec

P, AXIS = jax.P, jax.sharding.AxisType
X = np.ones((8, 4), "float32")
DEVICES = jax.make_mesh((2, 4), ("x", "y"), axis_types=(AXIS.Auto,) * 2)
SHARDING = jax.NamedSharding(DEVICES, P("x"))


def abstract(kind: Any, other: Any = None) -> jax.sharding.AbstractMesh:
    """A mesh without devices."""
    return jax.sharding.AbstractMesh((2, 4), ("x", "y"), axis_types=(kind, other or kind))


def manual(kind: Any, other: Any) -> jax.sharding.Mesh:
    """A mesh of the devices here."""
    return jax.sharding.Mesh(DEVICES.devices, ("x", "y"), axis_types=(kind, other))


def refused(call: Callable[[], Any]) -> ShardingError:
    """The error of a call, which says what happened, where and how to mend it."""
    with pytest.raises(ShardingError) as caught:
        call()
    assert caught.value.what and caught.value.where and caught.value.mend
    return caught.value


NUMBERS, NAMED = "a b -> a8 b", "a b -> a@x b"
CALLS: dict[str, Callable[[str, Any], Any]] = {
    "einshard": lambda text, mesh: einshard(X, text, mesh),
    "of a JAX array": lambda text, mesh: einshard(jnp.asarray(X), text, mesh),
    "of a description": lambda text, mesh: einshard(jax.ShapeDtypeStruct((8, 4), "float32"), text, mesh),
    "of a tree": lambda text, mesh: einshard({"w": X}, [("w", text)], mesh),
    "inside jit": lambda text, mesh: jax.jit(lambda a: einshard(a, text, mesh))(X),
    "make_sharding": lambda text, mesh: make_sharding(text, (8, 4), mesh),
    "spec": lambda text, mesh: spec(text, (8, 4), mesh),
    "dry_run": lambda text, mesh: dry_run({"w": X}, [("w", text)], mesh),
}
NO_MESHES = {
    "a name": "x",
    "no name": "",
    "a number": 8,
    "zero": 0,
    "true": True,
    "sizes": (2, 4),
    "names": ["x", "y"],
    "no names": [],
    "a dict": {"x": 2, "y": 4},
    "its shape": DEVICES.shape,
    "a spec": P("x"),
    "a sharding": SHARDING,
    "a device": jax.devices()[0],
    "devices": jax.devices(),
    "an array of devices": DEVICES.devices,
    "an array": X,
    "the class": jax.sharding.Mesh,
    "an expression": NAMED,
    "without axes": jax.sharding.AbstractMesh((), ()),
}


@pytest.mark.parametrize("text", [NUMBERS, NAMED], ids=["numbers", "named"])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("mesh", NO_MESHES.values(), ids=NO_MESHES)
def test_no_mesh(mesh: Any, call: Callable, text: str) -> None:
    """Nothing but a mesh is taken for one, and nothing is ignored."""
    assert refused(lambda: call(text, mesh)).reference == "not-a-device-mesh"


def test_no_mesh_in_words() -> None:
    """A sharding has the mesh that was meant."""
    assert str(refused(lambda: einshard(X, NAMED, SHARDING))) == (
        "[not-a-device-mesh] mesh= takes a mesh, but this is of type NamedSharding.\n"
        f"  where: mesh={SHARDING}\n  mend:  pass its mesh: mesh=sharding.mesh."
    )


@pytest.mark.parametrize("text", [NUMBERS, NAMED, "a b -> * a b"])
@pytest.mark.parametrize("mesh", [abstract(AXIS.Manual), manual(AXIS.Manual, AXIS.Manual)], ids=["abstract", "devices"])
@pytest.mark.parametrize("name", CALLS)
def test_manual(mesh: Any, name: str, text: str) -> None:
    """Nothing is placed over Manual axes, by whichever expression."""
    own_words = {"inside-shard-map", "abstract-mesh"} if name == "inside jit" else {"manual-axis"}
    assert refused(lambda: CALLS[name](text, mesh)).reference in own_words


def test_partly_manual() -> None:
    """JAX places nothing on a mesh with a Manual axis; inside `shard_map` the axes that are not Manual can be named."""
    mesh = manual(AXIS.Auto, AXIS.Manual)
    for text in (NAMED, "a b -> a b@y"):
        assert refused(lambda text=text: einshard(X, text, mesh)).reference == "manual-axis"
    assert make_sharding(NAMED, (8, 4), abstract(AXIS.Auto, AXIS.Manual)).spec == P("x", None)
    body = jax.shard_map(lambda a: einshard(a, NAMED), mesh=DEVICES, axis_names={"y"}, in_specs=P("y"), out_specs=P("y"))
    assert jax.jit(body)(X).sharding.is_equivalent_to(jax.NamedSharding(DEVICES, P(("y", "x"))), 2)
    assert str(refused(lambda: einshard(X, NAMED, mesh))) == (
        "[manual-axis] the mesh axis 'y' is Manual, and nothing is placed over such an axis.\n"
        '  where: "a b -> a@x b"   shape (8, 4)   mesh x=2, y=4\n'
        "  mend:  pass the mesh that jax.shard_map is called with, whose axes are Auto or Explicit."
    )


def test_abstract() -> None:
    """A mesh without devices describes; it places only what is on a mesh of the same axes already."""
    mesh = abstract(AXIS.Auto)
    assert einshard(jax.ShapeDtypeStruct((8, 4), "float32"), NAMED, mesh).sharding.mesh == mesh
    assert make_sharding(NAMED, (8, 4), mesh).spec == P("x", None)
    moved = einshard(jax.device_put(X, jax.NamedSharding(DEVICES, P("y"))), NAMED, mesh)
    assert moved.sharding == jax.NamedSharding(DEVICES, P("x", None))
    for call in ("einshard", "of a JAX array", "of a tree", "inside jit"):
        assert refused(lambda call=call: CALLS[call](NAMED, mesh)).reference == "abstract-mesh"
    with jax.sharding.use_abstract_mesh(mesh):
        assert refused(lambda: einshard(X, NAMED)).reference == "abstract-mesh"
        assert make_sharding(NAMED).mesh == mesh
    with jax.set_mesh(DEVICES):
        placed = jax.jit(lambda a: einshard(a, NAMED, DEVICES.abstract_mesh))(X)
        assert placed.sharding.is_equivalent_to(jax.NamedSharding(DEVICES, P("x")), 2)


NOTHING = {"None": None, "a dict": {}, "a list": [], "a tuple": (), "None in a dict": {"a": None}}
NO_ARRAYS = {
    "text": "abc",
    "an object": object(),
    "a function": len,
    "a spec": P("x"),
    "a sharding": SHARDING,
    "objects": np.array([object()] * 8),
    "texts": np.array(["a"] * 8),
    "one text": np.str_("a"),
    "dates": np.array(["2020-01-01"] * 8, dtype="datetime64[D]"),
    "records": np.zeros(8, dtype=[("a", "i4")]),
    "masked": np.ma.ones((8, 4)),
    "long floats": np.ones(8, np.longdouble),
    "a long float": np.longdouble(1),
    "long complex numbers": np.ones(8, np.clongdouble),
    "in a tree": {"good": X, "bad": np.array(["a"] * 8)},
}
TAKES = {
    "einshard": lambda x: einshard(x, "... -> * ..."),
    "by rules": lambda x: einshard(x, [(".*", "... -> * ...")]),
    "dry_run": lambda x: dry_run(x, "... -> * ..."),
}


@pytest.mark.parametrize("call", TAKES.values(), ids=TAKES)
@pytest.mark.parametrize("x", NOTHING.values(), ids=NOTHING)
def test_nothing(x: Any, call: Callable) -> None:
    """Where there is no array, it says so, and nothing of rules."""
    assert refused(lambda: call(x)).reference == "nothing-to-shard"


@pytest.mark.parametrize("call", TAKES.values(), ids=TAKES)
@pytest.mark.parametrize("x", NO_ARRAYS.values(), ids=NO_ARRAYS)
def test_no_array(x: Any, call: Callable) -> None:
    """What JAX takes for no array is named with its type."""
    assert refused(lambda: call(x)).reference == "leaf-not-array"


@pytest.mark.parametrize(
    "dtype", ["bfloat16", "float8_e4m3fn", "int4", "bool", "complex64", "uint8", "float16", "int16", "uint32"]
)
def test_arrays_of_all_kinds(dtype: str) -> None:
    """Types that NumPy does not know for numbers are arrays to JAX."""
    x = np.zeros((8, 4), jnp.dtype(dtype))
    assert einshard(x, NUMBERS).dtype == x.dtype


NO_SHAPES = {
    "negative": -1,
    "negative rows": (-8, 4),
    "negative columns": (8, -4),
    "a float": 2.0,
    "floats": (8.0, 4),
    "text": "84",
    "an array": X,
    "unknown": (8, None),
    "a spec": P("x"),
    "a dict": {8: 1, 4: 2},
    "a set": {8, 4},
    "a mesh": DEVICES,
    "a description": jax.ShapeDtypeStruct((8, 4), "float32"),
    "nested": (8, (4,)),
    "true": True,
    "truth values": (True, 4),
}


@pytest.mark.parametrize("text", [NUMBERS, NAMED], ids=["numbers", "named"])
@pytest.mark.parametrize("shape", NO_SHAPES.values(), ids=NO_SHAPES)
def test_no_shape(shape: Any, text: str) -> None:
    """A shape is non-negative whole numbers."""
    for call in (lambda: make_sharding(text, shape, DEVICES), lambda: spec(text, shape), lambda: spec(text, shape, DEVICES)):
        assert refused(call).reference == "not-a-shape"


@pytest.mark.parametrize("shape", [(8, 4), [8, 4], np.array([8, 4]), 2, np.int64(2), None, (0, 4)])
def test_shapes(shape: Any) -> None:
    """What says a shape is taken in every form, an empty array's too."""
    assert spec(NAMED, shape) == make_sharding(NAMED, shape, DEVICES).spec == P("x", None)


@pytest.mark.parametrize("x", [None, {}, X, "a", P("x"), DEVICES, jax.ShapeDtypeStruct((8,), "float32")])
def test_nothing_to_express(x: Any) -> None:
    """What has no sharding has no expression."""
    assert refused(lambda: expression(x)).reference == "nothing-to-express"
