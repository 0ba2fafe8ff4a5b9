import jax
import numpy as np

import shardlab as sl
from shardlab_course.answers import right, told, wrong

mesh = jax.sharding.Mesh(np.array(jax.devices()[:8])[::-1], ("x",), axis_types=(jax.sharding.AxisType.Auto,))


@right
def by_hand():
    """Without an expression."""
    backwards = jax.NamedSharding(mesh, jax.P("x"))


@told("copies-cannot-be-said")
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
            "f": "axes",
            "g": "nothing",
            "h": "axes",
            "i": "numbers",
        },
    )


@told("devices-in-numbers")
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
            "f": "axes",
            "g": "numbers",
            "h": "numbers",
            "i": "numbers",
        },
    )


@wrong("order-left-to-devices", 3.5)
def forwards():
    """Block 0 on device 0."""
    backwards = sl.make_sharding("r c -> r8 c", (16, 4))


@told("grid-needs-a-mesh")
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
            "f": "axes",
            "g": "numbers",
            "h": "numbers",
            "i": "numbers",
        },
    )


@told("groups-cannot-be-said")
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
            "f": "axes",
            "g": "numbers",
            "h": "numbers",
            "i": "axes",
        },
    )


@told("mesh-cannot-be-given")
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
            "f": "axes",
            "g": "numbers",
            "h": "numbers",
            "i": "numbers",
        },
    )


@told("one-device-in-numbers")
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


@told("one-device-is-no-mesh")
def no_mesh_of_one():
    """A mesh of one device is not thought of."""
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


@told("order-in-numbers")
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
            "f": "axes",
            "g": "numbers",
            "h": "numbers",
            "i": "numbers",
        },
    )


@told("sums-as-copies")
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
            "f": "axes",
            "g": "numbers",
            "h": "numbers",
            "i": "numbers",
        },
    )


@wrong("still-a-text", 3.5)
def text():
    """An expression, and no sharding."""
    backwards = "r c -> r8 c"
