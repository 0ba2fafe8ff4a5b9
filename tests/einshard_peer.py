"""One of two processes with four devices each: `einshard` from host copies and from global arrays, checked shard by shard.

Arguments: the coordinator's address and this process's number. Prints `ok` when every check holds.
"""

import sys

import jax
import numpy as np


def main(address: str, process: int) -> None:
    """Start JAX as one process of two, check, and stop."""
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 4)
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(address, num_processes=2, process_id=process, initialization_timeout=60)
    try:
        check()
    finally:
        jax.distributed.shutdown()


def check() -> None:
    """Place host copies and global arrays, and compare every shard that this process holds with the oracle."""
    from einshard_oracle import index_map

    from shardlab.expressions.inverse import expression
    from shardlab.expressions.sharding import einshard

    host = np.arange(64, dtype="float32").reshape(8, 8)
    order = {device.id: place for place, device in enumerate(jax.devices())}

    def held(x: jax.Array, text: str, values: np.ndarray) -> None:
        wanted = index_map(text, values.shape, 8)
        assert not x.is_fully_addressable and len(x.addressable_shards) == 4
        for shard in x.addressable_shards:
            slices = tuple(slice(*part) for part in wanted[order[shard.device.id]])
            np.testing.assert_array_equal(shard.data, values[slices])

    texts = ("a b -> a8 b", "a b -> b2 a4", "a b -> 2 a4 b", "a b -> * a b", "... b -> ... b*")
    for text in texts:
        held(einshard(host, text), text, host)
        held(einshard(jax.numpy.asarray(host), text), text, host)
    placed = einshard(host, texts[0])
    for text in texts[1:]:
        placed = einshard(placed, text)
        held(placed, text, host)
    assert expression(einshard(host, texts[1])) == texts[1]
    assert einshard(host.astype("float64"), texts[0]).dtype == jax.numpy.float32
    held(einshard({"w": host}, [("w", texts[0])])["w"], texts[0], host)
    scalar = einshard(2.5, "... -> * ...")
    assert scalar.shape == () and float(scalar) == 2.5 and len(scalar.sharding.device_set) == 8
    key = einshard(jax.random.split(jax.random.key(0), 8), "n -> n*")
    assert key.shape == (8,) and not key.is_fully_addressable


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
    print("ok")
