"""A compiled program as JSON, to be read where its compiler is not."""

from __future__ import annotations

import base64
import dataclasses
import datetime
import importlib.metadata
import importlib.util
import json
import zlib
from pathlib import Path
from typing import Any

from shardlens.errors import LensError
from shardlens.placement import Placement
from shardlens.programs.memory import Memory
from shardlens.programs.program import Program
from shardlens.reading.collectives import read_collectives


@dataclasses.dataclass(frozen=True, repr=False)
class Recorded(Program):
    """A program that was compiled elsewhere; `label` says for what, with which versions and when.

    Example:
        >>> import pathlib, tempfile
        >>> x = jax.ShapeDtypeStruct((4,), "float32")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "step.json"
        ...     lens.store(lens.inspect(lambda x: x + 1, x), file, "cpu")
        ...     lens.read_stored(file, "cpu").label.partition(" with ")[0]
        'stored record: compiled for cpu'
    """

    label: str = ""

    def _lines(self) -> Any:
        yield from super()._lines()
        yield self.label


def store(program: Program, path: Path, target: str) -> None:
    """Writes a program into a file of JSON, its HLO text compressed; `Program.to_json` is for programs that read facts.

    Example:
        >>> import json, pathlib, tempfile
        >>> x = jax.ShapeDtypeStruct((4,), "float32")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "step.json"
        ...     store(lens.inspect(lambda x: x + 1, x), file, "cpu")
        ...     record = json.loads(file.read_text())
        >>> record["target"], record["devices"], record["flops"]
        ('cpu', 1, 4.0)
    """
    axes = next((placement.axes for placement in program.output_placements if placement.axes), None)
    record = {
        "target": target,
        "jax": importlib.metadata.version("jax"),
        "libtpu": importlib.metadata.version("libtpu")
        if program.platform != "gpu" and importlib.util.find_spec("libtpu")
        else "",
        "date": datetime.date.today().isoformat(),
        "axes": axes,
        "memory": dataclasses.astuple(program.memory),
        "flops": program.flops,
        "devices": program.devices,
        "platform": program.platform,
        "outputs": [placement.to_json() for placement in program.output_placements],
        **({"refused": program.refused} if program.refused else {}),
        "hlo": base64.b85encode(zlib.compress(program.hlo.encode(), 9)).decode(),
    }
    path.write_text(json.dumps(record, indent=1) + "\n")


def read_stored(path: Path, target: str) -> Recorded:
    """The program of a record, a file that `store` wrote.

    Raises:
        LensError: the record is of another target.
    Example:
        >>> import pathlib, tempfile
        >>> x = jax.ShapeDtypeStruct((4,), "float32")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "step.json"
        ...     store(lens.inspect(lambda x: x + 1, x), file, "cpu")
        ...     read_stored(file, "cpu").memory.argument
        16
    """
    raw = json.loads(path.read_text())
    if raw["target"] != target:
        raise LensError(
            "other-record",
            f"the record {path.stem!r} is of {raw['target']}.",
            where=f"target={target!r}",
            mend="name the record of this target, or install its compiler.",
        )
    hlo = zlib.decompress(base64.b85decode(raw["hlo"])).decode()
    axes = tuple((name, size) for name, size in raw["axes"]) if raw["axes"] else None
    libtpu = f", libtpu {raw['libtpu']}" if raw["platform"] != "gpu" else ""
    outputs = tuple(Placement.from_json(each) for each in raw["outputs"])
    return Recorded(
        read_collectives(hlo, axes),
        Memory(*raw["memory"]),
        raw["flops"],
        hlo,
        outputs,
        raw["devices"],
        raw["platform"],
        refused=raw.get("refused", ""),
        label=f"stored record: compiled for {target} with JAX {raw['jax']}{libtpu} on {raw['date']}",
    )
