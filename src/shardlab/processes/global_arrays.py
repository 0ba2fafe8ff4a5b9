"""What one process can tell of a global array: where all of it lies, and the values that this process holds."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from shardlab.as_json import as_json
from shardlens import placement_of


def global_as_json(value: Any) -> Any:
    """`value` as JSON, with `{"array": ...}` in place of every JAX array.

    Devices are numbered by their place in `jax.devices()`, since JAX's own ids leave gaps between processes.

    Raises:
        TypeError: `value` holds something that JSON cannot, or a dict that looks like an array's description.
    """
    return as_json(value, described)


def described(x: jax.Array) -> dict[str, Any]:
    """The placement of a global array as JSON, and under `held` the (device, values) pairs of this process.

    Raises:
        TypeError: its elements are random keys, or not finite.
    """
    if jnp.issubdtype(x.dtype, jax.dtypes.extended):
        raise TypeError(f"{x.dtype} are not numbers; return jax.random.key_data of them")
    numbers = {device.id: place for place, device in enumerate(jax.devices())}
    where = placement_of(x)
    shards = tuple(sorted((numbers[device], index) for device, index in where.shards))
    placement = dataclasses.replace(where, shards=shards, dtype=str(x.dtype))
    held = [[numbers[shard.device.id], as_json(_numbers(shard.data))] for shard in x.addressable_shards]
    return {"placement": placement.to_json(), "held": sorted(held)}


def _numbers(data: jax.Array) -> np.ndarray:
    values = np.asarray(data)
    # bfloat16 and its like are no kinds of floats that NumPy knows itself.
    return values.astype(np.float32) if jnp.issubdtype(values.dtype, np.floating) else values
