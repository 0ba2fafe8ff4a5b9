"""Chapter 6, exercise 6.4: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from shardlab_course.shared.programs import draw_text
from shardlens import read_collectives

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
