"""Chapter 10, what the programs of 10.9 are made of: the loss, a device's own gradients, and `shard_map` around both."""

from __future__ import annotations

from typing import Any

from shardlab_course.shared.guarded import mapped


def loss(W: Any, b: Any, x: Any, y: Any) -> Any:
    """The mean squared error."""
    return ((x @ W + b[None] - y) ** 2).mean()


def mapped_body(mesh: Any, body: Any, *, check: bool = True, out: Any = None) -> Any:
    """`jax.shard_map` of a body with whole weights and a batch cut by rows; both outputs are whole, or as `out` says."""
    import jax

    rows = jax.P("data")
    return mapped(mesh, body, (jax.P(), jax.P(), rows, rows), (jax.P(), jax.P()) if out is None else out, check=check)


def own(W: Any, b: Any, x: Any, y: Any) -> Any:
    """The gradients of a device's own rows, which nobody has added up."""
    import jax

    varying = (jax.lax.pcast(w, "data", to="varying") for w in (W, b))
    return jax.grad(loss, (0, 1))(*varying, x, y)


def averaged_again(mean: Any) -> Any:
    """The same mean, for the bytes of another one."""
    import jax

    return jax.lax.pmean(jax.lax.pcast(mean * 1, "data", to="varying"), "data")
