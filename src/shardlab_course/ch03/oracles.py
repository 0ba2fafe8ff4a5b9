"""Chapter 3's oracles: compiled texts counted, products row by row; with drawn cases and recognisers of wrong answers."""

from __future__ import annotations

import collections
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from shardlab_judge.cases import Case, Input, Observed, axes
from shardlab_judge.items.layout import Situation
from shardlens import COLLECTIVE_KINDS as KINDS
from shardlens import Axes, Spec, read_collectives
from shardlens import HloArray as Array
from shardlens import HloInstruction as Instruction
from shardlens import HloModule as Module
from shardlens import hlo_leaves as leaves
from shardlens import parse_hlo as parse

LINE, WIDE = axes(x=8), axes(x=4, y=2)
STEPS = 6


def bytes_by_kind(text: str) -> dict[str, int]:
    """Payload bytes of a program's collectives by kind, as the course's own reader of HLO counts them."""
    found: collections.Counter[str] = collections.Counter()
    for c in read_collectives(text):
        found[c.kind] += c.payload_bytes * (c.executions or 0)
    return dict(found)


def counted(*, what: str = "bytes", tuples: str = "all", rounds: str = "product", pairs: str = "done",
            itemsize: int | None = None, total: bool = False) -> Callable[[str], Any]:  # fmt: skip
    """A counter of collective bytes with something wrong.

    Args:
        what: `"bytes"`, or `"operations"` to count instructions.
        tuples: which outputs count: `"all"`, `"first"`, `"none"` (tuples are overlooked), `"short"` (those that are printed
            with index comments are overlooked).
        rounds: `"product"` of all loops around, `"inner"` for the nearest, `"once"`, `"never"` (loops are overlooked).
        pairs: `"done"` counts each asynchronous pair once, `"both"` the start, with all that it names, and the done;
            `"start"` the start alone, `"none"` neither.
        itemsize: bytes of every element; those of its type unless given.
        total: one number instead of one for each kind.
    """

    def size(array: Array) -> int:
        return array.nbytes if itemsize is None else itemsize * int(np.prod(array.shape))

    def worth(instruction: Instruction) -> int:
        outputs = list(leaves(instruction.shape))
        several = isinstance(instruction.shape, tuple)
        if several and (tuples == "none" or (tuples == "short" and len(outputs) > 5)):
            return 0
        if what == "operations":
            return 1
        return sum(map(size, outputs[:1] if tuples == "first" else outputs))

    halves = {"done": ("-done",), "both": ("-start", "-done"), "start": ("-start",), "none": ()}[pairs]

    def count(text: str) -> Any:
        module = parse(text)
        found: collections.Counter[str] = collections.Counter()
        for name, times in _rounds(module, rounds):
            for instruction in module.computations[name].values():
                kind = instruction.opcode.removesuffix("-start").removesuffix("-done")
                if kind in KINDS and instruction.opcode.removeprefix(kind) in ("", *halves):
                    found[kind] += times * worth(instruction)
        kept = {kind: n for kind, n in found.items() if n}
        return sum(kept.values()) if total else kept

    return count


def _rounds(module: Module, how: str) -> Iterator[tuple[str, int]]:
    """The entry and the bodies of loops, with how often each is taken to run."""
    waiting = [(module.entry, 1)]
    while waiting:
        name, times = waiting.pop()
        yield name, times
        for instruction in module.computations[name].values():
            if instruction.opcode == "while":
                own = int(instruction.attributes["backend_config"].split('"n":"')[1].split('"')[0])
                inside = {"product": times * own, "inner": own, "once": 1, "never": 0}[how]
                waiting.append((instruction.attributes["body"].removeprefix("%"), inside))


def block(x: np.ndarray, up: np.ndarray, down: np.ndarray) -> np.ndarray:
    """Two layers, one row after another."""
    return np.stack([np.maximum(row @ up, 0) @ down for row in x])


def block_case(mesh: Axes, batch: int, width: int, hidden: int) -> Case:
    """Rows over data; the hidden dimension over model, in both weights."""
    rows, up, down = Input((batch, width), ("data", None)), Input((width, hidden), (None, "model")), ("model", None)
    return Case(mesh, (rows, up, Input((hidden, width), down)), (("data", None),))


def draw_block(rng: random.Random) -> Case:
    """More hidden units than anything else, as in real networks."""
    mesh = rng.choice((axes(data=2, model=4), axes(data=4, model=2)))
    batch, width = 16 * rng.randint(1, 2), 8 * rng.randint(3, 6)
    return block_case(mesh, batch, width, width * rng.randint(2, 4))


def gathers(o: Observed, *, of: int) -> bool:
    """Whether an argument, or an array as large, is brought together."""
    return any(c.kind == "all-gather" and c.payload_bytes == o.inputs[of].nbytes for c in o.collectives)


def constraints(o: Observed) -> int:
    """How many with_sharding_constraint the program holds."""
    return dict(o.operations).get("sdy.sharding_constraint", 0)


def running_total(x: np.ndarray) -> np.ndarray:
    """Each row the sum of all rows up to it."""
    total = np.zeros_like(x)
    for i in range(len(x)):
        total[i] = x[: i + 1].sum(0)
    return total


def rows_case(mesh: Axes, rows: int, columns: int, out: Spec = ("x", None)) -> Case:
    """An array whose rows are cut over x."""
    return Case(mesh, (Input((rows, columns), ("x", None)),), (out,))


def drawing_rows(out: Spec) -> Callable[[random.Random], Case]:
    """A function that draws a case of `rows_case`."""
    return lambda rng: rows_case(rng.choice((LINE, WIDE)), 8 * rng.randint(3, 8), 8 * rng.randint(2, 8), out)


def blocks_apart(at: dict[str, int], x: np.ndarray) -> np.ndarray:
    """The running total of one device's rows."""
    return running_total(x)


def steps(x: np.ndarray, rows: np.ndarray, columns: np.ndarray, times: int = STEPS) -> np.ndarray:
    """So many times x <- W x / sqrt(N), element by element of x."""
    for _ in range(times):
        x = np.stack([(row[:, None] * x).sum(0) for row in rows]) / np.sqrt(len(rows))
    return x


def as_rows(rng: np.random.Generator, shape: tuple[int, ...], before: Sequence[np.ndarray]) -> np.ndarray:
    """The matrix that is given by rows already."""
    return before[1]


def steps_case(mesh: Axes, size: int, width: int) -> Case:
    """One matrix, held by rows and by columns."""
    held = Input((size, size), ("x", None)), Input((size, size), (None, "x"), values=as_rows)
    return Case(mesh, (Input((size, width), ("x", None)), *held), (("x", None),))


def draw_steps(rng: random.Random) -> Case:
    """Sizes that 8 divides."""
    return steps_case(rng.choice((LINE, WIDE)), 8 * rng.randint(2, 6), rng.randint(2, 9))


def runs(o: Observed) -> int:
    """How many collectives run, all rounds of loops counted."""
    return sum(c.executions or 0 for c in o.collectives)


def softmax_rows(x: np.ndarray) -> np.ndarray:
    """Softmax along the first dimension, one column after another."""
    return np.stack([np.exp(c - c.max()) / np.exp(c - c.max()).sum() for c in x.T], axis=1)


def chain(A: Any, B: Any, C: Any, D: Any) -> Any:
    """The product of exercise 3.5."""
    return A @ B @ C @ D


def chain_sizes(mesh: Axes, i: int, j: int, k: int, m: int) -> Situation:
    """A[i, j], B[j, k], C[k, j], D[j, m]."""
    return Situation((("A", (i, j)), ("B", (j, k)), ("C", (k, j)), ("D", (j, m))), mesh)


def specs(o: Observed) -> list[Spec]:
    """What each argument was given."""
    return [given.spec for given in o.case.inputs]
