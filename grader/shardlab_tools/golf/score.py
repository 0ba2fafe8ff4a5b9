"""What an entry is charged: first its values on eight devices, then bytes, memory and modelled time on a pod."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import numpy as np

import shardlens as lens
from shardlab_tools.golf import model
from shardlab_tools.golf.entry import Entry

TARGETS = {"v5e:16x16": 256, "h100:8x8": 64}
"""What is compiled for, and how many devices that is."""
STEPS = 3
NEAR = 1e-3
"""Of the largest change in a weight. Sums in another order differ by some 1e-6 of it, a missing term by a tenth."""

Trained = tuple[np.ndarray, dict[str, np.ndarray]]
"""The loss of each step, and the weights after the last one."""


class Score(NamedTuple):
    """Of one device of a pod, in one step."""

    milliseconds: float
    """By the lens's model of the chip, if nothing overlaps."""
    overlapped: float
    """The same, if everything does."""
    moving: float
    """The part of `milliseconds` in which bytes move between devices."""
    received: int
    """Payload of all collectives, in bytes."""
    peak: int
    """Memory in bytes."""
    room: int
    """Memory of the chip in bytes."""

    @property
    def fits(self) -> bool:
        """Whether the chip has that much memory."""
        return self.peak <= self.room

    @property
    def rank(self) -> tuple[bool, float]:
        """Less is better; what does not fit comes last."""
        return not self.fits, self.milliseconds


def differences(entry: Entry) -> list[str]:
    """What three steps on eight devices get wrong, against the plain program on one: a line for each array."""
    mesh = entry.mesh(8)
    tokens, weights = drawn(model.SMALL)
    still = jax.tree.map(np.zeros_like, weights)
    losses, after = _trained(jax.jit(model.step), tokens, weights, still)
    with jax.set_mesh(mesh):
        where = jax.tree.map(lambda each: each.sharding, entry.arguments(mesh, model.SMALL, "float32"))
        found = _trained(entry.jitted(mesh), *jax.device_put((tokens, weights, still), where))
    moved = {name: np.abs(after[name] - weights[name]).max() for name in after} | {"loss": np.ptp(losses)}
    pairs = {"loss": (losses, found[0])} | {name: (after[name], found[1][name]) for name in after}
    return [
        f"{name} is off by {off:.2g}, and the steps change it by {moved[name]:.2g}"
        for name, (right, other) in pairs.items()
        if not (off := np.abs(right - other).max()) <= NEAR * moved[name]
    ]


def score(entry: Entry, target: str) -> Score:
    """What XLA for the target makes of the entry's step in bfloat16; ValueError if a figure cannot be had."""
    devices = TARGETS[target]
    if devices not in entry.axes:
        raise ValueError(f"AXES has no mesh of {devices} devices, which {target} needs")
    mesh = entry.described(devices)
    with jax.sharding.use_abstract_mesh(mesh):
        program = lens.inspect(entry.jitted(mesh), *entry.arguments(mesh, model.POD, "bfloat16"), target=target)
    cost, memory = program.cost(target), program.memory
    if program.payload_bytes is None or memory is None:
        raise ValueError(f"XLA for {target} does not say what this step moves or holds")
    room = lens.chip(target.partition(":")[0]).hbm_bytes
    upper, lower, moving = (1e3 * seconds for seconds in (cost.upper, cost.lower, cost.communication))
    return Score(upper, lower, moving, program.payload_bytes, memory.peak, int(room))


def drawn(sizes: model.Sizes) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Tokens and weights, always the same."""
    rng = np.random.default_rng(45)
    tokens = rng.integers(0, sizes.words, (sizes.batch, sizes.length + 1)).astype("int32")
    return tokens, {name: rng.standard_normal(shape, "float32") for name, shape in model.shapes(sizes).items()}


def _trained(step: Any, tokens: Any, weights: Any, speeds: Any) -> Trained:
    losses = []
    for _ in range(STEPS):
        loss, weights, speeds = step(tokens, weights, speeds)
        losses.append(loss)
    return np.asarray(losses), jax.tree.map(np.asarray, weights)
