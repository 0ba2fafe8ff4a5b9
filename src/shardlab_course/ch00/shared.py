"""Chapter 0, what several exercises use: cases, oracles, recognisers and misconceptions."""

from __future__ import annotations


def operations(m: int, k: int, n: int) -> int:
    """Multiplications and additions of an (m, k) by (k, n) product, counted for a row of the output and then for all."""
    row = sum(2 * k for _ in range(n))
    return m * row
