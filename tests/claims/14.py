"""Claims of chapter 14."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from jax.experimental import mesh_utils, topologies
from jax.sharding import AxisType

import shardlab as sl
from claims.claim import claim
from shardlens.compilers.topology import devices as slice_of
from shardlens.compilers.topology import host_settings

SLICE, NARROW = "v5e:4x4", "v5e:2x4"


def processes(devices: Any) -> list[list[int]]:
    """The process of each device of a mesh."""
    return np.vectorize(lambda device: device.process_index)(devices).tolist()


def rows(devices: Any) -> list[list[Any]]:
    """Devices by process."""
    numbers = sorted({device.process_index for device in devices})
    return [[device for device in devices if device.process_index == number] for number in numbers]


@claim(
    "On a TPU `make_mesh` permutes the devices, even those that you give it by `devices=`",
    "[[0 0 1 1] [0 0 1 1] [2 2 3 3] [2 2 3 3]]",
    "jax.make_mesh permutes devices on TPUs",
    "`jax.sharding.Mesh` takes an array of devices as it is",
    targets=(SLICE,),
)
def make_mesh_permutes(target):
    """Rows of one host each go in, and others come out; Mesh keeps them."""
    given = rows(slice_of(target))
    flat = [device for row in given for device in row]
    made = jax.make_mesh((4, 4), ("host", "local"), (AxisType.Auto,) * 2, devices=flat)
    assert processes(made.devices) == [[0, 0, 1, 1], [0, 0, 1, 1], [2, 2, 3, 3], [2, 2, 3, 3]]
    kept = jax.sharding.Mesh(np.array(given), ("host", "local"))
    assert processes(kept.devices) == [[host] * 4 for host in range(4)]


@claim(
    "On TPUs `make_mesh` also refuses devices of *several slices*",
    "the outer one follows `device.slice_index`",
    "For two slices of eight chips the shapes are `(1, 8)` and `(2, 1)`",
    targets=(NARROW,),
)
def slices_want_a_hybrid_mesh(target):
    """Two slices of eight chips: make_mesh raises, and the hybrid mesh has a row for each."""
    with host_settings():
        devices = topologies.get_topology_desc(target, "tpu", num_slices=2).devices
    try:
        jax.make_mesh((2, 8), ("dcn", "ici"), (AxisType.Auto,) * 2, devices=devices)
    except AssertionError:
        pass
    else:
        raise AssertionError("make_mesh took devices of two slices")
    made = mesh_utils.create_hybrid_device_mesh((1, 8), (2, 1), devices=devices)
    assert [{device.slice_index for device in row} for row in made] == [{0}, {1}]


@claim("On CPUs `make_mesh` lays devices out row by row in the order of `jax.devices()`")
def in_order_on_cpu():
    """No permutation here."""
    made = jax.make_mesh((2, 4), ("host", "local"), (AxisType.Auto,) * 2)
    assert made.devices.ravel().tolist() == jax.devices()


def uneven() -> list[int]:
    """What each process believes the shape to be."""
    import jax
    import numpy as np
    from jax import P
    from jax.sharding import AxisType, NamedSharding

    mesh = jax.make_mesh((jax.device_count(),), ("data",), axis_types=(AxisType.Auto,))
    own = np.ones((8 if jax.process_index() == 0 else 4, 2))
    return list(jax.make_array_from_process_local_data(NamedSharding(mesh, P("data")), own).shape)


@claim(
    "If one process gives eight rows and the other four, each computes a different global shape",
    "`make_array_from_process_local_data` does not compare *shapes*, either",
)
def shapes_are_not_compared():
    """Both are content."""
    assert sl.launch(uneven).returned == [[16, 2], [8, 2]]


def once_more() -> int:
    """A sum that both take part in, and one that process 1 wants alone."""
    import jax
    import numpy as np
    from jax import P
    from jax.sharding import AxisType, NamedSharding

    mesh = jax.make_mesh((jax.device_count(),), ("data",), axis_types=(AxisType.Auto,))
    own = np.ones((8, 2), np.float32)
    x = jax.make_array_from_process_local_data(NamedSharding(mesh, P("data")), own)
    for step in range(1 + jax.process_index()):
        float((x * step).sum())
    return 1


@claim("Line h is the same mistake three steps later, after the two have met, and process 1 just waits")
def waits_on_after_they_met():
    """No error after the limit of a first meeting, which is 30 s."""
    launched = sl.launch(once_more, seconds=40)
    assert [process.stopped for process in launched.processes] == ["", "time"]
    assert launched.processes[1].error is None
