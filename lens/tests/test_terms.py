"""Arrays that are not added up yet: where their blocks lie, and over which axes they are terms."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding

from shardlens.compilers.unreduced import placed_of, terms_of
from shardlens.placement import place, placement_of
from shardlens.programs.inspection import inspect

P = jax.P
SIZES = ((2, 4), (4, 2), (2, 2, 2))
SPECS = (P("x", None), P(None, "x"), P(("y", "x")), P(), P("y", "x"))
UNREDUCED = (
    (P("y", unreduced={"x"}), ("x",)),
    (P(None, "x", unreduced={"y"}), ("y",)),
    (P(unreduced={"x"}), ("x",)),
    (P(unreduced={"x", "y"}), ("x", "y")),
)


def explicit(sizes: tuple[int, ...]) -> jax.sharding.Mesh:
    return jax.make_mesh(sizes, tuple("xyz"[: len(sizes)]), axis_types=(AxisType.Explicit,) * len(sizes))


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_reduced_arrays_have_no_terms(sizes: tuple[int, ...], spec: jax.P) -> None:
    """Both readings of an ordinary sharding agree with JAX's own."""
    mesh = explicit(sizes)
    sharding = NamedSharding(mesh, spec)
    axes = tuple(mesh.shape.items())
    for read in (terms_of, placed_of):
        found, over = read(sharding, (16, 8), axes)
        assert found.same_as(placement_of(sharding, (16, 8))) and over == ()


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize(("spec", "wanted"), UNREDUCED, ids=lambda p: str(p))
def test_terms_are_copies_of_a_place(sizes: tuple[int, ...], spec: jax.P, wanted: tuple[str, ...]) -> None:
    """Blocks lie as the spec without its unreduced axes says, and those are named."""
    mesh = explicit(sizes)
    found, over = placed_of(NamedSharding(mesh, spec), (16, 8), tuple(mesh.shape.items()))
    assert over == wanted
    assert found.same_as(placement_of(NamedSharding(mesh, P(*spec.partitions)), (16, 8)))


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize(("spec", "wanted"), UNREDUCED, ids=lambda p: str(p))
def test_an_entry_too_many_names_terms(sizes: tuple[int, ...], spec: jax.P, wanted: tuple[str, ...]) -> None:
    """As JAX writes the output of an exported program that is cut and not added up yet."""
    mesh = explicit(sizes)
    cut = (*spec.partitions, None, None)[:2]
    for over in [wanted, *wanted] if len(wanted) == 1 else [wanted]:
        found, terms = placed_of(NamedSharding(mesh, P(*cut, over)), (16, 8), tuple(mesh.shape.items()))
        assert terms == wanted
        assert found.same_as(placement_of(NamedSharding(mesh, P(*cut)), (16, 8)))


def test_without_a_mesh_nothing_is_named() -> None:
    """The blocks are known from the devices alone."""
    found, over = placed_of(NamedSharding(explicit((2, 4)), P("y", unreduced={"x"})), (16, 8), None)
    assert (found.spec, over) == (None, ())
    assert found.same_as(place((16, 8), {"x": 2, "y": 4}, ("y",)))


def test_inspect_reads_an_unreduced_output() -> None:
    """A program whose output is not added up moves nothing, and its blocks have a place."""
    mesh = explicit((4, 2))
    a = jax.device_put(np.ones((8, 16), np.float32), NamedSharding(mesh, P("y", "x")))
    with jax.set_mesh(mesh):
        program = inspect(lambda a: jnp.einsum("ij->i", a, out_sharding=P("y", unreduced={"x"})), a)
    assert program.collectives == ()
    assert program.output_placements[0].same_as(place((8,), {"x": 4, "y": 2}, ("y",)))
