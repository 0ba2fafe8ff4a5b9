"""Claims of chapter 6."""

from __future__ import annotations

import contextlib
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import P
from jax.sharding import AxisType, NamedSharding

import shardlab as sl
from claims.claim import CPU, GPU, THREE, claim

MESH = jax.make_mesh((2, 4), ("x", "y"), (AxisType.Explicit, AxisType.Explicit))
LOOSE = jax.make_mesh((2, 4), ("x", "y"), (AxisType.Auto, AxisType.Auto))
RNG = np.random.default_rng(6)


def put(shape, spec, on=MESH):
    """Random numbers on a mesh."""
    return jax.device_put(RNG.normal(size=shape).astype("float32"), NamedSharding(on, spec))


def moved(f, *args, target=None, on=MESH):
    """Kinds of collectives, in the program's order."""
    with jax.set_mesh(on):
        return [c.kind for c in sl.inspect(f, *args, target=target).collectives]


def kind_of(f, *args):
    """The type of what comes out, without a run."""
    with jax.set_mesh(MESH):
        return str(jax.typeof(jax.jit(f)(*args)))


X, R, C = put((8, 16), P("x", "y")), put((8, 16), P("x", None)), put((8, 16), P(None, "y"))
A, B = put((8, 16), P(None, "x")), put((16, 24), P("x", None))


@claim("and the slower one is longer than 1, JAX has no rule and asks.")
def merging():
    """Both axes, the slower one's, the faster one's."""
    assert kind_of(lambda x: x.reshape(128), X) == "float32[128@(x,y)]"
    assert kind_of(lambda x: x.reshape(128), R) == "float32[128@x]"
    with pytest.raises(Exception, match="This reshape is not supported"):
        kind_of(lambda x: x.reshape(128), C)


@claim("JAX refuses a reshape with two splits or merges in it, unless the whole array is on every device.")
def two_at_once():
    """Two merged, two split, and one of each, with an axis on another dimension; of whole arrays all are taken."""
    for old, new in (((4, 4, 4, 4, 4), (4, 16, 16)), ((4, 16, 16), (4, 4, 4, 4, 4)), ((4, 16, 4, 4), (4, 4, 4, 16))):
        kind_of(lambda x, new=new: x.reshape(new), put(old, P()))
        with pytest.raises(Exception, match="This reshape is not supported"):
            kind_of(lambda x, new=new: x.reshape(new), put(old, P("x")))


@claim("along a sharded dimension it refuses a sort, and lets an FFT pass")
def rules_and_costs():
    """The FFT's type is cut as before, and it moves; the sort is an error."""
    assert kind_of(lambda r: jnp.fft.fft(r, axis=0), R) == "complex64[8@x,16]"
    assert moved(lambda r: jnp.fft.fft(r, axis=0), R)
    with pytest.raises(Exception, match="must be unsharded"):
        kind_of(lambda r: jnp.sort(r, axis=0), R)


@claim("no rule even for the difference of two such sums, which would be right; JAX 0.12 has one")
def differences():
    """Refused by JAX 0.10; by a newer one kept as terms."""
    if jax.__version__.startswith("0.10."):
        with pytest.raises(NotImplementedError, match="sub"):
            kind_of(lambda a, b: terms(a, b) - terms(a, b), A, B)
    else:
        assert kind_of(lambda a, b: terms(a, b) - terms(a, b), A, B) == "float32[8,24]{U:x}"


@claim("JAX can know a type without asking, and data still moves.", targets=THREE)
def typed_and_moved(target):
    """The reshape whose type JAX knew."""
    assert moved(lambda x: x.reshape(128), X, target=target) == ["all-to-all"]


@claim("because a device may always take a slice of what it holds", targets=THREE)
def whole_gives_way(target):
    """Rows plus columns."""
    assert moved(lambda r, c: r + c, R, C, target=target) == []


@claim("require operands that are cut alike: `jnp.concatenate` and `jnp.stack`")
def joined_alike():
    """A sum of arrays that are cut otherwise has a type; put together, or chosen from, they are refused."""
    assert kind_of(lambda x, r: x + r, X, R) == "float32[8@x,16@y]"
    assert kind_of(lambda x: jnp.where(x > 0, x, 0.0), X) == "float32[8@x,16@y]"
    for join in (lambda x, r: jnp.concatenate([x, r]), lambda x, r: jnp.stack([x, r]), lambda x, r: jnp.where(x > 0, x, r)):
        with pytest.raises(Exception, match="same sharding"):
            kind_of(join, X, R)


@claim(
    "Inside `jit`, `jnp.ones_like(owed)` gets a one in each term.",
    "JAX 0.12 also accepts `.at[0].add(1.0)`, which adds a number to a whole row of each term.",
    "If a loop reads terms and does not change them, JAX 0.10 adds them up too many times.",
)
def owed_wrongly():
    """What comes out of a sum that two devices owe."""

    def owed(a, b):
        return jnp.dot(a, b, out_sharding=P(None, None, unreduced={"x"}))

    def found(f):
        with jax.set_mesh(MESH):
            return np.asarray(jax.jit(lambda a, b: jax.reshard(f(a, b), P()))(A, B))

    def read(a, b):
        terms = owed(a, b)
        return jax.lax.fori_loop(0, 3, lambda i, total: total + terms, terms)

    right = np.asarray(A) @ np.asarray(B)
    np.testing.assert_allclose(found(lambda a, b: owed(a, b) + jnp.ones_like(owed(a, b))), right + 2, atol=1e-4)
    inside = found(lambda a, b: jax.lax.fori_loop(0, 3, lambda i, total: total + owed(a, b), owed(a, b)))
    np.testing.assert_allclose(inside, 4 * right, atol=1e-4)
    if jax.__version_info__ >= (0, 12):
        np.testing.assert_allclose(found(lambda a, b: owed(a, b).at[0].add(1.0))[0], right[0] + 2, atol=1e-4)
    np.testing.assert_allclose(found(read), (7 if jax.__version_info__ < (0, 11) else 4) * right, atol=1e-4)


@claim("`@` in batch dimensions, and `jax.vmap` in the dimension that it maps.")
def batched_alike():
    """Nor does a whole dimension adapt where a product, or `vmap`, goes over both operands at once."""
    cut, whole = put((8, 4, 16), P("x")), put((8, 16, 4), P())
    assert kind_of(lambda a, b: a @ b, cut, put((8, 16, 4), P("x"))) == "float32[8@x,4,4]"
    with pytest.raises(ValueError, match="Incompatible types"):
        kind_of(lambda a, b: a @ b, cut, whole)
    with pytest.raises(ValueError, match="sharded the same"):
        kind_of(jax.vmap(jnp.add), put((8, 4), P("x")), put((8, 4), P()))


@claim("For this product XLA adds terms by an all-reduce; with U of 24 columns it gathers X instead.", targets=THREE)
def asked_nobody(target):
    """6.1 i: X @ U with U whole, as narrow as on the page, and twice as wide."""
    for columns, kind in ((12, "all-reduce"), (24, "all-gather")):
        assert moved(lambda x, u: x @ u, X, put((16, columns), P()), target=target) == [kind]


@claim("There are more than a dozen answers")
def out_shardings():
    """Every spec that JAX takes and XLA compiles for case 3."""
    entries = None, "x", "y", ("x", "y"), ("y", "x")
    legal = 0
    for rows, columns, owed in itertools.product(entries, entries, (None, {"x"}, {"y"}, {"x", "y"})):
        with contextlib.suppress(Exception), jax.set_mesh(MESH):
            out = P(rows, columns, unreduced=owed) if owed else P(rows, columns)
            jax.jit(lambda p, q, out=out: jnp.dot(p, q, out_sharding=out)).lower(A, B).compile()
            legal += 1
    assert legal > 12


def terms(p, q):
    """A product that nobody has added."""
    return jnp.dot(p, q, out_sharding=P(None, None, unreduced={"x"}))


@claim("The last answer costs nothing.")
def unreduced():
    """No collective, and no device has the product."""
    assert moved(terms, A, B) == []
    with jax.set_mesh(MESH):
        held = [np.asarray(s.data) for s in terms(A, B).addressable_shards]
    assert not any(np.allclose(each, np.asarray(A) @ np.asarray(B)) for each in held)


@claim(
    "XLA for TPU and for GPU add the terms of these three products first, by themselves",
    "XLA for CPU moves all three",
    targets=THREE,
)
def early(target):
    """Three products, each to be whole, and their sum: bytes of one, or of three."""
    six = [put((8, 16), P(None, "x")), put((16, 24), P("x", None))] * 3

    def program(*six):
        return sum(jnp.dot(*six[i : i + 2], out_sharding=P()) for i in (0, 2, 4))

    with jax.set_mesh(MESH):
        price = sl.inspect(program, *six, target=target).price
    assert price == 2 * 8 * 24 * 4 * (3 if target is CPU else 1)


@claim("No `out_sharding` can keep the axis for both.", "bytes higher", targets=THREE)
def where_not_how(target):
    """Case 4 by reshard, and by out_sharding alone."""
    a, b = put((8, 16), P("x", None)), put((16, 24), P(None, "x"))
    direct = moved(lambda p, q: p @ jax.reshard(q, P()), a, b, target=target)
    detour = moved(lambda p, q: jnp.dot(p, q, out_sharding=P("x", None)), a, b, target=target)
    assert direct == ["all-gather"]
    assert sorted(detour) == ["all-gather", "collective-permute"]


@claim(
    "Another compiler gives another answer for the FFT, although the types are the same for both.",
    "does not split a batch of FFTs, so it gathers all rows",
    "XLA for GPU of JAX 0.10 gathers all rows, as XLA for CPU does",
    targets=THREE,
)
def quiet(target):
    """What 6.4 asks, by compiler; the newest XLA for CPU and for GPU split the FFT as well."""
    fft = moved(jnp.fft.fft, R, target=target)
    assert fft == (["all-gather"] if target in (CPU, GPU) and jax.__version__.startswith("0.10.") else [])
    assert moved(jax.nn.softmax, X, target=target) == ["all-reduce"] * 2
    assert moved(jnp.sort, R, target=target) == []


@claim("so the same call can only agree or fail")
def compares():
    """with_sharding_constraint on Explicit axes; on Auto ones it places."""
    with pytest.raises(AssertionError), jax.set_mesh(MESH):
        jax.lax.with_sharding_constraint(X, P("y", "x"))
    with jax.set_mesh(LOOSE):
        turned = jax.jit(lambda x: jax.lax.with_sharding_constraint(x, P("y", "x")))(put((8, 16), P("x", "y"), LOOSE))
    assert turned.sharding.spec == P("y", "x")


@claim("For this program the style does not matter to XLA for CPU, TPU or GPU.", targets=THREE)
def three_styles(target):
    """The same collectives and bytes."""

    def auto(a, b):
        c = a @ b
        return c - c.mean(axis=0, keepdims=True)

    def explicit(a, b):
        c = jnp.dot(a, b, out_sharding=P("x", None))
        return c - c.mean(axis=0, keepdims=True)

    def manual(a, b):
        def body(a, b):
            c = jax.lax.psum(a @ b, "y")
            return c - jax.lax.pmean(c.mean(axis=0, keepdims=True), "x")

        return jax.shard_map(body, in_specs=(P("x", "y"), P("y", None)), out_specs=P("x", None))(a, b)

    found = set()
    for f, on in ((auto, LOOSE), (explicit, MESH), (manual, MESH)):
        operands = put((16, 96), P("x", "y"), on), put((96, 24), P("y", None), on)
        with jax.set_mesh(on):
            p = sl.inspect(f, *operands, target=target)
        found.add((tuple(sorted(c.kind for c in p.collectives)), p.price))
    assert len(found) == 1


@claim("XLA, wherever it needs them")
def without_a_change_of_type():
    """Explicit: a softmax communicates, and its type is that of its input."""
    assert kind_of(jax.nn.softmax, X) == str(jax.typeof(X))
    assert moved(jax.nn.softmax, X)


@claim("(The mesh has to be set. If it is not set, JAX refuses a bare `P(...)`, and also a `NamedSharding`")
def constraints_and_the_mesh():
    """With the mesh set both are compared with the type; without it neither is taken, right or wrong."""
    x, constrain = put((8, 16), P("x", "y")), jax.lax.with_sharding_constraint
    right, wrong = P("x", "y"), P("y", "x")
    with jax.set_mesh(MESH):
        for spec in (right, NamedSharding(MESH, right)):
            assert constrain(x, spec) is not None
        for spec in (wrong, NamedSharding(MESH, wrong)):
            with pytest.raises(AssertionError, match="acts as an assert"):
                constrain(x, spec)
    for spec in (right, wrong):
        with pytest.raises(RuntimeError, match="non-empty mesh"):
            constrain(x, spec)
        with pytest.raises(ValueError, match="can only refer to Auto axes"):
            constrain(x, NamedSharding(MESH, spec))


@claim("`jnp.stack`, and `jnp.pad` with a number other than 0")
def stacked_terms():
    """Two stacked sums, and a border, come out once for each device of the axis; put end to end sums are right."""
    rows, columns = put((8, 16), P(None, "x")), put((16, 8), P("x", None))
    right = np.asarray(rows) @ np.asarray(columns)
    with jax.set_mesh(MESH):
        owed = jnp.dot(rows, columns, out_sharding=P(unreduced={"x"}))
        added = {f: np.asarray(jax.reshard(f([owed, owed]), P())) for f in (jnp.stack, jnp.concatenate)}
        padded = np.asarray(jax.reshard(jnp.pad(owed, 1, constant_values=3), P()))
    np.testing.assert_allclose(added[jnp.concatenate], np.concatenate([right, right]), atol=1e-4)
    np.testing.assert_allclose(added[jnp.stack], MESH.shape["x"] * np.stack([right, right]), atol=1e-4)
    np.testing.assert_allclose(padded, np.pad(right, 1, constant_values=3 * MESH.shape["x"]), atol=1e-4)
