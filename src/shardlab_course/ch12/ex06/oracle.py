"""Chapter 12, exercise 12.6: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

from shardlens import HloInstruction as Instruction
from shardlens import parse_hlo as parse

Writer = Callable[[list[str]], None]
"""Adds a line to a text."""


def between(text: str) -> dict[str, int]:
    """For each start of a permute in the entry: how many product fusions stand between it and its done."""
    module = parse(text)
    return _between(list(module.computations[module.entry].values()), is_product=_is_product)


def between_with(
    *, fusions: bool = False, named: bool = False, anything: bool = False, copies: bool = False, order: str = "named",
    ends: int = 0,
) -> Callable[[str], Any]:  # fmt: skip
    """The reader with something wrong: what counts as a product or as a pair, which start a done ends, what is added."""

    def counts(i: Instruction) -> bool:
        if fusions or anything:
            return i.opcode == "fusion" if fusions else "dot_general" in i.rest
        return _is_product(i) and (not named or i.name.startswith("fusion"))

    def between(text: str) -> dict[str, int]:
        module = parse(text)
        lines = list(module.computations[module.entry].values())
        found = _between(lines, is_product=counts, order=order, copies=copies)
        return {name: n + ends for name, n in found.items()}

    return between


def between_then(change: Callable[[dict[str, int]], dict[str, int]]) -> Callable[[str], Any]:
    """The reader, and what is made of its answer."""
    return lambda text: change(between(text))


def marked(found: dict[str, int]) -> dict[str, int]:
    """Names with their percent sign."""
    return {f"%{name}": n for name, n in found.items()}


def positive(found: dict[str, int]) -> dict[str, int]:
    """What is not 0."""
    return {name: n for name, n in found.items() if n}


def between_by_done(text: str) -> dict[str, int]:
    """The right numbers by the names of the dones."""
    module = parse(text)
    lines = module.computations[module.entry].values()
    done = {i.operands[0]: i.name for i in lines if i.opcode == "collective-permute-done"}
    return {done[name]: n for name, n in between(text).items()}


def _between(lines: list[Instruction], *, is_product: Callable[[Instruction], bool], order: str = "named",
             copies: bool = False) -> dict[str, int]:  # fmt: skip
    begun: dict[str, int] = {}
    found: dict[str, int] = {}
    seen = 0
    for i in lines:
        seen += is_product(i)
        if not (i.opcode.startswith("collective-permute") or (copies and i.opcode.startswith("copy"))):
            continue
        if i.opcode.endswith("-start"):
            begun[i.name] = seen
        elif i.opcode.endswith("-done"):
            names = {"named": i.operands[0], "first": next(iter(begun)), "last": next(reversed(begun))}
            found[names[order]] = seen - begun.pop(names[order])
    return found


def _is_product(i: Instruction) -> bool:
    return i.opcode == "fusion" and 'dot_general"' in i.rest


def draw_text(rng: random.Random) -> tuple[str]:
    """A made-up schedule: one or two chains of permutes with products, copies and other fusions anywhere between."""
    names = iter(rng.sample(range(1, 9999), 20))
    chains = [list(_chain(rng, side, names)) for side in ("left", "right")[: rng.randint(1, 2)]]
    lines, number = ["  %p = bf16[64,32]{1,0} parameter(0)"], iter(range(1, 1000))
    while any(chains):
        rng.choice([chain for chain in chains if chain]).pop(0)(lines)
        for _ in range(rng.randint(0, 2)):
            lines += _other(rng, next(number))
    head = "HloModule jit_drawn, is_scheduled=true, num_partitions=8\n\nENTRY %main (p: bf16[64,32]) -> bf16[64,32] {"
    return ("\n".join([head, *lines, "  ROOT %out = bf16[64,32]{1,0} copy(%p)", "}"]) + "\n",)


def _chain(rng: random.Random, side: str, names: Iterator[int]) -> Iterator[Writer]:
    """Writers of the lines of a chain, one after the other."""
    came = "p"
    for _ in range(rng.randint(1, 4)):
        start, done = f"collective-permute-start.{next(names)}", f"collective-permute-done.{next(names)}"
        origin = f'metadata={{op_name="jit(f)/{side}/ppermute"}}'
        yield _writer(
            f"  %{start} = (bf16[64,32]{{1,0}}, bf16[64,32]{{1,0}}) collective-permute-start(%{came}), channel_id=1, "
            f"source_target_pairs={{{{0,1}},{{1,0}}}}, {origin}"
        )
        yield _writer(f"  %{done} = bf16[64,32]{{1,0}} collective-permute-done(%{start}), {origin}")
        came = done


def _writer(line: str) -> Writer:
    return lambda lines: lines.append(line)


def _other(rng: random.Random, number: int) -> list[str]:
    """A product, a fusion or a line of one's name that is none, or a copy with its start and done."""
    match rng.randint(0, 5):
        case 0:
            what = rng.choice(("add", "reduce_sum", "dynamic_slice"))
            return [f'  %fusion.{number} = bf16[64,32]{{1,0}} fusion(%p), kind=kLoop, calls=%f.{number}, '
                    f'metadata={{op_name="jit(f)/{what}"}}']  # fmt: skip
        case 1:
            return [f"  %copy-start.{number} = (bf16[64,32]{{1,0}}, bf16[64,32]{{1,0}}) copy-start(%p)",
                    f"  %copy-done.{number} = bf16[64,32]{{1,0}} copy-done(%copy-start.{number})"]  # fmt: skip
        case 2:
            return [f'  %bitcast.{number} = bf16[64,32]{{1,0}} bitcast(%p), metadata={{op_name="jit(f)/dot_general"}}']
    name = rng.choice((f"fusion.{number}", f"convolution_add_fusion.{number}"))
    return [f'  %{name} = bf16[64,32]{{1,0}} fusion(%p), kind=kOutput, calls=%f.{number}, '
            f'metadata={{op_name="jit(f)/dot_general"}}']  # fmt: skip
