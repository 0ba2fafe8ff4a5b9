"""The border reads a sandbox's output as hostile bytes."""

from __future__ import annotations

import base64
import json
import os
import pathlib
from typing import Any

import pytest

from shardlab_grader.border.artifact import CellError, Recording, Refused, content, parse, read
from shardlab_grader.border.entries import entry, said
from shardlab_judge.items.program import MODULE

VALUE = {"name": "v", "kind": "value", "predicted": False}
CALLS = {"name": "c", "kind": "calls", "calls": [[1], [2]]}
PROGRAM = {"name": "p", "kind": "program", "cases": [{}, {}]}
PLACEMENT = {"name": "s", "kind": "placement", "shape": [2]}
MANIFESTS = {"1.1": {"id": "1.1", "items": [VALUE, CALLS]}, "1.2": {"id": "1.2", "items": [PROGRAM]}}
PLACED = {"shape": [2], "shards": [[0, [[0, 2]]]], "axes": None, "spec": None, "dtype": None}
MODULE_TEXT = base64.b64encode(b"ML\xefR").decode()
PROGRAM_ENTRY = {"module": MODULE_TEXT, "outputs": [""]}


def deep(levels: int) -> Any:
    """A list in a list in a list."""
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


GOOD = {
    "value": (VALUE, {"value": {"a": [1, 2.5, None, True, "x"]}}),
    "value-null": (VALUE, {"value": None}),
    "missing": (VALUE, {"missing": True}),
    "todo": (PROGRAM, {"todo": True}),
    "error": (PROGRAM, {"error": {"type": "TypeError", "message": "no"}}),
    "error-line": (VALUE, {"error": {"type": "E", "message": "m", "line": "line 2 of cell 3\n    f(x)\n    ^^^^"}}),
    "placement": (PLACEMENT, {"placement": PLACED}),
    "calls": (CALLS, {"calls": [{"value": 1}, {"error": {"type": "E", "message": "m"}}]}),
    "programs": (PROGRAM, {"programs": [PROGRAM_ENTRY, {"todo": True}]}),
    "puts": (PROGRAM, {"programs": [{**PROGRAM_ENTRY, "puts": True}, {"todo": True}]}),
}


@pytest.mark.parametrize(("item", "raw"), GOOD.values(), ids=GOOD)
def test_good_entries_pass(item: dict[str, Any], raw: Any) -> None:
    """What `record` makes comes through unchanged."""
    assert entry(item, raw) == raw


FIELD = "an entry should have the one field value"
NOT_ERROR = "an error should have the texts type and message"
LONG = "a string is missing or longer than {} characters"
LARGE = {"module": base64.b64encode(bytes(MODULE + 9)).decode(), "outputs": [""]}
BAD = {
    "no-dict": (VALUE, 3, FIELD),
    "other-kind": (VALUE, {"placement": PLACED}, FIELD),
    "two-fields": (VALUE, {"value": 1, "todo": True}, FIELD),
    "todo-is-one": (VALUE, {"todo": 1}, FIELD),
    "points-inside": (VALUE, {"points": 10}, FIELD),
    "error-is-text": (VALUE, {"error": "E"}, NOT_ERROR),
    "error-field": (VALUE, {"error": {"type": "E", "message": "m", "x": 1}}, NOT_ERROR),
    "error-line": (VALUE, {"error": {"type": "E", "message": "m", "line": ["f(x)"]}}, LONG.format(6000)),
    "error-long": (VALUE, {"error": {"type": "E", "message": "m", "line": "x" * 6001}}, LONG.format(6000)),
    "too-deep": (VALUE, {"value": deep(17)}, "the value is nested more than 16 deep"),
    "too-many": (VALUE, {"value": [0] * 20_000}, "the value has more than 20000 parts"),
    "too-long": (VALUE, {"value": "x" * 10_001}, LONG.format(10_000)),
    "long-key": (VALUE, {"value": {"x" * 201: 1}}, LONG.format(200)),
    "half-character": (VALUE, {"value": "\ud800"}, "a string holds one half of a surrogate pair"),
    "huge-number": (VALUE, {"value": 2**127}, "the value holds a number that is too large or not finite"),
    "infinite": (VALUE, {"value": float("inf")}, "the value holds a number that is too large or not finite"),
    "few-calls": (CALLS, {"calls": [{"value": 1}]}, "a list should have 2 entries"),
    "many-programs": (PROGRAM, {"programs": [PROGRAM_ENTRY] * 3}, "a list should have 2 entries"),
    "no-outputs": (PROGRAM, {"programs": [{"module": ""}] * 2}, "a program should have the fields module and outputs"),
    "many-outputs": (
        PROGRAM, {"programs": [{"module": "", "outputs": [""] * 65}] * 2}, "a list should have at most 64 entries",
    ),
    "number-as-path": (
        PROGRAM, {"programs": [{**PROGRAM_ENTRY, "outputs": [1]}] * 2}, LONG.format(200),
    ),
    "no-base64": (PROGRAM, {"programs": [{**PROGRAM_ENTRY, "module": "a!=="}] * 2}, "the exported program is not base64"),
    "other-digits": (PROGRAM, {"programs": [{"module": "éééé", "outputs": []}] * 2}, "the exported program is not base64"),
    "large-module": (
        PROGRAM, {"programs": [LARGE] * 2},
        "the exported program has more than 256 kB; constants in it should be computed or passed in",
    ),
    "placement": (
        PLACEMENT, {"placement": {**PLACED, "shape": [-1]}}, "the placement is malformed: expected a whole number, got int",
    ),
    "placement-slice": (
        PLACEMENT, {"placement": {**PLACED, "shape": [1]}},
        "the placement is malformed: slice ((0, 2),) does not lie in shape (1,)",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("item", "raw", "reason"), BAD.values(), ids=BAD)
def test_bad_entries_are_refused(item: dict[str, Any], raw: Any, reason: str) -> None:
    """Each broken rule is named."""
    with pytest.raises(Refused) as caught:
        entry(item, raw)
    assert str(caught.value) == reason


def test_messages_are_cut_and_cleaned() -> None:
    """A message can neither flood a page nor steer a terminal."""
    assert said("a\x1b[2J\nb\u202e", 100) == "a\ufffd[2J\nb\ufffd"
    assert said("x" * 50, 10) == "x" * 7 + "..."
    assert entry(VALUE, {"error": {"type": "T" * 999, "message": "m" * 9999}})["error"]["message"].endswith("m...")


LINES = {
    "no-json": b"{",
    "no-object": b"[1]",
    "nan": b'{"cell": NaN}',
    "minus-infinity": b'{"cell": -Infinity}',
    "repeated-key": b'{"cell": 1, "cell": 2}',
    "no-utf8": b'{"cell": "\xff"}',
    "nested": b"[" * 100_000,
    "long-number": b'{"cell": ' + b"1" * 5000 + b"}",
    "long": b'{"cell": 1}' + b" " * 2**23,
}


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_bad_lines_are_refused(line: bytes) -> None:
    """Only plain JSON objects of limited size are read."""
    with pytest.raises(Refused):
        parse(line)


def written(path: pathlib.Path, *lines: Any) -> pathlib.Path:
    """A file with these lines as JSON."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_recording(tmp_path: pathlib.Path) -> None:
    """A whole run is read back: cells, errors, answers and its end."""
    lines = [
        {"cell": 0}, {"error": {"cell": 0, "type": "E", "message": "m"}}, {"cell": 1},
        {"question": "1.1", "item": "v", "entry": {"value": 4}}, {"end": True},
    ]  # fmt: skip
    answers = {"1.1": {"items": {"v": {"value": 4}}}}
    assert read(content(written(tmp_path / "o", *lines)), MANIFESTS, 2) == Recording(
        answers, (CellError(0, "E", "m"),), 1, True
    )


def test_bad_item_costs_only_itself(tmp_path: pathlib.Path) -> None:
    """A refused entry becomes an error with the reason, and the others stay."""
    lines = [
        {"question": "1.1", "item": "v", "entry": {"value": deep(30)}},
        {"question": "1.1", "item": "c", "entry": {"calls": [{"value": 1}, {"value": 2}]}},
    ]
    items = read(content(written(tmp_path / "o", *lines)), MANIFESTS, 2).answers["1.1"]["items"]
    assert items["v"] == {"error": {"type": "AnswerRefused", "message": "the value is nested more than 16 deep"}}
    assert items["c"] == {"calls": [{"value": 1}, {"value": 2}]}


STRANGE = {
    "question": (
        {"question": "9.9", "item": "v", "entry": {"value": 1}},
        "a line names a question or an item that was not asked",
    ),
    "item": (
        {"question": "1.1", "item": "w", "entry": {"value": 1}},
        "a line names a question or an item that was not asked",
    ),
    "field": ({"verdict": "passed"}, "a line has fields that are not in the protocol"),
    "more": ({"cell": 1, "points": 5}, "a line has fields that are not in the protocol"),
    "cell": ({"cell": 2}, "a line names a cell that does not exist"),
    "truth": ({"cell": True}, "a line names a cell that does not exist"),
}


@pytest.mark.parametrize(("line", "fault"), STRANGE.values(), ids=STRANGE)
def test_strange_lines_are_left_out(tmp_path: pathlib.Path, line: Any, fault: str) -> None:
    """Nothing that was not asked for is taken in."""
    assert read(content(written(tmp_path / "o", line)), MANIFESTS, 2) == Recording({}, faults=(fault,))


def test_first_entry_counts(tmp_path: pathlib.Path) -> None:
    """What was recorded at the grade cell is not replaced later."""
    lines = [{"question": "1.1", "item": "v", "entry": {"value": n}} for n in (1, 2)]
    assert read(content(written(tmp_path / "o", *lines)), MANIFESTS, 2).answers["1.1"]["items"]["v"] == {"value": 1}


def test_torn_line_costs_only_itself(tmp_path: pathlib.Path) -> None:
    """A run that was killed while it wrote keeps what it had written before."""
    path = written(tmp_path / "o", {"question": "1.1", "item": "v", "entry": {"value": 1}})
    path.write_text(path.read_text() + '{"question": "1.1", "item": "c", "ent')
    assert read(content(path), MANIFESTS, 2).answers == {"1.1": {"items": {"v": {"value": 1}}}}


def test_links_are_not_followed(tmp_path: pathlib.Path) -> None:
    """A symbolic link, a hard link, a directory and a pipe are no output."""
    secret = tmp_path / "secret"
    secret.write_text("{}")
    for name, make in {"s": os.symlink, "h": os.link}.items():
        make(secret, tmp_path / name)
    (tmp_path / "d").mkdir()
    os.mkfifo(tmp_path / "p")
    for name in "shdp":
        with pytest.raises(Refused):
            content(tmp_path / name)


def test_long_files_are_cut(tmp_path: pathlib.Path) -> None:
    """No more is read than the limit."""
    (tmp_path / "o").write_bytes(bytes(100))
    assert content(tmp_path / "o", 10) == bytes(10)


def test_many_lines_are_cut(tmp_path: pathlib.Path) -> None:
    """A million short lines cost no million parses."""
    (tmp_path / "o").write_bytes(b"{}\n" * 1_000_000)
    assert len(read(content(tmp_path / "o"), MANIFESTS, 2).faults) == 100
