"""`python -m shardlab`: its `doctor`, and the lens's commands behind it."""

import subprocess
import sys

import pytest


@pytest.mark.thorough
def test_doctor() -> None:
    """Devices and versions, one line each."""
    ran = subprocess.run([sys.executable, "-m", "shardlab", "doctor"], capture_output=True, text=True, check=True)
    lines = ran.stdout.splitlines()
    assert "8 simulated CPU devices" in lines[0] and lines[1].startswith("shardlab ") and lines[-1].startswith("libtpu ")


def test_the_lens_behind_it() -> None:
    """What is no command of its own is one of the lens's."""
    ran = subprocess.run([sys.executable, "-m", "shardlab", "chip", "v5e"], capture_output=True, text=True, check=True)
    assert "hbm_bandwidth" in ran.stdout
