"""What a chapter says of a compiler or of JAX, and the run that shows it.

`tests/claims/NN.py` holds chapter NN's claims: a function, marked with the words that make the claim as the chapter or its
questions print them, asserts what must be so. `tests/test_claims.py` finds the words in the text and runs the function.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

CPU, V5E, GPU = None, "v5e:2x4", "h100:8"
"""Values of `sl.inspect`'s `target`: XLA for CPU on the simulated devices, XLA for TPU and for GPU without a chip."""
THREE = CPU, V5E, GPU
OTHERS = "v6e:2x4", "v5p:2x2x2"
"""Other chips: a page that says "XLA for TPU" is asked about them as well."""


def tpu(target: str | None) -> bool:
    """Whether XLA for TPU compiles for this target, for v5e or for one of the `OTHERS`."""
    return target not in (CPU, GPU)


@dataclasses.dataclass(frozen=True)
class Claim:
    """Some words of a chapter, and the function that shows them, for each compiler in `targets` if there are any.

    What is so for v5e is so for the chips in `OTHERS`, too, unless it is about v5e `alone`.
    From version `until` of JAX on it does not hold for XLA for CPU and GPU any more; the chapter names that version.
    """

    words: tuple[str, ...]
    show: Callable[..., None]
    targets: tuple[str | None, ...] = ()
    until: str = ""
    alone: bool = False


def claim(
    *words: str, targets: tuple[str | None, ...] = (), until: str = "", alone: bool = False
) -> Callable[[Callable[..., None]], Claim]:
    """Mark a function that shows what these words say; with `targets`, it is called as `show(target)` for each."""
    return lambda show: Claim(words, show, targets, until, alone)
