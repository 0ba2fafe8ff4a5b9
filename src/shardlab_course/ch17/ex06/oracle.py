"""Chapter 17, exercise 17.6: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from shardlab_course.ch17.ex03.oracle import zigzag
from shardlab_course.ch17.ex05.oracle import BASE
from shardlab_course.ch17.shared import LINE, TOKENS, WIDE, scores_bytes
from shardlab_course.shared.agreement import Arrays, agrees, wide
from shardlab_course.shared.rings import devices
from shardlab_judge.cases import Case, Input, Observed
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.rights import computed
from shardlab_judge.verdict import Finding
from shardlens import Axes, Collective, price

Step = Callable[[Observed], Arrays]
"""What a program would return: the loss, and the gradients of all weights."""


def normed(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of mean square one, and what each row was divided by."""
    size = np.sqrt((x**2).mean(1, keepdims=True) + 1e-6)
    return x / size, size


def norm_back(g: np.ndarray, h: np.ndarray, size: np.ndarray) -> np.ndarray:
    """The gradient of the rows, from that of the rows divided by their size."""
    return (g - h * (g * h).mean(1, keepdims=True)) / size


def turned(x: np.ndarray, at: np.ndarray, sign: int = 1) -> np.ndarray:
    """Pairs of features as complex numbers, turned by their positions' angles; with sign -1, its transpose."""
    half = x.shape[1] // 2
    angles = np.outer(at, BASE ** (-np.arange(half) / half))
    pairs = (x[:, :half] + 1j * x[:, half:]) * np.exp(sign * 1j * angles)
    return np.concatenate([pairs.real, pairs.imag], axis=1)


def weighed(q: np.ndarray, k: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """The softmax of all scores, row by row, at once."""
    scores = np.where(seen, q @ k.T / np.sqrt(q.shape[1]), -np.inf)
    weights = np.exp(scores - scores.max(1, keepdims=True))
    return np.asarray(weights / weights.sum(1, keepdims=True))


def forward(at: np.ndarray, seen: np.ndarray, X: np.ndarray, T: np.ndarray, *weights: np.ndarray) -> dict[str, np.ndarray]:
    """What the layer computes on its way to the loss."""
    wq, wk, wv, wo, w1, w2 = weights
    h, _ = normed(X)
    q, k, v = turned(h @ wq, at), turned(h @ wk, at), h @ wv
    mixed = weighed(q, k, seen) @ v
    x = X + mixed @ wo
    s = normed(x)[0] @ w1
    out = x + s / (1 + np.exp(-s)) @ w2
    named = {"the queries, turned": q, "the keys, turned": k, "the values": v, "the output of attention": mixed}
    return {**named, "the rows after attention": x, "the rows of the layer": out}


def steps(o: Observed, *arrays: np.ndarray) -> dict[str, np.ndarray]:
    """The same for rows in zigzag order."""
    at = dealt(o)
    return forward(at, at <= at[:, None], *arrays)


def layer_step(at: np.ndarray, seen: np.ndarray, X: np.ndarray, T: np.ndarray, *weights: np.ndarray) -> Arrays:
    """The loss and the gradients of the weights, by hand, for rows at these positions that see these rows."""
    wq, wk, wv, wo, w1, w2 = weights
    h, size = normed(X)
    q, k, v = turned(h @ wq, at), turned(h @ wk, at), h @ wv
    p = weighed(q, k, seen)
    x = X + p @ v @ wo
    u, width = normed(x)
    s = u @ w1
    gate = 1 / (1 + np.exp(-s))
    error = x + (s * gate) @ w2 - T
    dy = 2 * error / error.size
    ds = dy @ w2.T * gate * (1 + s * (1 - gate))
    dx = dy + norm_back(ds @ w1.T, u, width)
    da = dx @ wo.T
    dp = p * (da @ v.T - (da * (p @ v)).sum(1, keepdims=True)) / np.sqrt(q.shape[1])
    dq, dk = turned(dp @ k, at, -1), turned(dp.T @ q, at, -1)
    gradients = h.T @ dq, h.T @ dk, h.T @ (p.T @ da), (p @ v).T @ dx, u.T @ ds, (s * gate).T @ dy
    return np.mean(error**2), *gradients


def dealt(o: Observed) -> np.ndarray:
    """The positions of the rows."""
    return np.array(zigzag(len(o.inputs[0]), devices(o)))


def right(o: Observed) -> Arrays:
    """What the exercise asks for; the order of the rows depends on the number of devices."""
    at = dealt(o)
    return layer_step(at, at <= at[:, None], *wide(o))


def turned_by(places: Callable[[int, int], np.ndarray]) -> Step:
    """Rows are turned by other positions, and masked by the right ones."""

    def step(o: Observed) -> Arrays:
        at = dealt(o)
        return layer_step(places(len(at), len(at) // devices(o)), at <= at[:, None], *wide(o))

    return step


def masked_by(seen: Callable[[np.ndarray, int], np.ndarray]) -> Step:
    """Rows are turned by the right positions, and masked otherwise: a function of all rows and a device's number of them."""

    def step(o: Observed) -> Arrays:
        rows = np.arange(len(o.inputs[0]))
        return layer_step(dealt(o), seen(rows, len(rows) // devices(o)), *wide(o))

    return step


def own_block_alone(o: Observed) -> Arrays:
    """Each device attends to its own rows alone."""
    at = dealt(o)
    home = np.arange(len(at)) // (len(at) // devices(o))
    return layer_step(at, (at <= at[:, None]) & (home == home[:, None]), *wide(o))


def scaled(loss: Callable[[int], float], gradients: Callable[[int], float]) -> Step:
    """The right loss and the right gradients, each times a function of the number of devices."""

    def step(o: Observed) -> Arrays:
        value, *slopes = computed(right, o)
        return value * loss(devices(o)), *(g * gradients(devices(o)) for g in slopes)

    return step


def returned(step: Step) -> Callable[[Observed], bool]:
    """Whether the program returned this on every device."""
    return lambda o: agrees(o, computed(step, o), CLOSE)


def own_parts(o: Observed) -> bool:
    """Whether gradients differ from device to device, and their sum over x is the right one or n times that."""
    value, *slopes = computed(right, o)
    if len(o.shards) != 1 + len(slopes):
        return False
    n, total = devices(o), sum(1 for _ in o.shards[0])
    sums = [sum(block.astype(np.float64) for _, _, block in shards) * n / total for shards in o.shards[1:]]
    alike = any(all(np.allclose(s, g * by, CLOSE, CLOSE) for s, g in zip(sums, slopes)) for by in (1, n))
    return alike and any(np.ptp([block for _, _, block in shards], axis=0).max() > CLOSE for shards in o.shards[1:])


def too_much_held(item: ProgramItem, o: Observed) -> Iterator[Finding]:
    """What is wrong where temporary arrays take as much at one time as all scores of a device's queries."""
    if o.held >= scores_bytes(o):
        what = "A device holds too much at one time."
        yield Finding(item.name, "M", what, f"fewer than {scores_bytes(o):,} B of temporary arrays", f"{o.held:,} B")


def sent_again(item: ProgramItem, o: Observed) -> Iterator[Finding]:
    """What is wrong where more moves as soon as a compiler keeps the barriers of `jax.checkpoint`."""
    found = price(o.kept.collectives)
    if found > o.price + item.beyond(o):
        what = "Your program moves more bytes than it needs to where a compiler keeps the barriers of jax.checkpoint."
        yield Finding(item.name, "H", what, f"at most {o.price:,} B a device", f"{found:,} B a device")


def keeps_exponentials(o: Observed) -> bool:
    """Whether every array is small, and all together are not."""
    return o.held >= scores_bytes(o) >= 4 * o.largest


def _block(o: Observed) -> int:
    """Bytes of a device's keys."""
    return o.inputs[0].nbytes // devices(o)


def _hops(o: Observed, collectives: Iterable[Collective]) -> int:
    """How often these permute a block of keys or values, or of their gradients."""
    return sum((c.executions or 0) * c.payload_bytes for c in collectives if c.kind == "collective-permute") // _block(o)


def travels_again(o: Observed) -> bool:
    """Whether keys and values go round a second time where barriers are kept."""
    return _hops(o, o.kept.collectives) >= 6 * (devices(o) - 1)


def comes_home(o: Observed) -> bool:
    """Whether keys, values and their gradients made n hops each."""
    return _hops(o, o.collectives) == 4 * devices(o)


def all_multiplied(o: Observed) -> bool:
    """Whether at least six products of all scores with features were made."""
    rows, features = o.inputs[0].shape
    return (o.flops or 0) >= 0.95 * 6 * 2 * rows * rows * features / devices(o)


def _drawn(scale: float) -> Callable[..., np.ndarray]:
    def drawn(rng: np.random.Generator, shape: tuple[int, ...], _: object) -> np.ndarray:
        return np.asarray(rng.standard_normal(shape) * scale / np.sqrt(shape[0]))

    return drawn


SHARP, PLAIN = _drawn(1.7), _drawn(1.0)
CLOSE = 1e-4


def layer_case(mesh: Axes, s: int, d: int, f: int) -> Case:
    """Rows and targets cut over x, weights on every device; queries and keys are larger, so that scores differ."""
    square = (d, d)
    inputs = (
        *(Input((s, d), TOKENS) for _ in "XT"),
        *(Input(square, values=SHARP) for _ in "qk"),
        *(Input(square, values=PLAIN) for _ in "vo"),
        Input((d, f), values=PLAIN),
        Input((f, d), values=PLAIN),
    )
    return Case(mesh, inputs, ((),) * 7)


def draw_layer(rng: random.Random) -> Case:
    """Another mesh and other sizes."""
    mesh, s = rng.choice(((LINE, 64 * rng.randint(15, 18)), (WIDE, 64 * rng.randint(8, 10))))
    return layer_case(mesh, s, rng.choice((6, 8)), rng.randint(10, 18))
