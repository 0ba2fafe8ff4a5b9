"""A training step written with haliax, whose axes have names; of JAX it uses what newer ones than 0.10 no longer have."""

from __future__ import annotations

import warnings
from typing import Any

import equinox as eqx
import jax

from programs.listing import Built, array, program

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of what it uses of equinox
    import haliax as hax

BATCH, WIDE, HIDDEN = hax.Axis("batch", 64), hax.Axis("wide", 512), hax.Axis("hidden", 1024)
MAPPING = {"batch": "data", "hidden": "model"}


class Network(eqx.Module):
    """Two layers over named axes."""

    up: Any
    down: Any

    def __init__(self, key: jax.Array) -> None:
        keys = jax.random.split(key)
        self.up = hax.nn.Linear.init(WIDE, HIDDEN, key=keys[0], use_bias=False)
        self.down = hax.nn.Linear.init(HIDDEN, WIDE, key=keys[1], use_bias=False)

    def __call__(self, x: Any, mesh: Any) -> Any:
        hidden = hax.shard(hax.nn.gelu(self.up(x)), MAPPING, mesh)
        return hax.shard(self.down(hidden), MAPPING, mesh)


@program(data=2, model=4)
def haliax_step(mesh: Any) -> Built:
    """A step of a haliax module, its hidden axis over "model" and its batch over "data" by one mapping."""

    def placed(x: Any) -> Any:
        spec = (MAPPING.get(axis.name) for axis in x.axes)
        return hax.NamedArray(array(mesh, x.array.shape, *spec, dtype="float32"), x.axes)

    def step(model: Network, x: Any, y: Any) -> Network:
        def loss(trained: Network) -> jax.Array:
            return hax.mean((trained(x, mesh) - y) ** 2).scalar()

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of what it asks of JAX as it is traced
            grads = eqx.filter_grad(loss)(model)
        return hax.shard(eqx.apply_updates(model, jax.tree.map(lambda g: -0.1 * g, grads)), MAPPING, mesh)

    def is_named(x: Any) -> bool:
        return isinstance(x, hax.NamedArray)

    model, x = eqx.filter_eval_shape(lambda: (Network(jax.random.key(0)), hax.zeros((BATCH, WIDE))))
    held, still = eqx.partition(jax.tree.map(placed, model, is_leaf=is_named), lambda leaf: hasattr(leaf, "sharding"))
    data = placed(x)

    def of_arrays(held: Network, x: Any, y: Any) -> Any:
        return eqx.filter(step(eqx.combine(held, still), x, y), eqx.is_array)

    return jax.jit(of_arrays, donate_argnums=0), (held, data, data)
