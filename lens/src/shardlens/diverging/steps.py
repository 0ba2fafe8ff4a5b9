"""Training steps of two programs: the first step that differs, and in it the first value that is wrong."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

import jax

from shardlens.diverging.divergence import Divergence, diverge
from shardlens.errors import LensError
from shardlens.progress import step as told


@dataclasses.dataclass(frozen=True, repr=False)
class DivergingSteps:
    """Steps of two programs; prints the one that differs.

    Args:
        compared: how many steps were compared, the one that differs included.
        step: the first that differs, counted from 1; `None` where none does.
        divergence: what `diverge` says of the last one that was compared.
    Example:
        >>> right, wrong = lambda w, x: w - x, lambda w, x: w - jax.numpy.where(x > 1, 0, x)
        >>> found = diverge_steps(right, wrong, np.float32(8), [np.float32(n) for n in range(3)])
        >>> found.step, found.divergence.first.name
        (3, 'output')
    """

    compared: int
    step: int | None
    divergence: Divergence

    def __str__(self) -> str:
        if self.step is None:
            return f"none of {self.compared} steps differs from the plain one by more than rounding"
        return f"step {self.step} is the first that differs; the {self.step - 1} before it do not\n{self.divergence}"

    __repr__ = __str__


def diverge_steps(
    plain: Callable[..., Any], parallel: Callable[..., Any], state: Any, batches: Iterable[Any]
) -> DivergingSteps:
    """Runs steps of two programs, and says which step is the first that differs, and which value in it.

    Each step begins with the state that the parallel program has reached, in both programs. So a difference that grew from
    earlier rounding is no fault, and a step that goes wrong for some values alone is found where it does.

    Args:
        plain, parallel: steps, `step(state, batch)`, that return the new state, or a tuple that begins with it.
        state: what the first step begins with: arrays in any pytree.
        batches: the second argument of each step.
    Raises:
        LensError: there is no batch, the parallel step returns no state; as for `diverge`.
    Example:
        >>> step = lambda w, x: (w - 0.1 * (w * x - 1) * x, w)
        >>> diverge_steps(step, jax.jit(step), np.float32(3), [np.float32(n) for n in range(4)])
        none of 4 steps differs from the plain one by more than rounding
    """
    run, found, number = jax.jit(parallel), None, 0
    for number, batch in enumerate(batches, 1):
        with told(f"step {number}: comparing"):
            found = diverge(plain, parallel, state, batch)
        if found.first:
            return DivergingSteps(number, number, found)
        state = _next(run(state, batch), state)
    if found is None:
        mend = "give a list of batches: diverge_steps(plain, parallel, state, [batch])."
        raise LensError("no-steps", "there is no batch, so there is no step.", where="batches", mend=mend)
    return DivergingSteps(number, None, found)


def _next(returned: Any, state: Any) -> Any:
    """The state among what a step returns."""
    candidates = (returned, *(returned[:1] if isinstance(returned, tuple) else ()))
    alike = (each for each in candidates if _described(each) == _described(state))
    if (found := next(alike, None)) is None:
        what = "the parallel step returns no state like the one that it was given."
        where = f"returned: {str(jax.tree.structure(returned))[:120]}"
        mend = "return the new state, or a tuple that begins with it: arrays of the same shapes and dtypes."
        raise LensError("no-state", what, where=where, mend=mend)
    return found


def _described(tree: Any) -> Any:
    leaves, structure = jax.tree.flatten(tree)
    return structure, [(jax.numpy.shape(leaf), str(jax.numpy.result_type(leaf))) for leaf in leaves]
