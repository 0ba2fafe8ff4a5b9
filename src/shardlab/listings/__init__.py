"""HLO of compiled programs, stored as text: the same lines on every machine, also those that a TPU compiler wrote.

All were compiled for 8 devices, those called `..._tpu` for a v5e of 2 by 4 chips that was only described, the others for 8
simulated CPU devices. Left out: tables of file names, bodies of fusions, the compiler's notes on cost; in the two to read,
layouts as well, and lines without a part in the story. A capital letter in front of a line is ours.
"""

from __future__ import annotations

import pathlib
import re

COMPILED_BY = "jax 0.10.2, libtpu 0.0.42.1, 20 November 2026"
FOLDER = pathlib.Path(__file__).parent

PROGRAMS = {
    "gather": "A @ B, with A cut along the contracted dimension",
    "none": "a function named all_gather that moves nothing",
    "combined": "gradients of four layers with weights and biases, with the batch cut",
    "loop": "ten times v = tanh(W @ v)",
    "nested": "three times: four times v = tanh(W @ v), then v divided by its norm",
    "exchange": "shard_map with all_to_all",
    "scatter": "shard_map with psum_scatter",
    "largest": "argmax over the sharded dimension",
    "half_tpu": "A @ B in bfloat16, for a TPU",
    "loop_tpu": "the same ten times, for a TPU",
    "roll_tpu": "jnp.roll along the sharded dimension, for a TPU",
    "blocking_tpu": "all_gather, then a product, for a TPU",
    "ring_tpu": "the same product, chunk by chunk round a ring, both ways, for a TPU",
    "mlp_tpu": "two products and a relu; tokens go round before the relu and sums after it, for a TPU",
    "reading_cpu": "to read: a loop, an exchange and gradients",
    "reading_tpu": "to read: a product that is scattered, and a roll, for a TPU",
}


def listing(name: str) -> str:
    """A stored text, with the letters.

    Raises:
        KeyError: there is none of this name.
    Example:
        >>> listing("none").splitlines()[0]
        'HloModule jit_all_gather, is_scheduled=true, num_partitions=8'
    """
    if name not in PROGRAMS:
        raise KeyError(f"no listing {name!r}; there are {', '.join(PROGRAMS)}")
    return (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


def hlo(name: str) -> str:
    """A stored text without the letters, as the compiler wrote it."""
    return re.sub(r"(?m)^[A-Z] (?= *(?:ROOT )?%)", "  ", listing(name))


def case(number: int) -> str:
    """The evidence in one of the cases of exercise 15.5: mesh, jaxpr, collectives, memory.

    Raises:
        KeyError: there is none of this number.
    Example:
        >>> case(4).splitlines()[0]
        'mesh: data=2, model=4'
    """
    path = FOLDER / "cases" / f"{number}.txt"
    if not path.exists():
        raise KeyError(f"no case {number!r}; there are 1 to 6")
    return path.read_text(encoding="utf-8")
