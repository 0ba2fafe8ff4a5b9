"""For the tests of people's own repositories: a model may not communicate more than was agreed.

```python
from shardlens import assert_communicates

def test_step():
    assert_communicates(step, params, batch, at_most={"data": "50 MB", "model": 0}, no=("all-to-all",), target="v5e:4x4")
```

With pytest there is also a fixture, `shardlens_lock`: see `shardlens.guards.plugin`. Nothing here imports JAX before it is
called.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shardlens.programs.program import Program


def assert_communicates(
    f: Callable[..., Any],
    *args: Any,
    at_most: int | str | Mapping[str, int | str] | None = None,
    kinds: Collection[str] | None = None,
    no: Collection[str] = (),
    only_over: Collection[str] | None = None,
    per_round: int | str | None = None,
    time: float | None = None,
    memory: int | str | None = None,
    target: str | None = None,
    axes: Mapping[str, int] | None = None,
    num_slices: int = 1,
    **kwargs: Any,
) -> Program:
    """The compiled program, if it communicates no more than it may; nothing runs.

    Args:
        f, args, target, axes, num_slices, kwargs: as for `inspect`. A keyword of `f` that has one of these names is given by
            `functools.partial`.
        at_most: bytes that one device may move, as `Program.price` counts them, or `"3 MB"`; by mesh axis in a mapping.
            The axis "dcn" is what goes between the slices of a target such as "v5e:2x4*2".
        kinds: the kinds of collectives that it may have, as HLO names them; `()` for none.
        no: the kinds that it may not have.
        only_over: the mesh axes that collectives may cross.
        per_round: bytes in one round of those loops whose number of rounds depends on data; `at_most` is then for all else.
        time: seconds that its collectives may take on `target`, by the model of `cost`.
        memory: bytes that it may take of a device's main memory.
    Raises:
        AssertionError: it does more, or nobody can say how much. The message names the lines, and what would be cheaper if
            the variable SHARDLENS_WHY of the environment is set.
        LensError: a limit is for an axis that the mesh does not have, for a kind that there is not, or for a time without a
            target; or it is no limit.
    Example:
        >>> import jax
        >>> assert_communicates(lambda x: x + 1, jax.ShapeDtypeStruct((4,), "float32"), at_most=0).price
        0
    """
    __tracebackhide__ = True
    from shardlens.compilers.topology import in_slices
    from shardlens.guards.failure import Asked, failure
    from shardlens.guards.limits import Limits
    from shardlens.programs.inspection import inspect

    target = in_slices(target, num_slices)
    program: Program = inspect(f, *args, target=target, axes=axes, **kwargs)
    limits = Limits(at_most, kinds, no, only_over, per_round, time, memory)
    if faults := [*limits.broken(program, target, _axes(program, target, (args, kwargs)))]:
        chosen = list(dict.fromkeys(c for fault in faults for c in fault.by))
        raise AssertionError(
            failure([fault.sentence for fault in faults], program, chosen, Asked(f, args, target, axes, kwargs))
        )
    return program


def _axes(program: Program, target: str | None, arguments: Any) -> dict[str, None]:
    """The axes that a limit may name: of the arguments' mesh, of the collectives, and what is between a target's slices."""
    from shardlens.programs.inspection import mesh_axes_of
    from shardlens.reading.slices import DCN

    named = [name for name, _ in mesh_axes_of(arguments) or ()]
    named += [axis for c in program.collectives for axis in c.axes]
    named += [DCN] if target and "*" in target else []
    return dict.fromkeys(named)
