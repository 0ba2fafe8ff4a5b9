"""Chapter 15, exercise 15.2: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from functools import partial
from typing import Any

from shardlab_course.ch15.ex02 import oracle as of
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.question import Question, WrongProgram, WrongValues

BILL = (
    WrongValues(
        "cut-weights-counted-whole",
        "A model axis of m leaves each device an m-th of every weight that is cut; only the embedding stays whole.",
        1, like=lambda data, model, *rest: [_whole(data, model, *rest), *of.costs(data, model, *rest)[1:]]),
    WrongValues(
        "whole-batch", "A device has the tokens of its own part of the batch, and sums over model move only these.",
        1, like=lambda data, model, *rest: _whole_batch(data, model, *rest)),
    WrongValues(
        "collectives-on-one-device", "An axis of one device moves nothing over it.",
        1, like=lambda data, model, *rest: _always(data, model, *rest)),
    WrongValues(
        "forward-only",
        "The backward pass has sums over model too, one for each copy: two per layer, and one before the vocabulary.",
        2, like=lambda *given: _forward(*given)),
    WrongValues(
        "embedding-cut", "The embedding is whole on every device: model cuts none of its weights.",
        1, like=lambda *given: of.embedding_cut(*given)),
    WrongValues(
        "vocabulary-forgotten", "Before U one more sum of vectors crosses model: one in all, not one per layer.",
        2, like=lambda *given: _layers_alone(*given)),
    WrongValues(
        "sent-bytes", "These are twice the payload. The payload is counted once, however often an all-reduce passes it on.",
        2, like=lambda *given: [of.costs(*given)[0], *(2 * n for n in of.costs(*given)[1:])]),
    WrongValues(
        "whole-gradients-travel", "Over data each device sums the gradients of the weights that it holds, and no others.",
        2, like=lambda data, model, *rest: _whole_gradients(data, model, *rest)),
)  # fmt: skip


def _forward(data: int, model: int, batch: int, length: int, depth: int, layers: int, *rest: int) -> list[float]:
    held, _, over_data = of.costs(data, model, batch, length, depth, layers, *rest)
    return [held, 4 * layers * batch // data * length * depth * (model > 1), over_data]


def _whole(data: int, model: int, batch: int, length: int, depth: int, layers: int, vocabulary: int) -> float:
    return of.costs(data, 1, batch, length, depth, layers, vocabulary)[0]


def _whole_batch(data: int, model: int, batch: int, *rest: int) -> list[float]:
    held, over_model, _ = of.costs(1, model, batch, *rest)
    return [held, over_model, of.costs(data, model, batch, *rest)[2]]


def _always(data: int, model: int, batch: int, length: int, depth: int, layers: int, vocabulary: int) -> list[float]:
    given = batch, length, depth, layers, vocabulary
    tokens = batch // data * length
    weights = vocabulary * depth + (12 * layers * depth**2 + depth * vocabulary) // model
    return [of.costs(data, model, *given)[0], 2 * (4 * layers + 1) * tokens * depth, 2 * weights]


def _layers_alone(data: int, model: int, batch: int, length: int, depth: int, layers: int, vocabulary: int) -> list[float]:
    held, over_model, over_data = of.costs(data, model, batch, length, depth, layers, vocabulary)
    return [held, over_model * 4 * layers / (4 * layers + 1), over_data]


def _whole_gradients(data: int, model: int, *rest: int) -> list[float]:
    return [*of.costs(data, model, *rest)[:2], of.costs(data, 1, *rest)[2]]


CHOICE = (
    WrongValues(
        "memory-ignored", "This mesh moves the fewest bytes, but it does not fit. Perhaps meshes that need more than the "
        "memory are not omitted, or too few bytes are counted.",
        1, like=lambda devices, memory, *rest: of.choice(devices, float("inf"), *rest)),
    WrongValues(
        "always-data", "That is data parallelism wherever it fits. With a small batch, another mesh moves less.",
        2, like=lambda *given: _first_that_fits(given, reverse=False)),
    WrongValues(
        "always-model", "That cuts the model as far as possible. With a large batch, another mesh moves less.",
        2, like=lambda *given: _first_that_fits(given, reverse=True)),
    WrongValues(
        "other-order", "The axes are the other way round: return [data, model].",
        1, like=lambda *given: (of.choice(*given) or [])[::-1] or None),
    WrongValues(
        "larger-axis-alone", "Add the bytes over both axes; this mesh has the fewest on its busier axis.",
        2, like=lambda *given: _busier(*given)),
    WrongValues(
        "powers-of-two-only", "A mesh axis may have 3 devices, or 6: try every number that divides the devices.",
        2, like=partial(of.choice, halved=True)),
    WrongValues(
        "tie", "If two meshes move the same, return the one with the smaller model.",
        3, like=lambda *given: _busier(*given, largest=False)),
    WrongValues(
        "embedding-cut", "A device holds the embedding whole, and its gradient is as large. Perhaps these costs cut it over "
        "model.",
        2, like=partial(of.choice, all_cut=True)),
    WrongValues(
        "exact-fit-refused", "A mesh also fits if it needs exactly the bytes that there are: at most, not less than.",
        1, like=partial(of.choice, below=True)),
    WrongProgram(
        "nothing-fits", "Perhaps no mesh fits here, and there is nothing to take the smallest of: then return None.",
        3, error="empty sequence|argument is empty|empty iterable|list index out of range"),
    WrongValues(
        "uneven-batch", "A batch that the data axis does not divide cannot be cut over it.",
        1, like=lambda *given: _uneven(*given)),
    WrongValues(
        "least-memory", "That mesh holds least. Among the meshes that fit, return the one that moves least.",
        2, like=lambda *given: _least_memory(*given)),
)  # fmt: skip


def _first_that_fits(given: tuple[Any, ...], *, reverse: bool) -> list[int] | None:
    devices, memory, batch, *rest = given
    for model in sorted((m for m in range(1, devices + 1) if devices % m == 0), reverse=reverse):
        data = devices // model
        if batch % data == 0 and of.costs(data, model, batch, *rest)[0] <= memory:
            return [data, model]
    return None


def _busier(devices: int, memory: float, batch: int, *rest: int, largest: bool = True) -> list[int] | None:
    meshes = [(devices // m, m) for m in range(1, devices + 1) if devices % m == 0 and batch % (devices // m) == 0]
    candidates = [(of.costs(d, m, batch, *rest), d, m) for d, m in meshes]
    count, sign = (max, 1) if largest else (sum, -1)
    fits = [(count(moved), sign * m, d, m) for (held, *moved), d, m in candidates if held <= memory]
    return list(min(fits)[2:]) if fits else None


def _uneven(devices: int, memory: float, batch: int, *rest: int) -> list[int] | None:
    meshes = [(devices // m, m) for m in range(1, devices + 1) if devices % m == 0]
    fits = [(sum(b[1:]), m) for d, m in meshes if (b := of.costs(d, m, batch, *rest))[0] <= memory]
    return [devices // min(fits)[1], min(fits)[1]] if fits else None


def _least_memory(devices: int, memory: float, batch: int, *rest: int) -> list[int] | None:
    meshes = [(devices // m, m) for m in range(1, devices + 1) if devices % m == 0 and batch % (devices // m) == 0]
    held = [(of.costs(d, m, batch, *rest)[0], d, m) for d, m in meshes]
    fits = [entry for entry in held if entry[0] <= memory]
    return list(min(fits)[1:]) if fits else None


QUESTION = Question(
    "15.2", "Choose a mesh, and defend it", difficulty=4, minutes=100,
    items=(
        CallsItem("costs", {"C": 12}, oracle=of.costs, misconceptions=BILL, rtol=1e-6,
                  calls=((8, 1, 64, 512, 1024, 2, 32000), (2, 4, 64, 512, 1024, 2, 32000), (1, 8, 16, 256, 512, 4, 8192)),
                  draw=of.draw_costs),
        CallsItem("choose", {"C": 12}, oracle=of.choice, misconceptions=CHOICE, calls=of.CHOICES,
                  draw=of.draw_choice),
    ),
    hints=(
        "A device holds the embedding whole and an m-th of the other weights, 6 bytes each. It has batch / data sequences.",
        "Over model there are 4 all-reduces per layer and step, and one before the vocabulary, each as large as the "
        "device's tokens. Over data there is one, of the device's own gradients. An axis of one device moves nothing.",
        "choose: for every m that divides the devices, and whose data axis divides the batch, compute the costs; drop "
        "what does not fit; take the smallest (bytes over both axes, m).",
    ),
    explanation="Over model the tokens travel, over data the gradients. So with more tokens choose a longer data axis, and "
                "with more weights a longer model axis. Memory decides first, since what does not fit does not run. The "
                "costs omit much, and the compiler says how much: temporaries, layouts, arrays kept for the backward pass. "
                "If the costs and the compiler rank two meshes differently, say so in the defence. A good defence names the "
                "bytes over each axis, the peak compared with the chip's memory (with a margin), and one change of the task "
                "(twice the batch, twice the depth) that would change the choice.",
)  # fmt: skip
