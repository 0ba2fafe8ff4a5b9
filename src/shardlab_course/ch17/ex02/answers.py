import jax
import jax.numpy as jnp
from jax import lax

from shardlab_course.answers import right, wrong

P = jax.P
ROWS = P("x", None)


def whole(q, k, v, seen):
    """Attention of some queries to all keys."""
    return jax.nn.softmax(jnp.where(seen, q @ k.T / q.shape[1] ** 0.5, -jnp.inf)) @ v


def onward(n):
    return [(d, (d + 1) % n) for d in range(n)]


def folded(state, q, k, v, seen):
    """What came so far, and a block."""
    top, z, y = state
    s = jnp.where(seen, q @ k.T / q.shape[1] ** 0.5, -jnp.inf)
    new = jnp.maximum(top, s.max(1))
    e, old = jnp.exp(s - new[:, None]), jnp.exp(top - new)
    return new, z * old + e.sum(1), y * old[:, None] + e @ v


def on_rows(body):
    """The same on each device's rows."""

    def ring_attention(mesh, Q, K, V):
        return jax.shard_map(body, mesh=mesh, in_specs=(ROWS,) * 3, out_specs=ROWS)(Q, K, V)

    return ring_attention


def ring(seen, pairs=onward, before=False, values=True, top=-1e30):
    """A ring; `seen(d, i, n, m)` is the mask after i hops, which go `before` the round or after it."""

    def body(q, k, v):
        n, d, m = lax.axis_size("x"), lax.axis_index("x"), len(q)
        state = q[:, 0] * 0 + top, q[:, 0] * 0, q * 0
        for i in range(1, n + 1) if before else range(n):
            if before or i:
                k = lax.ppermute(k, "x", pairs(n))
                v = lax.ppermute(v, "x", pairs(n)) if values else v
            state = folded(state, q, k, v, seen(d, i, n, m))
        return state[2] / state[1][:, None]

    return on_rows(body)


def positions(d, i, n, m, sign=1):
    """Which positions of the block of device d - i each query sees."""
    at = jnp.arange(m)
    return (at + (d - sign * i) % n * m) <= (at + d * m)[:, None]


@right
def to_the_left():
    ring_attention = ring(lambda d, i, n, m: positions(d, i, n, m, -1), lambda n: [(b, a) for a, b in onward(n)])


@right
def in_a_loop_with_keys_and_values_in_one_array():
    def body(q, k, v):
        n, d, m = lax.axis_size("x"), lax.axis_index("x"), len(q)

        def step(i, carry):
            both, state = carry
            both = lax.ppermute(both, "x", onward(n))
            return both, folded(state, q, *both, positions(d, i, n, m))

        start = folded((q[:, 0] * 0 - 1e30, q[:, 0] * 0, q * 0), q, k, v, positions(d, 0, n, m))
        _, (_, z, y) = lax.fori_loop(1, n, step, (jnp.stack([k, v]), start))
        return y / z[:, None]

    ring_attention = on_rows(body)


@right
def open_to_the_right():
    """The last device's block is in the future of all others."""
    ring_attention = ring(positions, lambda n: [(d, d + 1) for d in range(n - 1)])


@wrong("left-to-the-compiler", 0)
def left_to_the_compiler():
    def ring_attention(mesh, Q, K, V):
        return whole(Q, K, V, jnp.tri(len(Q)) > 0)


@wrong("keys-gathered", 7)
def gathers():
    def body(q, k, v):
        k, v = (lax.all_gather(a, "x", axis=0, tiled=True) for a in (k, v))
        mine = lax.axis_index("x") * len(q) + jnp.arange(len(q))
        return whole(q, k, v, jnp.arange(len(k)) <= mine[:, None])

    ring_attention = on_rows(body)


@wrong("ring-is-open", 0)
def open_to_the_left():
    ring_attention = ring(lambda d, i, n, m: positions(d, i, n, m, -1), lambda n: [(d, d - 1) for d in range(1, n)])


@wrong("sees-the-future", 0)
def without_a_mask():
    ring_attention = ring(lambda d, i, n, m: True)


@wrong("mask-of-local-positions", 0)
def local_mask():
    ring_attention = ring(lambda d, i, n, m: jnp.tri(m) > 0)


@wrong("own-block-not-masked", 0)
def whole_blocks():
    ring_attention = ring(lambda d, i, n, m: (d - i) % n <= d)


@wrong("counts-the-wrong-way", 0)
def backwards():
    ring_attention = ring(lambda d, i, n, m: positions(d, i, n, m, -1))


@wrong("own-key-not-seen", 0)
def own_key_unseen():
    ring_attention = ring(lambda d, i, n, m: positions(d, i, n, m) & (jnp.tri(m, k=-1) > 0 if i == 0 else True))


@wrong("own-block-only", 0)
def stays_at_home():
    ring_attention = on_rows(lambda q, k, v: whole(q, k, v, jnp.tri(len(q)) > 0))


@wrong("values-stay", 0)
def values_stay():
    ring_attention = ring(positions, values=False)


@wrong("no-numbers", 0)
def a_block_without_a_key():
    ring_attention = ring(positions, before=True, top=-jnp.inf)


@wrong("one-hop-too-many", 10)
def comes_home():
    ring_attention = ring(positions, before=True)


@wrong("sums-where-blocks-would-do", 10)
def adds_up_zeros():
    def body(q, k, v):
        n, d, m = lax.axis_size("x"), lax.axis_index("x"), len(q)
        state = q[:, 0] * 0 - 1e30, q[:, 0] * 0, q * 0
        for i in range(n):
            block = (lax.psum(jnp.where(d == i, a, 0), "x") for a in (k, v))
            state = folded(state, q, *block, positions(d, d - i, n, m))
        return state[2] / state[1][:, None]

    ring_attention = on_rows(body)


@wrong("scores-not-scaled", 0)
def features_not_counted():
    scaled = ring(positions)

    def ring_attention(mesh, Q, K, V):
        return scaled(mesh, Q * Q.shape[1] ** 0.5, K, V)
