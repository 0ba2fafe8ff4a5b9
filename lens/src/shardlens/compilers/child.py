"""The process that compiles for targets: it reads requests, answers them, and ends with the process that started it.

Compilers abort, with a signal that no `except` sees. Here nothing is lost but the program that was being compiled.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pickle
import threading
import time
from collections.abc import Sequence
from typing import IO, Any

import numpy as np

from shardlens.errors import LensError
from shardlens.placement import Axes, Placement

Asked = tuple[tuple[int, ...], tuple[Axes, Any] | None]
"""An output's shape as the compiler has it, and the mesh and spec that were asked for, if any were."""


@dataclasses.dataclass(frozen=True)
class Request:
    """A lowered program, as it goes to the compiler.

    `module` is StableHLO as MLIR bytecode; `options` a serialised `CompileOptions`, all but its devices; `axes` the mesh
    over the slice, `None` without one.
    """

    name: str
    target: str
    axes: Axes | None
    devices: int
    module: bytes
    options: bytes
    outputs: tuple[Asked, ...]


@dataclasses.dataclass(frozen=True)
class Reply:
    """What the compiler made of it, in plain values; placements are of the slice's devices."""

    text: str
    memory: dict[str, int]
    cost: dict[str, float]
    placements: tuple[Placement, ...]


def main() -> None:
    """Answers requests from stdin until it closes. What libraries print goes to stderr, which is a file."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    while True:
        try:
            request = receive(requests)
        except EOFError:
            return
        send(replies, _answer(request))


def send(pipe: IO[bytes], value: Any) -> None:
    """One message: eight bytes of length, and a pickle."""
    raw = pickle.dumps(value)
    pipe.write(len(raw).to_bytes(8, "little") + raw)
    pipe.flush()


def receive(pipe: IO[bytes]) -> Any:
    """The next message.

    Raises:
        EOFError: the other side has closed the pipe, or ended.
    """
    head = pipe.read(8)
    raw = pipe.read(int.from_bytes(head, "little"))
    if len(head) < 8 or len(raw) < int.from_bytes(head, "little"):
        raise EOFError
    return pickle.loads(raw)


def _end_with(parent: int) -> None:
    """A fork of the parent may hold the pipe open, and who compiles reads no pipe: the parent's id tells of its end."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(0)


def _answer(request: Request) -> Reply | Exception:
    import jax

    try:
        return compile_here(request)
    except (LensError, jax.errors.JaxRuntimeError) as error:
        return error
    except Exception as error:
        return RuntimeError(f"{type(error).__name__}: {error}")  # not every exception can be pickled


def compile_here(request: Request) -> Reply:
    """The program compiled in this process."""
    import jax
    from jax.interpreters import mlir
    from jaxlib import xla_client
    from jaxlib.mlir import ir

    over = _devices(request)
    options = xla_client.CompileOptions.ParseFromString(request.options)
    ids = np.array([[device.id for device in over]])
    options.device_assignment = xla_client.DeviceAssignment.create(ids)
    with mlir.make_ir_context():
        module = ir.Module.parse(request.module)
        made = over[0].client.compile(module, xla_client.DeviceList(tuple(over)), options)
    stats = made.get_compiled_memory_stats()
    memory = {name: getattr(stats, name) for name in dir(stats) if name.endswith("_in_bytes")}
    text = "\n\n".join(each.to_string() for each in made.hlo_modules())
    cost: dict[str, float] = {}
    with contextlib.suppress(jax.errors.JaxRuntimeError):  # XLA for GPU counts nothing without a card
        cost = dict(made.cost_analysis())
    return Reply(text, memory, cost, _placements(request, over, made))


def _devices(request: Request) -> Sequence[Any]:
    """The slice's devices in the order of the mesh; as many of them as the program has."""
    from shardlens.compilers.topology import devices, target_mesh

    found = target_mesh(request.target, request.axes).devices.flat if request.axes else devices(request.target)
    return list(found)[: request.devices]


def _placements(request: Request, over: Sequence[Any], made: Any) -> tuple[Placement, ...]:
    import jax

    chosen: Any = [None] * len(request.outputs)
    if request.outputs and len(over) > 1:
        # Tokens of ordered effects come before the outputs.
        chosen = list(made.get_output_shardings() or chosen)[-len(request.outputs) :]
    one = jax.sharding.SingleDeviceSharding(over[0]) if len(over) == 1 else None
    return tuple(
        _placed(one or _sharding(asked, xla, request.axes, over), shape, request.axes)
        for (shape, asked), xla in zip(request.outputs, chosen, strict=True)
    )


def _placed(sharding: Any, shape: Sequence[int], axes: Axes | None) -> Placement:
    from shardlens.compilers.unreduced import placed_of

    return placed_of(sharding, shape, axes)[0]


def _sharding(asked: tuple[Axes, Any] | None, xla: Any, axes: Axes | None, over: Sequence[Any]) -> Any:
    """The sharding of an output: the one that was asked for, or XLA's choice, over the mesh if a spec can say it.

    `jax.stages.Compiled.output_shardings` names XLA's choices by the same function, for which there is no public one.
    """
    from jax._src import sharding_impls
    from jax.sharding import NamedSharding
    from jaxlib import xla_client

    if asked is not None:
        return NamedSharding(_mesh(asked[0], over), asked[1])
    plain = sharding_impls.GSPMDSharding(tuple(over), xla_client.HloSharding.from_proto(xla))
    try:
        return sharding_impls._gspmd_to_named_sharding_via_mesh(plain, _mesh(axes, over)) if axes else plain
    except (ValueError, AssertionError):  # a sharding that no spec says
        return plain


def _mesh(axes: Axes, over: Sequence[Any]) -> Any:
    import jax

    names, sizes = zip(*axes)
    grid = np.array(over, dtype=object).reshape(sizes)
    return jax.sharding.Mesh(grid, names, axis_types=(jax.sharding.AxisType.Auto,) * len(axes))
