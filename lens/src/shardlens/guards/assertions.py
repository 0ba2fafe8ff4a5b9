"""For the tests of people's own repositories: a model may not communicate more than was agreed.

```python
from shardlens import assert_communicates

def test_step():
    assert_communicates(step, params, batch, at_most=50_000_000, kinds=("all-gather", "reduce-scatter"))
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
    at_most: int | None = None,
    kinds: Collection[str] | None = None,
    target: str | None = None,
    axes: Mapping[str, int] | None = None,
    **kwargs: Any,
) -> Program:
    """The compiled program, if it communicates no more than it may; nothing runs.

    Args:
        f, args, target, axes, kwargs: as for `inspect`.
        at_most: bytes that one device may move, as `Program.price` counts them.
        kinds: the kinds of collectives that it may have, as HLO names them; `()` for none.
    Raises:
        AssertionError: it moves more, or nobody can say how much, or it has another kind; the message names the lines, and
            holds what `why` says of them if the variable SHARDLENS_WHY of the environment is set.
    Example:
        >>> import jax
        >>> assert_communicates(lambda x: x + 1, jax.ShapeDtypeStruct((4,), "float32"), at_most=0).price
        0
    """
    __tracebackhide__ = True
    from shardlens.errors import LensError
    from shardlens.guards.failure import Asked, failure
    from shardlens.programs.inspection import inspect

    program: Program = inspect(f, *args, target=target, axes=axes, **kwargs)
    others = sorted(program.kinds - {*kinds}) if kinds is not None else []
    faults = [f"it has {', '.join(others)}; allowed: {', '.join(sorted(kinds or ())) or 'none'}"] if others else []
    try:
        if at_most is not None and program.price > at_most:
            faults.append(f"one device moves {program.price:,} bytes, {program.price - at_most:,} more than {at_most:,}")
    except LensError as unknown:
        faults.append(f"nobody can say that a device moves at most {at_most:,} bytes: {unknown.what}")
    if faults:
        chosen = [c for c in program.collectives if c.kind in others]
        raise AssertionError(failure(faults, program, chosen, Asked(f, args, target, axes, kwargs)))
    return program
