"""Chapter 17, exercise 17.3: its oracles, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import numpy as np

from shardlab_course.ch17.shared import attention, masked
from shardlab_course.shared.rings import devices, whole
from shardlab_judge.cases import Observed
from shardlab_judge.inputs import wide

Order = Callable[[int, int], list[int]]


def zigzag(S: int, n: int) -> list[int]:
    """Deal the chunks out to the devices from the first to the last, and back from the last to the first."""
    hands: list[list[int]] = [[] for _ in range(n)]
    chunk = S // (2 * n)
    for start, device in zip(range(0, S, chunk), [*range(n), *reversed(range(n))], strict=True):
        hands[device] += range(start, start + chunk)
    return sum(hands, [])


def round_robin(S: int, n: int) -> list[int]:
    """Chunk n + d comes to the device d that has chunk d."""
    return [int(i) for i in np.arange(S).reshape(2, n, -1).swapaxes(0, 1).ravel()]


def late_first(S: int, n: int) -> list[int]:
    """Each device has its later chunk before its earlier one."""
    halves = np.array(zigzag(S, n)).reshape(n, 2, -1)
    return [int(i) for i in halves[:, ::-1].ravel()]


def from_the_last(S: int, n: int) -> list[int]:
    """The last device has the first chunk and the last one."""
    return [int(i) for i in np.array(zigzag(S, n)).reshape(n, -1)[::-1].ravel()]


def one_by_one(S: int, n: int) -> list[int]:
    """Position i is on device i modulo n."""
    return [int(i) for i in np.arange(S).reshape(-1, n).T.ravel()]


def one_after_one(S: int, n: int) -> list[int]:
    """Position S - 1 - d comes to the device that has position d, not chunk by chunk."""
    half = S // 2
    order = np.arange(half).reshape(n, -1)
    return [int(i) for d in range(n) for i in (*order[d], *(S - 1 - order[d]))]


def chunks(S: int, n: int) -> list[list[int]]:
    """The numbers of the chunks on each device."""
    return [[d, 2 * n - 1 - d] for d in range(n)]


def counted(order: list[int], n: int, seen: Callable[[int, int], bool]) -> list[int]:
    """For each device the pairs of one of its queries and a key for which `seen` holds, counted one by one."""
    m = len(order) // n
    return [sum(seen(q, k) for q in order[d * m : d * m + m] for k in order) for d in range(n)]


def work(order: list[int], n: int) -> list[int]:
    """Each query sees the keys up to its own position."""
    return counted(order, n, lambda q, k: k <= q)


def before_alone(order: list[int], n: int) -> list[int]:
    """The query's own key is left out."""
    return counted(order, n, lambda q, k: k < q)


def of_all_keys(order: list[int], n: int) -> list[int]:
    """Every query sees all keys."""
    return counted(order, n, lambda q, k: True)


def by_place(order: list[int], n: int) -> list[int]:
    """As if positions lay in their natural order."""
    return work(list(range(len(order))), n)


def own_keys(order: list[int], n: int) -> list[int]:
    """Only keys on the same device count."""
    m = len(order) // n
    return [work(order[d * m : d * m + m], 1)[0] for d in range(n)]


def draw_sizes(rng: random.Random) -> tuple[int, int]:
    """A length that twice the devices divide."""
    n = rng.randint(2, 8)
    return 2 * n * rng.randint(1, 4), n


def draw_order(rng: random.Random) -> tuple[list[int], int]:
    """Some order of positions."""
    S, n = draw_sizes(rng)
    order = list(range(S))
    rng.shuffle(order)
    return order, n


def dealt(n: int, Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Causal attention of a sequence whose rows lie in zigzag order."""
    at = np.array(zigzag(len(Q), n))
    return masked(at[:, None] >= at, Q, K, V)


def in_natural_order(n: int, Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """As if row i were position i."""
    return attention(Q, K, V)


def mirrored(o: Observed) -> bool:
    """Whether rows were taken to lie in zigzag order from the last device to the first, or with the late chunk first."""
    orders = (np.array(order(len(o.inputs[0]), devices(o))) for order in (from_the_last, late_first))
    return any(whole(o, masked(at[:, None] >= at, *map(wide, o.inputs))) for at in orders)


def put_in_order(n: int, Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """The right rows, in the order of their positions."""
    return dealt(n, Q, K, V)[np.argsort(zigzag(len(Q), n))]


def without(n: int, Q: np.ndarray, K: np.ndarray, V: np.ndarray, lost: Callable[..., np.ndarray]) -> np.ndarray:
    """The right attention without the scores for which `lost` holds, of the chunks' numbers of queries and keys."""
    at = np.array(zigzag(len(Q), n))
    chunk = at // (len(Q) // (2 * n))
    return masked((at[:, None] >= at) & ~lost(chunk[:, None], chunk, n), Q, K, V)


def late_keys_lost(n: int, Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """No query sees a key of the second half of the sequence on another device."""
    return without(n, Q, K, V, lambda q, k, n: (k >= n) & (k != q))


def early_keys_lost(n: int, Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Queries of the second half do not see the first half on other devices."""
    return without(n, Q, K, V, lambda q, k, n: (q >= n) & (k < n) & (k != 2 * n - 1 - q))


def balanced(o: Observed) -> tuple[np.ndarray, ...]:
    """The right output; the order of the rows depends on the number of devices."""
    return (dealt(devices(o), *map(wide, o.inputs)),)


def branches(o: Observed) -> bool:
    """Whether products stand in a branch, and not nearly all scores were made."""
    made = dict(re.findall(r"^(?:ENTRY )?%?([\w.-]+) \(.*?\{\n(.*?)^\}", o.hlo, re.MULTILINE | re.DOTALL))
    waiting, seen = re.findall(r"%([\w.-]+)", " ".join(re.findall(r"_computations?=(\{.*?\}|%[\w.-]+)", o.hlo))), set()
    while waiting:
        seen.add(name := waiting.pop())
        called = re.findall(r"(?:calls|to_apply|body)=%?([\w.-]+)", made.get(name, ""))
        waiting += [other for other in called if other not in seen]
    return any(" dot(" in made.get(name, "") for name in seen) and not _all_made(o)


def all_multiplied(o: Observed) -> bool:
    """Whether the values are right, and nearly all scores were made."""
    return whole(o, *balanced(o)) and _all_made(o)


def _all_made(o: Observed) -> bool:
    s, d = o.inputs[0].shape
    return (o.flops or 0) >= 0.95 * 4 * s * s * d / devices(o)
