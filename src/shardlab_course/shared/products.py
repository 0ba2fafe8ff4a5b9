"""The matrix product by definition, and whether an output is one: chapters 4 and 6 judge products by it."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from shardlab_judge.cases import Observed


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The matrix product, as the sum of one outer product for each contracted index."""
    total = np.zeros((a.shape[0], b.shape[1]))
    for j in range(a.shape[1]):
        total += np.outer(a[:, j], b[j])
    return total


def shape(o: Observed) -> tuple[int, ...]:
    """Shape of the output; empty when there is not one output."""
    return o.placements[0].shape if len(o.placements) == 1 else ()


def same(o: Observed, wanted: np.ndarray) -> bool:
    """Whether every device holds its slice of `wanted`."""
    return shape(o) == wanted.shape and all(near(block, wanted[index]) for _, index, block in o.shards[0])


def near(block: np.ndarray, wanted: np.ndarray) -> bool:
    """Whether a block has this shape and, up to rounding, these values."""
    return block.shape == wanted.shape and np.allclose(block, wanted, rtol=1e-4, atol=1e-4)


def misfit(kind: str) -> Callable[[str, str], bool]:
    """Whether JAX refused a product of blocks of A, I x J, and B, J x K, for this reason and no other.

    Args:
        kind: `"short"`: A's block has a part of the J's and B's has all; `"cut"`: the other way round; `"long"`: one has J
            several times; `"swapped"`: it was B's block times A's.
    """
    return lambda text, title: _misfits(text, title) == {kind}


def slice_met(text: str, title: str) -> bool:
    """Whether JAX or NumPy refused a product because the second factor has an n-th of the rows that the first one needs."""
    dots = r"(?s)(?:dot|matmul).*got \((?:\d+, )*(?P<needed>\d+),?\) and \((?P<there>\d+)\b"
    sizes = re.search(dots, text) or re.search(r"matmul.*size (?P<there>\d+) is different from (?P<needed>\d+)", text)
    counts = [int(n) for n in re.findall(r"=(\d+)", title)]
    return sizes is not None and any(int(sizes["needed"]) == n * int(sizes["there"]) for n in counts if n > 1)


def _misfits(text: str, title: str) -> set[str]:
    got = re.search(r"contracting dim.*got \((\d+),\) and \((\d+),\)", text)
    shapes = re.findall(r"\[(\d+), (\d+)\]", title)
    if got is None or len(shapes) < 2:
        return set()
    p, q = map(int, got.groups())
    (i, j), (_, k) = (tuple(map(int, shape)) for shape in shapes[:2])
    sizes = [int(n) for n in re.findall(r"=(\d+)", title)]
    found = {
        "short": any((p, q) == (j // n, j) for n in sizes if n > 1),
        "cut": any((p, q) == (j, j // n) for n in sizes if n > 1),
        "long": any(sorted((p, q)) == [j, n * j] for n in sizes),
        # Never asked for: where it explains an error as well as another kind does, nothing is known.
        "transposed": p in {j, *(j // n for n in sizes)} and q in {k, *(k // n for n in sizes)},
        "swapped": p in {k, *(k // n for n in sizes)} and q in {i, *(i // n for n in sizes)},
    }
    return {name for name, holds in found.items() if holds}
