"""One of two processes with four devices each: `einshard` from host copies and from global arrays, checked shard by shard.

Prints `ok` when every check holds. `test_processes_einshard.py` launches it.
"""

import jax
import numpy as np


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
    check()
    print("ok")
