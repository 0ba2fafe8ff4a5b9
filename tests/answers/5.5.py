"""The mesh carries the order."""

import jax
import numpy as np
from variants import right, wrong

import shardlab as sl

sl.predict(
    "5.5",
    said={
        "a": "numbers",
        "b": "axes",
        "c": "axes",
        "d": "axes",
        "e": "nothing",
        "f": "nothing",
        "g": "numbers",
        "h": "numbers",
        "i": "numbers",
    },
)
mesh = jax.sharding.Mesh(np.array(jax.devices()[:8])[::-1], ("x",), axis_types=(jax.sharding.AxisType.Auto,))
backwards = sl.make_sharding("r c -> r@x c", (16, 4), mesh)


@right
def by_hand():
    """Without an expression."""
    backwards = jax.NamedSharding(mesh, jax.P("x"))


@wrong("copies-cannot-be-said", 2.06)
def copies():
    """Copies need a mesh."""
    sl.predict(
        "5.5",
        said={
            "a": "numbers",
            "b": "axes",
            "c": "axes",
            "d": "axes",
            "e": "nothing",
            "f": "nothing",
            "g": "nothing",
            "h": "axes",
            "i": "numbers",
        },
    )


@wrong("devices-in-numbers", 2.06)
def devices():
    """Other devices, in numbers."""
    sl.predict(
        "5.5",
        said={
            "a": "numbers",
            "b": "axes",
            "c": "numbers",
            "d": "numbers",
            "e": "nothing",
            "f": "nothing",
            "g": "numbers",
            "h": "numbers",
            "i": "numbers",
        },
    )


@wrong("order-left-to-devices", 2)
def forwards():
    """Block 0 on device 0."""
    backwards = sl.make_sharding("r c -> r8 c", (16, 4))


@wrong("grid-needs-a-mesh", 2.28)
def grid():
    """A grid needs a mesh."""
    sl.predict(
        "5.5",
        said={
            "a": "axes",
            "b": "axes",
            "c": "axes",
            "d": "axes",
            "e": "nothing",
            "f": "nothing",
            "g": "numbers",
            "h": "numbers",
            "i": "numbers",
        },
    )


@wrong("groups-cannot-be-said", 2.28)
def groups():
    """A repeated name needs a mesh."""
    sl.predict(
        "5.5",
        said={
            "a": "numbers",
            "b": "axes",
            "c": "axes",
            "d": "axes",
            "e": "nothing",
            "f": "nothing",
            "g": "numbers",
            "h": "numbers",
            "i": "axes",
        },
    )


@wrong("mesh-cannot-be-given", 2.06)
def no_mesh():
    """Order and choice of devices are thought to be out of reach."""
    sl.predict(
        "5.5",
        said={
            "a": "numbers",
            "b": "axes",
            "c": "nothing",
            "d": "nothing",
            "e": "nothing",
            "f": "nothing",
            "g": "numbers",
            "h": "numbers",
            "i": "numbers",
        },
    )


@wrong("one-device-is-a-mesh", 2.28)
def one_device():
    """One device is taken for copies."""
    sl.predict(
        "5.5",
        said={
            "a": "numbers",
            "b": "axes",
            "c": "axes",
            "d": "axes",
            "e": "nothing",
            "f": "numbers",
            "g": "numbers",
            "h": "numbers",
            "i": "numbers",
        },
    )


@wrong("order-in-numbers", 2.28)
def order():
    """Two axes in another order, in numbers."""
    sl.predict(
        "5.5",
        said={
            "a": "numbers",
            "b": "numbers",
            "c": "axes",
            "d": "axes",
            "e": "nothing",
            "f": "nothing",
            "g": "numbers",
            "h": "numbers",
            "i": "numbers",
        },
    )


@wrong("sums-as-copies", 2.28)
def sums():
    """Partial sums are taken for copies."""
    sl.predict(
        "5.5",
        said={
            "a": "numbers",
            "b": "axes",
            "c": "axes",
            "d": "axes",
            "e": "axes",
            "f": "nothing",
            "g": "numbers",
            "h": "numbers",
            "i": "numbers",
        },
    )


@wrong("still-a-text", 2)
def text():
    """An expression, and no sharding."""
    backwards = "r c -> r8 c"
