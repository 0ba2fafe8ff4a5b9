"""Two processes on CPU: host copies are placed onto the devices of both, and global arrays are placed anew."""

from __future__ import annotations

from pathlib import Path

import pytest

import shardlab as sl

PEER = Path(__file__).with_name("einshard_peer.py")


@pytest.mark.thorough
def test_two_processes() -> None:
    """Every shard of both processes holds what the definition gives its device."""
    launched = sl.launch(PEER, processes=2, devices=4, seconds=180)
    assert launched.error is None, launched
    assert [process.output.splitlines()[-1:] for process in launched.processes] == [["ok"]] * 2
