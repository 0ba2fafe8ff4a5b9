"""Items whose answers run in several processes. What is judged is what each process said: it was observed, not compiled."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from shardlab.placement import Axes, Placement, Spec
from shardlab_judge.question import Item


@dataclasses.dataclass(frozen=True)
class Launch:
    """One situation: how many processes of how many devices, and what the function is called with.

    Args:
        arguments: what JSON can hold.
        axes: the mesh, over all devices in the order of `jax.devices()`, that `outputs` are specs for.
        outputs: for each array that the function returns, in the order of its leaves, the spec that it must have; `None`
            where any placement is right.
    """

    arguments: tuple[Any, ...] = ()
    axes: Axes = ()
    outputs: tuple[Spec | None, ...] = ()
    processes: int = 2
    devices: int = 4

    def to_json(self) -> dict[str, Any]:
        """What the student's process needs to launch."""
        return {"processes": self.processes, "devices": self.devices, "arguments": list(self.arguments)}

    @property
    def title(self) -> str:
        """The situation in a few words, for messages."""
        arguments = ", ".join(map(repr, self.arguments))
        return f"{self.processes} processes with {self.devices} devices each, called with ({arguments})"


@dataclasses.dataclass(frozen=True)
class Global:
    """A global array, put together from what all processes hold of it; `whole` is 0 where nobody holds anything.

    `shards` are the (device, index, values) of every process; `copies` says whether those that hold the same index agree.
    """

    placement: Placement
    shards: tuple[tuple[int, tuple[slice, ...], np.ndarray], ...]
    whole: np.ndarray
    copies: bool


@dataclasses.dataclass(frozen=True)
class Seen:
    """What every process of one launch said, for `Miss.when`.

    Args:
        launch: the situation.
        returned: by process what the function returned, a `Global` in place of each array; `None` where it did not.
        errors: by process "Type: message" of its exception, else empty.
        stopped: by process "time" or "peer" where it was stopped, else empty.
        where: by process the line where it was when the time was over.
    """

    launch: Launch
    returned: tuple[Any, ...]
    errors: tuple[str, ...]
    stopped: tuple[str, ...]
    where: tuple[str, ...]

    @property
    def hung(self) -> bool:
        """Whether some process was still waiting when the time was over."""
        return "time" in self.stopped

    def arrays(self, process: int = 0) -> tuple[Global, ...]:
        """The arrays in what a process returned, in order."""
        return tuple(_arrays(self.returned[process]))


@dataclasses.dataclass(frozen=True)
class ProcessesItem(Item):
    """A function that is launched in several processes, as by `sl.launch`, once for each situation.

    Args:
        oracle: `oracle(process, *arguments)`, in NumPy: what that process must return. A NumPy array stands for a global
            array with these values, whose shards on this process's devices are compared; a list for a list.
        several: whether more than one output is right. Then it is `oracle(process, returned, *arguments)`, and gives the
            right output that is nearest to what all processes `returned`.
        cases: the public situations, at least two.
        draw: one further situation from a random generator.
        drawn: how many further situations the grader draws.
        seconds: the time for all situations with as many processes and devices, which share one launch.
        rtol, atol: tolerances of floats.
    """

    oracle: Callable[..., Any] = dataclasses.field(kw_only=True)
    several: bool = dataclasses.field(default=False, kw_only=True)
    cases: tuple[Launch, ...] = dataclasses.field(kw_only=True)
    draw: Callable[[random.Random], Launch] | None = dataclasses.field(default=None, kw_only=True)
    drawn: int = dataclasses.field(default=1, kw_only=True)
    seconds: float = dataclasses.field(default=20.0, kw_only=True)
    rtol: float = dataclasses.field(default=1e-5, kw_only=True)
    atol: float = dataclasses.field(default=1e-5, kw_only=True)
    kind = "processes"
    observed = True

    def cases_of(self, question: str, seed: int | None) -> tuple[Launch, ...]:
        """The public situations, then those drawn from `seed`."""
        if seed is None or self.draw is None:
            return self.cases
        rng = random.Random(f"{seed}/{question}/{self.name}")
        return self.cases + tuple(self.draw(rng) for _ in range(self.drawn))

    def asks(self, question: str, seed: int | None) -> dict[str, Any]:
        """The situations, and the time for them."""
        return {"cases": [case.to_json() for case in self.cases_of(question, seed)], "seconds": self.seconds}


def _arrays(returned: Any) -> list[Global]:
    match returned:
        case Global():
            return [returned]
        case dict():
            return [array for part in returned.values() for array in _arrays(part)]
        case list():
            return [array for part in returned for array in _arrays(part)]
    return []
