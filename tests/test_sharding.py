"""Sharding expressions on JAX arrays of every kind, on Auto and Explicit meshes, and back to text."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, Mesh, NamedSharding

from einshard_oracle import index_map
from shardlab.errors import ShardingError
from shardlab.expressions.inverse import expression
from shardlab.expressions.sharding import einshard, make_sharding, spec
from shardlens.placement import placement_of
from shardlens.programs.inspection import inspect

P = jax.P
NAMES = ("data", "model")
TYPES = {"auto": (AxisType.Auto,) * 2, "explicit": (AxisType.Explicit,) * 2, "mixed": (AxisType.Explicit, AxisType.Auto)}


def named_mesh(kind: str = "auto", order: slice = slice(None)) -> Mesh:
    """A mesh of two axes over some of the devices."""
    return Mesh(np.array(jax.devices())[order].reshape(-1, 2), NAMES, axis_types=TYPES[kind])


@pytest.fixture(params=TYPES)
def mesh(request: pytest.FixtureRequest) -> Mesh:
    """Eight devices, data=4 and model=2, with Auto axes, Explicit axes, and one of each."""
    return named_mesh(request.param)


TEXTS = {
    "both": "a b -> a4 b2", "swapped": "a b -> b2 a4", "copies-first": "a b -> 2 a4 b", "copies-last": "a b -> a4 2 b",
    "group": "a b -> a2 b2 a2", "stars": "a b -> * a* b*", "whole": "a b -> * a b", "ellipsis": "... b -> 2 ... b*",
}  # fmt: skip


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("make", [np.ones, jnp.ones], ids=["numpy", "jax"])
def test_places(text: str, make: Callable) -> None:
    """An array lands where the definition says, with its values, and goes back to an expression of the same map."""
    x = make((8, 4), "float32") * np.arange(4, dtype="float32")[None]
    placed = einshard(x, text)
    assert dict(placement_of(placed).shards) == index_map(text, (8, 4), 8)
    for shard in placed.addressable_shards:
        np.testing.assert_array_equal(shard.data, np.asarray(x)[shard.index])
    assert placement_of(einshard(x, expression(placed))).same_as(placement_of(placed))


@pytest.mark.parametrize("x", [3, 2.5, True, 1j, np.float32(1), np.ones(()), jax.ShapeDtypeStruct((), "int32")], ids=repr)
def test_scalars(x: object) -> None:
    """A scalar goes under `...`, onto every device."""
    placed = einshard(x, "... -> * ...")
    assert placed.shape == () and placed.sharding.is_fully_replicated and len(placed.sharding.device_set) == 8


def test_shape_struct() -> None:
    """A shape struct comes back with the sharding, and nothing is made."""
    placed = einshard(jax.ShapeDtypeStruct((8, 6), jnp.bfloat16), "a b -> a8 b")
    assert (placed.shape, placed.dtype, placed.sharding.shard_shape(placed.shape)) == ((8, 6), jnp.bfloat16, (1, 6))


def test_keys() -> None:
    """Random keys are arrays, too."""
    assert expression(einshard(jax.random.split(jax.random.key(0), 8), "n -> n*"), names="n") == "n -> n8"


def test_tree_under_one_expression() -> None:
    """One expression goes for every leaf; a mistake says at which."""
    placed = einshard({"a": np.ones(8), "b": [1.0, jnp.ones((2, 2))]}, "... -> * ...")
    assert all(leaf.sharding.is_fully_replicated for leaf in jax.tree.leaves(placed))
    with pytest.raises(ShardingError) as caught:
        einshard({"a": np.ones(8), "b": np.ones(6)}, "n -> n*")
    assert caught.value.where == '"n -> n*"   shape (6,)   8 devices   at b\n      ^^'


def test_refuses_with_shape_and_devices() -> None:
    """What cannot be read is shown with the array and the devices all the same."""
    with pytest.raises(ShardingError) as caught:
        einshard(np.ones((8, 4)), "a b -> a8")
    assert caught.value.where == '"a b -> a8"   shape (8, 4)   8 devices\n   ^'


def test_cached() -> None:
    """The same expression and shape give the same sharding object; those that cut alike share a mesh."""
    assert make_sharding("x y -> x y*", (8, 8)) is make_sharding("x y -> x y*", [8, np.int64(8)])
    assert make_sharding("x y -> x y*", 2).mesh is make_sharding("y z -> y8 z", 2).mesh


class TestMesh:
    """Expressions with `@`, and with numbers on a mesh."""

    @pytest.mark.parametrize(
        "text, wanted",
        [
            ("b d -> b@data d@model", P("data", "model")),
            ("b d -> b@(model data) d", P(("model", "data"), None)),
            ("b d -> d b", P(None, None)),
            ("b d -> b4 d2", P("data", "model")),
            ("... d -> ... d8", P(None, ("data", "model"))),
        ],
    )
    def test_places(self, mesh: Mesh, text: str, wanted: P) -> None:
        """The mesh given and the mesh in the context give one placement."""
        x, sharding = np.ones((8, 8), "float32"), NamedSharding(mesh, wanted)
        assert einshard(x, text, mesh).sharding == sharding
        assert make_sharding(text, (8, 8), mesh) == sharding
        with jax.set_mesh(mesh):
            assert einshard(x, text).sharding == sharding

    @pytest.mark.parametrize("text", ["b d -> b@data d@model", "b d -> b@(data model) d", "b d -> d b", "... d -> ... d8"])
    def test_constrains(self, mesh: Mesh, text: str) -> None:
        """Inside jit, the mesh given and the mesh in the context give the placement that they give outside."""
        x, wanted = jnp.ones((8, 8)), placement_of(make_sharding(text, 2, mesh), (8, 8))
        with jax.set_mesh(mesh):
            assert placement_of(jax.jit(lambda a: einshard(a, text))(x)).same_as(wanted)
            assert placement_of(jax.jit(lambda a: einshard(a, text, mesh))(x)).same_as(wanted)

    def test_explicit_after_auto(self) -> None:
        """An Explicit axis behind an Auto axis of one dimension is refused where JAX would turn them round."""
        mesh = named_mesh("mixed")
        assert einshard(np.ones(8), "b -> b@(model data)", mesh).sharding.spec == P(("model", "data"))
        with jax.set_mesh(mesh), pytest.raises(ShardingError, match="explicit-after-auto"):
            jax.jit(lambda a: einshard(a, "b -> b@(model data)"))(jnp.ones(8))

    def test_follows_devices(self) -> None:
        """Permuted and fewer devices follow from the mesh, with names and with numbers."""
        backwards, half = named_mesh(order=slice(None, None, -1)), named_mesh(order=slice(4))
        for text in ("b -> b@(data model)", "b -> b8", "b -> b*"):
            assert [device for device, _ in sorted(placement_of(einshard(np.ones(8), text, backwards)).shards)] == [
                *range(8)
            ]
            assert placement_of(einshard(np.ones(8), text, backwards)).holders()[((0, 1),)] == (7,)
        assert placement_of(einshard(np.ones(8), "b -> * b", half)).devices == (0, 1, 2, 3)
        assert placement_of(einshard(np.ones(8), "b -> b2 2", named_mesh(order=slice(4)))).holders()[((0, 4),)] == (0, 1)

    def test_numbers_off_the_axes(self) -> None:
        """Numbers that the axes do not make up cut the same devices anew; Explicit axes cannot be left."""
        assert einshard(np.ones((8, 8)), "a b -> b2 a4", named_mesh()).sharding.spec == P("axis1", "axis0")
        with pytest.raises(ShardingError) as caught:
            einshard(np.ones((8, 8)), "a b -> b2 a4", named_mesh("explicit"))
        assert str(caught.value).splitlines() == [
            "[numbers-off-mesh] the sizes of the mesh axes, taken in order, do not multiply to the numbers.",
            '  where: "a b -> b2 a4"   shape (8, 8)   mesh data=4, model=2',
            "                 ^^ ^^",
            "  mend:  name mesh axes with '@', like 'a@data'.",
        ]

    def test_abstract(self) -> None:
        """An abstract mesh gives abstract shardings, for programs that other machines will run."""
        mesh = jax.sharding.AbstractMesh((16, 16), NAMES, axis_types=TYPES["auto"])
        assert make_sharding("a b -> a@data b@model", (64, 64), mesh).shard_shape((64, 64)) == (4, 4)
        assert einshard(jax.ShapeDtypeStruct((512,), "int8"), "a -> a*", mesh).sharding.spec == P(("data", "model"))


class TestTraced:
    """`einshard` inside jit, grad, vmap and shard_map."""

    def test_all_devices(self) -> None:
        """Without a mesh, numbers constrain to all devices, and the compiled output has the map of the definition."""
        out = jax.jit(lambda a: einshard(a * 2, "a b -> b2 a4"))(jnp.ones((8, 8)))
        assert dict(placement_of(out).shards) == index_map("a b -> b2 a4", (8, 8), 8)

    def test_own_mesh(self, mesh: Mesh) -> None:
        """Without a context, `@` names the axes of the mesh that the argument is on."""
        x = einshard(jnp.ones((8, 8)), "a b -> a@data b@model", mesh)
        out = jax.jit(lambda a: einshard(a, "a b -> a@model b@data"))(x)
        assert placement_of(out).same_as(placement_of(NamedSharding(mesh, P("model", "data")), (8, 8)))

    @pytest.mark.thorough
    def test_grad_and_vmap(self, mesh: Mesh) -> None:
        """Gradients and batches go through, compiled or not."""
        f = lambda a: (einshard(a, "a -> a@data") ** 2).sum()  # noqa: E731
        with jax.set_mesh(mesh):
            for transform in (lambda g: g, jax.jit):
                np.testing.assert_array_equal(transform(jax.grad(f))(jnp.ones(8)), np.full(8, 2.0))
                np.testing.assert_array_equal(transform(jax.vmap(f))(jnp.ones((2, 8))), np.full(2, 8.0))

    def test_constant(self, mesh: Mesh) -> None:
        """A constant inside jit is sharded as an argument is."""
        with jax.set_mesh(mesh):
            out = jax.jit(lambda: einshard(np.ones((8, 2), "float32"), "a b -> a@data b@model"))()
        assert placement_of(out).same_as(placement_of(NamedSharding(mesh, P("data", "model")), (8, 2)))

    def test_shard_map(self) -> None:
        """Inside shard_map there is nothing to place."""
        mesh = named_mesh()
        body = jax.shard_map(lambda a: einshard(a, "a -> a@data", mesh), mesh=mesh, in_specs=P("data"), out_specs=P("data"))
        with pytest.raises(ShardingError) as caught:
            jax.jit(body)(jnp.ones(8))
        assert caught.value.reference == "inside-shard-map"
        assert caught.value.where == "argument float32[2]{V:data}   mesh data=4, model=2"

    def test_explicit_needs_context(self) -> None:
        """Explicit axes without a mesh in the context are refused before JAX compiles."""
        mesh = named_mesh("explicit")
        with pytest.raises(ShardingError) as caught:
            jax.jit(lambda a: einshard(a, "a -> a@data", mesh))(jnp.ones(8))
        assert str(caught.value) == (
            "[mesh-not-in-context] the mesh has Explicit axes, but no mesh is in the context.\n"
            "  where: P('data',)   mesh data=4, model=2\n"
            "  mend:  call the function inside `with jax.set_mesh(mesh):`."
        )


class TestShardings:
    """Every place where JAX wants a sharding."""

    def test_jit(self) -> None:
        """`in_shardings` and `out_shardings` of jit."""
        f = jax.jit(lambda a: a + 1, in_shardings=make_sharding("a b -> a8 b"), out_shardings=make_sharding("a b -> a b8"))
        assert expression(f(np.ones((8, 8), "float32"))) == "a b -> a b8"

    def test_out_sharding(self) -> None:
        """`out_sharding` of an operation on Explicit axes, as a sharding and as a spec."""
        mesh = named_mesh("explicit")
        with jax.set_mesh(mesh):
            x = einshard(jnp.ones((8, 8)), "a b -> a@data b@model")
            for out in (make_sharding("a b -> a@data b", 2), spec("a b -> a@data b")):
                assert jnp.dot(x, x.T, out_sharding=out).sharding.spec == P("data", None)

    @pytest.mark.parametrize(
        "text, ndim, wanted",
        [
            ("a b -> a@x b@(y z)", None, P("x", ("y", "z"))),
            ("a ... -> a@x ...", None, P("x")),
            ("... a -> ... a@x", 3, P(None, None, "x")),
            ("... a -> ... a@x", (4, 4), P(None, "x")),
            ("a b -> a4 b2", None, P("axis0", "axis1")),
        ],
    )
    def test_spec(self, text: str, ndim: object, wanted: P) -> None:
        """A spec needs no mesh."""
        assert spec(text, ndim) == wanted

    def test_spec_on_mesh(self) -> None:
        """With a mesh, its axes are checked."""
        assert spec("a b -> a4 b2", mesh=named_mesh()) == P("data", "model")
        with pytest.raises(ShardingError, match="axis-unknown"):
            spec("a -> a@x", mesh=named_mesh())

    @pytest.mark.parametrize("function", [make_sharding, spec])
    def test_other_types(self, function: Callable) -> None:
        """What is not text is refused in the same words."""
        with pytest.raises(ShardingError, match="a sharding expression is text, not list"):
            function(["a -> a"])


class TestExpression:
    """From a sharding back to text."""

    @pytest.mark.parametrize(
        "wanted, spec_, counted",
        [
            ("a b -> a4 b2", P("data", "model"), True),
            ("a b -> 4 a2 b", P("model"), True),
            ("a b -> a4 b 2", P("data"), True),
            ("a b -> a b4 2", P(None, "data"), True),
            ("a b -> 8 a b", P(), True),
            ("a b -> a b8", P(None, ("data", "model")), True),
            ("a b -> a@(model data) b", P(("model", "data")), False),
        ],
    )
    def test_writes(self, wanted: str, spec_: P, counted: bool) -> None:
        """Numbers where they can say it, in the fewest words; else mesh axes."""
        x = jax.device_put(np.ones((8, 8)), NamedSharding(named_mesh(), spec_))
        assert expression(x) == wanted
        again = einshard(x, wanted, None if counted else x.sharding.mesh)
        assert placement_of(again).same_as(placement_of(x))

    def test_names(self) -> None:
        """The dimensions are called as the reader wishes."""
        assert expression(make_sharding("a b -> a4 b2"), names="batch d") == "batch d -> batch4 d2"
        with pytest.raises(ShardingError, match="3 names for 2 dimensions"):
            expression(make_sharding("a b -> a4 b2"), names="x y z")
        with pytest.raises(ShardingError, match="number-on-left"):
            expression(make_sharding("a b -> a4 b2"), names="x y2")

    def test_scalar_and_tracer(self) -> None:
        """Scalars have `...`; a traced array on Explicit axes names them."""
        assert expression(einshard(1.0, "... -> * ...")) == "... -> 8 ..."
        seen = []
        x = einshard(jnp.ones((8, 8)), "a b -> a@data b", named_mesh("explicit"))
        jax.jit(lambda a: seen.append(expression(a)))(x)
        assert seen == ["a b -> a@data b"]

    def test_devices_of_their_own(self) -> None:
        """Permuted devices are named by their mesh, since numbers go by the order of all devices."""
        assert expression(einshard(np.ones(8), "b -> b@data", named_mesh(order=slice(None, None, -1)))) == "a -> a@data"

    def test_inexpressible(self) -> None:
        """Partial sums and a single device of several have no expression."""
        with pytest.raises(ShardingError) as caught:
            expression(NamedSharding(named_mesh("explicit"), P("data", unreduced={"model"})))
        assert str(caught.value) == (
            "[no-expression] no expression describes this sharding.\n"
            "  where: P('data', unreduced={'model'})   mesh data=4, model=2\n"
            "  mend:  an expression cuts every device of a mesh equally, over axes whose names are letters, digits and `_`."
        )
        with pytest.raises(ShardingError, match="no-expression"):
            expression(jnp.ones(8))


class Params(NamedTuple):
    """The parameters of the tutorial's network."""

    W1: jax.Array
    W2: jax.Array


def init_params(key: jax.Array) -> Params:
    """The tutorial's parameters."""
    key, subkey = jax.random.split(key)
    W1 = jax.random.normal(subkey, (128, 256))
    key, subkey = jax.random.split(key)
    W2 = jax.random.normal(subkey, (256, 64))
    return Params(W1, W2)


@jax.jit
def forward(params: Params, X: jax.Array) -> jax.Array:
    """The tutorial's network."""
    W1, W2 = params
    Y = X @ W1
    Y = jax.nn.relu(Y)
    Z = Y @ W2
    return Z


# Each row: expressions of W1, W2 and X; the collectives; the expression of the output.
TUTORIAL = {
    "y": ("x y -> x y*", "y z -> y* z", "... -> * ...", [("all-reduce", (8, 64), 2048)], "a b -> 8 a b"),
    "y-of-W1-only": ("x y -> x y*", "y z -> * y z", "... -> * ...", [("all-reduce", (8, 64), 2048)], "a b -> 8 a b"),
    "b": ("... -> * ...", "... -> * ...", "b x -> b* x", [], "a b -> a8 b"),
    "z": ("... -> * ...", "y z -> y z*", "... -> * ...", [], "a b -> a b8"),
    "x": ("x y -> x* y", "... -> * ...", "b x -> b x*", [("all-reduce", (8, 256), 8192)], "a b -> 8 a b"),
}


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("w1, w2, x, collectives, out", TUTORIAL.values(), ids=TUTORIAL)
def test_tutorial(w1: str, w2: str, x: str, collectives: list, out: str) -> None:
    """The tutorial's two-layer network, word for word, has the collectives and bytes that were measured."""
    key, subkey = jax.random.split(jax.random.key(42))
    params, inputs = init_params(key), jax.random.normal(subkey, (8, 128))
    sharded, X = Params(einshard(params.W1, w1), einshard(params.W2, w2)), einshard(inputs, x)
    program = inspect(forward, sharded, X)
    assert [(c.kind, c.shape, c.payload_bytes) for c in program.collectives] == collectives
    assert forward(sharded, X).shape == (8, 64)
    assert expression(forward(sharded, X)) == out
    np.testing.assert_allclose(forward(sharded, X), forward(params, inputs), rtol=1e-4, atol=1e-4)


def test_tutorial_half_sharded() -> None:
    """Sharding only W1 moves what sharding both moves, since XLA slices W2 by itself; it holds three times the bytes."""
    both, half = (
        inspect(forward, Params(struct(w1, 128, 256), struct(w2, 256, 64)), struct(x, 8, 128))
        for w1, w2, x, *_ in (TUTORIAL["y"], TUTORIAL["y-of-W1-only"])
    )
    assert both.collectives == half.collectives
    assert (both.memory.argument, half.memory.argument) == (28_672, 86_016)


def struct(text: str, *shape: int) -> jax.ShapeDtypeStruct:
    """A float32 array that is not there, with its sharding."""
    return einshard(jax.ShapeDtypeStruct(shape, "float32"), text)
