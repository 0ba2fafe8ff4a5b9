"""What each device gets and gives in a shard_map, as text and as HTML."""

from __future__ import annotations

from html.parser import HTMLParser

import jax
import numpy as np
import pytest
from jax.sharding import AxisType

import shardlab as sl
from shardlab.errors import ShardlabError

P = jax.P


def mapped(body, in_specs, out_specs, sizes=(2, 2), **options):
    """The body over a mesh with axes x and y, on the first devices."""
    devices = np.array(jax.devices()[: sizes[0] * sizes[1]]).reshape(sizes)
    mesh = jax.sharding.Mesh(devices, ("x", "y"), axis_types=(AxisType.Auto,) * 2)
    return jax.shard_map(body, mesh=mesh, in_specs=in_specs, out_specs=out_specs, **options)


def summed(block):
    """The sum over x."""
    return jax.lax.psum(block, "x")


SUM = """\
one device: f32[1,2]{V:(x,y)} -> f32[1,2]{V:y}
device 0  x=0 y=0   [[0. 1.]]   ->   [[4. 6.]]
device 1  x=0 y=1   [[2. 3.]]   ->   [[ 8. 10.]]
device 2  x=1 y=0   [[4. 5.]]   ->   [[4. 6.]]
device 3  x=1 y=1   [[6. 7.]]   ->   [[ 8. 10.]]"""
LIE = """\
one device: f32[1] -> f32[1]
device 0  x=0 y=0   [3.]   ->   [3.]
device 1  x=0 y=1   [3.]   ->   [3.]
device 2  x=1 y=0   [5.]   ->   ≠ [5.]
device 3  x=1 y=1   [5.]   ->   ≠ [5.]
≠ devices 2, 3 return values for a slice that differ from those of the first device that has it"""


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit], ids=["plain", "jitted"])
def test_blocks_go_in_and_come_out(wrap) -> None:
    """Blocks are cut by in_specs, whatever the argument's own sharding is, and types are those inside."""
    f = wrap(mapped(summed, P("x", "y"), P(None, "y")))
    assert str(sl.pictures.show_blocks(f, np.arange(8, dtype=np.float32).reshape(2, 4))) == SUM


def test_unequal_copies_are_marked() -> None:
    """A promise of equal copies that is not kept is seen."""
    lie = mapped(lambda block: block, P("x"), P(), check_vma=False)
    assert str(sl.pictures.show_blocks(lie, np.array([3.0, 5.0], np.float32))) == LIE


def test_devices_in_another_order() -> None:
    """Places in the mesh and ids of devices are not the same."""
    mesh = jax.sharding.Mesh(np.array(jax.devices())[[5, 2]], ("x",), axis_types=(AxisType.Explicit,))
    x = jax.device_put(np.arange(2, dtype=np.int32), jax.NamedSharding(mesh, P("x")))
    text = str(sl.pictures.show_blocks(jax.shard_map(lambda b: b * 10, mesh=mesh, out_specs=P("x")), x))
    assert text.splitlines()[1:] == ["device 5  x=0   [0]   ->   [0]", "device 2  x=1   [1]   ->   [10]"]


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit], ids=["plain", "jitted"])
@pytest.mark.parametrize("kind", [AxisType.Auto, AxisType.Explicit], ids=["auto", "explicit"])
def test_the_mesh_of_set_mesh(kind: AxisType, wrap) -> None:
    """Its devices are known, in its own order, though the traced mesh has none."""
    mesh = jax.sharding.Mesh(np.array(jax.devices())[[5, 2, 7, 0]].reshape(2, 2), ("x", "y"), axis_types=(kind,) * 2)
    f = wrap(jax.shard_map(lambda b: b * 10, out_specs=P("x"), in_specs=P("x")))
    with jax.set_mesh(mesh):
        x = jax.device_put(np.arange(2, dtype=np.int32), P("x"))
        text = str(sl.pictures.show_blocks(f, x))
    assert text.splitlines()[1:] == [
        "device 5  x=0 y=0   [0]   ->   [0]",
        "device 2  x=0 y=1   [0]   ->   [0]",
        "device 7  x=1 y=0   [1]   ->   [10]",
        "device 0  x=1 y=1   [1]   ->   [10]",
    ]


def test_no_arguments_large_blocks_and_scalars() -> None:
    """A body may take nothing; large blocks are named, not written out."""
    index = mapped(lambda: jax.lax.axis_index("x")[None], (), P("x"))
    assert str(sl.pictures.show_blocks(index)).splitlines()[3] == "device 2  x=1 y=0   ->   [1]"
    large = mapped(lambda b: b.sum(), P("x"), P(), check_vma=False)
    assert "float32[50, 4]   ->   0." in str(sl.pictures.show_blocks(large, np.zeros((100, 4), np.float32)))


def test_html_says_what_the_text_says(rng: np.random.Generator) -> None:
    """The picture stands alone, and its description is the text."""
    shown = sl.pictures.show_blocks(mapped(summed, P("x", "y"), P(None, "y")), rng.standard_normal((2, 4), np.float32))
    labels, tags = [], set()

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attrs):
            tags.add(tag)
            labels.extend(value for name, value in attrs if name == "aria-label")

    Reader().feed(shown.html)
    assert labels == [shown.text] and tags <= {"div", "span"}


@pytest.mark.parametrize(
    "f", [lambda x: x + 1, lambda x: mapped(summed, P("x"), P())(x) + 1], ids=["no shard_map", "more after it"]
)
def test_only_a_shard_map_is_shown(f) -> None:
    """Anything else is refused, and the message says what was found."""
    with pytest.raises(ShardlabError, match=r"no-shard-map\](.|\n)*add"):
        sl.pictures.show_blocks(f, np.zeros(4, np.float32))
