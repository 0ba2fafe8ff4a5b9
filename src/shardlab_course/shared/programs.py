"""Made-up programs as HLO text, with collectives and loops: chapters 3 and 6 have them read."""

from __future__ import annotations

import random


def draw_text(rng: random.Random) -> tuple[str]:
    """A made-up module: an entry and up to three loops, one perhaps in another, with collectives of all kinds."""
    bodies = [f"body.{i}" for i in range(rng.randint(0, 3))]
    calls: dict[str, list[str]] = {name: [] for name in ("main", *bodies)}
    for i, body in enumerate(bodies):
        calls[rng.choice(["main", *bodies[:i]])].append(body)
    numbers = iter(range(1, 1000))
    blocks = []
    for name in (*reversed(bodies), "main"):
        lines = [line for _ in range(rng.randint(0, 3)) for line in _collective_lines(rng, next(numbers))]
        lines += [_while_line(rng, next(numbers), body) for body in calls[name]]
        rng.shuffle(lines)
        head = f"{'ENTRY ' * (name == 'main')}%{name} (p: f32[8]) -> f32[8] {{"
        blocks.append("\n".join([head, "  %p = f32[8]{0} parameter(0)", *lines, "  ROOT %out = f32[8]{0} copy(%p)", "}"]))
    return ("HloModule jit_drawn, is_scheduled=true, num_partitions=8\n\n" + "\n\n".join(blocks) + "\n",)


def _while_line(rng: random.Random, number: int, body: str) -> str:
    rounds = rng.randint(2, 12)
    return (
        f"  %while.{number} = (s32[], f32[8]{{0}}) while(%p), condition=%condition, body=%{body}, "
        f'metadata={{op_name="jit(f)/while"}}, backend_config={{"known_trip_count":{{"n":"{rounds}"}}}}'
    )


def _array_text(rng: random.Random) -> str:
    rank = rng.randint(0, 3)
    shape = ",".join(str(rng.randint(1, 40)) for _ in range(rank))
    layout = "{" + ",".join(map(str, reversed(range(rank)))) + "}" if rank else ""
    return f"{rng.choice(('f32', 'f32', 'bf16', 's32', 's8'))}[{shape}]{layout}"


def _collective_lines(rng: random.Random, number: int) -> list[str]:
    """One collective, or an asynchronous pair, or an instruction that only names one."""
    kind = rng.choice(("all-gather", "all-reduce", "all-to-all", "reduce-scatter", "collective-permute"))
    note = f'metadata={{op_name="jit(f)/{kind.replace("-", "_")}"}}'
    groups = rng.choice(("{{0,1,2,3},{4,5,6,7}}", "[2,4]<=[8]", "mesh['axis_0'=8,'axis_1'=1] {'axis_0'}"))
    where = "source_target_pairs={{0,1},{1,0}}" if kind == "collective-permute" else f"replica_groups={groups}"
    one = _array_text(rng)
    match rng.randint(0, 4):
        case 0:
            return [f"  %{kind}.{number} = {one} fusion(%p), kind=kLoop, calls=%fused, {note}"]
        case 1 if kind in ("all-gather", "collective-permute"):
            start = f"  %{kind}-start.{number} = ({one}, {one}) {kind}-start(%p), channel_id={number}, {where}, {note}"
            return [start + f"\n  %{kind}-done.{number} = {one} {kind}-done(%{kind}-start.{number}), {note}"]
        case 2 | 3 if kind != "collective-permute":
            parts = [_array_text(rng) for _ in range(rng.randint(2, 8))]
            shape = ", ".join(f"/*index={i}*/{part}" if i and i % 5 == 0 else part for i, part in enumerate(parts))
            return [f"  %{kind}.{number} = ({shape}) {kind}(%p), channel_id={number}, {where}, {note}"]
    return [f"  %{kind}.{number} = {one} {kind}(%p), channel_id={number}, {where}, {note}"]
