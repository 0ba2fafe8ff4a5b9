"""Floating-point operations of HLO, as XLA's own analysis counts them, and loops by their rounds. No JAX here.

XLA counts a loop's body and its condition once, and of a conditional's branches the one with most. What is counted here is
added to that: the other rounds. Source: XLA, `HloCostAnalysis`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from shardlens.reading.calls import calls
from shardlens.reading.hlo import HloArray, HloInstruction, HloModule, Shape, hlo_leaves, parse_hlo
from shardlens.reading.loops import Loops

# One for each element of the output, whatever the type. What is transcendental, as `sqrt`, has a count of its own.
ELEMENTWISE = frozenset(
    "abs add and bitcast-convert ceil clamp compare complex convert count-leading-zeros divide floor imag is-finite maximum"
    " minimum multiply negate not or popcnt ragged-dot real reduce-precision remainder round-nearest-afz round-nearest-even"
    " select shift-left shift-right-arithmetic shift-right-logical sign stochastic-convert subtract xor".split()
)


def added_by_rounds(hlo_text: str) -> float | None:
    """FLOPs of one device beyond those that XLA's analysis counts: a loop's second round, and those that follow it.

    Returns:
        `None` when data decides how often a loop runs that computes.
    Raises:
        LensError: the text is not that of an HLO module.
    Example:
        >>> w = jax.ShapeDtypeStruct((64, 64), "float32")
        >>> program = lens.inspect(lambda w: jax.lax.fori_loop(0, 10, lambda i, x: x @ w, w), w)
        >>> added_by_rounds(program.hlo) // (2 * 64**3)
        9.0
    """
    loops = calls(hlo_text).loops
    if not loops:
        return 0.0
    added, known = Arithmetic(parse_hlo(hlo_text), loops=False).added(loops)
    return added if known else None


def least(hlo_text: str) -> float:
    """FLOPs of one device, where a loop runs once whose rounds data decides.

    Raises:
        LensError: the text is not that of an HLO module.
    """
    module = parse_hlo(hlo_text)
    once = Arithmetic(module, loops=True).once(module.entry)
    return once + Arithmetic(module, loops=False).added(calls(hlo_text).loops)[0]


class Arithmetic:
    """Counts the FLOPs of computations: with the body and condition of each loop once, as XLA does, or not at all."""

    def __init__(self, module: HloModule, *, loops: bool) -> None:
        self.module, self.loops = module, loops
        self._known: dict[str, float] = {}

    def added(self, loops: Loops) -> tuple[float, bool]:
        """FLOPs of all rounds but the one of each loop that is counted in the computation around it; whether that is all."""
        total, known = 0.0, True
        for (computation, name), rounds in loops.items():
            i = self.module.computations[computation][name]
            body, condition = (self.once(i.attribute(key).removeprefix("%")) for key in ("body", "condition"))
            if rounds.rounds is None or rounds.starts is None:
                known = known and not body + condition
                continue
            total += body * (rounds.rounds - 1) + condition * (rounds.rounds + rounds.starts - 1)
        return total, known

    def once(self, computation: str) -> float:
        """FLOPs of one run of a computation, for loops see above."""
        if computation not in self._known:
            self._known[computation] = 0.0
            around = self.module.computations.get(computation, {})
            self._known[computation] = sum(self.of(i, around) for i in around.values())
        return self._known[computation]

    def of(self, i: HloInstruction, around: dict[str, HloInstruction]) -> float:
        """FLOPs of one instruction."""
        opcode = i.opcode
        if opcode in ELEMENTWISE:
            return size(i.shape)
        if counted := _COUNTED.get(opcode):
            return counted(self, i, around)
        if opcode == "while":
            return self._called(i, "body", "condition") if self.loops else 0.0
        calls = opcode in ("fusion", "call", "call-start") and not self._gathers(i)
        return self._called(i, "calls", "to_apply") if calls else 0.0

    def _gathers(self, i: HloInstruction) -> bool:
        """Whether it is a custom fusion of a gather: XLA counts its bytes, and no operations."""
        inside = (self.module.computations.get(name, {}).values() for name in self._names(i, "calls"))
        return i.attribute("kind") == "kCustom" and any(o.opcode == "gather" for each in inside for o in each)

    def _called(self, i: HloInstruction, *keys: str) -> float:
        return sum(self.once(name) for name in self._names(i, *keys))

    def _names(self, i: HloInstruction, *keys: str) -> list[str]:
        return [name for key in keys for name in re.findall(r"[^\s,{}%]+", i.attribute(key))]

    def _operand(self, i: HloInstruction, k: int, around: dict[str, HloInstruction]) -> HloArray:
        found = around.get(i.operands[k]) if k < len(i.operands) else None
        return next(hlo_leaves(found.shape), _NOTHING) if found else _NOTHING

    def _branches(self, i: HloInstruction, around: dict[str, HloInstruction]) -> float:
        names = self._names(i, "branch_computations", "true_computation", "false_computation")
        return max(map(self.once, names), default=0.0)

    def _dot(self, i: HloInstruction, around: dict[str, HloInstruction]) -> float:
        left = self._operand(i, 0, around).shape
        return 2 * size(i.shape) * math.prod(left[d] for d in _numbers(i.attribute("lhs_contracting_dims")))

    def _convolution(self, i: HloInstruction, around: dict[str, HloInstruction]) -> float:
        """Two for each product of numbers, none of them padding; cuDNN returns one of a forward pass's three arrays."""
        labels = re.match(r"([^_]*)_([^-]*)->(.*)", i.attribute("dim_labels"))
        if not labels:
            return 0.0
        image, kernel = self._operand(i, 0, around).shape, self._operand(i, 1, around).shape
        made = next(hlo_leaves(i.shape)).shape
        kernel, made = (made, kernel) if "$convBackwardFilter" in i.text else (kernel, made)
        image, made = (made, image) if "$convBackwardInput" in i.text else (image, made)
        window = dict(_WINDOW.findall(i.attribute("window")))
        spatial = [d for d in sorted(labels[2]) if d.isdigit()]
        lines = [
            _valid(k, len(spatial), window, image[labels[1].index(d)], made[labels[3].index(d)])
            for k, d in enumerate(spatial)
        ]
        features = kernel[labels[2].index("i")] * made[labels[3].index("f")]
        return 2.0 * features * made[labels[3].index("b")] * math.prod(lines)

    def _reduce(self, i: HloInstruction, around: dict[str, HloInstruction]) -> float:
        fewer = size(self._operand(i, 0, around)) - size(next(hlo_leaves(i.shape)))
        return self._called(i, "to_apply") * fewer

    def _window(self, i: HloInstruction, around: dict[str, HloInstruction]) -> float:
        window = dict(_WINDOW.findall(i.attribute("window")))
        lengths, made = _numbers(window.get("size", "1")), next(hlo_leaves(i.shape))
        wide = [k for k, length in enumerate(lengths) if length > 1]
        if len(wide) == 1 and len(lengths) == len(made.shape) and _is_whole(window, wide[0], made.shape[wide[0]]):
            length = made.shape[wide[0]]
            return self._called(i, "to_apply") * (size(made) // length + length - 1)
        return self._called(i, "to_apply") * (math.prod(lengths) - 1) * size(made)

    def _spread(self, i: HloInstruction, around: dict[str, HloInstruction]) -> float:
        elements = math.prod(_numbers(dict(_WINDOW.findall(i.attribute("window"))).get("size", "1")))
        source = size(self._operand(i, 1, around))
        return source * (self._called(i, "select") * (elements - 1) + self._called(i, "scatter"))

    def _scatter(self, i: HloInstruction, around: dict[str, HloInstruction]) -> float:
        return self._called(i, "to_apply") * size(self._operand(i, len(i.operands) * 2 // 3, around))

    def _map(self, i: HloInstruction, around: dict[str, HloInstruction]) -> float:
        return self._called(i, "to_apply") * size(i.shape)

    def _sort(self, i: HloInstruction, around: dict[str, HloInstruction]) -> float:
        elements = size(self._operand(i, 0, around))
        return elements * math.ceil(math.log2(elements)) if elements > 1 else 0.0

    def _transform(self, i: HloInstruction, around: dict[str, HloInstruction]) -> float:
        logs = (int(math.log2(n)) for n in _numbers(i.attribute("fft_length")) if n)
        return 8.0 * size(self._operand(i, 0, around)) * math.prod(logs)

    def _factored(self, i: HloInstruction, around: dict[str, HloInstruction]) -> float:
        a = self._operand(i, 0, around)
        return size(a) * a.shape[-1] // 3

    def _solved(self, i: HloInstruction, around: dict[str, HloInstruction]) -> float:
        return 2.0 * size(i.shape) * self._operand(i, 0, around).shape[-1]

    def _custom(self, i: HloInstruction, around: dict[str, HloInstruction]) -> float:
        """Of GPU libraries; of the k largest, k for each element, as libtpu 0.0.42 counts; a TPU's tiles are T(8,128)."""
        if "__cudnn$conv" in i.text:
            return self._convolution(i, around)
        if "__cublas$" in i.text and (summed := _CONTRACTED.search(i.text)):
            return 2.0 * size(i.shape) * math.prod(self._operand(i, 0, around).shape[d] for d in _numbers(summed[1]))
        if 'custom_call_target="TopK"' not in i.text or ":T(" not in i.text:
            return 0.0
        return float(size(self._operand(i, 0, around)) * next(hlo_leaves(i.shape)).shape[-1])

    def _summed(self, i: HloInstruction, around: dict[str, HloInstruction]) -> float:
        return sum(size(array) for array in hlo_leaves(i.shape[1] if isinstance(i.shape, tuple) and i.is_pair else i.shape))


_CONTRACTED = re.compile(r'"lhs_contracting_dimensions":\[([^]]*)\]')
_NOTHING = HloArray("token", ())
_WINDOW = re.compile(r"(\w+)=([^\s{}]+)")
_COUNTED: dict[str, Callable[[Arithmetic, HloInstruction, dict[str, HloInstruction]], float]] = {
    "all-reduce": Arithmetic._summed,
    "all-reduce-start": Arithmetic._summed,
    "cholesky": Arithmetic._factored,
    "conditional": Arithmetic._branches,
    "convolution": Arithmetic._convolution,
    "custom-call": Arithmetic._custom,
    "dot": Arithmetic._dot,
    "fft": Arithmetic._transform,
    "map": Arithmetic._map,
    "reduce": Arithmetic._reduce,
    "reduce-window": Arithmetic._window,
    "scatter": Arithmetic._scatter,
    "select-and-scatter": Arithmetic._spread,
    "sort": Arithmetic._sort,
    "triangular-solve": Arithmetic._solved,
}


def size(shape: Shape) -> int:
    """Elements of an array; of a tuple, of its first array."""
    return math.prod(shape.shape) if isinstance(shape, HloArray) else size(next(hlo_leaves(shape), _NOTHING))


def _is_whole(window: dict[str, str], k: int, length: int) -> bool:
    """Whether each position's window holds all of a dimension: XLA counts that as one sum, then copied."""
    pads = window.get("pad", "").split("x")
    same = len(pads) > k and pads[k] == f"{length - 1}_{length - 1}"
    return same and _numbers(window["size"])[k] == 2 * length - 1 and "stride" not in window and "dilate" not in str(window)


def _numbers(text: str) -> list[int]:
    return [int(n) for n in re.findall(r"-?\d+", text)]


def _valid(k: int, rank: int, window: dict[str, str], size_in: int, size_out: int) -> int:
    """Pairs of an output position and a window position that meet in a number of the input, along one dimension."""

    def along(key: str, otherwise: str) -> str:
        return window.get(key, "x".join([otherwise] * rank)).split("x")[k]

    length, stride = int(along("size", "1")), int(along("stride", "1"))
    low = int(along("pad", "0_0").split("_")[0])
    spread, apart = int(along("lhs_dilate", "1")), int(along("rhs_dilate", "1"))
    return sum(_meeting(w * apart - low, stride, size_out, spread, size_in) for w in range(length))


def _meeting(first: int, stride: int, outputs: int, spread: int, inputs: int) -> int:
    """How many of `first + stride * n` for n below `outputs` are multiples of `spread` below `spread * inputs`."""
    period = spread // math.gcd(stride, spread)
    start = next((n for n in range(period) if (first + stride * n) % spread == 0), None)
    if start is None:
        return 0
    # From here on every `period`th position meets a number, as long as it lies inside.
    low = max(0, -(-(-first - stride * start) // (stride * period)))
    last = (spread * (inputs - 1) - first - stride * start) // (stride * period)
    most = (outputs - 1 - start) // period if outputs > start else -1
    return max(0, min(last, most) - low + 1)
