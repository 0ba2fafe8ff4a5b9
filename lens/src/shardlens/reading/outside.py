"""What a program calls that XLA does not make itself: kernels, foreign functions, the host. No JAX here.

XLA says of such a call what it takes and what it gives, and not what moves meanwhile. What cannot be counted is said to be
uncounted, never counted as nothing.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator

from shardlens.reading.calls import calls
from shardlens.reading.hlo import HloInstruction, HloModule, hlo_leaves, parse_hlo
from shardlens.reading.kernels import Sent, sent
from shardlens.reading.slices import TRANSFER

KERNEL = "a kernel that sends to other devices"
FOREIGN = "a foreign function, which may send to other devices"
PALLAS = "tpu_custom_call"

# Users register foreign functions by name, on CPU and GPU alone; these are the names that JAX and XLA give theirs.
_ALONE = re.compile(
    r"lapack_|blas_|cu(solver|blas|sparse|dnn|fft)|hip(solver|blas|sparse)|cu_(threefry|lu_pivots)|hip_(threefry|lu_pivots)"
    r"|__(cublas|cudnn|cusolver|cufft|cub|onednn|gpu)\$|triton_kernel_call$"
    r"|(AllocateBuffer|AnnotateDevicePlacement|AssumeGatherIndicesInBound|ConcatBitcast|LayoutConstraint|MoveToDevice"
    r"|MoveToHost|PadToStatic|PartialReduce|SPMDFullToShardShape|SPMDShardToFullShape|SetBound|Sharding|SliceToDynamic"
    r"|TopK)$"
)
_CALLBACK = re.compile(r"xla_(ffi_)?(partitioned_)?python_(cpu|gpu)_callback$")
_BODY = re.compile(r'"custom_call_config":\{"body":"([^"]+)"')
_KERNELS = re.compile(rf'custom_call_target="(?:{PALLAS}|__gpu\$xla\.gpu\.triton|mosaic_gpu\w*)"')
_TARGET = re.compile(r'custom_call_target="([^"]*)"')
_MESSAGES = ("send", "recv", "infeed", "outfeed")


@dataclasses.dataclass(frozen=True)
class HostCall:
    """Bytes between one device and its host.

    Args:
        name: the instruction's name in the HLO.
        out: bytes to the host, in one execution.
        into: bytes from the host.
        executions: how often; `None` when data decides.
        op_name: the JAX operation.
        source: the user's line of it.
    """

    name: str
    out: int
    into: int
    executions: int | None
    op_name: str
    source: str


def uncounted(module: HloModule, instruction: HloInstruction) -> str:
    """Why nobody can count what a call moves between devices; empty for one that moves nothing, and on a single device."""
    target = _TARGET.search(instruction.text)
    if module.devices <= 1 or target is None or instruction.opcode.removesuffix("-start") != "custom-call":
        return ""
    if target[1] == PALLAS:
        return KERNEL if '"has_communication":true' in instruction.rest else ""
    # For TPUs nobody but XLA and Pallas has such calls.
    own = module.for_tpu or _ALONE.match(target[1]) or _CALLBACK.match(target[1])
    return "" if own else f"{FOREIGN}: {target[1]}"


def host_calls(hlo_text: str) -> tuple[HostCall, ...]:
    """What a program sends to the host and takes from it, in the order of its text: callbacks, messages, feeds.

    Raises:
        LensError: the text is not that of an HLO module.
    Example:
        >>> x = jax.ShapeDtypeStruct((4,), "float32")
        >>> f = lambda x: jax.pure_callback(np.sin, x, x)
        >>> [(call.out, call.into) for call in host_calls(lens.inspect(f, x).hlo)]
        [(16, 16)]
    """
    if not any(word in hlo_text for word in ("_callback", "is_host_transfer=true", "infeed", "outfeed")):
        return ()
    module, runs = parse_hlo(hlo_text), calls(hlo_text).runs
    return tuple(
        call
        for name, instructions in module.computations.items()
        if runs[name] != 0
        for instruction in instructions.values()
        for call in _calls_host(module, instructions, instruction, runs[name])
    )


def _calls_host(
    module: HloModule, siblings: dict[str, HloInstruction], i: HloInstruction, runs: int | None
) -> Iterator[HostCall]:
    message = i.opcode in _MESSAGES and ("feed" in i.opcode or "is_host_transfer=true" in i.rest) and TRANSFER not in i.rest
    target = _TARGET.search(i.text) if i.opcode == "custom-call" else None
    if not message and not (target and _CALLBACK.match(target[1])):
        return
    given = [a for name in i.operands if name in siblings for a in hlo_leaves(siblings[name].shape) if a.dtype != "token"]
    # The first of what a message returns is its array; a number and a token follow.
    first = i.shape[:1] if message and isinstance(i.shape, tuple) else i.shape
    taken = [a for a in hlo_leaves(first) if a.dtype != "token"]
    out = 0 if i.opcode in ("recv", "infeed") else sum(a.nbytes for a in given)
    into = 0 if i.opcode in ("send", "outfeed") else sum(a.nbytes for a in taken)
    if out or into:
        yield HostCall(i.name, out, into, runs, i.op_name, str(module.line(i)))


def remote_copies(module: HloModule, instruction: HloInstruction) -> Sent | None:
    """What the devices send one another in a Pallas kernel, in one run; `None` where nobody can say, or it is no kernel."""
    body = _BODY.search(instruction.rest)
    return sent(body[1], module.devices) if body and uncounted(module, instruction) == KERNEL else None


def kernels(hlo_text: str) -> int:
    """How many Pallas kernels a program calls, of whose arithmetic XLA says nothing."""
    return len(_KERNELS.findall(hlo_text))
