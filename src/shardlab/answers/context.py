"""The mesh and the arguments of a case, as JAX has them, and the settings under which answers are looked at."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping
from typing import Any

import jax
import numpy as np

from shardlens import setting


def situation(case: Mapping[str, Any]) -> tuple[jax.sharding.Mesh, tuple[jax.ShapeDtypeStruct, ...]]:
    """The mesh of a manifest's case, on the first devices in order, and its inputs without values."""
    names, sizes = zip(*case["axes"])
    kind = jax.sharding.AxisType.Explicit if case["explicit"] else jax.sharding.AxisType.Auto
    devices = np.array(jax.devices()[: math.prod(sizes)]).reshape(sizes)
    mesh = jax.sharding.Mesh(devices, names, axis_types=(kind,) * len(names))
    specs = []
    for given in case["inputs"]:
        entries = (tuple(e) if isinstance(e, list) else e for e in given["spec"])
        sharding = jax.sharding.NamedSharding(mesh, jax.P(*entries))
        specs.append(jax.ShapeDtypeStruct(tuple(given["shape"]), given["dtype"], sharding=sharding))
    return mesh, tuple(specs)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """While it lasts no mesh is set, and functions are compiled with Shardy, whatever another cell has set for all."""
    nothing = jax.sharding.Mesh(np.empty((), dtype=object), ())
    with jax.set_mesh(nothing), jax.disable_jit(False), setting("jax_use_shardy_partitioner", True):
        yield
