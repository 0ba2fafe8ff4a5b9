"""Chapter 6's oracles: slow, by definition instead of by rule; with cases and recognisers of wrong answers."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

import numpy as np

from shardlab_course.shared.products import product, same, shape
from shardlab_course.shared.programs import draw_text
from shardlab_judge.cases import Case, Input, Observed
from shardlens import Axes, Spec, place, read_collectives

Sizes = tuple[int, ...]
KINDS = "all-gather|all-reduce|all-to-all|reduce-scatter|collective-permute"
FFT = """HloModule jit_fft, is_scheduled=true, num_partitions=8

%wrapped_convert_computation (param_0: f32[4,16]) -> c64[4,16] {
  %param_0 = f32[4,16]{1,0} parameter(0)
  ROOT %convert.2 = c64[4,16]{1,0} convert(%param_0)
}

ENTRY %main.4_spmd (param: f32[4,16]) -> c64[4,16] {
  %param = f32[4,16]{1,0} parameter(0), sharding={devices=[2,1,4]<=[8] last_tile_dim_replicate}, metadata={op_name="a"}
  %wrapped_convert = c64[4,16]{1,0} fusion(%param), kind=kLoop, calls=%wrapped_convert_computation
  %all-gather = c64[8,16]{1,0} all-gather(%wrapped_convert), channel_id=1, replica_groups=[4,2]<=[2,4]T(1,0), dimensions={0}
  %fft.1 = c64[8,16]{1,0} fft(%all-gather), fft_type=FFT, fft_length={16}, metadata={op_name="jit(fft)/fft"}
  %partition-id = u32[] partition-id()
  ROOT %dynamic-slice.1 = c64[4,16]{1,0} dynamic-slice(%fft.1, %partition-id), dynamic_slice_sizes={4,16}
}
"""
NAMED = """HloModule jit_all_gather, is_scheduled=true, num_partitions=8

ENTRY %main.2_spmd (param: f32[4,16]) -> f32[4,16] {
  %param = f32[4,16]{1,0} parameter(0), metadata={op_name="all_reduce"}
  ROOT %all-gather_fusion = f32[4,16]{1,0} fusion(%param), kind=kLoop, calls=%fused, metadata={op_name="jit(all-gather)/sin"}
}
"""


def exchanged(kind: str, out: str, into: str = "f32[4,16]") -> str:
    """A module whose only instruction of weight is one collective."""
    permutes = kind.startswith("collective-permute")
    who = "source_target_pairs={{0,4},{4,0}}" if permutes else "replica_groups=[4,2]<=[2,4]T(1,0), dimensions={0}"
    line = f"  ROOT %it = {out} {kind}(%p), channel_id=1, {who}"
    head = f"ENTRY %main (p: {into}) -> {out} {{"
    return f"HloModule jit_f, num_partitions=8\n\n{head}\n  %p = {into}{{1,0}} parameter(0)\n{line}\n}}\n"


TYPE = r"[a-z]+\d*\[[\w@,()]*\]", "float32[8@x,4]"
"""What the text of a type looks like, and one of them."""


def spelt(text: str) -> str:
    """A type as `jax.typeof` writes it, from `f32[8@x, 4]` too; every exception is `error`."""
    text = text.replace(" ", "")
    return "error" if "error" in text.lower() else re.sub(r"^f(?=\d+\[)", "float", text)


def audit(before: str, after: str, hlo: str) -> str:
    """What a program's types say of its communication: `quiet`, `announced` or `hidden`."""
    if not read_collectives(hlo):
        return "quiet"
    return "hidden" if _entries(before) == _entries(after) else "announced"


def _entries(kind: str) -> list[str]:
    """The axes of each dimension of a type's text, one character after another."""
    entries, depth = [""], 0
    for letter in kind[kind.index("[") + 1 : kind.rindex("]")]:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            entries.append("")
        else:
            entries[-1] += letter
    return [entry.partition("@")[2] for entry in entries]


def mistaken(*, types: bool = False, words: bool = False, text: bool = False, gathers: bool = False, anywhere: bool = False,
             found: Callable[[str], object] | None = None) -> Callable[..., str]:  # fmt: skip
    """An audit that trusts types alone, searches for words, compares texts whole, or knows of all-gathers only.

    Or it does not care which dimension an axis belongs to, or takes `found` for the search.
    """

    def audit(before: str, after: str, hlo: str) -> str:
        equal = before == after if text else _entries(before) == _entries(after)
        if anywhere:
            equal = sorted(filter(None, _entries(before))) == sorted(filter(None, _entries(after)))
        if types:
            return "quiet" if equal else "announced"
        kinds = {c.kind for c in read_collectives(hlo)}
        moved = bool(kinds & {"all-gather"}) if gathers else bool(kinds)
        if words or found:
            moved = bool(found(hlo) if found else re.search(KINDS, hlo))
        return "quiet" if not moved else "hidden" if equal else "announced"

    return audit


def draw_audit(rng: random.Random) -> tuple[str, str, str]:
    """Types that agree in what is sharded, or not, and a made-up module."""
    rank = rng.randint(1, 3)
    entries = [rng.choice(("", "@x", "@y", "@(x,y)")) for _ in range(rank)]
    other = entries if rng.random() < 0.5 else [rng.choice(("", "@z", "@(y,x)", "@(x,z)")) for _ in range(rank)]
    quiet = rng.random() < 0.3
    return _type(rng, entries), _type(rng, other), NAMED if quiet else draw_text(rng)[0]


def _type(rng: random.Random, entries: list[str]) -> str:
    sizes = ",".join(f"{8 * rng.randint(1, 9)}{entry}" for entry in entries)
    return f"{rng.choice(('float32', 'bfloat16', 'complex64', 'int32'))}[{sizes}]"


def product_case(mesh: Axes, size: Sizes, left: Spec, right: Spec, out: Spec | None, *, terms: bool = False,
                 pairs: int = 1) -> Case:  # fmt: skip
    """`pairs` of A, I x J, and B, J x K, on Explicit axes."""
    i, j, k = size
    inputs = (Input((i, j), left), Input((j, k), right)) * pairs
    return Case(mesh, inputs, (out,), explicit=True, terms=(("x",),) if terms else ())


def summed_products(*arrays: np.ndarray) -> np.ndarray:
    """A B + C D + ..."""
    first, *others = (product(a, b) for a, b in zip(arrays[::2], arrays[1::2]))
    for other in others:
        first = first + other
    return first


def added(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Element by element."""
    return np.array([[p + q for p, q in zip(row, other)] for row, other in zip(a, b)])


def merged(h: np.ndarray) -> np.ndarray:
    """Every position of every sequence, one below another."""
    return np.stack([position for sequence in h for position in sequence])


def ids(rng: np.random.Generator, shape: tuple[int, ...], arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Rows of the table, among them the last one of the first half, the first one of the second, and one at an end."""
    rows = len(arrays[0])
    ends = [rows // 2 - 1, rows // 2, rng.choice([0, rows - 1])]
    return rng.permutation([*ends, *rng.integers(0, rows, shape[0] - len(ends))])


def picked(table: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """One row for each id."""
    return np.stack([table[int(i)] for i in ids])


def mlp(x: np.ndarray, up: np.ndarray, down: np.ndarray) -> np.ndarray:
    """Two layers, one row after another."""
    return np.stack([np.maximum(row @ up, 0) @ down for row in x])


def layer(x: np.ndarray, w: np.ndarray, b: np.ndarray) -> np.ndarray:
    """One unit after another: the logistic function of a weighted sum and a bias."""
    return np.array([1 / (1 + np.exp(-(sum(x * column) + bias))) for column, bias in zip(w.T, b)])


def column_sums(x: np.ndarray) -> np.ndarray:
    """Rows added up, one after another."""
    total = np.zeros(x.shape[1])
    for row in x:
        total = total + row
    return total


def eights(rng: random.Random, count: int) -> Sizes:
    """Sizes that 8 divides, all different."""
    return tuple(8 * n for n in rng.sample(range(1, 9), count))


def layer_case(mesh: Axes, j: int, k: int, *, explicit: bool) -> Case:
    """x and the rows of W over x, the bias whole; the output whole."""
    return Case(mesh, (Input((j,), ("x",)), Input((j, k), ("x", None)), Input((k,))), ((),), explicit=explicit)


def local_layer(_: object, x: np.ndarray, w: np.ndarray, b: np.ndarray) -> np.ndarray:
    """One device's part of the sum, treated as the sum."""
    return layer(x, w, b)


def bias_each_time(o: Observed) -> bool:
    """Whether the bias was in every term of the sum."""
    x, w, b = o.inputs
    return same(o, 1 / (1 + np.exp(-(x @ w + dict(o.case.axes)["x"] * b))))


def mean_of_terms(o: Observed) -> bool:
    """Whether the sum over devices was divided by their number."""
    x, w, b = o.inputs
    return same(o, 1 / (1 + np.exp(-(x @ w / dict(o.case.axes)["x"] + b))))


def all_rows_worked_on(o: Observed) -> bool:
    """Whether each device multiplied more than its own rows by its part of the weights."""
    (rows, width), units = o.inputs[0].shape, o.inputs[1].shape[1]
    return (o.flops or 0) > 1.25 * 4 * rows * width * units / 8


def weight_gathered(o: Observed) -> bool:
    """Whether an argument other than the first is brought together."""
    sizes = {x.nbytes for x in o.inputs[1:] if x.ndim == 2}
    return any(c.kind == "all-gather" and c.payload_bytes in sizes for c in o.collectives)


def curved_terms(o: Observed) -> bool:
    """Whether the logistic function was taken of each term, before the sum."""
    x, w, b = o.inputs
    n = dict(o.case.axes)["x"]
    terms = [p @ q for p, q in zip(np.split(x, n), np.split(w, n))]
    return any(same(o, sum(1 / (1 + np.exp(-(t + bias))) for t in terms) + late) for bias, late in ((b, 0), (0, b)))


def right(o: Observed, oracle: Callable[..., np.ndarray]) -> bool:
    """Whether every device holds its slice of what the oracle says."""
    return same(o, oracle(*o.inputs))


def lies(o: Observed, *specs: Spec) -> bool:
    """Whether the output is placed as one of these specs says."""
    return any(o.placements[0].same_as(place(shape(o), o.case.axes, spec)) for spec in specs)


def moved(o: Observed, kind: str) -> int:
    """Payload bytes of the collectives of this kind."""
    return sum(c.payload_bytes for c in o.collectives if c.kind == kind)
