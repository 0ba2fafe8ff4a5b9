"""Chapter 5's oracles: slow, plain Python; with the trees and sizes that the grader draws."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from shardlab_judge.cases import Case, Input, Observed
from shardlab_judge.items.layout import Situation
from shardlab_judge.items.rules import Tree
from shardlens import Axes, Spec

Words = list[tuple[str, int, bool]]


def make_spec(expr: str, n: int) -> Any:
    """Mesh and spec of a small expression, or the id of its fault: every ratio is tried, none is computed."""
    left, words = _words(expr)
    names = {name for name, _, _ in words if name}
    if set(left) - names:
        return "dimension-missing"
    if names - set(left):
        return "dimension-unknown"
    if not any(star for _, _, star in words):
        counts = [count for _, count, _ in words]
        return _placed(left, words, counts) if math.prod(counts) == n else "numbers-do-not-multiply"
    if n % math.prod(count for _, count, _ in words):
        return "numbers-do-not-divide"
    for ratio in range(1, n + 1):
        counts = [count * ratio if star else count for _, count, star in words]
        if math.prod(counts) == n:
            return _placed(left, words, counts)
    return "no-whole-root"


def _words(expr: str) -> tuple[list[str], Words]:
    before, _, after = expr.partition("->")
    words = []
    for word in after.split():
        name = "".join(itertools.takewhile(lambda c: not c.isdigit() and c != "*", word))
        digits = "".join(c for c in word if c.isdigit())
        words.append((name, int(digits or 1), word.endswith("*")))
    return before.split(), words


def _placed(left: list[str], words: Words, counts: list[int]) -> dict[str, Any]:
    return {"mesh": counts, "spec": [[i for i, word in enumerate(words) if word[0] == name] for name in left]}


def mistaken(*, truncate: bool = False, bare: bool = False, keep: slice | None = None, lenient: bool = False,
             divide: bool = False) -> Callable[..., Any]:  # fmt: skip
    """`make_spec` with one mistake: a root cut off, the star's number forgotten, words of a name lost, no check, another."""

    def wrong(expr: str, n: int) -> Any:
        right = make_spec(expr, n)
        left, words = _words(expr)
        if right in ("dimension-missing", "dimension-unknown"):
            return right
        counts, stars = [count for _, count, _ in words], sum(star for _, _, star in words)
        if lenient and not stars:
            return _placed(left, words, counts)
        if divide and n % math.prod(counts):
            return "numbers-do-not-divide"
        if stars and (truncate or bare) and right != "numbers-do-not-divide":
            share = n / math.prod(count for _, count, star in words if not (bare and star))
            ratio = int(share ** (1 / stars)) if truncate else round(share ** (1 / stars))
            if not bare and ratio**stars != share:
                return "no-whole-root"
            right = _placed(left, words, [count * ratio if star else count for _, count, star in words])
        if keep and isinstance(right, dict):
            right = {**right, "spec": [entry[keep] for entry in right["spec"]]}
        return right

    return wrong


def draw_expression(rng: random.Random) -> tuple[Any, ...]:
    """An expression and a number of devices, more than half of them satisfiable."""
    names = rng.sample(["a", "b", "batch", "d"], rng.randint(1, 3))
    n = rng.choice([1, 2, 4, 6, 8, 12, 16, 27, 32, 36, 48, 64, 125, 216, 512])
    words = [name + rng.choice(["", "", "2", "3", "4", "12", "16", "*", "2*"]) for name in names]
    words += [rng.choice(["2", "*", "2*", names[0] + "*", names[0] + "2"]) for _ in range(rng.randint(0, 2))]
    rng.shuffle(words)
    left = rng.choice([names, names, names, names, names, [*names, "e"], names[1:] or ["e"]])
    expr = f"{' '.join(left)} -> {' '.join(words)}"
    return (expr, n) if rng.random() < 0.2 or isinstance(make_spec(expr, n), dict) else draw_expression(rng)


def megatron(path: str) -> Spec:
    """The spec of a transformer's parameter over the axis `model`, from the names of its path."""
    *_, module, leaf = path.split("/")
    return {
        ("embed", "table"): ("model", None),
        ("q", "kernel"): (None, "model", None),
        ("k", "kernel"): (None, "model", None),
        ("v", "kernel"): (None, "model", None),
        ("o", "kernel"): ("model", None, None),
        ("up", "kernel"): (None, "model"),
        ("up", "bias"): ("model",),
        ("down", "kernel"): ("model", None),
    }.get((module, leaf), ())


def tree(layers: int, axes: Axes, *, vocabulary: int, width: int, heads: int, hidden: int) -> Tree:
    """The parameters of a transformer with so many layers."""
    head = (width, heads, 6)
    block = {
        "norm1/scale": (width,), "attention/q/kernel": head, "attention/k/kernel": head, "attention/v/kernel": head,
        "attention/o/kernel": (heads, 6, width), "norm2/scale": (width,), "mlp/up/kernel": (width, hidden),
        "mlp/up/bias": (hidden,), "mlp/down/kernel": (hidden, width), "mlp/down/bias": (width,),
    }  # fmt: skip
    leaves = [(f"blocks/{i}/{path}", shape) for i in range(layers) for path, shape in block.items()]
    return Tree(axes, (("embed/table", (vocabulary, width)), *leaves, ("norm/scale", (width,))))


def draw_tree(rng: random.Random) -> Tree:
    """A deeper tree of other sizes, on one of four meshes."""
    sizes = rng.choice([(1, 8), (2, 4), (4, 2), (2, 2)])
    axes = (("data", sizes[0]), ("model", sizes[1]))
    return tree(rng.randint(1, 12), axes, vocabulary=8 * rng.randint(5, 20), width=8 * rng.randint(2, 6),
                heads=8 * rng.randint(1, 2), hidden=16 * rng.randint(3, 9))  # fmt: skip


def any_leaf(ending: str, cut: tuple[int, ...]) -> Callable[[Mapping[str, tuple[int, ...]]], bool]:
    """A predicate: some leaf whose path ends so is cut in these dimensions; 1 stands for cut, 0 for whole."""
    return lambda cuts: any(tuple(int(n > 1) for n in parts) == cut for path, parts in cuts.items() if path.endswith(ending))


def mlp(X: Any, W1: Any, W2: Any) -> Any:
    """The network of the chapter, for the judge to compile."""
    import jax

    return jax.nn.relu(X @ W1) @ W2


def network(X: np.ndarray, W1: np.ndarray, W2: np.ndarray) -> np.ndarray:
    """The same in NumPy, row by row."""
    return np.array([np.maximum(row @ W1, 0) @ W2 for row in X])


def sizes(b: int, x: int, y: int, z: int, *, axes: Axes | None = None, devices: int = 8) -> Situation:
    """The three arrays of the network."""
    return Situation((("X", (b, x)), ("W1", (x, y)), ("W2", (y, z))), axes, devices)


def draw_sizes(rng: random.Random, *, axes: Axes | None = None) -> Situation:
    """Other sizes, on 2, 4 or 8 devices or on the mesh."""
    b, x, y, z = 8 * rng.randint(1, 3), 8 * rng.randint(5, 12), 32 * rng.randint(4, 8), 8 * rng.randint(3, 8)
    return sizes(b, x, y, z, axes=axes, devices=rng.choice([2, 4, 8]))


def draw_on_mesh(rng: random.Random) -> Situation:
    """Other sizes, on a mesh with the axes `data` and `model`."""
    data = rng.choice([2, 4])
    return draw_sizes(rng, axes=(("data", data), ("model", 8 // data)))


def network_case(axes: Axes, b: int, x: int, y: int, z: int) -> Case:
    """Whole arrays in, the batch over `data` out."""
    return Case(axes, (Input((b, x)), Input((x, y)), Input((y, z))), (("data", None),))


def draw_network(rng: random.Random) -> Case:
    """A case of other sizes; in half of them the output is as wide as the hidden layer, or wider."""
    situation = draw_on_mesh(rng)
    shapes = dict(situation.shapes)
    (b, x), (y, z) = shapes["X"], shapes["W2"]
    return network_case(situation.axes or (), b, x, y, rng.choice([z, y + 8 * rng.randint(0, 4)]))


def over(observed: Observed, argument: int, dimension: int) -> tuple[str, ...]:
    """The mesh axes that cut a dimension of an argument."""
    spec = observed.case.inputs[argument].spec
    entry = spec[dimension] if len(spec) > dimension else None
    return () if entry is None else (entry,) if isinstance(entry, str) else tuple(entry)


def cut(observed: Observed, argument: int, dimension: int) -> bool:
    """Whether a dimension of an argument is sharded."""
    return bool(over(observed, argument, dimension))


def apart(observed: Observed, argument: int, dimension: int) -> bool:
    """Whether other mesh axes cut a dimension of an argument than cut the batch."""
    return not set(over(observed, argument, dimension)) & set(over(observed, 0, 0))


def weights_cut(observed: Observed) -> bool:
    """Whether anything is sharded in the two weights."""
    return any(cut(observed, argument, dimension) for argument in (1, 2) for dimension in (0, 1))


def numbered(observed: Observed) -> bool:
    """Whether some argument is sharded over axes that the mesh of the case does not have."""
    known = {name for name, _ in observed.case.axes}
    entries = [e for given in observed.case.inputs for e in given.spec if e is not None]
    return any(not set([e] if isinstance(e, str) else e) <= known for e in entries)


def cut_output(observed: Observed) -> bool:
    """Whether the first output is sharded."""
    return observed.placements[0].shard_shape != observed.placements[0].shape


def output_parts(observed: Observed) -> tuple[int, ...]:
    """How many parts each dimension of the first output is cut into."""
    first = observed.placements[0]
    return tuple(n // s for n, s in zip(first.shape, first.shard_shape))


def hidden_moves(observed: Observed) -> bool:
    """Whether a collective makes rows as long as the hidden layer."""
    (batch, _), (_, hidden), _ = (given.shape for given in observed.case.inputs)
    shapes = [shape for c in observed.collectives for _, shape in c.arrays or ((c.dtype, c.shape),)]
    return any(len(shape) == 2 and shape[1] == hidden and shape[0] <= batch for shape in shapes)


def second_left_open(observed: Observed) -> bool:
    """Whether the hidden layer is gathered and nothing else, where the output is no narrower: W2 was not placed."""
    _, (_, hidden), (_, width) = (given.shape for given in observed.case.inputs)
    return hidden_moves(observed) and width >= hidden and [c.kind for c in observed.collectives] == ["all-gather"]
