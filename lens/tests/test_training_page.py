"""The page on a training step: each command in it is run, and each line below is one of what the command prints."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import jax
import pytest

HERE = Path(__file__).parents[1]
BLOCKS = re.findall(r"```console\n\$ shardlens (.*)\n([^`]*)```", (HERE / "TRAINING.md").read_text())
PINNED = "0.10.2"


@pytest.mark.thorough
@pytest.mark.skipif(jax.__version__ != PINNED, reason=f"the page was made with JAX {PINNED}")
def test_each_command(tmp_path: Path) -> None:
    """In their order, in a folder of their own; a line of three dots stands for those that are left out."""
    (tmp_path / "train.py").write_text((HERE / "examples" / "train.py").read_text())
    given = os.environ | {"COLUMNS": "100", "JAX_PLATFORMS": "cpu", "SHARDLENS_CACHE": "off", "PYTHONIOENCODING": "utf-8"}
    assert len(BLOCKS) == 8
    for words, shown in BLOCKS:
        command = [sys.executable, "-m", "shardlens", *words.split()]
        ran = subprocess.run(command, cwd=tmp_path, env=given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        printed = [line.rstrip() for line in ran.stdout.splitlines()]
        for line in shown.splitlines():
            assert line == "..." or line in printed, (words, line)
