"""Runs the programs, all in this process, and keeps what they say: `python -m messages.provoking`
writes `texts.json`; names of modules after it run theirs alone, and a file's name is written in its place."""

from __future__ import annotations

import importlib
import json
import re
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax

from messages import setting
from shardlens import raised_at

KEPT = Path(__file__).with_name("texts.json")
MODULES = ("specs", "shard_maps", "collectives", "explicit", "compiled", "tracing", "python", "processes")
MOST = 3000
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
_FOLDER = re.compile(r"(?<![\w.:/])/(?:[^\s:'\"<>/]+/)+(?=[\w.-])")
_LINE = re.compile(r"(?<=\.py):\d+(?::\d+)?")


def said(name: str) -> dict[str, str]:
    """What one program says, and at which line; nothing if it says nothing."""
    program, _ = setting.PROGRAMS[name]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", category=DeprecationWarning, message="(?!`with mesh)")
            program()
    except BaseException as error:
        return {"type": type(error).__name__, "text": whole_lines(plain(str(error))), "line": plain(raised_at(error))}
    return {}


def plain(text: str) -> str:
    """Without what differs from run to run and from machine to machine: addresses, folders, numbers of lines."""
    return _LINE.sub("", _FOLDER.sub("", _ADDRESS.sub("0x0", text)))


def whole_lines(text: str) -> str:
    """At most MOST characters; of a line that is cut off, another row could know what is left."""
    return text if len(text) <= MOST else text[:MOST].rpartition("\n")[0] or text[:MOST]


def load() -> None:
    """Has all programs listed in `setting.PROGRAMS`."""
    for module in MODULES:
        importlib.import_module(f"messages.{module}")


def all_said(modules: Sequence[str] = MODULES) -> dict[str, dict[str, str]]:
    """Of the programs of these modules, by their names."""
    load()
    ours = {f"messages.{module}" for module in modules}
    return {name: said(name) for name, (program, _) in setting.PROGRAMS.items() if program.__module__ in ours}


def kept() -> dict[str, dict[str, dict[str, str]]]:
    """The texts that are kept: by program, and by JAX's version."""
    found: Any = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.is_file() else {}
    return dict(found)


def keep(modules: Sequence[str] = MODULES, path: Path = KEPT) -> None:
    """Runs the programs on this JAX, and writes their texts beside those of other versions."""
    jax.config.update("jax_traceback_filtering", "off")  # `raised_at` reads frames of JAX
    version = ".".join(jax.__version__.split(".")[:2])
    texts, before = all_said(modules), kept()
    found = {
        name: {**before.get(name, {}), **({version: texts[name]} if name in texts else {})} for name in setting.PROGRAMS
    }
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")
    silent = [name for name, text in texts.items() if not text]
    print(f"JAX {version}: {len(texts)} programs, {len(silent)} say nothing: {', '.join(silent)}", file=sys.stderr)


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if not word.endswith(".json")]
    keep(words or MODULES, Path(next((word for word in sys.argv[1:] if word.endswith(".json")), str(KEPT))))
