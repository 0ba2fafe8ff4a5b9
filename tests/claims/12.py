"""Claims of chapter 12."""

from __future__ import annotations

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import P
from jax.sharding import AxisType

import shardlab as sl
from claims.claim import CPU, GPU, THREE, V5E, claim

LINE = jax.make_mesh((8,), ("x",), (AxisType.Auto,))
LEFT = [(d, (d - 1) % 8) for d in range(8)]
RNG = np.random.default_rng(12)
X, W = (
    jax.device_put(RNG.normal(size=shape).astype("f4"), jax.NamedSharding(LINE, spec))
    for shape, spec in (((256, 512), P("x", None)), ((512, 1024), P(None, "x")))
)
FEATURES = jax.device_put(np.asarray(X), jax.NamedSharding(LINE, P(None, "x")))


TOKENS, COLUMNS = P("x", None), P(None, "x")


def on_blocks(body, specs=(TOKENS, COLUMNS)):
    """Under shard_map, with the columns of the output cut."""
    return jax.shard_map(body, mesh=LINE, in_specs=specs, out_specs=P(None, "x"))


def ring(product_first):
    """The page's ring, with the product above the hop or below it."""

    def body(x, w):
        d, m = jax.lax.axis_index("x"), len(x)
        y = jnp.zeros((8 * m, w.shape[1]))
        for i in range(8):
            mine, at = x, (d + i) % 8 * m
            if product_first:
                y = jax.lax.dynamic_update_slice_in_dim(y, mine @ w, at, 0)
            if i < 7:
                x = jax.lax.ppermute(x, "x", LEFT)
            if not product_first:
                y = jax.lax.dynamic_update_slice_in_dim(y, mine @ w, at, 0)
        return y

    return on_blocks(body)


def contracted(last_hop):
    """12.1's program; with a hop in the last round too, as it was published."""

    def body(x, w):
        d, k = jax.lax.axis_index("x"), x.shape[1]
        total = 0
        for i in range(8):
            total += x @ jax.lax.dynamic_slice_in_dim(w, (d + i) % 8 * k, k)
            if last_hop or i < 7:
                x = jax.lax.ppermute(x, "x", LEFT)
        return total

    return on_blocks(body, (P(None, "x"),) * 2)


def order(program):
    """Permutes and products in the order of the text, without their numbers."""
    entry = program.hlo[program.hlo.index("ENTRY") :].splitlines()
    found = (re.search(r"%([a-z_-]+)[.\d]* = .* (collective-permute[a-z-]*|fusion|dot)\(", line) for line in entry)
    return [m[2] for m in found if m]


@claim("JAX keeps your lines in their order, but XLA follows only what needs what", targets=THREE)
def order_of_lines(target):
    """The product above the hop or below it: traced in the order of the lines, and one schedule."""
    traced = [
        re.findall(r"stablehlo\.(collective_permute|dot_general)", jax.jit(ring(first)).lower(X, W).as_text())
        for first in (True, False)
    ]
    assert sorted(traced[0]) == sorted(traced[1])
    assert [names[0] for names in traced] == ["dot_general", "collective_permute"]
    above, below = (sl.inspect(ring(first), X, W, target=target) for first in (True, False))
    assert order(above) == order(below)
    assert above.price == below.price


@claim("JAX saw that nothing needs what it brings, and removed it", targets=THREE)
def hop_for_nothing(target):
    """Eight hops are traced, and seven of them lowered: no compiler sees the last."""
    published = contracted(last_hop=True)
    assert str(jax.make_jaxpr(published)(FEATURES, W)).count("ppermute[") == 8
    assert jax.jit(published).lower(FEATURES, W).as_text().count("stablehlo.collective_permute") == 7
    found = sl.inspect(published, FEATURES, W, target=target).collectives
    assert [c.kind for c in found] == ["collective-permute"] * 7


@claim(
    "The payload is an $n$-th less than a gather's, because a gather's payload counts the device's own chunk.",
    "the all-gather's payload counts its whole output, and the device's own chunk in it is never sent",
    targets=THREE,
)
def an_eighth_less(target):
    """Payload of the ring, and of the all-gather."""
    plain = on_blocks(lambda x, w: jax.lax.all_gather(x, "x", axis=0, tiled=True) @ w)
    whole, parts = (sl.inspect(f, X, W, target=target).payload_bytes for f in (plain, ring(True)))
    assert parts * 8 == whole * 7


@claim("no hop has anything beside it: the one product needs the whole buffer, so it needs every hop", targets=(CPU,))
def whole_buffer(target):
    """No FLOP can run beside a hop."""

    def body(x, w):
        came = [x]
        for _ in range(7):
            came.append(jax.lax.ppermute(came[-1], "x", LEFT))
        return jnp.concatenate(came) @ w

    found = sl.inspect(on_blocks(body), X, W, target=target).overlaps
    assert [run.beside for run in found] == [0] * 7


@claim(
    "It did not take apart the gather written in `shard_map`",
    "XLA for TPU did not take apart the `all_gather` written in `shard_map`",
    "XLA for GPU takes neither program apart.",
    targets=(V5E, GPU),
)
def written_gather(target):
    """At the page's sizes plain jit has permutes on a TPU, and shard_map an all-gather."""

    def like(shape, spec):
        return jax.ShapeDtypeStruct(shape, "bfloat16", sharding=jax.NamedSharding(LINE, spec))

    large = like((2048, 4096), P("x", None)), like((4096, 16384), P(None, "x"))
    plain = on_blocks(lambda x, w: jax.lax.all_gather(x, "x", axis=0, tiled=True) @ w)
    assert sl.inspect(plain, *large, target=target).kinds == {"all-gather"}

    def jitted(x, w):
        return jax.lax.with_sharding_constraint(x @ w, jax.NamedSharding(LINE, P(None, "x")))

    assert sl.inspect(jitted, *large, target=target).kinds == {"all-gather" if target == GPU else "collective-permute"}


@claim(
    "There the gain is $(2n - 1) / n = 2 - 1/n$",
    "From three devices on the gain is largest where both take equally long, (2n - 1) / n",
    "there the blocking program takes $2 - 1/n$ times as long",
)
def gain():
    """By the page's model; `equal` devices are those for which a hop takes as long as a product."""

    def gains(equal):
        hops = [(n, n / equal) for n in range(2, 200)]  # beside a product of 1
        return {n: (n + (n - 1) * hop) / (1 + (n - 1) * max(1, hop)) for n, hop in hops}

    for equal in range(3, 65):
        found = gains(equal)
        assert max(found, key=found.get) == equal
        assert found[equal] == pytest.approx(2 - 1 / equal)
    assert gains(2)[2] == pytest.approx(gains(2)[3])
    assert max(gains(1.5).values()) < 1.5


@claim(
    "The public names of this kind in `jax.lax` of JAX 0.10.2 are `psend` and `precv`, which JAX lowers for GPUs alone. "
    "JAX 0.12 deprecates both, and has `psum_scatter_start`, which is not documented yet.",
    "In jax.lax of JAX 0.10.2 no public function starts a collective or waits for one on CPUs and TPUs",
)
def no_public_name():
    """Among all names of jax.lax, and lowered for both; a private one is there in each JAX."""
    if jax.__version_info__[:2] not in {(0, 10), (0, 12)}:
        pytest.skip("of JAX 0.10 and 0.12")
    import jax._src.lax.parallel as private

    words = "async", "start", "wait", "done", "send", "recv"
    found = [name for name in dir(jax.lax) if any(word in name for word in words)]
    assert hasattr(private, "all_gather_start")
    if jax.__version_info__ >= (0, 12):
        assert found == ["psum_scatter_start"] and not jax.lax.psum_scatter_start.__doc__
        for name in ("psend", "precv"):
            with pytest.warns(DeprecationWarning, match=name):
                assert callable(getattr(jax.lax, name))
        return

    def sends(x):
        token = jax.lax.psend(x, "x", LEFT)
        return jax.lax.precv(token, jax.ShapeDtypeStruct(x.shape, x.dtype), "x", LEFT)

    assert found == ["precv", "psend"]
    given = jax.jit(jax.shard_map(sends, mesh=LINE, in_specs=P("x", None), out_specs=P("x", None))).trace(X)
    for platform in ("cpu", "tpu"):
        with pytest.raises(NotImplementedError, match="only implemented on GPU"):
            given.lower(lowering_platforms=(platform,))


@claim("XLA for CPU keeps the loop: its body is one computation, printed once", targets=(CPU,))
def one_line(target):
    """A fori_loop of seven rounds is one permute in the text, which runs seven times."""

    def body(x):
        return jax.lax.fori_loop(0, 7, lambda i, x: jax.lax.ppermute(x, "x", LEFT), x)

    f = jax.shard_map(body, mesh=LINE, in_specs=P("x", None), out_specs=P("x", None))
    assert [c.executions for c in sl.inspect(f, X, target=target).collectives] == [7]


@claim("This compiler also puts the product of the device's own tokens between the start and the done", targets=(GPU,))
def beside_on_a_gpu(target):
    """In the order of the text: the gather's start, the product that does not need it, its done, the other product."""

    def two_products(x, w, v):
        everyone = jax.lax.all_gather(x, "x", axis=0, tiled=True)
        return everyone @ w, x @ v

    ins, outs = (P("x"), P(None, "x"), P()), (P(None, "x"), P("x"))
    f = jax.shard_map(two_products, mesh=LINE, in_specs=ins, out_specs=outs)
    sizes = (2048, 4096), (4096, 16384), (4096, 4096)
    args = [jax.ShapeDtypeStruct(n, "f4", sharding=jax.NamedSharding(LINE, s)) for n, s in zip(sizes, ins)]
    entry = sl.inspect(f, *args, target=target).hlo.partition("ENTRY")[2]
    order = re.findall(r"^  %(all-gather-start|all-gather-done|gemm_fusion)", entry, re.MULTILINE)
    assert order == ["all-gather-start", "gemm_fusion", "all-gather-done", "gemm_fusion"]
