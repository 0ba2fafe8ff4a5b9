"""What the programs that provoke JAX's messages have in common: eight devices, two meshes, arrays, and the list of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax import P
from jax.sharding import AxisType, NamedSharding

AUTO, EXPLICIT = AxisType.Auto, AxisType.Explicit
auto = jax.make_mesh((4, 2), ("data", "model"), axis_types=(AUTO, AUTO))
typed = jax.make_mesh((4, 2), ("data", "model"), axis_types=(EXPLICIT, EXPLICIT))
line = jax.make_mesh((8,), ("i",), axis_types=(AUTO,))
typed_line = jax.make_mesh((8,), ("i",), axis_types=(EXPLICIT,))
x = np.random.default_rng(7).normal(size=(8, 4)).astype(np.float32)
square = np.random.default_rng(8).normal(size=(8, 8)).astype(np.float32)

PROGRAMS: dict[str, tuple[Callable[[], Any], dict[str, str]]] = {}
"""Name, the program, and by JAX's version the row of the table that explains what it says."""


def says(row: str, newer: str = "") -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """The function below provokes a message that this row explains; since JAX 0.12 another one, where `newer` names it."""

    def keep(program: Callable[[], Any]) -> Callable[[], Any]:
        assert program.__name__ not in PROGRAMS, program.__name__
        PROGRAMS[program.__name__] = program, {"0.10": row, "0.12": newer or row}
        return program

    return keep


def on(array: Any, *spec: Any, mesh: Any = auto) -> Any:
    """The array on a mesh."""
    return jax.device_put(array, NamedSharding(mesh, P(*spec)))


ROWS = P("data")


def mapped(body: Any, ins: Any = ROWS, outs: Any = ROWS, mesh: Any = auto, **more: Any) -> Any:
    """The body, by `jax.shard_map`."""
    return jax.shard_map(body, mesh=mesh, in_specs=ins, out_specs=outs, **more)
