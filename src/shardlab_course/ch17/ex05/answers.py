import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from shardlab_course.answers import right, wrong

P = jax.P


def by_angles(x, at, sign=1):
    """Rows turned by the angles of these positions."""
    half = x.shape[1] // 2
    angles = at[:, None] * 10000.0 ** (-jnp.arange(half) / half)
    a, b, cos, sin = x[:, :half], x[:, half:], jnp.cos(angles), sign * jnp.sin(angles)
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], 1)


def dealt(d, n, m):
    """Positions in zigzag order."""
    at = jnp.arange(m // 2)
    return jnp.concatenate([d * (m // 2) + at, (2 * n - 1 - d) * (m // 2) + at])


def by_positions(where, sign=1):
    """On each device, from its place."""

    def rotated(mesh, X):
        def body(x):
            return by_angles(x, where(lax.axis_index("x"), mesh.shape["x"], len(x)), sign)

        rows = P("x", None)
        return jax.shard_map(body, mesh=mesh, in_specs=rows, out_specs=rows)(X)

    return rotated


def on_tokens(body):
    """On each device's tokens, with the number of devices."""

    def labels(mesh, tokens):
        def inside(block):
            return body(block, mesh.shape["x"], lax.axis_index("x"))

        return jax.shard_map(inside, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(tokens)

    return labels


def shifted(last, pairs=lambda n: [(d, (d - 1) % n) for d in range(n)]):
    """The neighbour's first token, and at the end `last` of it."""

    def body(block, n, d):
        following = lax.ppermute(block[:1], "x", pairs(n))
        return jnp.append(block[1:], jnp.where(d == n - 1, last(following), following))

    return on_tokens(body)


@right
def for_all_devices_at_once():
    def rotated(mesh, X):
        n, c = mesh.shape["x"], len(X) // mesh.shape["x"] // 2
        chunks = jnp.arange(len(X)).reshape(2 * n, c)
        at = chunks[np.array([i for d in range(n) for i in (d, 2 * n - 1 - d)])].ravel()
        at = lax.with_sharding_constraint(at, jax.NamedSharding(mesh, P("x")))
        return by_angles(X, at)


@right
def open_at_the_end():
    labels = shifted(lambda _: -1, lambda n: [(d, d - 1) for d in range(1, n)])


@wrong("counts-from-zero", 6)
def from_zero():
    rotated = by_positions(lambda d, n, m: jnp.arange(m))


@wrong("rows-taken-for-positions", 6)
def natural_order():
    rotated = by_positions(lambda d, n, m: d * m + jnp.arange(m))


@wrong("second-chunk-follows-first", 6)
def on_and_on():
    rotated = by_positions(lambda d, n, m: d * m // 2 + jnp.arange(m))


@wrong("turned-backwards", 6)
def backwards():
    rotated = by_positions(dealt, -1)


@wrong("neighbours-paired", 6)
def neighbours():
    def rotated(mesh, X):
        order = np.arange(X.shape[1]).reshape(-1, 2).T.ravel()
        return by_positions(dealt)(mesh, X[:, order])[:, np.argsort(order)]


@wrong("communicates-for-nothing", 11)
def positions_travel():
    def rotated(mesh, X):
        def body(x):
            n, d, c = mesh.shape["x"], lax.axis_index("x"), len(x) // 2
            starts = lax.all_gather(d * c, "x")
            at = jnp.arange(c)
            return by_angles(x, jnp.concatenate([starts[d] + at, starts[n - 1 - d] + n * c + at]))

        rows = P("x", None)
        return jax.shard_map(body, mesh=mesh, in_specs=rows, out_specs=rows)(X)


@wrong("first-token-of-own-block", 6)
def rolls_blocks():
    labels = on_tokens(lambda block, n, d: jnp.roll(block, -1))


@wrong("cut-ends-the-text", 6)
def ends_everywhere():
    labels = on_tokens(lambda block, n, d: jnp.append(block[1:], -1))


@wrong("begins-again", 6)
def begins_again():
    labels = shifted(lambda following: following)


@wrong("zero-at-the-end", 6)
def zero_at_the_end():
    labels = shifted(lambda following: following, lambda n: [(d, d - 1) for d in range(1, n)])


@wrong("token-before", 6)
def before():
    def body(block, n, d):
        came = lax.ppermute(block[-1:], "x", [(j, j + 1) for j in range(n - 1)])
        return jnp.append(came, block[:-1])

    labels = on_tokens(body)


@wrong("whole-block-sent", 10)
def sends_a_block():
    def body(block, n, d):
        following = lax.ppermute(block, "x", [(j, (j - 1) % n) for j in range(n)])[:1]
        return jnp.append(block[1:], jnp.where(d == n - 1, -1, following))

    labels = on_tokens(body)


@wrong("tokens-gathered", 10)
def gathers():
    def body(block, n, d):
        everything = lax.all_gather(block, "x", axis=0, tiled=True)
        return lax.dynamic_slice_in_dim(jnp.append(everything[1:], -1), d * len(block), len(block))

    labels = on_tokens(body)
