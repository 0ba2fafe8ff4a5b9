"""The page "I come from PyTorch": its programs give NumPy's values on every device, and move what the page says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from shardlens import inspect

BOOK = Path(__file__).parents[1] / "jupyter_book"
TEXT = (BOOK / "from_pytorch.md").read_text()
CELL = re.compile(r"```\{code-cell\} ipython3\n(?::tags:[^\n]*\n)?(.*?)```", re.DOTALL)
COMPARED = {
    "DTensor: placements and DeviceMesh": 6, "Collectives of torch.distributed": 7, "DDP: data parallelism": 1,
    "FSDP2: fully_shard": 1, "Megatron: column and row parallel layers": 1, "Sequence parallel": 1, "Context parallel": 1,
    "Stages of torch.distributed.pipelining": 1, "torch.compile, and eager": 1, "Random numbers": 2, "Checkpoints": 1,
}  # fmt: skip
"""How many arrays each section compares; no other section has programs."""
MOVED = {
    "DDP: data parallelism": [["all-reduce"]],
    "FSDP2: fully_shard": [["all-gather", "reduce-scatter"]],
    "Megatron: column and row parallel layers": [["all-reduce"]],
    "Sequence parallel": [["all-gather", "reduce-scatter"]],
}
NAMES = """\
DeviceMesh Shard Replicate Partial distribute_tensor all_reduce all_gather_into_tensor
reduce_scatter_tensor all_to_all_single broadcast send recv barrier DistributedDataParallel
fully_shard ColumnParallelLinear RowParallelLinear ColwiseParallel RowwiseParallel SequenceParallel
context_parallel torch.distributed.pipelining torch.compile torch.manual_seed
torch.distributed.checkpoint""".split()


def sections() -> dict[str, str]:
    """The text below each heading."""
    _, *parts = re.split(r"(?m)^##+ (.+)$", TEXT)
    return dict(zip(parts[::2], parts[1::2]))


class Section:
    """What the programs of one section do, by the page's own names for it."""

    def __init__(self) -> None:
        self.compared, self.moved = 0, list[list[str]]()

    def same(self, out: jax.Array, right: np.ndarray) -> None:
        """Compares each device's part."""
        self.compared += 1
        assert isinstance(right, np.ndarray) and out.shape == right.shape and len(out.sharding.device_set) == 8
        for shard in out.addressable_shards:
            np.testing.assert_allclose(np.asarray(shard.data), right[shard.index], rtol=1e-4, atol=1e-5)

    def moves(self, f: Any, *args: Any) -> None:
        """Notes the collectives."""
        self.moved.append([each.kind for each in inspect(f, *args).collectives])


@pytest.mark.thorough
def test_the_programs_give_numpys_values() -> None:
    """On every device its part; where a program says what it moves, the compiled program moves that."""
    known = dict[str, Any]()
    for cell in CELL.findall(TEXT.partition("\n## ")[0]):
        exec(cell, known)
    found = {}
    for title, text in sections().items():
        found[title] = seen = Section()
        known |= {"same": seen.same, "moves": seen.moves}
        for cell in CELL.findall(text):
            exec(cell, known)
    assert {title: seen.compared for title, seen in found.items() if seen.compared} == COMPARED
    assert {title: seen.moved for title, seen in found.items() if seen.moved} == MOVED


def test_the_page_has_all_names() -> None:
    """Each name of PyTorch or Megatron is code on the page, in a section with a source and a way on to a chapter."""
    for name in NAMES:
        assert re.search(rf"`[^`\n]*\b{re.escape(name)}\b[^`\n]*`", TEXT), name
    for title in {*COMPARED} - {"Sequence parallel"}:
        text = sections()[title]
        assert "](notebooks/" in text and re.search(r"\]\(https://docs\.(pytorch|nvidia)\.", text), title


def test_its_tables_are_narrow() -> None:
    """Two columns, and no long line: a phone has room for that."""
    for line in re.findall(r"(?m)^\|(.+)\|$", TEXT):
        assert len(line.split("|")) == 2 and len(line) < 100, line
