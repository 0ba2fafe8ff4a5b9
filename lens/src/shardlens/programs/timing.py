"""A program on the accelerator that is here: its measured time beside the model's; without one, what would be done."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import pickle
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from shardlens.compilers.topology import accelerators
from shardlens.costs.chips import chip_called
from shardlens.errors import LensError
from shardlens.programs.inspection import inspect
from shardlens.tables import Table, Tabled, seconds

if TYPE_CHECKING:
    import jax

LIMIT = 300.0
"""Seconds for the process in which an accelerator starts, compiles and runs."""
PLATFORMS = ""
"""JAX's choice in that process: the accelerator, whatever this session is restricted to."""


@dataclasses.dataclass(frozen=True, repr=False)
class OnChip(Tabled):
    """What `on_chip` measured; prints itself as a table, or as the sentence that says what would be measured.

    Args:
        name: of the program.
        runs: how often it is run after it was compiled.
        kind: JAX's name of the device; empty where none is here.
        count: devices that it ran on.
        median: seconds of a run, the median; 0 where nothing ran.
        model: the least seconds by `Program.cost` on that chip; `None` where there are no numbers for it.
    Example:
        >>> OnChip("step", runs=20)
        There is no accelerator here, so nothing was timed. On one, step would run 20 times, and the median would stand here
        beside the model's time for that chip.
    """

    name: str
    runs: int
    kind: str = ""
    count: int = 0
    median: float = 0.0
    model: float | None = None

    def _table(self) -> Table:
        if not self.kind:
            said = (
                f"There is no accelerator here, so nothing was timed. On one, {self.name} would run {self.runs} times, and"
            )
            return Table((), (), (), (f"{said} the median would stand here beside the model's time for that chip.",))
        model = "no numbers" if self.model is None else seconds(self.model)
        ratio = f"{self.median / self.model:.1f}" if self.model else ""
        row = (self.name, f"{self.count} x {self.kind}", seconds(self.median), model, ratio)
        lines = [
            f"Measured here: the median of {self.runs} runs, each timed until its result was ready. The model assumes "
            f"peak rates and full overlap."
        ]
        if chip_called(self.kind) is None:
            lines.append(f"There are no numbers for a {self.kind}.")
        columns = ("program", "ran on", "measured", "model", "measured / model")
        return Table(columns, ("left", "left", "right", "right", "right"), (row,), tuple(lines))


def on_chip(f: Callable[..., Any], *args: Any, runs: int = 20, devices: Sequence[jax.Device] | None = None) -> OnChip:
    """The time of `f(*args)` on the accelerator of this machine, beside the time that the cost model predicts.

    Where this session computes on real devices, it runs here, on them. Where it simulates devices on the CPU and an
    accelerator is idle beside them, it runs there in a process of its own, on one chip, with arguments that are whole. Where
    there is none, nothing runs, and what is returned says so.

    Args:
        f: compiled by `jax.jit`; for an idle chip a program of one device, no `jax.shard_map` over the simulated ones.
        args: trees of arrays.
        runs: after the first, which compiles.
        devices: taken for the accelerator instead of what is found; `args` lie on them.
    Raises:
        LensError: the program is for more devices than the idle chip, or the process with the chip ended in an error.
    Example:
        >>> on_chip(jax.jit(lambda x: x + 1), np.ones(4, np.float32), runs=3).runs
        3
    """
    import jax

    name = getattr(f, "__name__", "the program")
    found = list(devices or (d for d in jax.devices() if d.platform != "cpu"))
    if found:
        return _timed(name, f, args, runs, found)
    return _beside(name, f, args, runs) if accelerators() else OnChip(name, runs)


def _timed(name: str, f: Callable[..., Any], args: tuple[Any, ...], runs: int, devices: Sequence[jax.Device]) -> OnChip:
    import jax

    compiled, kind = jax.jit(f), devices[0].device_kind
    used = {d for leaf in jax.tree.leaves(args) if isinstance(leaf, jax.Array) for d in leaf.devices()}
    if not used <= set(devices) or not used:
        args = jax.device_put(args, devices[0])
    jax.block_until_ready(compiled(*args))
    took = [_seconds(compiled, args) for _ in range(runs)]
    known = chip_called(kind)
    model = inspect(f, *args).cost(known).lower if known else None
    return OnChip(name, runs, kind, len(used & set(devices)) or 1, statistics.median(took), model)


def _seconds(f: Callable[..., Any], args: tuple[Any, ...]) -> float:
    import jax

    start = time.perf_counter()
    jax.block_until_ready(f(*args))
    return time.perf_counter() - start


def _beside(name: str, f: Callable[..., Any], args: tuple[Any, ...], runs: int) -> OnChip:
    """Export the program for one device, and time it in a process that starts the accelerator."""
    import jax
    import numpy as np

    leaves, tree = jax.tree.flatten(jax.tree.map(np.asarray, args))
    flat = jax.jit(lambda *leaves: jax.tree.leaves(f(*jax.tree.unflatten(tree, leaves))), keep_unused=True)
    found = {platform: jax.export.export(flat, platforms=[platform])(*leaves) for platform in ("cpu", "cuda", "tpu")}
    if found["tpu"].nr_devices != 1:
        what = f"is a program for {found['tpu'].nr_devices} devices, but one chip is idle here"
        raise _refused(name, what, "give a program for one device.")
    modules = {platform: each.mlir_module_serialized for platform, each in found.items()}
    outputs = [(aval.shape, aval.dtype) for aval in found["tpu"].out_avals]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        (path / "program").write_bytes(pickle.dumps((modules, leaves, outputs)))
        command = [sys.executable, "-m", "shardlens.programs.timing", folder, name, str(runs)]
        given = os.environ | {"JAX_PLATFORMS": PLATFORMS}
        try:
            subprocess.run(command, env=given, check=True, capture_output=True, text=True, timeout=LIMIT)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            said = str(error.stderr or error).strip().splitlines()[-1]
            mend = "check whether another program has the chip."
            raise _refused(name, f"did not run on the accelerator: {said}", mend) from error
        return OnChip(**json.loads((path / "found").read_text()))


def _child(folder: str, name: str, runs: str) -> None:
    """The other process: what `_beside` put into the folder, run and timed on JAX's first device."""
    import jax

    path = pathlib.Path(folder)
    modules, leaves, outputs = pickle.loads((path / "program").read_bytes())
    device = jax.devices()[0]
    platform = "cuda" if device.platform == "gpu" else device.platform
    avals = tuple(jax.core.ShapedArray(*each) for each in outputs)
    # Any export of these arguments, but for the program and what comes out of it: to write an `Exported` whole takes a
    # package besides (flatbuffers). The underscored field has no public way in (JAX 0.10).
    exported = dataclasses.replace(
        jax.export.export(jax.jit(lambda *leaves: [*leaves]), platforms=[platform])(*leaves),
        mlir_module_serialized=modules[platform],
        out_avals=avals,
        out_tree=jax.tree.structure([0] * len(avals)),
        _out_named_shardings=(None,) * len(avals),
        out_shardings_hlo=(None,) * len(avals),
    )
    found = _timed(name, exported.call, tuple(leaves), int(runs), [device])
    (path / "found").write_text(json.dumps(dataclasses.asdict(found)))


def _refused(name: str, what: str, mend: str) -> LensError:
    return LensError("not-on-this-chip", f"{name} {what}.", where=f"on_chip({name}, ...)", mend=mend)


if __name__ == "__main__":
    _child(*sys.argv[1:])
