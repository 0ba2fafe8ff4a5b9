"""Chapter 11's oracles: bytes by hand, gradients sample by sample; with cases and recognisers of wrong answers."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from shardlab_judge.cases import Case, Input, Observed, axes
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.verdict import Finding
from shardlens import Axes, Spec

Arrays = tuple[np.ndarray, ...]
LINE, PLANE, TALL = axes(data=8), axes(data=4, model=2), axes(data=2, model=4)
MESHES = (LINE, PLANE, TALL)
ROWS: Spec = ("data", None)
RATE, FIRST, SECOND, TINY, STEPS = 0.01, 0.9, 0.999, 1e-4, 5
GIVEN_AWAY = frozenset({0, 1, 2})
"""The weight and its state in 11.6: what the caller never looks at again."""
PARTS = ("weights", "gradients", "optimizer")
PLANS = ("data parallel", "zero-1", "zero-2", "fsdp, weights kept", "fsdp, gathered again")


def bytes_each(mixed: bool) -> tuple[int, int, int]:
    """Bytes of one parameter's weight, gradient and optimizer state."""
    return (2, 2, 12) if mixed else (4, 4, 8)


def ledger(
    parameters: int, devices: int, stage: int, mixed: bool, each: tuple[int, int, int] | None = None
) -> dict[str, int]:
    """Bytes on one device: stage 1 cuts the optimizer's state, 2 the gradients too, 3 the weights too."""
    sizes = zip(PARTS, each or bytes_each(mixed), (3, 2, 1))
    return {part: parameters * size // (devices if stage >= first else 1) for part, size, first in sizes}


def ledger_by(stages: tuple[int, int, int]) -> Callable[..., dict[str, int]]:
    """A wrong ledger: weights, gradients and state cut from these stages on."""

    def count(parameters: int, devices: int, stage: int, mixed: bool) -> dict[str, int]:
        sizes = zip(PARTS, bytes_each(mixed), stages)
        return {part: parameters * size // (devices if stage >= first else 1) for part, size, first in sizes}

    return count


def ledger_of_one(parameters: int, devices: int, stage: int, mixed: bool) -> dict[str, int]:
    """A wrong ledger: each stage cuts one part alone."""
    sizes = zip(PARTS, bytes_each(mixed), (3, 2, 1))
    return {part: parameters * size // (devices if stage == only else 1) for part, size, only in sizes}


def largest(memory: int, devices: int, stage: int, mixed: bool) -> int:
    """The largest number of parameters of which a device's share fits into its memory."""
    whole = ledger(devices, devices, stage, mixed)
    return memory * devices // sum(whole.values())


def largest_rounded(memory: int, devices: int, stage: int, mixed: bool) -> int:
    """The same with each part of one parameter's share rounded down."""
    return memory // max(1, sum(ledger(1, devices, stage, mixed).values()))


def draw_ledger(rng: random.Random) -> tuple[int, int, int, bool]:
    """Parameters that the devices divide, devices, a stage, and whether precision is mixed."""
    devices = rng.choice((2, 4, 8, 16, 64, 256))
    return devices * rng.randint(1, 10**7), devices, rng.randint(0, 3), rng.random() < 0.5


def draw_largest(rng: random.Random) -> tuple[int, int, int, bool]:
    """A device's memory, devices, a stage, and whether precision is mixed."""
    return rng.choice((16, 32, 95)) * 10**9, rng.choice((2, 8, 64, 256)), rng.randint(0, 3), rng.random() < 0.5


def traffic(weight_bytes: int, devices: int, plan: str, microbatches: int) -> float:
    """Bytes that a device sends in one step, around a ring."""
    gathers, scatters = {
        "data parallel": (1, 1), "zero-1": (1, 1), "zero-2": (1, microbatches),
        "fsdp, weights kept": (microbatches, microbatches), "fsdp, gathered again": (2 * microbatches, microbatches),
    }[plan]  # fmt: skip
    return (gathers + scatters) * weight_bytes * (devices - 1) / devices


def cheap_all_reduce(weight_bytes: int, devices: int, plan: str, microbatches: int) -> float:
    """The same with an all-reduce that costs as much as an all-gather."""
    found = traffic(weight_bytes, devices, plan, microbatches)
    return found / 2 if plan == "data parallel" else found


def without_ring(weight_bytes: int, devices: int, plan: str, microbatches: int) -> float:
    """The same with a device sending to itself too."""
    return traffic(weight_bytes, devices, plan, microbatches) * devices / (devices - 1)


def every_microbatch(weight_bytes: int, devices: int, plan: str, microbatches: int) -> float:
    """The same with everything done in each microbatch."""
    return traffic(weight_bytes, devices, plan, 1) * microbatches


def microbatches_ignored(weight_bytes: int, devices: int, plan: str, microbatches: int) -> float:
    """The same with one microbatch."""
    return traffic(weight_bytes, devices, plan, 1)


def of_all_devices(weight_bytes: int, devices: int, plan: str, microbatches: int) -> float:
    """What all devices send together."""
    return traffic(weight_bytes, devices, plan, microbatches) * devices


def kept_always(weight_bytes: int, devices: int, plan: str, microbatches: int) -> float:
    """The same with weights that are never gathered again."""
    return traffic(weight_bytes, devices, "fsdp, weights kept" if plan.startswith("fsdp") else plan, microbatches)


def traffic_with(wrong: str, passes: Callable[[int], int]) -> Callable[..., float]:
    """The same with one plan's passes around the ring, given the microbatches, replaced."""

    def count(weight_bytes: int, devices: int, plan: str, microbatches: int) -> float:
        one = weight_bytes * (devices - 1) / devices
        return passes(microbatches) * one if plan == wrong else traffic(weight_bytes, devices, plan, microbatches)

    return count


def draw_traffic(rng: random.Random) -> tuple[int, int, str, int]:
    """Bytes of the weights, devices, a plan and microbatches."""
    return rng.randint(1, 10**9), rng.choice((2, 4, 8, 64)), rng.choice(PLANS), rng.randint(1, 8)


def tied_slopes(x: np.ndarray, y: np.ndarray, e: np.ndarray, w: np.ndarray) -> Arrays:
    """Both terms of E's gradient, of its first use and of its second, and the gradient of W."""
    first, second, inner = np.zeros_like(e), np.zeros_like(e), np.zeros_like(w)
    for sample, wanted in zip(x, y):
        seen = sample @ e
        hidden = np.tanh(seen @ w)
        error = 2 * (e @ hidden - wanted) / y.size
        back = (error @ e) * (1 - hidden**2)
        second += np.outer(error, hidden)
        inner += np.outer(seen, back)
        first += np.outer(sample, w @ back)
    return first, second, inner


def trained(
    *, uses: tuple[int, int] = (1, 1), steps: int = STEPS, corrected: bool = True, factor: float = 1.0, memory: bool = True
) -> Callable[..., Arrays]:
    """A function that returns weights and Adam's state after some steps, with a mistake if one is asked for.

    Args:
        uses: how often each of E's two uses counts in its gradient.
        steps: of Adam.
        corrected: for the zeros that the state begins with.
        factor: on the gradients.
        memory: whether the state is kept from step to step.
    """

    def train(x: np.ndarray, y: np.ndarray, *weights: np.ndarray) -> Arrays:
        state = [(np.zeros_like(a), np.zeros_like(a)) for a in weights]
        for step in range(1, steps + 1):
            first, second, inner = tied_slopes(x, y, *weights)
            found = (factor * (uses[0] * first + uses[1] * second), factor * inner)
            state = [(a, b) if memory else (0 * a, 0 * b) for a, b in state]
            state = [(FIRST * m + (1 - FIRST) * g, SECOND * v + (1 - SECOND) * g**2) for (m, v), g in zip(state, found)]
            steps_done = step if corrected else np.inf
            weights = tuple(moved(w, m, v, steps_done) for w, (m, v) in zip(weights, state))
        return weights[0], weights[1], *state[0], *state[1]

    return train


def moved(w: np.ndarray, m: np.ndarray, v: np.ndarray, step: float, tiny: float = TINY) -> np.ndarray:
    """A weight after Adam's step number `step`."""
    return np.asarray(w - RATE * (m / (1 - FIRST**step)) / (np.sqrt(v / (1 - SECOND**step)) + tiny))


def adam(w: np.ndarray, m: np.ndarray, v: np.ndarray, g: np.ndarray, step: np.ndarray) -> Arrays:
    """Weight and state after one step of Adam when `step` have been done."""
    m, v = FIRST * m + (1 - FIRST) * g, SECOND * v + (1 - SECOND) * g**2
    return moved(w, m, v, float(step) + 1), m, v


def slopes(x: np.ndarray, y: np.ndarray, *weights: np.ndarray) -> Arrays:
    """Gradients of the mean squared error of layers with tanh after each, summed sample by sample."""
    totals = [np.zeros_like(w) for w in weights]
    for sample, wanted in zip(x, y):
        held = [sample]
        for w in weights:
            held.append(np.tanh(held[-1] @ w))
        back = 2 * (held[-1] - wanted) / y.size
        for i in reversed(range(len(weights))):
            back = back * (1 - held[i + 1] ** 2)
            totals[i] += np.outer(held[i], back)
            back = weights[i] @ back
    return tuple(totals)


def wide(o: Observed) -> Arrays:
    """The inputs in double precision."""
    return tuple(a.astype(np.float64) if a.dtype.kind == "f" else a for a in o.inputs)


def agrees(o: Observed, outputs: Arrays, tolerance: float = 1e-4) -> bool:
    """Whether every device holds its part of these outputs."""
    return all(
        np.shape(right[index]) == block.shape and np.allclose(block, right[index], rtol=1e-3, atol=tolerance)
        for shards, right in zip(o.shards, outputs, strict=True)
        for _, index, block in shards
    )


def times(o: Observed, factor: Callable[[int], float]) -> bool:
    """Whether the outputs are the right gradients times `factor(n)`, n devices being along data."""
    n = dict(o.case.axes)["data"]
    return agrees(o, tuple(factor(n) * g for g in slopes(*wide(o))), 1e-5)


def own_parts(o: Observed, average: bool = False) -> bool:
    """Whether each device has its own slice of its own samples' gradient; with `average`, all slices' mean or sum."""
    n = dict(o.case.axes)["data"]
    x, y, *weights = wide(o)
    own = [slopes(a, b, *weights) for a, b in zip(np.split(x, n), np.split(y, n))]
    if average:
        mean = [np.mean(np.split(g, n), 0) for g in slopes(x, y, *weights)]
        return any(agrees(o, tuple(factor * np.concatenate([a] * n) for a in mean), 1e-5) for factor in (1, n, n * n))
    cut = [np.concatenate([np.split(g, n)[i] for i, g in enumerate(each)]) for each in zip(*own)]
    return any(agrees(o, tuple(factor * a for a in cut), 1e-5) for factor in (1, 1 / n))


def state_whole(o: Observed) -> bool:
    """Whether some of the optimizer's state lies whole on every device."""
    return any(block.shape == where.shape for shards, where in zip(o.shards[2:], o.placements[2:]) for _, _, block in shards)


def weights_cut(o: Observed) -> bool:
    """Whether a trained weight is not whole on every device."""
    return any(block.shape != a.shape for shards, a in zip(o.shards[:2], o.inputs[2:]) for _, _, block in shards)


def state_by_columns(o: Observed) -> bool:
    """Whether some of the optimizer's state is cut by columns."""
    return any(b.shape[1] < where.shape[1] for shards, where in zip(o.shards[2:], o.placements[2:]) for _, _, b in shards)


def only_gradients_moved(o: Observed) -> bool:
    """Whether no step moves more than sums of gradients: of E once for each of its uses, of W, and some numbers."""
    e, w = (a.nbytes for a in o.inputs[2:])
    moved = sum(c.payload_bytes * c.executions for c in o.collectives)
    return o.kinds == {"all-reduce"} and moved <= STEPS * (2 * e + w + 8)


def right(o: Observed) -> bool:
    """Whether these are the right gradients."""
    return times(o, lambda n: 1)


def stacked(o: Observed) -> bool:
    """Whether each device's whole gradients are stacked."""
    n = dict(o.case.axes)["data"]
    return all(w.shape == (n * a.shape[0], *a.shape[1:]) for w, a in zip(o.placements, o.inputs[2:]))


def gathered(o: Observed) -> int:
    """Bytes of everything that all-gathers bring together."""
    return sum(c.payload_bytes * c.executions for c in o.collectives if c.kind == "all-gather")


def count(o: Observed, name: str) -> int:
    """How often a StableHLO operation is written in the exported program."""
    return dict(o.operations).get(f"stablehlo.{name}", 0)


def large_all_reduce(o: Observed) -> bool:
    """Whether more than a number is reduced."""
    return any(c.kind == "all-reduce" and c.payload_bytes > 8 for c in o.collectives)


def batch_gathered(o: Observed) -> bool:
    """Whether an all-gather brings the batch together."""
    batch, weights = ({a.nbytes for a in arrays} for arrays in (o.inputs[:2], o.inputs[2:]))
    return any(c.kind == "all-gather" and c.payload_bytes in batch - weights for c in o.collectives)


def training(mesh: Axes, batch: int, words: int, width: int) -> Case:
    """Tied weights that lie whole, a batch that is cut, and state that is to be cut."""
    weights = Input((words, width), values=unsaturated), Input((width, width), values=unsaturated)
    inputs = (Input((batch, words), ROWS), Input((batch, words), ROWS), *weights)
    return Case(mesh, inputs, ((), (), ROWS, ROWS, ROWS, ROWS))


def unsaturated(rng: np.random.Generator, shape: tuple[int, ...], _: Sequence[np.ndarray]) -> np.ndarray:
    """Weights of which tanh gets numbers of about one.

    Where tanh is nearly one, float32 has few digits left of its slope, and Adam makes large steps of small gradients.
    """
    return rng.standard_normal(shape) / np.sqrt(shape[0])


def draw_training(rng: random.Random) -> Case:
    """The same on other sizes."""
    mesh = rng.choice((LINE, PLANE))
    n = dict(mesh)["data"]
    return training(mesh, n * rng.randint(2, 4), n * rng.randint(2, 4) + 2 * n, n * rng.randint(1, 2))


def layers(mesh: Axes, batch: int, widths: tuple[int, ...]) -> Case:
    """Layers whose weights are cut by rows, as the batch is; their gradients are to lie so too."""
    weights = tuple(Input(shape, ROWS) for shape in zip(widths, widths[1:]))
    ends = (Input((batch, widths[0]), ROWS), Input((batch, widths[-1]), ROWS))
    return Case(mesh, (*ends, *weights), (ROWS,) * len(weights))


def draw_layers(number: int) -> Callable[[random.Random], Case]:
    """The same with so many layers, on other sizes."""

    def draw(rng: random.Random) -> Case:
        mesh = rng.choice(MESHES)
        n = dict(mesh)["data"]
        widths = tuple(n * k for k in rng.sample((1, 2, 3, 4, 5, 6, 7), number + 1))
        return layers(mesh, n * rng.choice((11, 13)), widths)

    return draw


def written(case: Case) -> Mapping[str, tuple[int, int]]:
    """How often operations stand in a program that gathers each weight again, and makes no product again.

    The first layer's weight is not needed backwards: its input has no gradient. A barrier must keep XLA from merging.
    """
    depth = len(case.inputs) - 2
    return {
        "all_gather": (2 * depth - 1, 2 * depth),
        "dot_general": (2 * depth, 3 * depth - 1),
        "optimization_barrier": (1, 8 * depth),
    }


def other_numbers(item: ProgramItem, o: Observed) -> Iterator[Finding]:
    """Operations that stand in the exported program, before XLA merges what is equal, too often or not often enough."""
    counts = dict(o.operations)
    for name, (least, most) in written(o.case).items():
        found = counts.get(f"stablehlo.{name}", 0)
        if not least <= found <= most:
            what = "Your program, before XLA, holds another number of an operation."
            expected = f"{least} to {most} {name}" if least < most else f"{least} {name}"
            yield Finding(item.name, "J", what, expected=expected, got=str(found))


def other_donations(item: ProgramItem, o: Observed) -> Iterator[Finding]:
    """Donated arrays that should not be, or the other way round."""
    if o.donated != GIVEN_AWAY:
        what = "Your program donates other arrays than it should."
        yield Finding(item.name, "M", what, expected=_positions(GIVEN_AWAY), got=_positions(o.donated))


def _positions(arrays: frozenset[int]) -> str:
    return f"of the arrays after the mesh, number {', '.join(str(i + 1) for i in sorted(arrays))}" if arrays else "none"


def stepping(mesh: Axes, rows: int, columns: int) -> Case:
    """One weight with its state and its gradient, all cut by rows, and the number of steps done."""
    arrays = tuple(Input((rows, columns), ROWS, values=values) for values in (None, None, second_moments, small_slopes))
    return Case(mesh, (*arrays, Input((), (), "int32", values=few)), (ROWS,) * 3)


def second_moments(rng: np.random.Generator, shape: tuple[int, ...], before: Sequence[np.ndarray]) -> np.ndarray:
    """Positive numbers, and zeros in the first row."""
    drawn = rng.uniform(1, 9, shape)
    drawn[0] = 0
    return drawn


def small_slopes(rng: np.random.Generator, shape: tuple[int, ...], before: Sequence[np.ndarray]) -> np.ndarray:
    """Normal numbers, in the first row such that the small number below the fraction counts."""
    drawn = rng.standard_normal(shape)
    drawn[0] *= 1e-3
    return drawn


def few(rng: np.random.Generator, shape: tuple[int, ...], before: Sequence[np.ndarray]) -> np.ndarray:
    """A number from 1 to 3: later corrections hardly differ."""
    return rng.integers(1, 4, shape)


def adam_otherwise(behind: int = 0, tiny: float = TINY) -> Callable[..., Arrays]:
    """`adam` with a mistake: corrected for an earlier step, or without the small number below the fraction."""

    def wrong(w: np.ndarray, m: np.ndarray, v: np.ndarray, g: np.ndarray, step: np.ndarray) -> Arrays:
        m, v = FIRST * m + (1 - FIRST) * g, SECOND * v + (1 - SECOND) * g**2
        return moved(w, m, v, float(step) + 1 - behind, tiny), m, v

    return wrong


def draw_stepping(rng: random.Random) -> Case:
    """The same on other sizes."""
    mesh = rng.choice(MESHES)
    return stepping(mesh, 8 * rng.randint(2, 5), rng.randint(3, 9))
