import jax
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding

import shardlab as sl
from shardlab_course.answers import right, told, wrong

P = jax.P


@right
def another_way():
    hosts = Mesh(np.array(jax.devices()).reshape(2, 4), ("host", "chip"), axis_types=(AxisType.Auto,) * 2)


@right
def array():
    """An array, on a line of devices that alternate."""
    line = Mesh(np.array(jax.devices()).reshape(2, 4).T.flatten(), ("row",), axis_types=(AxisType.Auto,))
    alternating = jax.device_put(np.zeros((16, 4), "float32"), NamedSharding(line, P("row")))


@wrong("order-does-not-matter", 3, of="another_way")
def hosts_first():
    """Only the placement is wrong: the hosts are the slow axis."""
    alternating = NamedSharding(hosts, P(("host", "chip")))


@told("last-axis-slowest")
def last_axis_slowest():
    """Both tuples are read from the back."""
    sl.predict("1.3", rows_xy=[8, 10], rows_yx=[2, 4], moved=6, why="b")


@told("nobody-stays")
def nobody_stays():
    """All eight move."""
    sl.predict("1.3", rows_xy=[2, 4], rows_yx=[8, 10], moved=8, why="b")


@wrong("-", 3)
def not_predicted():
    """The placement without predictions."""
    sl.predict("1.3", rows_xy=..., rows_yx=..., moved=..., why=...)


@wrong("axis-forgotten", 3, of="another_way")
def one_axis():
    """Both hosts hold the same rows."""
    alternating = NamedSharding(hosts, P("chip"))


@told("one-axis-for-tuple")
def one_axis_for_tuple():
    """Blocks of four rows."""
    sl.predict("1.3", rows_xy=[4, 8], rows_yx=[8, 10], moved=6, why="b")


@told("nobody-stays")
def only_first_stays():
    """All but device 0 move."""
    sl.predict("1.3", rows_xy=[2, 4], rows_yx=[8, 10], moved=7, why="b")


@wrong("order-does-not-matter", 3, of="another_way")
def order_does_not_matter():
    """Both specs mean the same."""
    sl.predict("1.3", rows_xy=[2, 4], rows_yx=[2, 4], moved=0, why="b")
    alternating = NamedSharding(hosts, P(("host", "chip")))


@wrong("spec-without-mesh", 3)
def spec_without_mesh():
    """The spec alone."""
    alternating = jax.P(("chip", "host"))


@wrong("stop-included", 3)
def stop_included():
    """The last row instead of the stop."""
    sl.predict("1.3", rows_xy=[2, 3], rows_yx=[8, 9], moved=6, why="b")
    del alternating


@wrong("tuple-unpacked", 3, of="another_way")
def unpacked():
    """Two entries cut two dimensions."""
    alternating = NamedSharding(hosts, P("chip", "host"))


@right(of="another_way")
def with_none():
    """A trailing None; predictions as tuples."""
    sl.predict("1.3", rows_xy=(2, 4), rows_yx=(8, 10), moved=6, why="b")
    alternating = NamedSharding(hosts, P(("chip", "host"), None))


@told("wrong-size-first")
def wrong_size_first():
    """A mesh of 2 by 4 instead of 4 by 2."""
    sl.predict("1.3", rows_xy=[2, 4], rows_yx=[4, 6], moved=6, why="b")


@told("other-blocks")
def other_blocks():
    sl.predict("1.3", rows_xy=[2, 4], rows_yx=[8, 10], moved=6, why="a")


@told("one-axis-stays")
def one_axis_stays():
    sl.predict("1.3", rows_xy=[2, 4], rows_yx=[8, 10], moved=6, why="c")
