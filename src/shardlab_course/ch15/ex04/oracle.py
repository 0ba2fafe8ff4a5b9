"""Chapter 15, exercise 15.4: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping

import numpy as np

from shardlab_course.ch15.shared import moved, softmax
from shardlab_course.shared.agreement import agrees, wide
from shardlab_judge.cases import Case, Input, Observed, axes
from shardlens import Axes, Spec

EXPERTS, FEW_EXPERTS = axes(expert=8), axes(data=2, expert=4)
ROOM = 1.25


def room(tokens: int, experts: int) -> int:
    """How many of a device's tokens one expert takes."""
    return math.ceil(ROOM * tokens / experts)


def mixed(
    x: np.ndarray, g: np.ndarray, w1: np.ndarray, w2: np.ndarray, blocks: int, most: int | None = None,
    *, residual: bool = True, weighted: bool = True,
) -> np.ndarray:  # fmt: skip
    """Every token with its expert's answer added, where the expert has room; token by token.

    Args:
        blocks: on how many devices the tokens lie, each with its own places.
        most: places that an expert has for each block's tokens.
    """
    chances = softmax(x @ g)
    out = x.copy() if residual else np.zeros_like(x)
    size = len(x) // blocks
    most = room(size, len(w1)) if most is None else most
    for start in range(0, len(x), size):
        taken = [0] * len(w1)
        for t in range(start, start + size):
            e = int(chances[t].argmax())
            taken[e] += 1
            if taken[e] <= most:
                answer = np.maximum(x[t] @ w1[e], 0) @ w2[e]
                out[t] += answer * (chances[t, e] if weighted else 1)
    return out


def mixture(o_devices: int) -> Callable[..., np.ndarray]:
    """The oracle for tokens that lie on so many devices."""

    def moe(x: np.ndarray, g: np.ndarray, w1: np.ndarray, w2: np.ndarray) -> np.ndarray:
        return mixed(x, g, w1, w2, o_devices)

    return moe


DEVICES = 8


def steps(x: np.ndarray, g: np.ndarray, w1: np.ndarray, w2: np.ndarray) -> dict[str, np.ndarray]:
    """What is computed on the way, by name; a token without a place has zeros for an answer."""
    answers = [mixed(x, g, w1, w2, DEVICES, residual=False, weighted=weighted) for weighted in (False, True)]
    return {
        "softmax(X @ G)": softmax(x @ g), "the experts' answers": answers[0],
        "the answers times their probability": answers[1], "the output": x + answers[1],
    }  # fmt: skip


def mixed_as(o: Observed, blocks: int = DEVICES, most: Callable[[int, int], int] | None = None, **mistakes: bool) -> bool:
    """Whether the output is that of a mixture with other places or with mistakes."""
    x, g, w1, w2 = wide(o)
    places = most(len(x) // blocks, len(w1)) if most else None
    return agrees(o, (mixed(x, g, w1, w2, blocks, places, **mistakes),))


def routing(mesh: Axes, tokens: int, width: int, hidden: int, each: int = 1) -> Case:
    """Tokens over all axes, the router whole, experts over expert, `each` to a device."""
    everywhere: Spec = (tuple(name for name, _ in mesh), None)
    experts = dict(mesh)["expert"] * each
    cut: Spec = ("expert", None, None)
    given = (
        Input((DEVICES * tokens, width), everywhere), Input((width, experts)),
        Input((experts, width, hidden), cut), Input((experts, hidden, width), cut),
    )  # fmt: skip
    return Case(mesh, given, (everywhere,))


def draw_routing(rng: random.Random) -> Case:
    """Many tokens on each device, one to three experts, and a room that is a whole number before it is rounded."""
    mesh, each = rng.choice(((EXPERTS, 1), (EXPERTS, 2), (FEW_EXPERTS, 1), (FEW_EXPERTS, 3)))
    tokens = max(4 * dict(mesh)["expert"] * each, 32)
    return routing(mesh, tokens * rng.randint(1, 2), rng.randint(5, 7), rng.randint(4, 9), each)


def neighbours(o: Observed) -> bool:
    """Whether a token without a place has the answer that its expert gave to the last token with one."""
    x, g, w1, w2 = wide(o)
    chances, size = softmax(x @ g), len(x) // DEVICES
    asked, out, most = chances.argmax(-1), x.copy(), room(len(x) // DEVICES, len(w1))
    for t, e in enumerate(asked):
        start = t // size * size
        earlier = [s for s in range(start, t + 1) if asked[s] == e]
        given = x[earlier[min(len(earlier), most) - 1]]
        out[t] += chances[t, e] * (np.maximum(given @ w1[e], 0) @ w2[e])
    return agrees(o, (out,))


def added_up(o: Observed) -> bool:
    """Whether answers to tokens that lie on the same row of the devices along `expert` are added up."""
    x, g, w1, w2 = wide(o)
    chances, along = softmax(x @ g), dict(o.case.axes)["expert"]
    kept = mixed(x, g, w1, w2, DEVICES, residual=False, weighted=False)
    answers = kept, mixed(x, g, w1, w2, 1, len(x), residual=False, weighted=False)
    best = chances.max(-1, keepdims=True)
    at = np.arange(len(x)) // (len(x) // DEVICES) % along
    own = (chances.argmax(-1) // (len(w1) // along) == at)[:, None]
    sums = [(_over(a * some, along) * best, _over(a * some * best, along)) for a in answers for some in (own, True)]
    return any(agrees(o, (x + s,)) for pair in sums for s in pair)


def _over(rows: np.ndarray, along: int) -> np.ndarray:
    """Rows, summed over so many devices in a row, on each of them."""
    apart = rows.reshape(DEVICES // along, along, -1, rows.shape[-1])
    return np.broadcast_to(apart.sum(1, keepdims=True), apart.shape).reshape(rows.shape)


def gathers_tokens(o: Observed) -> bool:
    """Whether an all-gather over `expert` brings tokens."""
    width = o.case.inputs[0].shape[1]
    gathered = [c for c in o.collectives if c.kind == "all-gather" and "expert" in c.axes]
    shapes = [shape for c in gathered for _, shape in c.arrays or ((c.dtype, c.shape),)]
    return any(len(shape) >= 2 and shape[-1] == width for shape in shapes)


def gathers_experts(o: Observed) -> bool:
    """Whether weights of experts are gathered."""
    hidden, width = o.case.inputs[2].shape[2], o.case.inputs[0].shape[1]
    return any(len(s) >= 3 and set(s[-2:]) == {hidden, width} for s in moved(o, "all-gather"))


def own_experts(at: Mapping[str, int], x: np.ndarray, g: np.ndarray, w1: np.ndarray, w2: np.ndarray) -> np.ndarray:
    """One device's tokens, with the answers of the experts that it holds itself, as if these were all."""
    first = at["expert"] * len(w1)
    return mixed(x, g[:, first : first + len(w1)], w1, w2, 1)


def shifted_back(o: Observed) -> bool:
    """Whether every token got an expert's answer to some token of the same device or none, and not all to themselves."""
    x, g, w1, w2 = wide(o)
    right = mixed(x, g, w1, w2, DEVICES) - x
    others = False
    for _, index, block in o.shards[0]:
        if block.shape != x[index].shape:
            return False
        rows, found = _directions(right[index]), _directions(block - x[index])
        others = others or _elsewhere(right[index], block - x[index])
        if not len(rows) or (found @ rows.T).max(-1, initial=0).min(initial=1) < 0.9999:
            return False
    return others


def _elsewhere(right: np.ndarray, found: np.ndarray) -> bool:
    """Whether some row that is not zero has another direction than the right one."""
    sizes = np.linalg.norm(found, axis=-1) * np.linalg.norm(right, axis=-1)
    return bool(((found * right).sum(-1) < 0.999 * sizes).any())


def _directions(rows: np.ndarray) -> np.ndarray:
    """The rows that are not zero, with length 1."""
    sizes = np.linalg.norm(rows, axis=-1)
    return np.asarray(rows[sizes > 1e-4] / sizes[sizes > 1e-4, None])
