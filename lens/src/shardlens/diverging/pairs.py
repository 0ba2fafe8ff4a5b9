"""The named values of two programs side by side, round by round in the order in which they run. No JAX here."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from shardlens.diverging.numbers import FloatArray
from shardlens.diverging.record import Key, NamedValues, Tap


@dataclasses.dataclass(frozen=True)
class Side:
    """One value of one program: from one place, or from several whose rounds follow one another.

    Args:
        numbers: of the taps that it comes from.
        order: where each round stands among the taps' rounds, one tap after the other.
    """

    numbers: tuple[int, ...]
    taps: tuple[Tap, ...]
    order: tuple[int, ...]

    @classmethod
    def of(cls, numbers: Sequence[int], taps: Sequence[Tap]) -> Side:
        """The rounds of these taps in the order in which they run."""
        keys = [key for tap in taps for key in tap.keys]
        return cls(tuple(numbers), tuple(taps), tuple(sorted(range(len(keys)), key=lambda n: keys[n])))

    @property
    def sizes(self) -> Mapping[str, int]:
        """Sizes of the mesh axes over which it comes in blocks."""
        return self.taps[0].sizes

    @property
    def keys(self) -> list[Key]:
        """For each round its place in the program."""
        keys = [key for tap in self.taps for key in tap.keys]
        return [keys[n] for n in self.order]

    @property
    def line(self) -> str:
        """The line that names it."""
        return self.taps[0].line

    def ordered(self, each: Sequence[FloatArray]) -> FloatArray:
        """Arrays of the taps, `[rounds, ...]` each, as one."""
        joined = each[0] if len(each) == 1 else np.concatenate(each)
        return joined if [*self.order] == [*range(len(joined))] else joined[[*self.order]]

    def parted(self, values: FloatArray) -> list[FloatArray]:
        """What `ordered` joined."""
        back = values[np.argsort(self.order)] if len(self.order) > 1 else values
        return np.split(back, np.cumsum([len(tap.keys) for tap in self.taps])[:-1])

    def values(self, among: NamedValues) -> FloatArray:
        """`[rounds, axes..., block...]`, of a run."""
        return self.ordered([among.taps[n].values for n in self.numbers])


@dataclasses.dataclass(frozen=True)
class Pair:
    """A name with its value in both programs."""

    name: str
    plain: Side
    parallel: Side


def pairs(plain: NamedValues, parallel: NamedValues) -> tuple[list[Pair], list[str]]:
    """Values of the same name, in the plain program's order, and in words what cannot be compared.

    Where a name is given at several places, the first is compared with the first. Where one program has a loop of Python and
    the other a `scan`, rounds are.
    """
    ours, theirs = _by_name(plain), _by_name(parallel)
    found: list[Pair] = []
    told = (
        [f"only in the plain program: {', '.join(only)}"] if (only := [name for name in ours if name not in theirs]) else []
    )
    told += (
        [f"only in the parallel program: {', '.join(only)}"]
        if (only := [name for name in theirs if name not in ours])
        else []
    )
    for name in (name for name in ours if name in theirs):
        a, b = ours[name], theirs[name]
        if len(a) == len(b):
            found += [
                Pair(
                    name if len(a) == 1 else f"{name} #{n}", Side.of([i], [plain.taps[i]]), Side.of([j], [parallel.taps[j]])
                )
                for n, (i, j) in enumerate(zip(a, b), 1)
            ]
        elif _alike(plain, a) and _alike(parallel, b):
            sides = (Side.of(each, [among.taps[n] for n in each]) for each, among in ((a, plain), (b, parallel)))
            found.append(Pair(name, *sides))
        else:
            told.append(f"{name} is named at {len(a)} places of the plain program and at {len(b)} of the parallel one")
    return sorted(found, key=lambda pair: pair.plain.keys[0]), told


def _by_name(values: NamedValues) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for number, tap in enumerate(values.taps):
        found.setdefault(tap.name, []).append(number)
    return found


def _alike(values: NamedValues, numbers: Sequence[int]) -> bool:
    return len({values.taps[n].values.shape[1:] for n in numbers}) == 1
