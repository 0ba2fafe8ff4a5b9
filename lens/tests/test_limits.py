"""Limits by axis, kind, round, time and memory: each holds what it says, and a broken one names the collectives."""

from __future__ import annotations

import dataclasses
import functools
import importlib.util
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import shardlens as lens
from shardlens.errors import LensError
from shardlens.guards.limits import Limits

P = jax.P
OVER = jax.make_mesh((2, 4), ("dcn", "ici"), axis_types=(jax.sharding.AxisType.Auto,) * 2)


@functools.partial(jax.shard_map, mesh=OVER, in_specs=(P(), P("ici")), out_specs=(P(), P()), check_vma=False)
def step(a: Any, b: Any) -> Any:
    """64 bytes summed over `dcn`, 96 bytes gathered over `ici`."""
    small = jax.lax.psum(a, "dcn")
    return small, jax.lax.all_gather(b, "ici", tiled=True)


def spec(shape: tuple[int, ...], *entries: Any) -> jax.ShapeDtypeStruct:
    """An argument."""
    return jax.ShapeDtypeStruct(shape, "float32", sharding=jax.NamedSharding(OVER, P(*entries)))


ARGS = (spec((16,)), spec((24,), "ici"))
# Each row: limits, and the sentence of what is broken, or nothing.
ROWS: dict[str, tuple[dict[str, Any], str]] = {
    "all": ({"at_most": 224}, ""),
    "all, broken": ({"at_most": 223}, "one device moves 224 bytes, 1 more than 223"),
    "words": ({"at_most": "0.224 kB"}, ""),
    "by axis": ({"at_most": {"dcn": 128, "ici": "96 B"}}, ""),
    "by axis, broken": ({"at_most": {"dcn": 0, "ici": "3 MB"}}, "one device moves 128 bytes over dcn, 128 more than 0"),
    "one axis": ({"at_most": {"ici": 95}}, "one device moves 96 bytes over ici, 1 more than 95"),
    "no": ({"no": ("all-to-all",)}, ""),
    "no, broken": ({"no": ("all-gather", "all-to-all")}, "it has all-gather, which it may not have"),
    "kinds": ({"kinds": ("all-gather",)}, "it has all-reduce; allowed: all-gather"),
    "only over": ({"only_over": ("dcn", "ici")}, ""),
    "only over, broken": ({"only_over": ("ici",)}, "it communicates over dcn; allowed: ici"),
    "over nothing": ({"only_over": ()}, "it communicates over dcn; ici; allowed: none"),
    "memory": ({"memory": "1 MB"}, ""),
    "memory, broken": ({"memory": 1}, "bytes on a device, "),
    "all at once": ({"at_most": 0, "no": ("all-reduce",)}, "it has all-reduce, which it may not have"),
}


@pytest.mark.parametrize("name", ROWS)
def test_limits(name: str) -> None:
    """Within its limits the program comes back; else the message has the sentence."""
    limits, said = ROWS[name]
    if not said:
        assert lens.assert_communicates(step, *ARGS, **limits).price == 224
        return
    with pytest.raises(AssertionError) as error:
        lens.assert_communicates(step, *ARGS, **limits)
    assert said in str(error.value)


@pytest.mark.parametrize("copies", [2, 8])
def test_temporaries_count(copies: int) -> None:
    """XLA for CPU leaves them out of its peak, and a limit of the memory counts them all the same."""

    def kept(x: Any) -> Any:
        return jnp.sort(jnp.concatenate([x] * copies)).sum()

    x = jax.ShapeDtypeStruct((1024,), "float32")
    takes = 4096 + 4 + lens.inspect(kept, x).memory.temp
    assert takes > 4096 * (copies + 1) and lens.assert_communicates(kept, x, memory=takes)
    with pytest.raises(AssertionError, match=rf"it takes {takes:,} bytes on a device, 1 more than"):
        lens.assert_communicates(kept, x, memory=takes - 1)


BROKEN = {"dcn": ({"at_most": {"dcn": 0}}, "small ="), "ici": ({"at_most": {"ici": 0}}, "return small,"),
          "kind": ({"no": ("all-gather",)}, "return small,")}  # fmt: skip


@pytest.mark.parametrize("limits, line", BROKEN.values(), ids=BROKEN)
def test_the_line_that_broke_it(limits: dict[str, Any], line: str) -> None:
    """The message tells of the collectives at fault, and of no other."""
    with pytest.raises(AssertionError) as error:
        lens.assert_communicates(step, *ARGS, **limits)
    said = str(error.value)
    assert f"   {line}" in said and ("all-gather" in said) != ("all-reduce" in said)


def test_a_round() -> None:
    """What is in loops of unknown rounds is held by a round, and all else by `at_most`."""

    @functools.partial(jax.shard_map, mesh=OVER, in_specs=P("ici"), out_specs=P(), check_vma=False)
    def until(x: Any) -> Any:
        return jax.lax.while_loop(lambda y: y.sum() < 9, lambda y: jnp.cos(jax.lax.psum(y, "ici")), jax.lax.psum(x, "dcn"))

    x = spec((16,), "ici")
    lens.assert_communicates(until, x, at_most=32, per_round=32)
    with pytest.raises(AssertionError, match="one device moves 32 bytes in a round of the loops, 2 more than 30"):
        lens.assert_communicates(until, x, per_round=30)
    with pytest.raises(AssertionError, match="one device moves 32 bytes, 1 more than 31"):
        lens.assert_communicates(until, x, at_most=31, per_round=32)
    with pytest.raises(AssertionError, match="nobody can say that a device moves at most 1,000 bytes over ici"):
        lens.assert_communicates(until, x, at_most={"dcn": 32, "ici": 1000})


@pytest.mark.parametrize("limits", [{"at_most": {"dnc": 0}}, {"only_over": ("ici", "dnc")}], ids=["at_most", "only_over"])
def test_an_axis_that_there_is_not(limits: dict[str, Any]) -> None:
    """A limit with a misspelt axis would hold nothing, and is refused, also where nothing is communicated."""
    with pytest.raises(LensError, match=r"\[limit-without-axis\] the mesh has no axis 'dnc'"):
        lens.assert_communicates(lambda a, b: (a + 1, b), *ARGS, **limits)


@pytest.mark.skipif(importlib.util.find_spec("libtpu") is None, reason="libtpu is not installed (extra: tpu)")
def test_a_time() -> None:
    """The collectives' time on the target is held; without a target there is none."""
    program = lens.assert_communicates(step, *ARGS, time=1e-3, target="v5e:2x4")
    taken = program.cost("v5e:2x4").communication
    with pytest.raises(AssertionError, match="its collectives take .* us on v5e:2x4 by the model, more than"):
        lens.assert_communicates(step, *ARGS, time=taken * 0.99, target="v5e:2x4")
    with pytest.raises(LensError, match="time-without-target"):
        lens.assert_communicates(step, *ARGS, time=1.0)


def test_a_time_that_nobody_knows() -> None:
    """Where the model has no number for the network between slices, a limit of the time cannot be checked, and fails."""
    between = lens.Collective("all-reduce", (4,), "f32", 16, 16, ("dcn",), 2)
    program: Any = dataclasses.replace(lens.inspect(lambda x: x + 1, spec((4,))), collectives=(between,))
    (fault,) = Limits(time=1).broken(program, "v4:2x2x1*2", ("dcn",))
    assert fault.by == (between,) and fault.sentence == (
        "nobody can say that it takes at most 1 s: there is no number for the network between slices of v4p"
    )
    assert not [*Limits(time=1).broken(program, "v5e:2x2*2", ("dcn",))]


def test_groups_that_are_no_axis_count_for_every_axis() -> None:
    """What is over half of an axis is held by the limit of each."""
    half = lens.Collective("all-reduce", (4,), "f32", 16, 16, (), 2, ((0, 1), (2, 3), (4, 5), (6, 7)))
    program: Any = type("", (), {"collectives": (half,), "kinds": frozenset({"all-reduce"}), "refused": ""})()
    for axis in ("dcn", "ici"):
        (fault,) = Limits(at_most={axis: 31}).broken(program, None, ("dcn", "ici"))
        assert fault.sentence == f"one device moves 32 bytes over {axis}, 1 more than 31" and fault.by == (half,)
