import jax
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding

from shardlab_course.answers import right, wrong

P = jax.P


def on(spec, devices=range(8), kind=AxisType.Auto, **sizes):
    chosen = np.array(jax.devices())[list(devices)].reshape(*sizes.values())
    return NamedSharding(Mesh(chosen, tuple(sizes), axis_types=(kind,) * len(sizes)), spec)


@right
def another_way():
    pictures = {
        "A": on(P(None, "x"), x=8),
        "B": on(P("x", "y"), x=2, y=4),
        "C": on(P("y", "x"), x=2, y=4),
        "D": on(P(), x=8),
        "E": on(P(("x", "y")), x=2, y=4),
        "F": on(P(("y", "x")), x=2, y=4),
        "G": on(P("x", None, "z"), x=2, y=2, z=2),
        "H": on(P("x", "y"), [0, 2, 4, 6], x=2, y=2),
        "I": on(P("x"), [7, 6, 5, 4], x=4),
        "J": on(P("y", "x"), [0, 4, 1, 5, 2, 6, 3, 7], x=2, y=4),
    }


@wrong("half-the-devices", 9)
def A_every_other():
    """A: every other device only."""
    pictures["A"] = on(P(None, "x"), range(0, 8, 2), x=4)


@wrong("half-the-devices", 9)
def A_first_four():
    """A: the first four devices only."""
    pictures["A"] = on(P(None, "x"), range(4), x=4)


@wrong("spec-transposed", 9)
def A_rows():
    """A: the rows are cut instead of the columns."""
    pictures["A"] = on(P("x"), x=8)


@wrong("tuple-order", 9)
def A_tuple_order():
    """A: the axes of the tuple are swapped."""
    pictures["A"] = on(P(None, ("y", "x")), x=2, y=4)


@wrong("tuple-order", 9)
def A_tuple_order_tall():
    """A: the axes of the tuple are swapped, on 4 by 2."""
    pictures["A"] = on(P(None, ("y", "x")), x=4, y=2)


@wrong("-", 9)
def A_wrong_shape():
    """A: an array of another shape."""
    pictures["A"] = jax.device_put(np.zeros((16, 8), "float32"), on(P(None, "x"), x=8))


@wrong("axis-forgotten", 9)
def B_one_axis():
    """B: only the rows are cut."""
    pictures["B"] = on(P("x"), x=2, y=4)


@wrong("-", 9)
def B_text():
    """B: the spec alone, without a mesh."""
    pictures["B"] = P("x", "y")


@wrong("spec-transposed", 9)
def B_transposed():
    """B: the spec of C."""
    pictures["B"] = on(P("y", "x"), x=2, y=4)


@wrong("mesh-turned", 9)
def B_turned():
    """B: the right shards on a 4 by 2 mesh."""
    pictures["B"] = on(P("y", "x"), x=4, y=2)


@wrong("mesh-turned", 9)
def B_turned_cuts():
    """B: a 4 by 2 mesh with the same spec."""
    pictures["B"] = on(P("x", "y"), x=4, y=2)


@wrong("spec-transposed", 9)
def C_transposed():
    """C: the spec of B."""
    pictures["C"] = on(P("x", "y"), x=2, y=4)


@wrong("tuple-order", 9)
def C_tuple_order():
    """C: on 2 by 2 by 2, with the tuple swapped."""
    pictures["C"] = on(P(("c", "b"), "a"), a=2, b=2, c=2)


@wrong("mesh-turned", 9)
def C_turned():
    """C: 4 by 2, so devices count along the columns."""
    pictures["C"] = on(P("x", "y"), x=4, y=2)


@wrong("cut-not-copied", 9)
def D_cut():
    """D: cut over the eight devices."""
    pictures["D"] = on(P("x"), x=8)


@wrong("one-device-only", 9)
def D_one_device():
    """D: an array without a sharding."""
    pictures["D"] = jax.numpy.zeros((16, 16))


@wrong("axis-forgotten", 9)
def E_one_axis():
    """E: one axis only."""
    pictures["E"] = on(P("x"), x=2, y=4)


@wrong("tuple-order", 9)
def E_tuple_order():
    """E: the axes of the tuple are swapped."""
    pictures["E"] = on(P(("y", "x")), x=2, y=4)


@wrong("tuple-unpacked", 9)
def E_unpacked():
    """E: without the inner parentheses."""
    pictures["E"] = on(P("x", "y"), x=2, y=4)


@wrong("tuple-order", 9)
def F_tuple_order():
    """F: the axes of the tuple are in the usual order."""
    pictures["F"] = on(P(("x", "y")), x=2, y=4)


@wrong("mesh-turned", 9)
def F_turned():
    """F: the right tuple on a 4 by 2 mesh."""
    pictures["F"] = on(P(("y", "x")), x=4, y=2)


@wrong("tuple-unpacked", 9)
def F_unpacked():
    """F: without the inner parentheses."""
    pictures["F"] = on(P("y", "x"), x=2, y=4)


@wrong("cut-not-copied", 9)
def G_no_copies():
    """G: all three axes cut."""
    pictures["G"] = on(P("x", "y", "z"), x=2, y=2, z=2)


@wrong("none-skipped", 9)
def G_no_none():
    """G: the None is missing."""
    pictures["G"] = on(P("x", "z"), x=2, y=2, z=2)


@wrong("other-axis", 9)
def G_other_axis():
    """G: copies along another mesh axis."""
    pictures["G"] = on(P("x", None, "y"), x=2, y=2, z=2)


@wrong("copies-on-idle", 9)
def H_copies():
    """H: all eight devices, with copies."""
    pictures["H"] = on(P("x", "y"), x=2, y=2, z=2)


@wrong("other-devices", 9)
def H_first_four():
    """H: the first four devices."""
    pictures["H"] = on(P("x", "y"), range(4), x=2, y=2)


@wrong("spec-transposed", 9)
def H_transposed():
    """H: rows and columns swapped."""
    pictures["H"] = on(P("y", "x"), [0, 2, 4, 6], x=2, y=2)


@wrong("other-devices", 9)
def I_first_four():
    """I: the first four devices."""
    pictures["I"] = on(P("x"), range(4), x=4)


@wrong("other-devices", 9)
def I_first_four_reversed():
    """I: the first four devices, reversed."""
    pictures["I"] = on(P("x"), [3, 2, 1, 0], x=4)


@wrong("devices-sorted", 9)
def I_sorted():
    """I: the devices in ascending order."""
    pictures["I"] = on(P("x"), [4, 5, 6, 7], x=4)


@wrong("-", 9)
def J_single_device():
    """J: everything on device 0."""
    pictures["J"] = jax.sharding.SingleDeviceSharding(jax.devices()[0])


@wrong("devices-sorted", 9)
def J_sorted():
    """J: the devices in their usual order."""
    pictures["J"] = on(P("y", "x"), x=2, y=4)


@wrong("spec-transposed", 9)
def J_transposed():
    """J: the right mesh, the spec of B."""
    pictures["J"] = on(P("x", "y"), [0, 4, 1, 5, 2, 6, 3, 7], x=2, y=4)


@wrong("tuple-order", 9)
def J_tuple_order():
    """J: on 2 by 2 by 2, with the tuple swapped."""
    pictures["J"] = on(P(("a", "c"), "b"), a=2, b=2, c=2)


@wrong("devices-sorted", 9)
def J_turned():
    """J: 4 by 2 with the devices in their usual order."""
    pictures["J"] = on(P("x", "y"), x=4, y=2)


@right
def arrays():
    """Arrays and descriptions of arrays instead of shardings."""
    shapes = dict.fromkeys(pictures, (16, 16)) | {"G": (4, 6, 8)}
    pictures = {name: jax.device_put(np.zeros(shapes[name], "float32"), made) for name, made in pictures.items()}
    pictures["B"] = jax.ShapeDtypeStruct((16, 16), "float32", sharding=pictures["B"].sharding)


@right
def cubes_and_ones():
    """Three axes in a tuple, and meshes of 1 by 8."""
    pictures["A"] = on(P(None, ("x", "y", "z")), x=2, y=2, z=2)
    pictures["B"] = on(P("x", ("y", "z")), x=2, y=2, z=2)
    pictures["D"] = on(P(), x=2, y=2, z=2)
    pictures["E"] = on(P(("x", "y", "z")), x=2, y=2, z=2)
    pictures["F"] = on(P(("y", "z", "x")), x=2, y=2, z=2)


@right
def explicit_meshes():
    """Axis types change nothing about who holds what."""
    pictures = {
        "A": on(P(None, "x"), kind=AxisType.Explicit, x=8),
        "B": on(P("x", "y"), kind=AxisType.Explicit, x=2, y=4),
        "C": on(P("y", "x"), kind=AxisType.Explicit, x=2, y=4),
        "D": on(P(), kind=AxisType.Explicit, x=8),
        "E": on(P(("x", "y")), kind=AxisType.Explicit, x=2, y=4),
        "F": on(P(("y", "x")), kind=AxisType.Explicit, x=2, y=4),
        "G": on(P("x", None, "z"), kind=AxisType.Explicit, x=2, y=2, z=2),
        "H": on(P("x", "y"), [0, 2, 4, 6], kind=AxisType.Explicit, x=2, y=2),
        "I": on(P("x"), [7, 6, 5, 4], kind=AxisType.Explicit, x=4),
        "J": on(P("y", "x"), [0, 4, 1, 5, 2, 6, 3, 7], kind=AxisType.Explicit, x=2, y=4),
    }


@right
def flat_meshes():
    """Lines written as meshes of 1 by 8."""
    pictures["A"] = on(P("x", "y"), x=1, y=8)
    pictures["D"] = on(P("y"), x=8, y=1)
    pictures["E"] = on(P("x", "y"), x=8, y=1)


@wrong("-", 5)
def half_done():
    """Only A to E are answered."""
    pictures["F"] = ...
    pictures["G"] = ...
    pictures["H"] = ...
    pictures["I"] = ...
    pictures["J"] = ...


@right
def line_of_eight():
    """A line written as a mesh of 8 by 1."""
    pictures["A"] = on(P("y", "x"), x=8, y=1)


@right
def turned_meshes():
    """Meshes of 4 by 2 and with axes of size 1."""
    pictures = {
        "A": on(P(None, ("x", "y")), x=4, y=2),
        "B": on(P("y", "x"), [0, 4, 1, 5, 2, 6, 3, 7], x=4, y=2),
        "C": on(P("x", "y"), [0, 4, 1, 5, 2, 6, 3, 7], x=4, y=2),
        "D": on(P(), x=4, y=2),
        "E": on(P(("x", "y"), None), x=4, y=2),
        "F": on(P(("x", "y")), [0, 4, 1, 5, 2, 6, 3, 7], x=4, y=2),
        "G": on(P("x", None, "z"), x=2, y=2, z=2, one=1),
        "H": on(P("x", ("y", "one")), [0, 2, 4, 6], x=2, y=2, one=1),
        "I": on(P("x", "one"), [7, 6, 5, 4], x=4, one=1),
        "J": on(P("x", "y"), [0, 2, 4, 6, 1, 3, 5, 7], x=4, y=2),
    }


@right
def two_axes_in_a_tuple():
    """Other meshes and specs with the same index maps."""
    pictures = {
        "A": on(P(None, ("x", "y")), x=2, y=4),
        "B": on(P("a", ("b", "c")), a=2, b=2, c=2),
        "C": on(P(("b", "c"), "a"), a=2, b=2, c=2),
        "D": on(P(None, None), x=2, y=4),
        "E": on(P("x"), x=8),
        "F": on(P("x"), [0, 4, 1, 5, 2, 6, 3, 7], x=8),
        "G": on(P("x", None, "y"), [0, 2, 1, 3, 4, 6, 5, 7], x=2, y=2, z=2),
        "H": on(P("y", "x"), [0, 4, 2, 6], x=2, y=2),
        "I": on(P(("x", "y")), [7, 6, 5, 4], x=2, y=2),
        "J": on(P(("c", "a"), "b"), a=2, b=2, c=2),
    }


@wrong("devices-reversed", 2)
def from_the_other_end():
    """Eight pictures with their devices from 7 to 0."""
    last = range(7, -1, -1)
    pictures["A"] = on(P(None, "x"), last, x=8)
    pictures["B"] = on(P("x", "y"), last, x=2, y=4)
    pictures["C"] = on(P("y", "x"), last, x=2, y=4)
    pictures["E"] = on(P(("x", "y")), last, x=2, y=4)
    pictures["F"] = on(P(("y", "x")), last, x=2, y=4)
    pictures["G"] = on(P("x", None, "z"), last, x=2, y=2, z=2)
    pictures["H"] = on(P("x", "y"), [6, 4, 2, 0], x=2, y=2)
    pictures["J"] = on(P("y", "x"), [7, 3, 6, 2, 5, 1, 4, 0], x=2, y=4)


@wrong("one-device-only", 9)
def D_mesh_of_one():
    """D: whole, on a mesh of one device."""
    pictures["D"] = on(P(), range(1), x=1)
