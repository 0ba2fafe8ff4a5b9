"""Meshes for targets, wherever they come from: arguments, context and function, with or without devices, all axis types.

What JAX compiles for the CPU devices here it compiles for a slice too, with the same collectives over the same axes.
"""

import contextlib
import importlib.util
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from shardlens.errors import LensError
from shardlens.programs.inspection import inspect

pytestmark = pytest.mark.skipif(importlib.util.find_spec("libtpu") is None, reason="libtpu is not installed (extra: tpu)")

P, NamedSharding, AbstractMesh = jax.P, jax.NamedSharding, jax.sharding.AbstractMesh
AUTO, EXPLICIT = jax.sharding.AxisType.Auto, jax.sharding.AxisType.Explicit
TARGET, SIZES, NAMES = "v5e:2x4", (2, 4), ("x", "y")
PLACES = ("none", "devices", "abstract")


def meshes(kind: Any) -> dict[str, Any]:
    """No mesh, one of the devices here, and one without devices."""
    devices = jax.make_mesh(SIZES, NAMES, axis_types=(kind,) * 2)
    return dict(zip(PLACES, (None, devices, AbstractMesh(SIZES, NAMES, axis_types=(kind,) * 2))))


def uses(mesh: Any) -> dict[str, Callable]:
    """Ways in which a product's function names its mesh, or leaves it to the context."""

    def at(*entries: Any) -> Any:
        return P(*entries) if mesh is None else NamedSharding(mesh, P(*entries))

    held = {} if mesh is None else {"mesh": mesh}
    summed = jax.shard_map(lambda a, b: jax.lax.psum(a @ b, "y"), in_specs=(P("x", "y"), P("y")), out_specs=P("x"), **held)
    inner = jax.shard_map(
        lambda a, b: jax.lax.psum(a @ b, "y"), axis_names={"y"}, in_specs=(P(None, "y"), P("y")), out_specs=P()
    )
    return {
        "shard_map": summed,
        "nested": jax.shard_map(
            lambda a, b: inner(a, b), axis_names={"x"}, in_specs=(P("x"), P()), out_specs=P("x"), **held
        ),
        "constraint": lambda a, b: jax.lax.with_sharding_constraint(a @ b, at("x", "y")),
        "reshard": lambda a, b: jax.reshard(a, at("x", None)) @ jax.reshard(b, at()),
        "out_sharding": lambda a, b: jnp.einsum("ij,jk->ik", a, b, out_sharding=at("x", "y")),
        "device_put": lambda a, b: jax.device_put(a @ b, at("x", "y")),
        "plain": lambda a, b: a @ b,
    }


def jitted(mesh: Any) -> dict[str, Callable[[], Callable]]:
    """The same, named by `jax.jit`, which may refuse at once."""

    def at(*entries: Any) -> Any:
        return P(*entries) if mesh is None else NamedSharding(mesh, P(*entries))

    return {
        "out_shardings": lambda: jax.jit(lambda a, b: a @ b, out_shardings=at("x", "y")),
        "in_shardings": lambda: jax.jit(lambda a, b: a @ b, in_shardings=(at("x", "y"), at("y")), out_shardings=at("x")),
    }


@contextlib.contextmanager
def context(mesh: Any) -> Iterator[None]:
    """The mesh in the context, by JAX's way for it."""
    with contextlib.ExitStack() as stack:
        if mesh is not None:
            abstract = isinstance(mesh, AbstractMesh)
            stack.enter_context(jax.sharding.use_abstract_mesh(mesh) if abstract else jax.set_mesh(mesh))
        yield


def collectives(f: Callable, args: tuple, target: str | None) -> list | str:
    """Kinds and axes, or the kind of error that JAX or we refuse it with.

    Not bytes, since a TPU gathers f32 operands of a product as bf16; and XLA for CPU gathers before a nested `shard_map`.
    """
    try:
        program = inspect(f, *args, target=target)
    except Exception as error:  # what JAX and we refuse, where a mesh is missing or of other axis types
        return error.reference if isinstance(error, LensError) else type(error).__name__
    assert program.platform == ("tpu" if target else "cpu")
    return [program.devices, *sorted({(c.kind, c.axes) for c in program.collectives})]


@pytest.mark.thorough(after=2)
@pytest.mark.parametrize("kind", [AUTO, EXPLICIT], ids=["auto", "explicit"])
@pytest.mark.parametrize("given, around", list(itertools.product(PLACES, PLACES)))
def test_wherever_the_mesh_is(given: str, around: str, kind: Any) -> None:
    """Arguments x context x function: what compiles here compiles there, to the same, and is refused there only if here."""
    at = meshes(kind)
    compiled = 0
    for held in PLACES:
        shardings = [None if at[given] is None else NamedSharding(at[given], P(*e)) for e in (("x", "y"), ("y",))]
        shapes = ((64, 128), (128, 256))
        args = tuple(jax.ShapeDtypeStruct(s, "float32", sharding=sharding) for s, sharding in zip(shapes, shardings))
        ways = {name: lambda f=f: f for name, f in uses(at[held]).items()} | jitted(at[held])
        if at[given] is at[around] is at[held] is None:
            continue  # a program of one device
        for name, way in ways.items():
            with context(at[around]):
                if name == "plain" and at[given] is at[around] is None:
                    continue
                here, there = collectives(way(), args, None), collectives(way(), args, TARGET)
            if name == "nested" and kind is EXPLICIT:
                here = [each for each in here if each != ("all-gather", ("y",))] if isinstance(here, list) else here
            assert here == there, (held, name)
            compiled += isinstance(there, list)
    assert compiled >= (0 if given == "none" == around else 1)


@pytest.mark.parametrize("sizes", [(2, 4), (4, 2), (8, 1)])
def test_same_program_from_each_place(sizes: tuple[int, int]) -> None:
    """Arguments, a leading mesh, the context and a closure say the same, and so do a mesh of devices and an abstract one."""
    devices = jax.make_mesh(sizes, NAMES, axis_types=(AUTO,) * 2)
    abstract = AbstractMesh(sizes, NAMES, axis_types=(AUTO,) * 2)
    x = jax.ShapeDtypeStruct((64, 128), "bfloat16")

    def summed(mesh: Any = None) -> Callable:
        return jax.shard_map(lambda a: jax.lax.psum(a, NAMES), mesh=mesh, in_specs=P("x", "y"), out_specs=P())

    def on(mesh: Any) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=NamedSharding(mesh, P("x", "y")))

    programs = [
        inspect(summed(devices), on(devices), target=TARGET),
        inspect(summed(abstract), on(abstract), target=TARGET),
        inspect(lambda mesh, a: summed(mesh)(a), devices, on(devices), target=TARGET),
        inspect(lambda mesh, a: summed(mesh)(a), abstract, on(abstract), target=TARGET),
        inspect(jax.jit(summed(devices), in_shardings=NamedSharding(devices, P("x", "y"))), x, target=TARGET),
        inspect(jax.jit(summed(devices)).trace(on(devices)), target=TARGET),
        inspect(summed(devices), on(abstract), target=TARGET),
    ]
    with jax.set_mesh(devices):
        for held in (None, devices, devices.abstract_mesh):
            programs.append(inspect(summed(held), on(devices), target=TARGET))
    first = programs[0]
    assert [c.payload_bytes for c in first.collectives] == [64 * 128 // 8 * 2]
    assert all(each.collectives == first.collectives for each in programs)
    assert all(each.memory == first.memory for each in programs)
    assert all(each.output_placements[0].same_as(first.output_placements[0]) for each in programs)


def test_an_abstract_mesh_alone() -> None:
    """JAX compiles such a program for one device and leaves the mesh out; here it is refused, for CPU and TPU."""
    mesh = AbstractMesh(SIZES, NAMES, axis_types=(AUTO,) * 2)
    constrained = lambda a: jax.lax.with_sharding_constraint(a * 2, NamedSharding(mesh, P("y")))  # noqa: E731
    for target in (None, TARGET):
        with pytest.raises(LensError) as error:
            inspect(constrained, jnp.ones((16, 16)), target=target)
        assert str(error.value) == (
            "[abstract-mesh-alone] the function names an abstract mesh, but nothing says which devices the mesh has.\n"
            "  where: mesh x=2, y=4   arguments without shardings\n"
            "  mend:  call it inside `with jax.set_mesh(mesh):`, or give its arguments shardings over the mesh."
        )


def test_no_slice_of_two() -> None:
    """A mesh of two chips fits no slice, so none is proposed."""
    mesh = jax.make_mesh((2,), ("x",), axis_types=(AUTO,), devices=jax.devices()[:2])
    x = jax.ShapeDtypeStruct((16, 16), "float32", sharding=NamedSharding(mesh, P("x")))
    with pytest.raises(LensError) as error:
        inspect(lambda a: a.sum(0), x, target="v5e:2x2")
    assert error.value.mend == "no slice has so many devices: say which sizes the axes have there: axes={'x': 4}."
    assert inspect(lambda a: a.sum(0), x, target="v5e:2x2", axes={"x": 4}).collectives[0].axes == ("x",)
    assert inspect(lambda a: a.sum(0), x).devices == 2


@pytest.mark.parametrize("place", ["arguments", "closure", "context"])
def test_callbacks(place: str) -> None:
    """Printing and calling back is lowered for a TPU wherever the mesh comes from."""
    mesh = jax.make_mesh(SIZES, NAMES, axis_types=(AUTO,) * 2)
    sharding = NamedSharding(mesh, P("x"))

    def printing(a: jax.Array) -> jax.Array:
        jax.debug.print("{}", a.sum())
        return jax.lax.with_sharding_constraint(a, sharding) if place == "closure" else a * 2

    x = jax.ShapeDtypeStruct((64, 128), "float32", sharding=None if place == "context" else sharding)
    with jax.set_mesh(mesh) if place == "context" else contextlib.nullcontext():
        program = inspect(printing, x, target=TARGET)
    assert program.platform == "tpu" and "is_host_transfer" in program.hlo
