"""Values that a compiler was reported to get wrong: our own programs of those kinds, held against NumPy."""

from __future__ import annotations

import itertools

import jax
import numpy as np
import pytest
from jax import P
from jax.sharding import AxisType, NamedSharding

import shardlab as sl

TABLES = (P("data"), P(None, "data"), P("model", "data"), P("data", "model"), P(("data", "model")))
TOKENS = (P(), P("data"), P("model"), P("data", "model"))


def summed(tokens: np.ndarray, cotangent: np.ndarray, rows: int) -> np.ndarray:
    """The gradient of a lookup by NumPy: each row gets the cotangents of its tokens."""
    total = np.zeros((rows, cotangent.shape[-1]))
    np.add.at(total, tokens, cotangent)
    return total


@pytest.mark.parametrize(("table", "tokens"), list(itertools.product(TABLES, TOKENS)), ids=str)
@pytest.mark.parametrize("kind", [AxisType.Auto, AxisType.Explicit], ids=lambda kind: kind.name)
def test_the_gradient_of_an_embedding(kind: AxisType, table: P, tokens: P) -> None:
    """openxla/xla#42481: however table and tokens are cut, the gradient is that of one device."""
    mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=(kind,) * 2)
    rng = np.random.default_rng(42)
    weights = rng.normal(size=(64, 16)).astype(np.float32)
    asked = rng.integers(0, 64, size=(16, 8))
    cotangent = rng.normal(size=(16, 8, 16)).astype(np.float32)
    w, t = (jax.device_put(x, NamedSharding(mesh, spec)) for x, spec in ((weights, table), (asked, tokens)))

    def loss(w: jax.Array, t: jax.Array) -> jax.Array:
        found = w.at[t].get(out_sharding=P()) if kind is AxisType.Explicit else w[t]
        return (found * cotangent).sum()

    with jax.set_mesh(mesh):
        gradient = jax.jit(jax.grad(loss))(w, t)
    np.testing.assert_allclose(gradient, summed(asked, cotangent, 64), rtol=1e-5, atol=1e-5)


def scattered(sizes: list[int]) -> list[float]:
    """The largest error of a psum_scatter between two processes, for each number of bytes that a device gets."""
    import jax
    import numpy as np
    from jax import P, lax
    from jax.sharding import AxisType, NamedSharding

    mesh = jax.make_mesh((2,), ("data",), axis_types=(AxisType.Auto,))
    errors = []
    for size in sizes:
        whole = np.random.default_rng(size).normal(size=(2, size // 2)).astype(np.float32)
        rows = jax.make_array_from_callback(whole.shape, NamedSharding(mesh, P("data")), lambda at, x=whole: x[at])
        f = jax.shard_map(
            lambda x: lax.psum_scatter(x[0], "data", tiled=True), mesh=mesh, in_specs=P("data"), out_specs=P("data")
        )
        (got,) = jax.jit(f)(rows).addressable_shards
        errors.append(float(abs(np.asarray(got.data) - whole.sum(0)[got.index]).max()))
    return errors


@pytest.mark.thorough
def test_scattered_sums_between_processes() -> None:
    """jax#40830: over gloo, chunks below, at and above 4 MiB give NumPy's sums in each of two processes."""
    sizes = [2**10, 2**22 - 8, 2**22, 2**22 + 8, 2**23]
    launched = sl.launch(scattered, processes=2, devices=1, arguments=[sizes])
    for process in launched.processes:
        assert process.returned is not None and max(process.returned) < 1e-5, process
