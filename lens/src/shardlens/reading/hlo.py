"""HLO text as plain records: computations, their instructions, shapes and attributes. No JAX here."""

from __future__ import annotations

import dataclasses
import functools
import math
import re
from collections.abc import Iterator, Sequence

from shardlens.errors import LensError
from shardlens.sources import Line, users_line

# XLA numbers every fifth part of a long tuple, `(f32[2], ..., /*index=5*/f32[2])`: an eight-way all-to-all has one.
_INDEX_COMMENT = re.compile(r"/\*index=\d+\*/")
_COMPUTATION = re.compile(r"(ENTRY )?%?([^\s(){}=]+) (?:\(.*\) -> .*)?\{$")
_INSTRUCTION = re.compile(r"\s+(ROOT )?%?([^\s(){}=]+) = (.*)$")
_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[][(){},]')
# Brackets within brackets and no deeper, without quotes: nearly all operands. `++` takes back nothing, so it is linear.
_SHALLOW = re.compile(r'\((?:[^()"]++|\([^()"]*+\))*+\)')
_ARRAY = re.compile(r"([a-z][a-z0-9]*)\[([^]]*)\]")
_OP_NAME = re.compile(r'op_name="((?:\\.|[^"\\])*)"')
# The metadata of a Pallas kernel is JSON on lines of its own, in the middle of an instruction.
_CONTINUED = re.compile(r'"|\}+, (?!execution_thread)|\}\}|\{')
_ROW = re.compile(r"(\d+) (.*)$")
_FRAME = re.compile(r"stack_frame_id=(\d+)")
_DEVICES = re.compile(r"\b(?:num_partitions|replica_count)=(\d+)")


@dataclasses.dataclass(frozen=True)
class HloArray:
    """Element type, as HLO writes it, and shape of one array.

    Example:
        >>> HloArray("bf16", (4, 8)).nbytes
        64
    """

    dtype: str
    shape: tuple[int, ...]

    @functools.cached_property
    def nbytes(self) -> int:
        """Bytes of the elements, without padding."""
        return math.ceil(math.prod(self.shape) * _bits(self.dtype) / 8)


Shape = HloArray | tuple["Shape", ...]


@dataclasses.dataclass(frozen=True)
class HloInstruction:
    """One line of a computation. `text` is what stands after its name; it is taken apart when it is asked for.

    Example:
        >>> one = HloInstruction("add.1", "f32[4]{0} add(%x, %y)")
        >>> one.opcode, one.operands
        ('add', ('x', 'y'))
    """

    name: str
    text: str

    @functools.cached_property
    def shape(self) -> Shape:
        """What it returns."""
        return _shape(self.text[: self._parts[0]])

    @property
    def is_pair(self) -> bool:
        """Whether it is the start of a pair that returns what it takes before its output, as `((f32[4]), f32[4])`.

        An all-reduce's start does so in JAX 0.12 for GPU; before, it returned what the all-reduce does.
        """
        if not self.opcode.endswith("-start") or not isinstance(self.shape, tuple):
            return False
        return self.opcode != "all-reduce-start" or isinstance(self.shape[0], tuple)

    @property
    def opcode(self) -> str:
        """What it does, as HLO names it."""
        return self._parts[1]

    @functools.cached_property
    def operands(self) -> tuple[str, ...]:
        """Names of the instructions that it takes; none for constants and parameters."""
        _, opcode, start, end = self._parts
        parts = [] if opcode in ("constant", "parameter") else split(self.text[start : end - 1])
        return tuple(part.split(" ")[-1].removeprefix("%") for part in parts)

    @functools.cached_property
    def rest(self) -> str:
        """The text after the operands."""
        return self.text[self._parts[3] :]

    @functools.cached_property
    def _parts(self) -> tuple[int, str, int, int]:
        """End of the shape, the opcode, and where its operands start and end."""
        end = _closing(self.text, 0) if self.text.startswith("(") else self.text.index(" ")
        bracket = self.text.find("(", end)
        bracket = len(self.text) if bracket < 0 else bracket
        return end, self.text[end:bracket].strip(), bracket + 1, _closing(self.text, bracket)

    @functools.cached_property
    def attributes(self) -> dict[str, str]:
        """Attributes by name, as text; the `device_ids` of a mesh, which follow a comma, stay with the mesh."""
        pairs = (part.partition("=") for part in split(self.rest.replace("], device_ids=", "];device_ids=")))
        return {key.strip(): value for key, _, value in pairs}

    def attribute(self, name: str) -> str:
        """One attribute as text, without taking all of them apart; empty if there is none."""
        text = self.rest
        start = text.find(f"{name}=") + len(name) + 1
        if start <= len(name):
            return ""
        depth = 0
        for token in _TOKEN.finditer(text, start):
            depth += (token[0] in "([{") - (token[0] in ")]}")
            if token[0] == "," and depth == 0 and not text.startswith(", device_ids=", token.start()):
                return text[start : token.start()].strip()
        return text[start:].strip()

    @property
    def metadata(self) -> str:
        """Where it came from, as HLO writes it."""
        return self.rest[max(self.rest.find("metadata={"), 0) :] if "metadata={" in self.rest else ""

    @property
    def op_name(self) -> str:
        """The JAX operation that it came from, or nothing."""
        found = _OP_NAME.search(self.metadata)
        return found[1] if found else ""


@dataclasses.dataclass(frozen=True)
class HloModule:
    """An HLO module: instructions by name, by computation; the entry's name; devices that it runs on; lines not read.

    `roots` names the instruction that each computation returns. `for_tpu` says whether arrays are laid out in a TPU's tiles.

    Example:
        >>> module = parse_hlo("ENTRY %main (x: f32[4]) -> f32[4] {\\n  ROOT %x = f32[4]{0} parameter(0)\\n}")
        >>> module.entry, [*module.computations["main"]], module.roots
        ('main', ['x'], {'main': 'x'})
    """

    entry: str
    computations: dict[str, dict[str, HloInstruction]]
    devices: int
    frames: dict[str, tuple[Line, ...]]
    unread: tuple[str, ...] = ()
    roots: dict[str, str] = dataclasses.field(default_factory=dict)
    for_tpu: bool = False

    def line(self, instruction: HloInstruction) -> Line:
        """The user's line of Python code that `instruction` came from: see `sources.users_line`."""
        return users_line(self.frames_of(instruction))

    def frames_of(self, instruction: HloInstruction) -> tuple[Line, ...]:
        """The lines that were running when `instruction` was traced, innermost first."""
        metadata = instruction.metadata
        # JAX 0.10 writes a number into the tables that stand before the first computation; older texts name file and line.
        if frame := _FRAME.search(metadata):
            return self.frames.get(frame[1], ())
        file, line = re.search(r'source_file="([^"]*)"', metadata), re.search(r"source_line=(\d+)", metadata)
        return (Line(file[1], int(line[1])),) if file and line else ()


# Collectives, depth, overlap and the largest array are read one after the other, of one text or of two compared ones.
@functools.lru_cache(maxsize=2)
def parse_hlo(text: str) -> HloModule:
    """The module that `compiled.as_text()` printed.

    Raises:
        LensError: there is no `ENTRY` computation in the text.
    Example:
        >>> parse_hlo("ENTRY %main (x: f32[4]) -> f32[4] {\\n  ROOT %x = f32[4]{0} parameter(0)\\n}").entry
        'main'
    """
    computations: dict[str, dict[str, HloInstruction]] = {}
    roots: dict[str, str] = {}
    entry, inside, name = "", None, ""
    unread = []
    lines = text.splitlines()
    first = 0
    for k, line in enumerate(lines):
        if inside and _CONTINUED.match(line):
            last = next(reversed(inside.values()))
            inside[last.name] = HloInstruction(last.name, f"{last.text} {line.strip()}")
        elif line[:1] != " " and (header := _COMPUTATION.match(line)):
            name, first = header[2], first or k
            inside = computations.setdefault(name, {})
            entry = name if header[1] else entry
        elif line.startswith("}"):
            inside = None
        elif inside is not None and (found := _INSTRUCTION.match(line)):
            inside[found[2]] = HloInstruction(found[2], _INDEX_COMMENT.sub("", found[3]) if "/*" in found[3] else found[3])
            if found[1]:
                roots[name] = found[2]
        elif inside is not None and line.strip():
            unread.append(line.strip())
    if not entry:
        raise LensError(
            "not-hlo",
            "there is no ENTRY computation in this text.",
            where=repr(text[:60]),
            mend="pass the text of a compiled program: jax.jit(f).lower(x).compile().as_text().",
        )
    devices = math.prod(int(n) for n in _DEVICES.findall(lines[0]))
    return HloModule(entry, computations, devices, _frames(lines[:first]), tuple(unread), roots, ":T(" in text)


def hlo_leaves(shape: Shape) -> Iterator[HloArray]:
    """The arrays of a shape, in order.

    Example:
        >>> [*hlo_leaves((HloArray("f32", (4,)), (HloArray("s32", ()),)))]
        [HloArray(dtype='f32', shape=(4,)), HloArray(dtype='s32', shape=())]
    """
    if isinstance(shape, HloArray):
        yield shape
    else:
        for part in shape:
            yield from hlo_leaves(part)


def split(text: str) -> list[str]:
    """`text` cut at the commas outside brackets and quotes, without empty parts."""
    parts, depth, start = [], 0, 0
    for token in _TOKEN.finditer(text):
        if token[0] in "([{":
            depth += 1
        elif token[0] in ")]}":
            depth -= 1
        elif token[0] == "," and depth == 0:
            parts.append(text[start : token.start()])
            start = token.end()
    return [part.strip() for part in (*parts, text[start:]) if part.strip()]


def _closing(text: str, start: int) -> int:
    """Position after the bracket that closes the one at `start`."""
    if shallow := _SHALLOW.match(text, start):
        return shallow.end()
    depth = 0
    for token in _TOKEN.finditer(text, start):
        depth += (token[0] in "([{") - (token[0] in ")]}")
        if depth == 0:
            return token.end()
    return len(text)


@functools.lru_cache(maxsize=1024)
def _shape(text: str) -> Shape:
    if text.startswith("("):
        return tuple(_shape(part) for part in split(text[1:-1]))
    found = _ARRAY.match(text)
    dims = re.findall(r"\d+", found[2]) if found else []
    return HloArray(found[1] if found else "token", tuple(int(n) for n in dims))


@functools.lru_cache(maxsize=64)
def _bits(dtype: str) -> int:
    """Bits of one element: the first number in the type's name (`f8e4m3fn`, `c64`), 8 for `pred`, none for `token`."""
    found = re.search(r"\d+", dtype)
    return int(found[0]) if found else 8 * (dtype == "pred")


def _frames(lines: Sequence[str]) -> dict[str, tuple[Line, ...]]:
    """The lines that each stack frame stands for, innermost first, from the tables before the first computation."""
    tables: dict[str, dict[str, str]] = {}
    rows: dict[str, str] = {}
    for line in lines:
        if line in ("FileNames", "FunctionNames", "FileLocations", "StackFrames"):
            rows = tables.setdefault(line, {})
        elif row := _ROW.match(line):
            rows[row[1]] = row[2]
    frames: dict[str, tuple[Line, ...]] = {"0": ()}
    for frame, entry in tables.get("StackFrames", {}).items():
        location = tables["FileLocations"].get(_field(entry, "file_location_id"), "")
        file = tables["FileNames"].get(_field(location, "file_name_id"), "").strip('"')
        # XLA writes the number of a frame's parent plus one, and parents stand first: frame 1 has "parent_frame_id=1".
        outer = frames.get(str(int(_field(entry, "parent_frame_id") or 1) - 1), ())
        frames[frame] = (Line(file, int(_field(location, "line") or 0)), *outer)
    return frames


def _field(row: str, name: str) -> str:
    found = re.search(rf"\b{name}=(\d+)", row)
    return found[1] if found else ""
