"""Programs that are kept by content: the same one is not compiled again, another one is, and the folder has its limit."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

import pytest

from shardlens.compilers import kept as module
from shardlens.compilers.child import Reply, Request
from shardlens.compilers.kept import keeping, kept

REQUEST = Request("jit_f", "v5e:2x4", (("x", 8),), 8, b"module", b"options", (((4,), None),))
REPLY = Reply("HloModule f", {"peak": 1}, {"flops": 2.0}, ())
OTHERS: dict[str, dict[str, Any]] = {
    "module": {"module": b"other"},
    "options": {"options": b"other"},
    "target": {"target": "v5e:4x4"},
    "mesh": {"axes": (("y", 8),)},
    "devices": {"devices": 4},
}


@pytest.fixture(autouse=True)
def versions(monkeypatch: pytest.MonkeyPatch) -> None:
    """libtpu need not be here."""
    monkeypatch.setattr(module.importlib.metadata, "version", lambda name: "1.0")


def asked(request: Request, reply: Reply = REPLY) -> bool:
    """Whether it was compiled for this."""
    calls: list[Request] = []
    assert kept(request, lambda: (calls.append(request), (reply, "said"))[1]) == (reply, "said")
    return bool(calls)


@pytest.mark.parametrize("name", OTHERS)
def test_the_same_is_read(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice the same program is compiled once; one that differs, or other flags or versions, are compiled."""
    with keeping(None):
        assert asked(REQUEST) and asked(REQUEST)
    monkeypatch.delenv("SHARDLENS_CACHE")
    with keeping(tmp_path / "new"):
        assert asked(REQUEST) and not asked(REQUEST)
        assert asked(dataclasses.replace(REQUEST, **OTHERS[name])) and not asked(REQUEST)
        monkeypatch.setenv("LIBTPU_INIT_ARGS", "--xla_some_flag=true")
        assert asked(REQUEST)
        monkeypatch.setattr(module.importlib.metadata, "version", lambda name: "1.1")
        assert asked(REQUEST) and not asked(REQUEST)
    assert "SHARDLENS_CACHE" not in os.environ and asked(REQUEST)


@pytest.mark.parametrize("raw", [b"", b"no zlib", b"x\x9c\x03\x00\x00\x00\x00\x01"], ids=["empty", "damaged", "no pickle"])
def test_a_damaged_file_is_none(raw: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is compiled again, and written again."""
    monkeypatch.setenv("SHARDLENS_CACHE", str(tmp_path))
    assert asked(REQUEST)
    (file,) = tmp_path.glob("*.program")
    file.write_bytes(raw)
    assert asked(REQUEST) and not asked(REQUEST)


def test_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was used least recently goes first."""
    monkeypatch.setenv("SHARDLENS_CACHE", str(tmp_path))
    requests = [dataclasses.replace(REQUEST, devices=k) for k in range(4)]
    assert all(map(asked, requests[:3]))
    for age, file in enumerate(sorted(tmp_path.glob("*.program"), key=lambda file: file.stat().st_mtime_ns)):
        os.utime(file, (1000 + age, 1000 + age))
    assert not asked(requests[0])  # used just now
    size = next(tmp_path.glob("*.program")).stat().st_size
    monkeypatch.setattr(module, "LIMIT", 3 * size)
    assert asked(requests[3])
    assert [asked(request) for request in (requests[0], requests[3])] == [False, False]
    assert len([*tmp_path.glob("*.program")]) == 3 and asked(requests[1])


def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is kept, and nothing fails."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SHARDLENS_CACHE", str(tmp_path / "file" / "below"))
    assert asked(REQUEST) and asked(REQUEST)
