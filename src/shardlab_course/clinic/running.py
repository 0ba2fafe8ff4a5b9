"""A program of the clinic, run in a process of its own on eight simulated devices."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tempfile

from shardlab_course.clinic.case import PRELUDE

_LIMITS = {"warn_stuck": 2, "terminate": 6}
"""Seconds after which XLA for CPU says that a collective waits, and ends a process that hangs."""
GIVEN = {
    "JAX_NUM_CPU_DEVICES": "8",
    "JAX_PLATFORMS": "cpu",
    "XLA_FLAGS": " ".join(f"--xla_cpu_collective_call_{what}_timeout_seconds={n}" for what, n in _LIMITS.items()),
}


def written(program: str, seconds: float = 120.0) -> str:
    """What `PRELUDE` and the program write to stdout and stderr, in order.

    Args:
        program: source text; it may end in an error.
        seconds: the time for it.
    Raises:
        subprocess.TimeoutExpired: it took longer.
    """
    given = {name: value for name, value in os.environ.items() if name != "PYTHONWARNINGS"} | GIVEN
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder) / "program.py"
        script.write_text(PRELUDE + program, encoding="utf-8")
        ran = subprocess.run(
            [sys.executable, str(script)],
            env=given,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=seconds,
        )
    return ran.stdout
