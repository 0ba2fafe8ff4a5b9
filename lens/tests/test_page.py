"""A program as data and as a page: JSON that its schema admits, and one file of HTML that asks for nothing from outside."""

from __future__ import annotations

import html.parser
import json
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import shardlens as lens
from shardlens.charts.page import page
from shardlens.command import lens_command as main
from shardlens.programs import figures
from shardlens.programs.program import Program
from why_programs import mesh, spec

SCHEMA = json.loads(Path(figures.__file__).with_name("figures.schema.json").read_text())
TYPES: dict[str, Any] = {
    "string": str, "integer": int, "number": (int, float), "null": type(None), "array": list, "object": dict,
}  # fmt: skip


def faults(value: Any, schema: dict[str, Any], at: str = "") -> list[str]:
    """Where a value is not what a schema says: as much of JSON Schema as ours uses, and an error at any other word."""
    assert {*schema} <= {"$schema", "title", "type", "const", "properties", "required", "additionalProperties", "items"}
    if "const" in schema:
        return [] if value == schema["const"] else [f"{at} is {value!r}"]
    names = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    if isinstance(value, bool) or not isinstance(value, tuple(TYPES[name] for name in names)):
        return [f"{at} is {value!r}"]
    found: list[str] = []
    if isinstance(value, dict) and "properties" in schema:
        found += [f"{at}.{key} is missing" for key in schema["required"] if key not in value]
        found += [f"{at}.{key} is not known" for key in value if key not in schema["properties"]]
        found += [e for key, p in schema["properties"].items() if key in value for e in faults(value[key], p, f"{at}.{key}")]
    if isinstance(value, list) and "items" in schema:
        found += [e for k, item in enumerate(value) for e in faults(item, schema["items"], f"{at}[{k}]")]
    return found


def until(x: Any) -> Any:
    """A sum in a loop whose rounds data decides, and a call of the host."""
    jax.debug.callback(print, x[0, 0])
    return jax.lax.while_loop(lambda y: y.sum() < 9, lambda y: jnp.cos(y - y.sum(0, keepdims=True)), x)


def program(name: str) -> Program:
    """One of some programs."""
    over = mesh(2, 4)
    x = spec(over, (64, 32), "x", "y")
    made = {"none": lambda x: x + 1, "sum": lambda x: {"a": x.sum(0), "b": (x @ x.T, x[:, 0])}, "unknown rounds": until}
    return lens.inspect(made[name], x)


@pytest.mark.parametrize("name", ["none", "sum", "unknown rounds"])
def test_the_schema_holds(name: str) -> None:
    """What is written is what the schema says, neither more nor less; every key that is left out or changed is noticed."""
    told = json.loads(json.dumps(program(name).to_json()))
    assert faults(told, SCHEMA) == []
    for key in told:
        assert faults({k: v for k, v in told.items() if k != key}, SCHEMA) == [f".{key} is missing"]
        assert faults(told | {key: object()}, SCHEMA) or key == "schema" and faults(told | {key: 2}, SCHEMA)
    assert faults(told | {"more": 1}, SCHEMA) == [".more is not known"]


class Reader(html.parser.HTMLParser):
    """Tags that are open, and every address."""

    VOID = frozenset({"meta", "path", "rect", "line", "circle", "br", "use"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.addresses: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "data", "action")]
        self.open += [tag] if tag not in self.VOID else []

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("name", ["none", "sum", "unknown rounds"])
def test_the_page(name: str) -> None:
    """Well formed, without scripts, and from nowhere else; what was in the program is in it."""
    made = program(name)
    text = page(made, "train.py:<step>")
    read = Reader(text)
    assert read.open == [] and not {"script", "link", "iframe", "img"} & read.tags
    assert all(address.startswith("#") for address in read.addresses) and "url(http" not in text
    assert "train.py:&lt;step&gt;" in text and all(kind in text for kind in made.kinds)
    assert ("<details" in text) == bool(made.collectives)


def test_scopes_fold_as_they_nest() -> None:
    """A scope has what is in those below it."""
    over = mesh(8)

    def step(x: Any) -> Any:
        with jax.named_scope("model"):
            with jax.named_scope("first"):
                a = x.sum(0, keepdims=True)
            with jax.named_scope("second"):
                return jnp.sin(a) + (x * a).sum(0, keepdims=True)

    text = page(lens.inspect(step, spec(over, (64, 32), "x")), "step")
    assert text.index("model: 2 collectives, 512 bytes") < text.index("first: 1 collectives, 256 bytes")
    assert "second: 1 collectives, 256 bytes" in text


def test_the_command_writes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Beside what it prints; JSON with a cost is JSON, and the schema admits it."""
    (tmp_path / "page_of_test.py").write_text("def step(a):\n    return a.sum(0)\n")
    monkeypatch.chdir(tmp_path)
    asked = ["inspect", "page_of_test.py:step", "--args", "float32[64,32]@x,_", "--mesh", "x=8"]
    assert main([*asked, "--html", "step.html", "--json", "--cost", "v5e"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert faults(told, SCHEMA) == [] and told["cost"]["chip"] == "v5e" and np.isfinite(told["cost"]["upper"])
    assert (tmp_path / "step.html").read_text().startswith("<!doctype html>")
    assert main([*asked, "--memory"]) == 0 and "at the peak" in capsys.readouterr().out
    assert main([*asked, "--html", "none/step.html"]) == 1 and "[no-directory]" in capsys.readouterr().err
