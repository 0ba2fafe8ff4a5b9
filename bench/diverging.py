"""What `lens.diverge` costs beside compiling and running both programs: a transformer's training step, plain and sharded.

    python bench/diverging.py [--layers 12] [--width 768] [--words 16384] [--tokens 128] [--write build/bench.json]

As given it has 97.5 million parameters. Both sides compile all that they run; a new process measures each.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import pathlib
import resource
import subprocess
import sys
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from entries import keep
from jax.ad_checkpoint import checkpoint_name

import shardlens as lens

P = jax.P
MOST = 3.0
HEAD = 64


def parameters(layers: int, width: int, words: int) -> Any:
    """Weights of the model, stacked over its layers."""
    rng = np.random.default_rng(0)
    draw = lambda *shape: rng.standard_normal(shape, "float32") / shape[-2] ** 0.5  # noqa: E731
    layer = {"qkv": (width, 3 * width), "out": (width, width), "up": (width, 4 * width), "down": (4 * width, width)}
    return {"words": draw(words, width), "layers": {name: draw(layers, *shape) for name, shape in layer.items()}}


def norm(x: jax.Array) -> jax.Array:
    """Rows with a root mean square of 1."""
    return x * jax.lax.rsqrt((x**2).mean(-1, keepdims=True) + 1e-6)


def loss(params: Any, tokens: jax.Array) -> jax.Array:
    """Cross entropy of the next token."""

    def layer(x: jax.Array, w: Any) -> tuple[jax.Array, None]:
        q, k, v = jnp.split((norm(x) @ w["qkv"]).reshape(*x.shape[:2], -1, HEAD), 3, axis=2)
        scores = checkpoint_name(jnp.einsum("bthk,bshk->bhts", q, k) / HEAD**0.5, "scores")
        causal = jnp.tril(jnp.ones(scores.shape[2:], bool))[None, None]
        weights = checkpoint_name(jax.nn.softmax(jnp.where(causal, scores, -1e9)), "weights")
        mixed = jnp.einsum("bhts,bshk->bthk", weights, v).reshape(x.shape)
        x = checkpoint_name(x + mixed @ w["out"], "attended")
        return checkpoint_name(x + jax.nn.gelu(norm(x) @ w["up"]) @ w["down"], "layer"), None

    x, _ = jax.lax.scan(layer, params["words"][tokens[:, :-1]], params["layers"])
    logits = norm(x) @ params["words"].T
    right = jnp.take_along_axis(logits, tokens[:, 1:, None], -1)[..., 0]
    return checkpoint_name((jax.nn.logsumexp(logits, -1) - right).mean(), "loss")


def arguments(made: argparse.Namespace) -> tuple[Any, Any]:
    """Parameters and tokens where the sharded program has them."""
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    cut = {"qkv": P(None, "data", "model"), "out": P(None, "model", "data"), "words": P("data", "model")}
    cut |= {"up": cut["qkv"], "down": cut["out"]}
    params = jax.tree_util.tree_map_with_path(
        lambda path, w: jax.device_put(w, jax.NamedSharding(mesh, cut[path[-1].key])),
        parameters(made.layers, made.width, made.words),
    )
    tokens = np.random.default_rng(1).integers(0, made.words, (4, made.tokens + 1))
    return params, jax.device_put(jnp.asarray(tokens, "int32"), jax.NamedSharding(mesh, P("data")))


def programs(params: Any, tokens: Any) -> None:
    """Both programs, compiled and run."""
    whole = jax.tree.map(lambda x: jnp.asarray(np.asarray(x)), (params, tokens))
    for args in (whole, (params, tokens)):
        jax.block_until_ready(jax.jit(jax.value_and_grad(loss))(*args))


def compared(params: Any, tokens: Any) -> None:
    """The same two programs and every named value of them."""
    step = jax.value_and_grad(loss)
    found = lens.diverge(step, jax.jit(jax.value_and_grad(lambda *args: loss(*args))), params, tokens)
    if found.first:
        raise RuntimeError(str(found))
    print(found, file=sys.stderr)


SIDES = {"programs": programs, "diverge": compared}


def measured(side: str, given: list[str]) -> dict[str, float]:
    """Seconds, those of processor time, and the most memory, in GB, of one side in a process of its own."""
    return dict(json.loads(subprocess.run([sys.executable, __file__, "--side", side, *given], check=True, stdout=-1).stdout))


def main() -> None:
    """Measures both sides and says their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in {"layers": 12, "width": 768, "words": 16384, "tokens": 128}.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--side", choices=SIDES)
    parser.add_argument("--write", type=pathlib.Path)
    made = parser.parse_args()
    if made.side:
        jax.config.update("jax_platforms", "cpu")
        jax.config.update("jax_num_cpu_devices", 8)
        args = arguments(made)
        began, busy = time.perf_counter(), time.process_time()
        with contextlib.redirect_stdout(sys.stderr):
            SIDES[made.side](*args)
        took = {"seconds": time.perf_counter() - began, "processor": time.process_time() - busy}
        print(json.dumps(took | {"gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20}))
        return
    given = [f"--{name}={getattr(made, name)}" for name in ("layers", "width", "words", "tokens")]
    sides = {side: measured(side, given) for side in SIDES}
    count = sum(x.size for x in jax.tree.leaves(jax.eval_shape(lambda: parameters(made.layers, made.width, made.words))))
    found = round(sides["diverge"]["processor"] / sides["programs"]["processor"], 3)
    for side, each in sides.items():
        print(f"{side:9} {each['seconds']:6.1f} s, {each['processor']:6.1f} s of processor time, {each['gigabytes']:.1f} GB")
    print(f"{count / 1e6:.1f} million parameters: {found:.2f} times both programs, at most {MOST:g}")
    if made.write:
        compared_to = "lens.diverge : compiling and running both programs, a transformer's gradients, CPU time"
        entry = {"name": f"diverge-{count // 10**6}M", "ratio": found, "interval": [found, found], "compared": compared_to}
        keep([entry | {"most": MOST, "rounds": 1, "interval_is": "no interval"}], made.write)


if __name__ == "__main__":
    main()
