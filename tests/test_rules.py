"""Trees under a table of rules: first match, what is left over, and the dry run."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from shardlab.errors import ShardingError
from shardlab.expressions.inverse import expression
from shardlab.expressions.rules import dry_run
from shardlab.expressions.sharding import einshard

COPIES = "... -> * ..."
RULES = [("w1$", "x y -> x y*"), ("w2$", "y z -> y* z"), ("layers/0/b", "y -> y8"), (".*", COPIES)]


class Block(NamedTuple):
    """Parameters whose paths are field names."""

    w1: object
    w2: object
    b: object


def tree() -> dict:
    """Two blocks and an embedding, nothing allocated."""
    sds = jax.ShapeDtypeStruct
    block = Block(sds((128, 256), "float32"), sds((256, 64), "float32"), sds((64,), "float32"))
    return {"embed": sds((32, 16), jnp.bfloat16), "layers": [block, block], "scale": sds((), "int8")}


def test_first_match() -> None:
    """Each leaf follows the first rule whose pattern is found in its path; the tree keeps its form."""
    placed = einshard(tree(), RULES)
    assert jax.tree.structure(placed) == jax.tree.structure(tree())
    assert jax.tree.map(expression, placed) == {
        "embed": "a b -> 8 a b",
        "layers": [Block("a b -> a b8", "a b -> a8 b", "a -> a8"), Block("a b -> a b8", "a b -> a8 b", "a -> 8 a")],
        "scale": "... -> 8 ...",
    }


def test_places_arrays() -> None:
    """Arrays of NumPy and JAX, numbers, and a mapping for the rules."""
    placed = einshard({"a": np.arange(8), "b": (jnp.ones((2, 8)), 1.5)}, {"^a": "n -> n*", "b": COPIES})
    assert jax.tree.map(expression, placed) == {"a": "a -> a8", "b": ("a b -> 8 a b", "... -> 8 ...")}
    np.testing.assert_array_equal(placed["a"], np.arange(8))


def test_inside_jit() -> None:
    """Traced leaves are constrained."""
    f = jax.jit(lambda t: einshard(t, [("w", "a b -> a* b"), ("v", "a -> a*")]))
    assert jax.tree.map(expression, f({"w": jnp.ones((8, 2)), "v": jnp.ones(8)})) == {"w": "a b -> a8 b", "v": "a -> a8"}


def test_on_mesh() -> None:
    """Rules with mesh axes."""
    mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    rules = [("w1", "x y -> x@data y@model"), ("w2", "y z -> y@model z@data"), (".*", "... -> ...")]
    placed = einshard(tree(), rules, mesh)
    assert placed["layers"][0].w1.sharding.spec == jax.P("data", "model")
    assert dry_run(tree(), rules, mesh).rows[1].shard_shape == (32, 128)


def test_dry_run() -> None:
    """The dry run is a table of records that prints itself."""
    table = dry_run(tree(), RULES)
    assert str(table).splitlines() == [
        "path         shape             expression    shard shape  bytes per device",
        "embed        bfloat16[32,16]   ... -> * ...  [32,16]                 1,024",
        "layers/0/w1  float32[128,256]  x y -> x y*   [128,32]               16,384",
        "layers/0/w2  float32[256,64]   y z -> y* z   [32,64]                 8,192",
        "layers/0/b   float32[64]       y -> y8       [8]                        32",
        "layers/1/w1  float32[128,256]  x y -> x y*   [128,32]               16,384",
        "layers/1/w2  float32[256,64]   y z -> y* z   [32,64]                 8,192",
        "layers/1/b   float32[64]       ... -> * ...  [64]                      256",
        "scale        int8[]            ... -> * ...  []                          1",
        "total                                                               50,465",
    ]
    assert table.bytes_per_device == sum(row.bytes_per_device for row in table.rows)
    assert table._repr_html_().count("<tr ") == 10 and table._repr_html_().count("<tfoot>") == 1


def test_dry_run_equals_placement() -> None:
    """What the dry run says is what one device then holds."""
    arrays = {"w": np.ones((16, 8), "float32"), "key": jax.random.key(0), "n": 3}
    rules = [("w", "a b -> a4 b2"), (".*", COPIES)]
    for row, leaf in zip(dry_run(arrays, rules).rows, jax.tree.leaves(einshard(arrays, rules)), strict=True):
        assert row.shard_shape == leaf.addressable_shards[0].data.shape
        assert row.bytes_per_device == leaf.addressable_shards[0].data.nbytes


COPIES_RULE = 'add a rule for each leaf, or a last rule for all others: (".*", "... -> * ...") holds copies.'

# Each row: the rules, and the whole message.
BAD = {
    "leaf-without-rule": ([("w1", "x y -> x y*"), ("b$", "y -> * y")],
        "[leaf-without-rule] 4 leaves have no rule.\n"
        "  where: leaves: embed, layers/0/w2, layers/1/w2, scale\n"
        f"  mend:  {COPIES_RULE}"),
    "rule-never-used": ([("w3", "x y -> x y*"), (".*", COPIES)],
        "[rule-never-used] 1 rule is never used.\n"
        "  where: rules: 'w3'   paths: embed, layers/0/w1, layers/0/w2, layers/0/b and 4 more\n"
        "  mend:  compare it with the paths, or leave it out."),
    "rule-behind-another": ([(".*", COPIES), ("w1", "x y -> x y*")],
        "[rule-never-used] 1 rule is never used.\n"
        "  where: rules: 'w1'\n"
        "  mend:  move it up: an earlier rule takes its leaves."),
    "both": ([("layers", COPIES), ("scale", COPIES), ("w3", COPIES)],
        "[leaf-without-rule] 1 leaf has no rule; 1 rule is never used.\n"
        "  where: leaves: embed\n"
        "         rules: 'w3'   paths: embed, layers/0/w1, layers/0/w2, layers/0/b and 4 more\n"
        f"  mend:  {COPIES_RULE}\n"
        "         compare it with the paths, or leave it out."),
    "pattern": ([("(", COPIES)],
        "[rule-unreadable] a rule is a pair of a regular expression and a sharding expression "
        "(missing ), unterminated subpattern at position 0).\n"
        "  where: ('(', '... -> * ...')\n"
        '  mend:  write rules like [("w1", "x y -> x y*"), (".*", "... -> * ...")].'),
    "leaf-misfit": ([("w1", "x y -> x y*"), (".*", "a ... -> a* ...")],
        "[rank-does-not-fit] the expression names 1 dimension in addition to '...', but the array has 0.\n"
        '  where: "a ... -> a* ..."   shape ()   8 devices   at scale\n'
        "          ^ ^^^\n"
        "  mend:  name at most 0: '...' stands for the dimensions without a name."),
}  # fmt: skip


@pytest.mark.parametrize("rules, message", BAD.values(), ids=BAD)
@pytest.mark.parametrize("function", [einshard, dry_run])
def test_refuses(function: Callable, rules: list, message: str) -> None:
    """Leaves without a rule, rules without a leaf and leaves that do not fit are named by path."""
    with pytest.raises(ShardingError) as caught:
        function(tree(), rules)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "rules", [5, None, [5], [("w",)], [("w", 8)], [(b"w", COPIES)], ["w"], [("w", COPIES, 1)]], ids=repr
)
def test_refuses_other_types(rules: object) -> None:
    """What is not a table of rules is refused in the same class."""
    with pytest.raises(ShardingError, match="rule-unreadable"):
        einshard({"w": np.ones(8)}, rules)


def test_refuses_leaves() -> None:
    """A leaf that is no array is named."""
    with pytest.raises(ShardingError) as caught:
        einshard({"name": "linear"}, [(".*", COPIES)])
    assert str(caught.value) == (
        "[leaf-not-array] a str cannot be sharded.\n"
        '  where: "... -> * ..."   at name\n'
        "  mend:  pass arrays, numbers or jax.ShapeDtypeStruct as the leaves of a tree."
    )
