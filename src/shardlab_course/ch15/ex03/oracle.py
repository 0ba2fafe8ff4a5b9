"""Chapter 15, exercise 15.3: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import math
import random

import numpy as np

from shardlab_course.ch15.shared import moved
from shardlab_course.shared.agreement import Arrays, agrees, wide
from shardlab_judge.cases import Case, Input, Observed, axes
from shardlens import Axes, Spec

STAGES, FEW_STAGES = axes(stage=8), axes(data=2, stage=4)


def piped(w: np.ndarray, x: np.ndarray, y: np.ndarray) -> Arrays:
    """The mean squared error of tanh stages over all microbatches, and the gradient of every stage's weights."""
    return staged(w, x, y, tuple(range(len(x))))


def staged(w: np.ndarray, x: np.ndarray, y: np.ndarray, counted: tuple[int, ...], divisor: int = 0) -> Arrays:
    """The same, with the squares of some microbatches only, over a `divisor`; that of all unless given."""
    loss, found = 0.0, np.zeros_like(w)
    divisor, narrow = divisor or y.size, math.sqrt(w.shape[-1])
    for i in counted:
        held = [x[i]]
        for stage in w:
            held.append(np.tanh(held[-1] @ stage / narrow))
        error = held[-1] - y[i]
        loss += float((error**2).sum()) / divisor
        back = 2 * error / divisor
        for s in reversed(range(len(w))):
            back = back * (1 - held[s + 1] ** 2) / narrow
            found[s] += held[s].T @ back
            back = back @ w[s].T
    return np.array(loss), found


def loss_is(o: Observed, *losses: float) -> bool:
    """Whether the first output is one of these numbers on every device."""
    return all(block.shape == () and any(np.isclose(block, x, rtol=1e-4) for x in losses) for _, _, block in o.shards[0])


def missing_end(o: Observed) -> bool:
    """Whether the loss leaves out the microbatches that are still under way after M rounds."""
    w, x, y = wide(o)
    done = tuple(range(len(x) - len(w) + 1))
    return bool(done) and any(loss_is(o, float(staged(w, x, y, done, d)[0])) for d in (y.size, len(done) * y[0].size))


def warming_up(o: Observed) -> bool:
    """Whether outputs from before the first microbatch's arrival, made of zeros, are compared with targets too."""
    w, x, y = wide(o)
    right, early = float(piped(w, x, y)[0]), len(w) - 1
    clipped = sum(float((y[0] ** 2).sum()) for _ in range(early)) / y.size
    wrapped = sum(float((y[(t - early) % len(y)] ** 2).sum()) for t in range(early)) / y.size
    return loss_is(o, right + clipped, right + wrapped)


def outputs(w: np.ndarray, x: np.ndarray) -> np.ndarray:
    """What every stage makes of every microbatch: stages by microbatches."""
    made = [x]
    for stage in w:
        made.append(np.tanh(made[-1] @ stage / math.sqrt(w.shape[-1])))
    return np.stack(made[1:])


def steps(w: np.ndarray, x: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    """What is computed on the way, by name; what the pipeline computes is of all stages, stages by microbatches."""
    made, narrow = outputs(w, x), math.sqrt(w.shape[-1])
    back, slopes = 2 * (made[-1] - y) / y.size, []
    for stage, out in zip(w[::-1], made[::-1]):
        slopes.append(back)
        back = back * (1 - out**2) @ stage.T / narrow
    loss, gradient = piped(w, x, y)
    named = {"the output of all stages": made, "the loss": loss}
    return named | {"the gradient of all stages' outputs": np.stack(slopes[::-1]), "the gradient of W": gradient}


def every_stage(o: Observed) -> bool:
    """Whether all stages' outputs are compared with targets: each with its microbatch's, or all with the last stage's."""
    w, x, y = wide(o)
    made, stages, count = outputs(w, x), len(w), len(x)
    own = float(((made - y) ** 2).sum()) / y.size
    ahead = [[min(m + stages - 1 - s, count - 1) for m in range(count)] for s in range(stages)]
    same = sum(float(((made[s][m] - y) ** 2).sum()) for s, m in enumerate(ahead)) / y.size
    return loss_is(o, own, own / stages, same, same / stages)


def one_missing(o: Observed) -> bool:
    """Whether the first or the last microbatch does not count."""
    w, x, y = wide(o)
    size, every = len(x), tuple(range(len(x)))
    found = [float(staged(w, x, y, some)[0]) for some in (every[1:], every[:-1])]
    return loss_is(o, *found, *(loss * size / (size - 1) for loss in found))


def other_targets(o: Observed) -> bool:
    """Whether the last stage's outputs are compared with targets of the tick's number."""
    w, x, y = wide(o)
    late = np.arange(len(x)) + len(w) - 1
    found = [((outputs(w, x)[-1] - y[i]) ** 2).mean() for i in (late % len(y), np.minimum(late, len(y) - 1))]
    return loss_is(o, *map(float, found))


def wrong_gradient(o: Observed) -> bool:
    """Whether the loss is right, of an answer that is not."""
    return loss_is(o, float(piped(*wide(o))[0])) and not agrees(o, piped(*wide(o)), 1e-3)


def scaled_loss(o: Observed) -> bool:
    """Whether loss and gradients are right but for one factor, that of a mean taken over another number."""
    loss, found = piped(*wide(o))
    ratio = float(o.shards[0][0][2]) / float(loss)
    near = 1e-3 * np.abs(found).max()
    return (
        ratio > 0
        and not math.isclose(ratio, 1, rel_tol=1e-3)
        and loss_is(o, float(loss) * ratio)
        and all(np.shape(found[at]) == b.shape and np.abs(b / ratio - found[at]).max() < near for _, at, b in o.shards[1])
    )


def scaled_gradient(o: Observed) -> bool:
    """Whether the loss is right, and the gradients are right but for one factor."""
    loss, found = piped(*wide(o))
    index, block = o.shards[1][0][1:]
    ratio = float(np.median(block / found[index]))
    apart = not math.isclose(ratio, 1, rel_tol=1e-3)
    return apart and loss_is(o, float(loss)) and agrees(o, (loss, found * ratio), 1e-3 * max(1.0, ratio))


def hop_elements(o: Observed) -> int:
    """The most numbers that one hop carries."""
    return max((math.prod(shape) for shape in moved(o, "collective-permute")), default=0)


def microbatches(mesh: Axes, count: int, rows: int, width: int) -> Case:
    """One weight for each stage, over stage; all microbatches and their targets on every device."""
    data = Input((count, rows, width))
    stages: Spec = ("stage", None, None)
    return Case(mesh, (Input((dict(mesh)["stage"], width, width), stages), data, data), ((), stages))


def draw_microbatches(rng: random.Random) -> Case:
    """More microbatches than stages, as many, or fewer; few rows, so that weights are dearer to move."""
    mesh = rng.choice((STAGES, FEW_STAGES))
    return microbatches(mesh, rng.choice((3, dict(mesh)["stage"], 13)), rng.randint(2, 4), rng.randint(18, 22))
