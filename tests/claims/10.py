"""Claims of chapter 10."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import P
from jax.sharding import AxisType, NamedSharding

import shardlab as sl
from claims.claim import GPU, THREE, V5E, claim

MESH = jax.make_mesh((8,), ("data",), (AxisType.Auto,))
TYPED = jax.make_mesh((8,), ("data",), (AxisType.Explicit,))
CUT = P("data", None)


def drawn(*shape, spec=None, mesh=TYPED):
    """Random numbers, whole on every device unless a spec says otherwise."""
    values = np.random.default_rng(len(shape) + sum(shape)).normal(size=shape).astype("float32")
    return jax.device_put(values, NamedSharding(mesh, P() if spec is None else spec))


def loss(weight, x, y):
    """The mean squared error of one layer."""
    return jnp.mean((x @ weight - y) ** 2)


def given(shape, spec, mesh=MESH):
    """An array that is only described."""
    return jax.ShapeDtypeStruct(shape, "float32", sharding=NamedSharding(mesh, spec))


@claim(
    "So the all-reduce carries as many bytes as the weights have.",
    "XLA for CPU, TPU and GPU agree on this payload.",
    targets=THREE,
)
def bytes_of_weights(target):
    """However large the batch is, and the loss is not in them."""
    for rows in (64, 128):
        program = sl.inspect(
            jax.grad(loss), given((24, 40), P()), given((rows, 24), CUT), given((rows, 40), CUT), target=target
        )
        assert program.kinds == {"all-reduce"}
        assert program.payload_bytes == 4 * 24 * 40


@claim("XLA for CPU and for TPU join the sums of all eight gradients into one", targets=THREE)
def joined(target):
    """One all-reduce for four matrices and four biases."""
    widths = (12, 40, 40, 20, 5)
    shapes = [shape for pair in zip(widths, widths[1:]) for shape in (pair, pair[1:])]

    def deep_loss(weights, x, y):
        for weight, bias in zip(weights[::2], weights[1::2]):
            x = jnp.tanh(x @ weight + bias[None])
        return jnp.mean((x - y) ** 2)

    weights = [given(shape, P()) for shape in shapes]
    program = sl.inspect(jax.grad(deep_loss), weights, given((64, 12), CUT), given((64, 5), CUT), target=target)
    assert [c.executions for c in program.collectives] == [1]
    assert program.payload_bytes == 12340


@claim("**its type is a function of the primal's type**, whatever was computed in between.")
def types():
    """Varying for varying, and not for what does not vary, in shard_map."""
    seen = {}

    def body(weight, x, y):
        own = jax.lax.pcast(weight, "data", to="varying")
        for name, array in {"same": weight, "own": own}.items():
            seen[name] = str(jax.typeof(jax.grad(loss)(array, x, y)))
        return weight

    jax.shard_map(body, mesh=MESH, in_specs=(P(), P("data"), P("data")), out_specs=P())(
        drawn(6, 4, mesh=MESH), drawn(32, 6, spec=CUT, mesh=MESH), drawn(32, 4, spec=CUT, mesh=MESH)
    )
    assert "{V:data}" in seen["own"]
    assert "{V:data}" not in seen["same"]


@claim("JAX also rejects `+` and `*` of a reduced array and one that is only replicated, except for scalars.")
def reduced_beside_replicated():
    """A factor of one number passes, and keeps the type."""
    with jax.set_mesh(TYPED):
        weight = drawn(6, 4)
        copy = jax.reshard(weight, P(reduced={"data"}))
        for refused in (lambda: copy + weight, lambda: copy * weight):
            with pytest.raises(Exception, match="reduced"):
                refused()
        assert "{R:data}" in str(jax.typeof(copy * jnp.float32(2)))


@claim("| `f32[8]{R:x}` | reduced: a copy, gradient to be summed later | unreduced |")
def reduced():
    """A reduced primal has an unreduced cotangent, and resharding that sums it."""
    with jax.set_mesh(TYPED):
        weight, x, y = drawn(6, 4), drawn(32, 6, spec=CUT), drawn(32, 4, spec=CUT)
        slope = jax.grad(loss)(jax.reshard(weight, P(reduced={"data"})), x, y)
        assert "{U:data}" in str(jax.typeof(slope))
        assert np.allclose(jax.reshard(slope, P()), jax.grad(loss)(weight, x, y), atol=1e-5)


def terms():
    """An unreduced gradient."""
    weight = jax.reshard(drawn(6, 4), P(reduced={"data"}))
    return jax.grad(loss)(weight, drawn(32, 6, spec=CUT), drawn(32, 4, spec=CUT))


@claim(
    "Sums and transposes pass. `g + W` must not",
    "JAX 0.10 has no rule for a difference of terms. For a product it requires the factor to be *reduced*",
)
def allowed():
    """What passes on terms, and what is refused."""
    with jax.set_mesh(TYPED):
        g, weight = terms(), drawn(6, 4)
        for passes in (lambda: g + g, lambda: g.sum(), lambda: g.T):
            assert "{U:data}" in str(jax.typeof(passes()))
        two = jax.reshard(jnp.float32(2), P(reduced={"data"}))
        assert np.allclose(jax.reshard(two * g, P()), 2 * jax.reshard(g, P()), atol=1e-5)
        no_rule = (lambda: g - g, lambda: 2 * g) if jax.__version__.startswith("0.10") else ()
        for refused in (lambda: g + weight, lambda: g * g, lambda: jnp.sqrt(g), *no_rule):
            with pytest.raises(Exception, match="reduced"):
                refused()


def single(weight, x, y):
    """Microbatches with one layer."""

    def add(total, batch):
        return total + jax.grad(loss)(weight, *batch), None

    return jax.lax.scan(add, jnp.zeros_like(weight), (x, y))[0]


def nested(weights, x, y):
    """Microbatches with layers that are scanned too."""

    def stack_loss(weights, x, y):
        out, _ = jax.lax.scan(lambda x, w: (jnp.tanh(x @ w), None), x, weights)
        return jnp.sum((out - y) ** 2)

    def add(total, batch):
        return total + jax.grad(stack_loss)(weights, *batch), None

    return jax.lax.scan(add, jnp.zeros_like(weights), (x, y))[0]


@claim(
    "XLA for CPU leaves these sums in their loops.",
    "XLA for TPU and for GPU take them out of a single loop that only adds gradients up, but not out of these two loops.",
    "it is inside the loop's body, and XLA for CPU does not take it out.",
    targets=THREE,
)
def loops(target):
    """How often the all-reduce runs, in one loop and in two."""
    split = P(None, "data", None)
    with jax.set_mesh(TYPED):
        one = sl.inspect(
            single,
            given((6, 4), P(), TYPED),
            given((5, 32, 6), split, TYPED),
            given((5, 32, 4), split, TYPED),
            target=target,
        )
        two = sl.inspect(nested, given((3, 8, 8), P(), TYPED), *[given((5, 16, 8), split, TYPED)] * 2, target=target)
    assert sum(c.executions for c in one.collectives) == (1 if target else 5)
    assert sum(c.executions for c in two.collectives) == 15


@claim(
    "A small change to the loop can prevent this. For example, you may ask for the norm of each round's gradient",
    targets=(V5E, GPU),
)
def normed(target):
    """The squares of each round's gradient need its sum, in each round."""

    def f(weight, x, y):
        def add(total, batch):
            slope = jax.grad(loss)(weight, *batch)
            return total + slope, jnp.sum(slope**2)

        return jax.lax.scan(add, jnp.zeros_like(weight), (x, y))

    split = P(None, "data", None)
    with jax.set_mesh(TYPED):
        given_all = given((6, 4), P(), TYPED), given((5, 32, 6), split, TYPED), given((5, 32, 4), split, TYPED)
        found = sl.inspect(f, *given_all, target=target).collectives
    assert sum(c.executions for c in found) == 5


@claim("(XLA for TPU and for GPU first add the two numbers, and send one.)", targets=THREE)
def two_squares(target):
    """The norm of two arrays that are cut and of one that is whole."""
    plane = jax.make_mesh((4, 2), ("data", "model"), (AxisType.Auto,) * 2)
    specs = ((16, 6), P("model", None)), ((5, 24), P(None, "model")), ((7,), P())
    slopes = [given(shape, spec, plane) for shape, spec in specs]
    (found,) = sl.inspect(lambda slopes: jnp.sqrt(sum(jnp.sum(g**2) for g in slopes)), slopes, target=target).collectives
    assert (found.kind, found.payload_bytes) == ("all-reduce", 4 if target else 8)


@claim("With check_vma=False no type says that the weights are the same everywhere", "`psum`: an all-reduce")
def unchecked():
    """With the check the gradient is summed; without it is the device's own."""
    weight, x, y = drawn(6, 4, mesh=MESH), drawn(32, 6, spec=CUT, mesh=MESH), drawn(32, 4, spec=CUT, mesh=MESH)
    kinds = []
    for check in (True, False):
        f = jax.shard_map(jax.grad(loss), mesh=MESH, in_specs=(P(), P("data"), P("data")), out_specs=P(), check_vma=check)
        kinds.append(sl.inspect(f, weight, x, y).kinds)
    assert kinds == [{"all-reduce"}, frozenset()]


@claim(
    "the price is 8240 bytes in five steps, against 12400 for data parallelism alone",
    targets=THREE,
)
def two_axes(target):
    """Five steps on 4 by 2, with the hidden units cut and without."""
    plane = jax.make_mesh((4, 2), ("data", "model"), (AxisType.Auto,) * 2)
    cut, whole = (P(None, "model"), P("model"), P("model", None), P()), (P(),) * 4
    found = []
    for specs in (cut, whole):

        def lie(weights, specs=specs):
            places = [NamedSharding(plane, spec) for spec in specs]
            return [jax.lax.with_sharding_constraint(w, place) for w, place in zip(weights, places)]

        def train(x, y, *weights, lie=lie):
            def error(weights):
                first, bias, second, shift = weights
                return jnp.mean((jax.nn.relu(x @ first + bias[None]) @ second + shift[None] - y) ** 2)

            weights = lie(weights)
            for _ in range(5):
                weights = lie([w - 0.1 * g for w, g in zip(weights, jax.grad(error)(weights))])
            return weights

        shapes = ((12, 16), (16,), (16, 6), (6,))
        batch = given((32, 12), CUT, plane), given((32, 6), CUT, plane)
        found.append(sl.inspect(train, *batch, *(given(shape, P(), plane) for shape in shapes), target=target).price)
    assert found == [8240, 12400]


@claim("The random bits are equal. A normal number is computed from them")
def bits():
    """By rows, by columns and on one device: bits are the same, and normal numbers up to rounding."""
    plane = jax.make_mesh((4, 2), ("data", "model"), (AxisType.Auto,) * 2)
    cuts = jax.NamedSharding(MESH, P("data")), jax.NamedSharding(plane, P(None, "model"))
    for draw, atol in ((jax.random.bits, 0), (jax.random.normal, 1e-6)):
        made = [jax.jit(draw, static_argnums=1, out_shardings=cut)(jax.random.key(8), (16, 6)) for cut in (None, *cuts)]
        for other in made[1:]:
            np.testing.assert_allclose(other, made[0], rtol=0, atol=atol)


@claim("number $i$ of a draw depends on the key and on $i$, not on who computes it", targets=THREE)
def numbers(target):
    """Equal numbers however they are cut, but for a last digit, which a processor may round otherwise; and nothing moves."""
    key = jax.random.key(8)

    def draw(key):
        return jax.random.normal(key, (16, 6))

    rows = jax.jit(draw, out_shardings=NamedSharding(MESH, CUT))
    np.testing.assert_allclose(draw(key), rows(key), rtol=0, atol=1e-6)
    assert sl.inspect(rows, key, target=target).kinds == frozenset()
