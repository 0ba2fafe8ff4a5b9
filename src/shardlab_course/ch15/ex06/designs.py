"""Chapter 15's designs: one training step, laid out over two mesh axes in thirteen ways, which set the front of 15.6."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shardlab_judge.items.design import Design
from shardlens import Spec

if TYPE_CHECKING:
    import jax

RATE = 0.1
AXES = ("x", "y")


def family() -> dict[str, Design]:
    """Every member, by what it cuts: the hidden units over some mesh axes, the batch and the weights over the others.

    `X` and `Y` may be cut over the axes of the hidden units too: then `X` is gathered, and the outputs are scattered.
    """
    members = {}
    for units in ((), ("x",), ("y",), ("x", "y")):
        for gathered in (False, True) if units else (False,):
            for scattered in (False, True) if units else (False,):
                extras = ["X gathered"] * gathered + ["Y scattered"] * scattered
                name = ", ".join([f"hidden units over {' and '.join(units) or 'nothing'}", *extras])
                members[name] = member(units, gathered, scattered)
    return members


def member(units: tuple[str, ...], gathered: bool, scattered: bool) -> Design:
    """The design that cuts the hidden units over these mesh axes."""
    batch = tuple(axis for axis in AXES if axis not in units)
    rows, split, kept = _entry(batch), _entry(units), _entry(batch + units)
    layout: dict[str, Spec] = {
        "X": (kept if gathered else rows, None),
        "Y": (kept if scattered else rows, None),
        "W1": (rows, split),
        "W2": (split, rows),
    }

    def loss(weights: Any, x: jax.Array, y: jax.Array, count: int) -> jax.Array:
        import jax
        import jax.numpy as jnp

        W1, W2 = weights
        if batch:
            W1 = jax.lax.all_gather(W1, batch, axis=0, tiled=True)
            W2 = jax.lax.all_gather(W2, batch, axis=1, tiled=True)
        if gathered:
            x = jax.lax.all_gather(x, units, axis=0, tiled=True)
        out = jnp.tanh(x @ W1) @ W2
        if scattered:
            out = jax.lax.psum_scatter(out, units, scatter_dimension=0, tiled=True)
        elif units:
            out = jax.lax.psum(out, units)
        return jnp.sum((out - y) ** 2) / count

    def step(mesh: Any, X: jax.Array, Y: jax.Array, W1: jax.Array, W2: jax.Array) -> tuple[jax.Array, jax.Array]:
        import jax

        def body(x: jax.Array, y: jax.Array, *weights: jax.Array) -> Any:
            slopes = jax.grad(loss)(weights, x, y, Y.size)
            return jax.tree.map(lambda w, g: w - RATE * g, weights, slopes)

        specs = tuple(jax.P(*layout[name]) for name in ("X", "Y", "W1", "W2"))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=specs[2:])(X, Y, W1, W2)

    return Design(layout, step)


def _entry(names: tuple[str, ...]) -> Any:
    """One entry of a spec."""
    return None if not names else names[0] if len(names) == 1 else names
