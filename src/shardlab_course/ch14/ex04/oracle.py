"""Chapter 14, exercise 14.4: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from shardlab_course.ch14.shared import ALL
from shardlab_judge.items.processes import ProcessesItem, unequal
from shardlab_judge.launches import Global, Launch, Seen
from shardlab_judge.verdict import Finding


def not_begun(item: ProcessesItem, seen: Seen) -> Iterator[Finding]:
    """Where a start is none that is right, or reads what it also reads with another seed."""
    yield from unequal(item, seen, lambda process, *arguments: begun(process, seen.returned, *arguments))
    if order_of_no_seed(seen):
        what = "Each process reads the same rows, in the same order, as with another seed."
        yield Finding(item.name, "V", what, "an order that follows from the seed", str(seen.returned[0]["rows"]))
    if uniform(seen):
        what = "The noise of all situations together has no large numbers, which normal noise has."
        yield Finding(item.name, "V", what, "normal noise", "noise that ends near its standard deviation")


def begun(process: int, returned: Sequence[Any], seed: int, samples: int, rows: int) -> dict[str, Any]:
    """The nearest right start: weights from the seed, rows that are shared out, noise that nobody else has."""
    noise = _named(returned[process], "noise")
    return {
        "weights": _normal(seed, (6, 4)),
        "rows": _shared_out(process, returned, seed, samples, rows),
        "noise": noise.whole if _is_noise(noise) else _normal(seed + 1, (16, 4)),
    }


def _named(returned: Any, name: str) -> Any:
    return returned.get(name) if isinstance(returned, Mapping) else None


def _is_noise(noise: Any) -> bool:
    fits = isinstance(noise, Global) and noise.placement.shape == (16, 4)
    return fits and not repeated(noise) and len(np.unique(np.round(noise.whole, 6), axis=0)) == 16 and normal(noise.whole)


def normal(values: np.ndarray) -> bool:
    """Whether 64 numbers may well be standard normal ones.

    Their mean and deviation lie within four standard errors. All are smaller than 1.2 once in ten million draws.
    """
    near = abs(float(values.mean())) < 0.55 and 0.6 < float(values.std()) < 1.4
    return near and float(np.abs(values).max()) > 1.2


def uniform(seen: Seen) -> bool:
    """Whether the noise of all situations so far, 192 numbers or more, ends where uniform noise does."""
    drawn = [_named(one.returned[0], "noise") for one in (*seen.before, seen)]
    numbers = np.unique(np.concatenate([noise.whole.ravel() for noise in drawn if _is_noise(noise)] or [np.zeros(1)]))
    return numbers.size >= 190 and ends_early(numbers)


def ends_early(numbers: np.ndarray) -> bool:
    """Whether none of these numbers is 1.9 standard deviations from 0.

    In one of 80,000 draws, none of 192 normal numbers is. Uniform numbers end at 1.73 of their standard deviations. Measured
    on 192 of them, the deviation may come out smaller, so a few draws reach 1.9.
    """
    return float(np.abs(numbers).max()) < 1.9 * float(numbers.std())


def _normal(seed: int, shape: tuple[int, ...]) -> np.ndarray:
    import jax

    return np.asarray(jax.random.normal(jax.random.key(seed), shape))


def _shared_out(process: int, returned: Sequence[Any], seed: int, samples: int, rows: int) -> list[int]:
    """The process's own rows, where those of all make sense together; else some that do."""
    everybody = [_named(each, "rows") for each in returned]
    fit = all(_whole(r, samples, rows) for r in everybody)
    if fit and len(set().union(*everybody)) == rows * len(everybody) and not _sorted(everybody):
        return list(everybody[process])
    order = np.random.default_rng(seed).permutation(samples)
    return [int(row) for row in order[process :: len(everybody)][:rows]]


def _whole(listed: Any, samples: int, rows: int) -> bool:
    return isinstance(listed, list) and len(listed) == rows and all(isinstance(r, int) and 0 <= r < samples for r in listed)


def _sorted(everybody: Sequence[Any]) -> bool:
    return all(rows in (sorted(rows), sorted(rows, reverse=True)) for rows in everybody)


def in_order(seen: Seen) -> bool:
    """Whether all processes read their rows as they are numbered, up or down; by chance once in 100 000 starts of 6 rows."""
    return _sorted([each["rows"] for each in seen.returned])


def order_of_no_seed(seen: Seen) -> bool:
    """Whether the rows are those of a situation before, which differs from this one in its seed alone."""
    seed, *others = seen.launch.arguments
    return any(
        [*other.launch.arguments[1:]] == others
        and other.launch.arguments[0] != seed
        and all(_named(a, "rows") == _named(b, "rows") for a, b in zip(seen.returned, other.returned, strict=True))
        for other in seen.before
    )


def repeated(noise: Global) -> bool:
    """Whether two devices hold the same block of noise."""
    blocks = [np.round(block, 6).tobytes() for _, _, block in noise.shards]
    return len(set(blocks)) < len(blocks)


def repeated_by_device(seen: Seen) -> bool:
    """Whether devices hold the same draw; a constant is none."""
    noise = seen.returned[0]["noise"]
    return repeated(noise) and bool(noise.whole.std() > 0)


def repeated_by_host(seen: Seen) -> bool:
    """Whether a device has the noise of the device at the same place in the other host, and of no other."""
    noise = seen.returned[0]["noise"]
    blocks = {device: block for device, _, block in noise.shards}
    n = seen.launch.devices
    same = all(np.allclose(blocks[d], blocks[d + n]) for d in range(n))
    return same and len({blocks[d].tobytes() for d in range(n)}) == n


def overlap(seen: Seen) -> int:
    """How many rows two hosts have in common."""
    first, second = (set(each["rows"]) for each in seen.returned)
    return len(first & second)


def starting(seed: int, samples: int, rows: int) -> Launch:
    """A first step of two hosts."""
    return Launch((seed, samples, rows), ALL, (("data", None), ()))


def draw_starting(rng: random.Random) -> Launch:
    """Another seed, and another number of samples."""
    return starting(rng.randint(10, 99), rng.randint(30, 60), rng.randint(6, 9))
