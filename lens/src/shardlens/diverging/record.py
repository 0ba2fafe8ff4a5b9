"""A program's named values, brought out in one run: kept, stored in a file, and read again by another JAX."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from shardlens import progress
from shardlens.diverging.flow import Flow, Origins
from shardlens.diverging.marks import named_cotangents
from shardlens.diverging.modules import named_modules
from shardlens.diverging.numbers import FloatArray, comparable, largest
from shardlens.diverging.sums import Groups, Held, summed
from shardlens.diverging.tapping import RAN, Path, Site, Tapped, execution, is_placed, loops, mapped_outputs, mesh_of, sites
from shardlens.sources import Line, told

SALTS = (0x9E3779B9, 0x7F4A7C15)
"""Two ways in which rounding may fall."""
OUTPUT, OUTPUTS = "output", 2**31
Key = tuple[tuple[int, int], ...]


@dataclasses.dataclass(frozen=True)
class Tap:
    """The values of one place of a program.

    Args:
        values: `[rounds, axes..., block...]`; `axes` is empty for a value that no `shard_map` cuts.
        keys: for each round its place in the order in which the program runs.
        ran: for each round whether there is a value: a `cond` may take another branch.
        spread: for each round how far another rounding of the same operations moves it.
        before: by index of the taps it is computed from, the axes over which they are summed on the way.
    """

    name: str
    line: str
    dtype: str
    sizes: Mapping[str, int]
    values: FloatArray
    keys: Sequence[Key]
    ran: FloatArray
    spread: FloatArray
    before: Mapping[int, frozenset[str]]
    blocks: tuple[Mapping[str, int], FloatArray] | None = None
    """Of an output of a `shard_map`: sizes of its mesh, and what each device returned, `[1, axes..., block...]`."""
    sums: Groups = ()
    """Where `values` are sums of the value's elements, how many of each dimension become one."""


@dataclasses.dataclass(frozen=True)
class NamedValues:
    """The named values of a program and its outputs, for inputs that it was run with.

    Example:
        >>> values = record(lambda x: lens.name(x * 2, "double") + 1, np.ones(3, np.float32))
        >>> [(tap.name, tap.values.tolist()) for tap in values.taps]
        [('double', [[2.0, 2.0, 2.0]]), ('output', [[3.0, 3.0, 3.0]])]
    """

    taps: tuple[Tap, ...]

    def save(self, file: str | os.PathLike[str]) -> None:
        """Writes them into a file of NumPy's kind `.npz`."""
        arrays: dict[str, FloatArray] = {}
        plain = []
        for n, tap in enumerate(self.taps):
            arrays |= {f"values{n}": tap.values, f"ran{n}": tap.ran, f"spread{n}": tap.spread}
            before = [[index, sorted(axes)] for index, axes in tap.before.items()]
            plain.append([tap.name, tap.line, tap.dtype, dict(tap.sizes), tap.keys, before])
        np.savez(file, allow_pickle=False, taps=np.array(json.dumps(plain)), **arrays)

    @classmethod
    def read(cls, file: str | os.PathLike[str]) -> NamedValues:
        """What `save` wrote."""
        with np.load(file) as stored:
            taps = []
            for n, (name, line, dtype, sizes, keys, before) in enumerate(json.loads(str(stored["taps"]))):
                keys = [tuple(map(tuple, key)) for key in keys]
                summed = {index: frozenset(axes) for index, axes in before}
                arrays = (stored[f"{kind}{n}"] for kind in ("values", "ran", "spread"))
                values, ran, spread = arrays
                taps.append(Tap(name, line, dtype, sizes, values, keys, ran, spread, summed))
        return cls(tuple(taps))


def record(f: Callable[..., Any], *args: Any) -> NamedValues:
    """The named values of a program and its outputs, to be compared with `diverge` later, elsewhere, by another JAX.

    Args:
        f: any function that JAX can trace; values have their names from `jax.ad_checkpoint.checkpoint_name` or `lens.name`.
        args: its arguments, arrays.
    Example:
        >>> kept = record(lambda x: lens.name(x.sum(), "sum"), np.ones(3, np.float32))
        >>> len(kept.taps)
        2
    """
    program = Traced(f, args, shaken=True)
    return program.recorded(program.run(), [program.run(salt=salt) for salt in SALTS])


class Traced:
    """A program that was traced for its arguments, with its named places.

    Args:
        guess: whether products stand in for values that have names.
        shaken: whether it can be run with another rounding.
    """

    def __init__(self, f: Callable[..., Any], args: Sequence[Any], shaken: bool, guess: bool = False) -> None:
        self.shaken = shaken
        self.what = getattr(f, "__name__", "the program")
        with named_cotangents(), named_modules():
            self.jaxpr, shape = jax.make_jaxpr(f, return_shape=True)(*args)
        self.flat = jax.tree.leaves(args)
        self.outputs = [OUTPUT + jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_leaves_with_path(shape)]
        self.sites = [*sites(self.jaxpr, guess)]
        self.flow = Flow(self.jaxpr, self.sites)
        self.mapped = mapped_outputs(self.jaxpr)
        self.sums: dict[Path, Groups] = {}

    @functools.cached_property
    def _run(self) -> Any:
        tapped = Tapped(self.jaxpr, self.sites, [each[0] for each in self.mapped if each], self.shaken, self.sums)

        def run(flat: Any, given: Any, salt: Any) -> Any:
            outs, taps = tapped(flat, given, salt)
            return [summed(x, self.sums.get(self.output(n), ())) for n, x in enumerate(outs)], taps

        return jax.jit(run)

    @property
    def held(self) -> Iterator[Held]:
        """What it fetches, outputs included."""
        for site in self.sites:
            count = math.prod(size for around in site.around for size in around.sizes)
            yield Held(site.name, site.shape, site.dtype, count, site.placed)
        for name, aval, mapped in zip(self.outputs, self.jaxpr.out_avals, self.mapped):
            devices = math.prod(mapped[1].sizes) if mapped else 1
            # Which of its dimensions are cut is not known here: a block is at least as large as a cut of each.
            block = tuple(1 if size % devices else size // devices for size in aval.shape)
            yield Held(name, aval.shape, aval.dtype, 1, is_placed(aval))
            yield Held(name, block, aval.dtype, 1, False)

    def sum_up(self, groups: Mapping[str, Groups]) -> None:
        """Has the values of these names come out as sums. Call it before the first run."""
        self.sums = {site.path: groups[site.name] for site in self.sites if site.name in groups}
        for n, name in enumerate(self.outputs):
            if name in groups:
                self.sums |= dict.fromkeys((self.output(n), *(self.mapped[n] or ())[:1]), groups[name])

    def run(self, given: Mapping[Path, Any] | None = None, salt: int = 0) -> dict[Path, FloatArray]:
        """Named values by path as they come, and outputs by `(len(sites), number)`."""
        with progress.step(f"running {self.what}, {len(self.sites)} named places"):
            outs, taps = self._run(self.flat, self.nothing_given() if given is None else dict(given), jnp.uint32(salt))
            found = {path: comparable(value) for path, value in taps.items()}
            return found | {self.output(n): comparable(_data(value)) for n, value in enumerate(outs)}

    def nothing_given(self) -> dict[Path, Any]:
        """Values to put in, none of which is, so that it is compiled once."""
        found: dict[Path, Any] = {}
        for site in self.sites if self.shaken else ():
            sizes = tuple(size for around in site.around for size in around.sizes)
            last = any(around.kind == "while" for around in site.around)
            if not last and site.path not in self.sums and not mesh_of(site):
                found[site.path] = jnp.zeros(sizes, bool), jnp.zeros((*sizes, *site.shape), site.dtype)
        return found

    def output(self, number: int) -> Path:
        """The path that stands for an output: behind all that runs."""
        return (OUTPUTS, number)

    def recorded(self, values: Mapping[Path, FloatArray], shaken: Sequence[Mapping[Path, FloatArray]]) -> NamedValues:
        """Values of a run as taps, with how far they move in other runs."""
        places = [*self.sites, *(self._as_site(n, values[self.output(n)]) for n in range(len(self.outputs)))]
        numbers = {site.path: n for n, site in enumerate(places)}
        origins = {**self.flow.before, **{self.output(n): each for n, each in enumerate(self.flow.outputs)}}
        return NamedValues(tuple(self._tap(site, values, shaken, origins, numbers) for site in places))

    def _as_site(self, number: int, value: FloatArray) -> Site:
        dtype = self.jaxpr.out_avals[number].dtype
        return Site(self.output(number), self.outputs[number], value.shape, dtype, Line(), ())

    def _tap(
        self, site: Site, values: Mapping[Path, FloatArray], shaken: Any, origins: Mapping[Path, Origins], numbers: Any
    ) -> Tap:
        folded = fold(site, values[site.path])
        spread = np.zeros(len(folded))
        for other in shaken:
            spread = np.maximum(spread, largest(fold(site, other[site.path]), folded, 1))
        before = {numbers[path]: axes for path, axes in origins.get(site.path, {}).items()}
        keys = [execution(site, at) for at in itertools.product(*(range(a.sizes[0]) for a in loops(site)))]
        ran = values.get((*site.path, RAN))
        there = np.ones((len(folded), 1), bool) if ran is None else fold(site, ran).reshape(len(folded), -1)
        line = told(site.line) if site.line.file else ""
        dtype = "uint32" if jnp.issubdtype(site.dtype, jax.dtypes.prng_key) else str(site.dtype)  # as `_data` has it
        sums = self.sums.get(site.path, ())
        returned = self.mapped[site.path[1]] if site.path[0] == OUTPUTS else None
        blocks = returned and (dict(zip(returned[1].axes, returned[1].sizes)), values[returned[0]][None])
        return Tap(site.name, line, dtype, mesh_of(site), folded, keys, there.max(axis=1), spread, before, blocks, sums)


def _data(value: Any) -> Any:
    return jax.random.key_data(value) if jnp.issubdtype(value.dtype, jax.dtypes.prng_key) else value


def _dimensions(site: Site) -> tuple[list[int], list[int], list[int]]:
    """Where the rounds, the mesh axes, and their sizes stand among the dimensions in front of a value."""
    rounds: list[int] = []
    axes: list[int] = []
    sizes: list[int] = []
    for around in site.around:
        for size in around.sizes:
            (rounds if around.kind == "rounds" else axes).append(len(sizes))
            sizes.append(size)
    return rounds, axes, sizes


def fold(site: Site, value: FloatArray) -> FloatArray:
    """A value as it comes, `[rounds, axes..., block...]`."""
    rounds, axes, sizes = _dimensions(site)
    moved = value.transpose([*rounds, *axes, *range(len(sizes), value.ndim)])
    return moved.reshape(math.prod(sizes[n] for n in rounds), *moved.shape[len(rounds) :])


def unfold(site: Site, folded: FloatArray) -> FloatArray:
    """The value of a program without blocks, as `Tapped` takes it."""
    rounds, _, sizes = _dimensions(site)
    return folded.reshape((*(sizes[n] for n in rounds), *folded.shape[1:]))
