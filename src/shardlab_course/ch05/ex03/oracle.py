"""Chapter 5, exercise 5.3: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from shardlab_judge.items.rules import Tree
from shardlens import Axes, Spec


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
