"""The pencils of exercise 13.3 against jaxDecomp, where it is installed: the same values for the same bytes."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding

import shardlab as sl
from variants import REFERENCE, of

jaxdecomp = pytest.importorskip("jaxdecomp", reason="jaxdecomp is not installed: it has wheels for Linux only")


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize(("n", "m"), [(4, 2), (2, 4)])
def test_pencils(n: int, m: int) -> None:
    """Both transforms are those of NumPy, jaxDecomp's with its dimensions rotated, and both exchange alike."""
    mesh = jax.make_mesh((n, m), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
    real, imaginary = np.random.default_rng(13).standard_normal((2, 16, 8, 24))
    values = (real + 1j * imaginary).astype(np.complex64)
    cube = jax.device_put(values, NamedSharding(mesh, jax.P("x", "y")))
    ours = of("13.3")[REFERENCE].variables()["pencil_fft"]
    np.testing.assert_allclose(ours(mesh, cube), np.fft.fftn(values), atol=1e-3)
    theirs = jaxdecomp.fft.pfft3d(cube)
    np.testing.assert_allclose(theirs, np.fft.fftn(values).transpose(1, 2, 0), atol=1e-3)
    assert exchanges(ours, mesh, cube) == exchanges(jaxdecomp.fft.pfft3d, cube)


def exchanges(f, *arguments) -> list[tuple[str, tuple[str, ...], int, int]]:
    """Kind, axes, group size and bytes of every collective, in order."""
    return [(c.kind, c.axes, c.group_size, c.payload_bytes) for c in sl.inspect(f, *arguments).collectives]
