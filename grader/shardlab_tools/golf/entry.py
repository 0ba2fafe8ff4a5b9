"""An entry of pod golf: a file that says how the model is cut and, if it likes, how a step is written."""

from __future__ import annotations

import importlib.util
import pathlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax
from jax import P
from jax.sharding import AbstractMesh, AxisType, Mesh, NamedSharding

from shardlab_tools.golf import model

Step = Callable[[jax.Array, model.Arrays, model.Arrays], tuple[jax.Array, model.Arrays, model.Arrays]]


@dataclass(frozen=True)
class Entry:
    """What a file says: `axes` for each number of devices, specs of tokens, weights and their speeds, and the step."""

    title: str
    axes: Mapping[int, Mapping[str, int]]
    tokens: P
    weights: Mapping[str, P]
    speeds: Mapping[str, P]
    step: Step
    after: str | None
    """The entry that it began from."""

    def mesh(self, devices: int) -> Mesh:
        """The mesh on so many devices that are here."""
        axes = self.axes[devices]
        return jax.make_mesh(tuple(axes.values()), tuple(axes), axis_types=(AxisType.Auto,) * len(axes))

    def described(self, devices: int) -> AbstractMesh:
        """The mesh on so many devices that need not be here."""
        axes = self.axes[devices]
        return AbstractMesh(tuple(axes.values()), tuple(axes), axis_types=(AxisType.Auto,) * len(axes))

    def jitted(self, mesh: Mesh | AbstractMesh) -> Any:
        """The step under jit: weights and speeds are donated, and lie afterwards as before."""
        after = NamedSharding(mesh, P()), _placed(self.weights, mesh), _placed(self.speeds, mesh)
        return jax.jit(self.step, donate_argnums=(1, 2), out_shardings=after)

    def arguments(self, mesh: Mesh | AbstractMesh, sizes: model.Sizes, dtype: str) -> tuple[Any, Any, Any]:
        """Shapes, types and shardings of tokens, weights and speeds."""
        tokens = jax.ShapeDtypeStruct((sizes.batch, sizes.length + 1), "int32", sharding=NamedSharding(mesh, self.tokens))

        def like(specs: Mapping[str, P]) -> dict[str, jax.ShapeDtypeStruct]:
            where, shapes = _placed(specs, mesh), model.shapes(sizes)
            return {name: jax.ShapeDtypeStruct(shapes[name], dtype, sharding=where[name]) for name in shapes}

        return tokens, like(self.weights), like(self.speeds)


def read(path: pathlib.Path) -> Entry:
    """The entry in a file; ValueError says what the file lacks."""
    found = importlib.util.spec_from_file_location(path.stem, path)
    if found is None or found.loader is None:
        raise ValueError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    lacking = [name for name in ("__doc__", "AXES", "TOKENS", "WEIGHTS") if getattr(module, name, None) is None]
    if lacking:
        raise ValueError(f"{path} has no {' and no '.join(lacking)}; jupyter_book/golf/whole.py is an entry to copy")
    weights, names = module.WEIGHTS, [*model.shapes(model.SMALL)]
    if {*weights} != {*names}:
        raise ValueError(f"WEIGHTS in {path} has {', '.join(weights)}; the model's weights are {', '.join(names)}")
    return Entry(
        title=str(module.__doc__).strip(),
        axes=module.AXES,
        tokens=module.TOKENS,
        weights=weights,
        speeds=getattr(module, "SPEEDS", weights),
        step=getattr(module, "step", model.step),
        after=getattr(module, "AFTER", None),
    )


def _placed(specs: Mapping[str, P], mesh: Mesh | AbstractMesh) -> dict[str, NamedSharding]:
    return {name: NamedSharding(mesh, spec) for name, spec in specs.items()}
