import jax
import numpy as np

from shardlab_course.answers import right, wrong

P = jax.P


def on(spec, **sizes):
    devices = np.array(jax.devices()[:8]).reshape(*sizes.values())
    kinds = (jax.sharding.AxisType.Auto,) * len(sizes)
    return jax.NamedSharding(jax.sharding.Mesh(devices, tuple(sizes), axis_types=kinds), spec)


@right
def another_way():
    translations = {
        "a": "r c -> c2 r4",
        "b": "r c -> 2 r4 c",
        "c": "r c -> r2 c2 r2",
        "d": "r c -> * r c",
        "e": "r c -> r@(model data) c",
        "f": "... d -> ... d@model",
        "g": on(P(None, "y"), x=2, y=4),
        "h": on(P("x", "y"), x=4, y=2),
        "i": on(P(("x", "z"), "y"), x=2, y=2, z=2),
        "j": on(P(None, None, "y"), x=4, y=2),
        "k": on(P(("data", "model")), data=4, model=2),
        "l": on(P(None, "y"), x=4, y=2),
    }


@wrong("copies-in-the-wrong-place", 6.75)
def copies_last():
    """Copies lie side by side where they should be far apart, and the other way round."""
    translations["b"] = "r c -> r4 2 c"
    translations["g"] = on(P(None, "y"), y=4, x=2)
    translations["l"] = on(P(None, "y"), y=2, x=4)


@wrong("ellipsis-ignored", 8.25)
def dots():
    """The named dimension is taken for the first."""
    translations["j"] = on(P("y"), x=4, y=2)


@wrong("entries-taken-for-axes", 7.5)
def entries_for_axes():
    """The entries of P go with the axes of the mesh in order; dots for the first dimension."""
    translations["a"] = "r c -> r2 c4"
    translations["f"] = "d ... -> d@model ..."


@wrong("-", 4.5)
def half_done():
    """The second half is still open."""
    translations["g"] = ...
    translations["h"] = ...
    translations["i"] = ...
    translations["j"] = ...
    translations["k"] = ...
    translations["l"] = ...


@wrong("repeated-words-joined", 7.5)
def joined():
    """The two words of a name are one."""
    translations["c"] = "r c -> r4 c2"
    translations["i"] = on(P(("x", "z"), "y"), x=2, z=2, y=2)


@wrong("axes-in-mesh-order", 8.25)
def mesh_order():
    """The axes in the order of the mesh."""
    translations["e"] = "r c -> r@(data model) c"


@wrong("axes-without-mesh", 8.25)
def names_without_mesh():
    """A mesh is named where there is none."""
    translations["a"] = "r c -> r@y c@x"


@wrong("copies-by-default", 8.25)
def no_copies():
    """Nothing is said of copies."""
    translations["d"] = "r c -> r c"


@wrong("words-in-order-of-dimensions", 8.25)
def order_of_words():
    """The words follow the dimensions."""
    translations["a"] = "r c -> r4 c2"


@wrong("other-axis-named", 8.25)
def other_axis():
    """The other axis of the mesh."""
    translations["f"] = "... d -> ... d@data"


@right
def other_words():
    """The same places in other words: stars, repeated names, numbers on a mesh, meshes of three axes."""
    translations = {
        "a": "batch  d->1 d2 batch*",
        "b": "r c -> 2 r* c",
        "c": "r c -> r2 c2 r2",
        "d": "... -> 8 ...",
        "e": "r c -> r@model r@data c",
        "f": "a b c -> 4 a b c2",
        "g": on(P(None, ("y", "z")), x=2, y=2, z=2),
        "h": on(P(("x", "y"), "z"), x=2, y=2, z=2),
        "i": on(P(("x", "z"), "y"), x=2, y=2, z=2),
        "j": on(P(None, None, "y"), x=4, y=2),
        "k": on(P(("data", "model")), data=4, model=2),
        "l": on(P(None, "z"), x=2, y=2, z=2),
    }


@wrong("star-takes-what-is-left", 8.25)
def ratio():
    """r2* is read as 2."""
    translations["h"] = on(P("x", "y"), x=2, y=4)


@wrong("axes-split-up", 8.25)
def split():
    """Two entries instead of one tuple."""
    translations["k"] = on(P("data", "model"), data=4, model=2)


@wrong("axes-in-another-order", 7.5)
def tuple_order():
    """The axes of a tuple the other way round."""
    translations["i"] = on(P(("z", "x"), "y"), x=2, y=2, z=2)
    translations["k"] = on(P(("model", "data")), data=4, model=2)


@wrong("-", 6.75)
def unreadable():
    """No arrow; a spec; far too long."""
    translations["a"] = "r c => c2 r4"
    translations["b"] = P("y")
    translations["c"] = "r c -> " + "r2 " * 100
