"""`python -m shardlab`: its `doctor`, and the lens's commands behind it."""

import subprocess
import sys

import pytest


@pytest.mark.thorough
def test_doctor() -> None:
    """The course's devices and version, then what the lens has to compile with."""
    ran = subprocess.run([sys.executable, "-m", "shardlab", "doctor"], capture_output=True, text=True, check=True)
    lines = ran.stdout.splitlines()
    assert "8 simulated CPU devices" in lines[0] and lines[1].startswith("shardlab ")
    assert [line.split()[0] for line in lines[4:9]] == ["shardlens", "jax", "jaxlib", "numpy", "libtpu"]


def test_the_lens_behind_it() -> None:
    """What is no command of its own is one of the lens's."""
    ran = subprocess.run([sys.executable, "-m", "shardlab", "chip", "v5e"], capture_output=True, text=True, check=True)
    assert "hbm_bandwidth" in ran.stdout
