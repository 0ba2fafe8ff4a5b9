"""Five plain programs and their parallel selves, which are right; `planted` makes a wrong one of them by changing a line."""

from __future__ import annotations

import inspect
import itertools
import linecache
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from shardlens import name

P = jax.P
COUNT = itertools.count()


def mesh(**axes: int) -> Any:
    return jax.make_mesh(tuple(axes.values()), tuple(axes), axis_types=(jax.sharding.AxisType.Auto,) * len(axes))


def drawn(shapes: Any, dtype: str = "float32", seed: int = 2026) -> Any:
    """Random arrays of these shapes, rows of unit length on the average."""
    rng = np.random.default_rng(seed)
    made = [jnp.asarray(rng.standard_normal(s) / np.sqrt(s[-2] if len(s) > 1 else 1), dtype) for s in shapes.values()]
    return dict(zip(shapes, made))


def norm(x: Any, eps: float = 1e-5) -> Any:
    centred = x - x.mean(-1, keepdims=True)
    return centred * lax.rsqrt((centred**2).mean(-1, keepdims=True) + jnp.asarray(eps, x.dtype))


# An MLP with a residual, its width cut over y and its batch over x.
def mlp_inputs(dtype: str = "float32") -> tuple[Any, ...]:
    shapes = {"up": (16, 32), "bias": (32,), "down": (32, 16), "scale": (16,)}
    return drawn(shapes, dtype), drawn({"x": (8, 16)}, dtype, 1)["x"], drawn({"t": (8, 16)}, dtype, 2)["t"]


def mlp_plain(w: Any, x: Any, t: Any) -> Any:
    def loss(w: Any) -> Any:
        h = name(x @ w["up"] + w["bias"][None], "pre")
        a = name(jax.nn.gelu(h), "act")
        m = name(a @ w["down"], "mlp")
        r = name(norm(x + m) * w["scale"][None], "residual")
        e = name((r - t) ** 2, "squares")
        return name(e.mean(), "loss")

    return jax.value_and_grad(loss)(w)


def mlp_parallel(w: Any, x: Any, t: Any) -> Any:
    def loss(w: Any, x: Any, t: Any) -> Any:
        h = name(x @ w["up"] + w["bias"][None], "pre")
        a = name(jax.nn.gelu(h), "act")
        m = name(lax.psum(a @ w["down"], "y"), "mlp")
        r = name(norm(x + m) * w["scale"][None], "residual")
        e = name((r - t) ** 2, "squares")
        return name(lax.pmean(e.mean(), "x"), "loss")

    specs = ({"up": P(None, "y"), "bias": P("y"), "down": P("y"), "scale": P()}, P("x"), P("x"))
    mapped = jax.shard_map(loss, mesh=mesh(x=4, y=2), in_specs=specs, out_specs=P())
    return jax.jit(jax.value_and_grad(mapped))(w, x, t)


# Attention, heads cut over y and the batch over x.
def attention_inputs(dtype: str = "float32") -> tuple[Any, ...]:
    shapes = {"q": (16, 4, 8), "k": (16, 4, 8), "v": (16, 4, 8), "o": (4, 8, 16)}
    rng = np.random.default_rng(4)
    w = {n: jnp.asarray(rng.standard_normal(s) / 4, dtype) for n, s in shapes.items()}
    return w, jnp.asarray(rng.standard_normal((4, 6, 16)), dtype)


def attention_plain(w: Any, x: Any) -> Any:
    def loss(w: Any) -> Any:
        q, k, v = (name(jnp.einsum("btd,dhk->bhtk", x, w[n]), n) for n in "qkv")
        s = name(jnp.einsum("bhtk,bhsk->bhts", q, k) / 8**0.5, "scores")
        p = name(jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((6, 6), bool))[None, None], s, -1e9), axis=-1), "weights")
        c = name(jnp.einsum("bhts,bhsk->bhtk", p, v), "context")
        o = name(jnp.einsum("bhtk,hkd->btd", c, w["o"]), "out")
        return name(jnp.tanh(x + o).sum(), "loss")

    return jax.value_and_grad(loss)(w)


def attention_parallel(w: Any, x: Any) -> Any:
    def loss(w: Any, x: Any) -> Any:
        q, k, v = (name(jnp.einsum("btd,dhk->bhtk", x, w[n]), n) for n in "qkv")
        s = name(jnp.einsum("bhtk,bhsk->bhts", q, k) / 8**0.5, "scores")
        p = name(jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((6, 6), bool))[None, None], s, -1e9), axis=-1), "weights")
        c = name(jnp.einsum("bhts,bhsk->bhtk", p, v), "context")
        o = name(lax.psum(jnp.einsum("bhtk,hkd->btd", c, w["o"]), "y"), "out")
        return name(lax.psum(jnp.tanh(x + o).sum(), "x"), "loss")

    specs = ({n: P(None, "y") for n in "qkv"} | {"o": P("y")}, P("x"))
    mapped = jax.shard_map(loss, mesh=mesh(x=2, y=4), in_specs=specs, out_specs=P())
    return jax.jit(jax.value_and_grad(mapped))(w, x)


# Layers in a scan; each weight is cut over the axis of the batch, and gathered when its layer runs.
def fsdp_inputs(dtype: str = "float32") -> tuple[Any, ...]:
    shapes = {"up": (5, 16, 24), "down": (5, 24, 16)}
    return drawn(shapes, dtype), drawn({"x": (8, 16)}, dtype, 5)["x"]


def fsdp_plain(w: Any, x: Any) -> Any:
    def layer(h: Any, w: Any) -> Any:
        up, down = name(w["up"], "up"), name(w["down"], "down")
        u = name(jax.nn.silu(h @ up), "hidden")
        return name(norm(h + u @ down), "h"), None

    def loss(w: Any) -> Any:
        h, _ = lax.scan(layer, x, w)
        return name((h**3).mean(), "loss")

    return jax.value_and_grad(loss)(w)


def fsdp_parallel(w: Any, x: Any) -> Any:
    def layer(h: Any, w: Any) -> Any:
        up = name(lax.all_gather(w["up"], "x", axis=0, tiled=True), "up")
        down = name(lax.all_gather(w["down"], "x", axis=0, tiled=True), "down")
        u = name(jax.nn.silu(h @ up), "hidden")
        return name(norm(h + u @ down), "h"), None

    def loss(w: Any, x: Any) -> Any:
        h, _ = lax.scan(jax.checkpoint(layer), x, w)
        return name(lax.pmean((h**3).mean(), "x"), "loss")

    mapped = jax.shard_map(loss, mesh=mesh(x=8), in_specs=(P(None, "x"), P("x")), out_specs=P())
    return jax.jit(jax.value_and_grad(mapped))(w, x)


# A pipeline of four stages and six parts of the batch.
def pipeline_inputs(dtype: str = "float32") -> tuple[Any, ...]:
    return drawn({"w": (4, 8, 8)}, dtype), drawn({"x": (12, 8)}, dtype, 6)["x"] * 3


def pipeline_plain(w: Any, x: Any) -> Any:
    def stage(h: Any, w: Any) -> Any:
        a = name(h @ w, "product")
        return name(h + jnp.tanh(a), "stage"), None

    def loss(w: Any) -> Any:
        h, _ = lax.scan(stage, x, w)
        return name((h**2).sum(), "loss")

    return jax.value_and_grad(loss)(w["w"])


def pipeline_parallel(w: Any, x: Any) -> Any:
    def loss(w: Any, x: Any) -> Any:
        s = lax.axis_index("s")
        parts = x.reshape(6, 2, 8)

        def tick(carry: Any, t: Any) -> Any:
            h = jnp.where(s == 0, parts[jnp.minimum(t, 5)], carry)
            a = name(h @ w[0], "product")
            h = name(h + jnp.tanh(a), "stage")
            return lax.ppermute(h, "s", [(i, i + 1) for i in range(3)]), h

        _, hs = lax.scan(tick, lax.pcast(jnp.zeros((2, 8), x.dtype), "s", to="varying"), jnp.arange(9))
        last = jnp.where(s == 3, (hs[3:] ** 2).sum(), 0)
        return name(lax.psum(last, "s"), "loss")

    mapped = jax.shard_map(loss, mesh=mesh(s=4), in_specs=(P("s"), P()), out_specs=P())
    return jax.jit(jax.value_and_grad(mapped))(w["w"], x)


# A mixture of experts: each token goes to the device of its expert and back; the batch and the experts are cut over x.
def experts_inputs(dtype: str = "float32") -> tuple[Any, ...]:
    shapes = {"router": (8, 4), "up": (4, 8, 12), "down": (4, 12, 8)}
    return drawn(shapes, dtype), drawn({"x": (4, 10, 8)}, dtype, 8)["x"] * 3


def routed(gates: Any) -> Any:
    """Which token goes to which place of which expert, `[tokens, experts, places]`; an expert has five places."""
    chosen = jax.nn.one_hot(jnp.argmax(gates, -1), 4, dtype=jnp.int32)
    place = (jnp.cumsum(chosen, 0) * chosen - 1).astype(jnp.int32)
    return jax.nn.one_hot(place, 5, dtype=gates.dtype) * chosen.astype(gates.dtype)[..., None]


def experts_plain(w: Any, x: Any) -> Any:
    def loss(w: Any) -> Any:
        gates = name(jax.nn.softmax(name(x @ w["router"], "logits"), -1), "gates")
        sent = name(jax.vmap(routed)(gates), "sent")
        there = name(jnp.einsum("gtec,gtd->gecd", sent, x), "there")
        done = name(
            jnp.einsum("gech,ehd->gecd", jax.nn.relu(jnp.einsum("gecd,edh->gech", there, w["up"])), w["down"]), "done"
        )
        out = name(jnp.einsum("gtec,gecd->gtd", sent * gates[..., None], done), "out")
        return name((jnp.tanh(out + x) ** 2).mean(), "loss")

    return jax.value_and_grad(loss)(w)


def experts_parallel(w: Any, x: Any) -> Any:
    def loss(w: Any, x: Any) -> Any:
        x = x[0]
        gates = name(jax.nn.softmax(name(x @ w["router"], "logits"), -1), "gates")
        sent = name(routed(gates), "sent")
        there = name(lax.all_to_all(jnp.einsum("tec,td->ecd", sent, x), "x", 0, 0, tiled=True), "there")
        done = name(jax.nn.relu(there @ w["up"][0]) @ w["down"][0], "done")
        back = lax.all_to_all(done, "x", 0, 0, tiled=True)
        out = name(jnp.einsum("tec,ecd->td", sent * gates[..., None], back), "out")
        return name(lax.pmean((jnp.tanh(out + x) ** 2).mean(), "x"), "loss")

    specs = ({"router": P(), "up": P("x"), "down": P("x")}, P("x"))
    mapped = jax.shard_map(loss, mesh=mesh(x=4), in_specs=specs, out_specs=P())
    return jax.jit(jax.value_and_grad(mapped))(w, x)


PROGRAMS = ("mlp", "attention", "fsdp", "pipeline", "experts")


def pair(program: str, dtype: str = "float32") -> tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]:
    """A plain program, its parallel self, and their arguments."""
    found = globals()
    return found[f"{program}_plain"], found[f"{program}_parallel"], found[f"{program}_inputs"](dtype)


def planted(program: str, *changes: str) -> Callable[..., Any]:
    """The parallel program with other texts in it: one and what stands in its place, and the next."""
    text = inspect.getsource(globals()[f"{program}_parallel"])
    for right, wrong in zip(changes[::2], changes[1::2], strict=True):
        assert text.count(right) == 1, (program, right)
        text = text.replace(right, wrong)
    file = f"<planted {next(COUNT)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    made = dict(globals())
    exec(compile(text, file, "exec"), made)
    return made[f"{program}_parallel"]  # type: ignore[no-any-return]
