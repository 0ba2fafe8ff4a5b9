import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from shardlab_course.answers import right, wrong

P = jax.P
ROWS = P("x", None)


def onward(n):
    return [(d, (d + 1) % n) for d in range(n)]


def of_block(q, k, v, seen=True):
    """The triple of one block of keys."""
    s = jnp.where(seen, q @ k.T / q.shape[1] ** 0.5, -jnp.inf)
    m = jnp.maximum(s.max(1), -1e30)
    e = jnp.exp(s - m[:, None])
    return m, e.sum(1), e @ v


def both(one, other):
    """Two triples merged."""
    m = jnp.maximum(one[0], other[0])
    a, b = jnp.exp(one[0] - m), jnp.exp(other[0] - m)
    return m, one[1] * a + other[1] * b, one[2] * a[:, None] + other[2] * b[:, None]


def on_rows(body):
    """The same on each device's rows."""

    def balanced(mesh, Q, K, V):
        return jax.shard_map(body, mesh=mesh, in_specs=(ROWS,) * 3, out_specs=ROWS)(Q, K, V)

    return balanced


def masks(where, pairs=onward):
    """A ring that makes every score; `where(d, n, m)` are the positions of device d's rows."""

    def body(q, k, v):
        n, d, m = lax.axis_size("x"), lax.axis_index("x"), len(q)
        state, mine = None, where(d, n, m)[:, None]
        for i in range(n):
            if i:
                k, v = (lax.ppermute(a, "x", pairs(n)) for a in (k, v))
            new = of_block(q, k, v, where((d - i) % n, n, m) <= mine)
            state = both(state, new) if i else new
        return state[2] / state[1][:, None]

    return on_rows(body)


def dealt(d, n, m):
    """Positions in zigzag order."""
    at = jnp.arange(m // 2)
    return jnp.concatenate([d * (m // 2) + at, (2 * n - 1 - d) * (m // 2) + at])


def chosen(late_keys=True, early_keys=True):
    """The balanced ring, with one kind of product or without."""

    def body(q, k, v):
        n, d, c = lax.axis_size("x"), lax.axis_index("x"), len(q) // 2
        own = jnp.tri(c) > 0
        first = of_block(q[:c], k[:c], v[:c], own)
        last = both(of_block(q[c:], k[c:], v[c:], own), of_block(q[c:], k[:c], v[:c]))
        for i in range(1, n):
            k, v = (lax.ppermute(a, "x", onward(n)) for a in (k, v))
            if early_keys:
                last = both(last, of_block(q[c:], k[:c], v[:c]))
            start = jnp.where(i <= d, 0, c)
            m, z, y = of_block(*(lax.dynamic_slice_in_dim(a, start, c) for a in (q, k, v)))
            first = both(first, (jnp.where(i <= d, m, -1e30), z, y))
            if late_keys:
                last = both(last, (jnp.where(i <= d, -1e30, m), z, y))
        return jnp.concatenate([y / z[:, None] for _, z, y in (first, last)])

    return on_rows(body)


@right
def by_slices():
    balanced = chosen()


@right
def dealt_by_hand():
    def zigzag(S, n):
        c = S // n // 2
        return [i for d in range(n) for a in (d, 2 * n - 1 - d) for i in range(a * c, a * c + c)]

    def work(order, n):
        m = len(order) // n
        return [sum(order[d * m : d * m + m]) + m for d in range(n)]


@right
def two_queries_or_two_blocks_of_keys():
    def body(q, k, v):
        n, d, c = lax.axis_size("x"), lax.axis_index("x"), len(q) // 2
        own = jnp.tri(c) > 0
        first = of_block(q[:c], k[:c], v[:c], own)
        last = both(of_block(q[c:], k[c:], v[c:], own), of_block(q[c:], k[:c], v[:c]))
        for i in range(1, n):
            k, v = (lax.ppermute(a, "x", onward(n)) for a in (k, v))
            early = i <= d
            tops = jnp.stack([jnp.where(early, q[:c], q[c:]), q[c:]])
            at = jnp.where(early, 0, c)
            keys, values = (jnp.stack([lax.dynamic_slice_in_dim(a, at, c), a[:c]]) for a in (k, v))
            m, z, y = jax.vmap(of_block)(tops, keys, values)
            last = both(last, (m[1], z[1], y[1]))
            first = both(first, (jnp.where(early, m[0], -1e30), z[0], y[0]))
            last = both(last, (jnp.where(early, -1e30, m[0]), z[0], y[0]))
        return jnp.concatenate([y / z[:, None] for _, z, y in (first, last)])

    balanced = on_rows(body)


def conditional(chosen):
    """The balanced ring, where `lax.cond` says what else is multiplied, given whether the block comes from before."""

    def body(q, k, v):
        n, d, c = lax.axis_size("x"), lax.axis_index("x"), len(q) // 2
        own = jnp.tri(c) > 0
        first = of_block(q[:c], k[:c], v[:c], own)
        last = both(of_block(q[c:], k[c:], v[c:], own), of_block(q[c:], k[:c], v[:c]))

        def early(k, v, first, last):
            return both(first, of_block(q[:c], k[:c], v[:c])), last

        def late(k, v, first, last):
            return first, both(last, of_block(q[c:], k[c:], v[c:]))

        for i in range(1, n):
            k, v = (lax.ppermute(a, "x", onward(n)) for a in (k, v))
            last = both(last, of_block(q[c:], k[:c], v[:c]))
            first, last = chosen(i <= d, early, late, k, v, first, last)
        return jnp.concatenate([y / z[:, None] for _, z, y in (first, last)])

    return on_rows(body)


@right
def one_branch_or_the_other():
    balanced = conditional(lax.cond)


@wrong("branch-skips", 14)
def two_branches():
    def skip(k, v, first, last):
        return first, last

    def each_or_nothing(before, early, late, k, v, first, last):
        first, last = lax.cond(before, early, skip, k, v, first, last)
        return lax.cond(before, skip, late, k, v, first, last)

    balanced = conditional(each_or_nothing)


@wrong("all-scores-multiplied", 14)
def masks_half():
    balanced = masks(dealt)


@wrong("all-scores-multiplied", 14)
def masks_half_beside_a_branch():
    """The branch has no product in it, so it is not what costs."""
    halved = masks(dealt)

    def balanced(mesh, Q, K, V):
        return halved(mesh, lax.cond(mesh.size > jnp.float32(0), lambda q: q, lambda q: -q, Q), K, V)


@wrong("left-to-a-branch", 12)
def branches():
    def body(q, k, v):
        n, d, c = lax.axis_size("x"), lax.axis_index("x"), len(q) // 2
        own = jnp.tri(c) > 0
        first = of_block(q[:c], k[:c], v[:c], own)
        last = both(of_block(q[c:], k[c:], v[c:], own), of_block(q[c:], k[:c], v[:c]))
        for i in range(1, n):
            k, v = (lax.ppermute(a, "x", onward(n)) for a in (k, v))
            last = both(last, of_block(q[c:], k[:c], v[:c]))
            first, last = lax.while_loop(
                lambda s: s[0] < 1,
                lambda s: (s[0] + 1, both(s[1], of_block(q[:c], k[:c], v[:c])), s[2]),
                (jnp.where(i <= d, 0, 1), first, last),
            )[1:]
            first, last = lax.while_loop(
                lambda s: s[0] < 1,
                lambda s: (s[0] + 1, s[1], both(s[2], of_block(q[c:], k[c:], v[c:]))),
                (jnp.where(i <= d, 1, 0), first, last),
            )[1:]
        return jnp.concatenate([y / z[:, None] for _, z, y in (first, last)])

    balanced = on_rows(body)


@wrong("rows-taken-for-positions", 6)
def natural_order():
    balanced = masks(lambda d, n, m: d * m + jnp.arange(m))


@wrong("output-in-order", 6)
def puts_in_order():
    def balanced(mesh, Q, K, V):
        n = mesh.shape["x"]
        chunks = np.arange(len(Q)).reshape(2 * n, -1)
        order = chunks[[i for d in range(n) for i in (d, 2 * n - 1 - d)]].ravel()
        back = np.argsort(order)

        def body(q, k, v):
            k, v = (lax.all_gather(a, "x", axis=0, tiled=True) for a in (k, v))
            q = lax.all_gather(q, "x", axis=0, tiled=True)
            m, z, y = of_block(q[back], k[back], v[back], jnp.tri(len(q)) > 0)
            rows = len(q) // n
            return lax.dynamic_slice_in_dim(y / z[:, None], lax.axis_index("x") * rows, rows)

        return on_rows(body)(mesh, Q, K, V)


@wrong("late-keys-lost", 6)
def late_lost():
    balanced = chosen(late_keys=False)


@wrong("early-keys-lost", 6)
def early_lost():
    balanced = chosen(early_keys=False)


@wrong("ring-is-open", 6)
def open_ring():
    balanced = masks(dealt, lambda n: [(d, d + 1) for d in range(n - 1)])


@wrong("keys-gathered", 17)
def gathers():
    def body(q, k, v):
        n, d, c = lax.axis_size("x"), lax.axis_index("x"), len(q) // 2
        k, v = (lax.all_gather(a, "x").reshape(n, 2, c, -1) for a in (k, v))
        own = jnp.tri(c) > 0
        first = of_block(q[:c], k[d, 0], v[d, 0], own)
        last = both(of_block(q[c:], k[d, 1], v[d, 1], own), of_block(q[c:], k[d, 0], v[d, 0]))
        for i in range(1, n):
            j, early = (d - i) % n, i <= d
            last = both(last, of_block(q[c:], k[j, 0], v[j, 0]))
            half = jnp.where(early, 0, 1)
            m, z, y = of_block(jnp.where(early, q[:c], q[c:]), k[j, half], v[j, half])
            first = both(first, (jnp.where(early, m, -1e30), z, y))
            last = both(last, (jnp.where(early, -1e30, m), z, y))
        return jnp.concatenate([y / z[:, None] for _, z, y in (first, last)])

    balanced = on_rows(body)


@wrong("left-to-the-compiler", 6)
def left_to_the_compiler():
    def balanced(mesh, Q, K, V):
        n = mesh.shape["x"]
        chunks = np.arange(len(Q)).reshape(2 * n, -1)
        at = chunks[[i for d in range(n) for i in (d, 2 * n - 1 - d)]].ravel()
        m, z, y = of_block(Q, K, V, at <= at[:, None])
        return y / z[:, None]


@wrong("dealt-round-robin", 16)
def round_robin():
    def zigzag(S, n):
        return np.arange(S).reshape(2, n, -1).swapaxes(0, 1).ravel().tolist()


@wrong("chunk-backwards", 16)
def second_chunk_backwards():
    def zigzag(S, n):
        half = np.arange(S // 2).reshape(n, -1)
        return [int(i) for d in range(n) for i in (*half[d], *(S - 1 - half[d]))]


@wrong("late-chunk-first", 16)
def late_then_early():
    def zigzag(S, n):
        chunks = np.arange(S).reshape(2 * n, -1)
        return chunks[[i for d in range(n) for i in (2 * n - 1 - d, d)]].ravel().tolist()


@wrong("dealt-from-the-last", 16)
def mirrored():
    def zigzag(S, n):
        chunks = np.arange(S).reshape(2 * n, -1)
        return chunks[[i for d in reversed(range(n)) for i in (d, 2 * n - 1 - d)]].ravel().tolist()


@wrong("single-positions", 16)
def one_by_one():
    def zigzag(S, n):
        return [i for d in range(n) for i in range(d, S, n)]


@wrong("chunk-numbers", 16)
def numbers_of_chunks():
    def zigzag(S, n):
        return [[d, 2 * n - 1 - d] for d in range(n)]


@wrong("natural-order", 16)
def as_it_was():
    def zigzag(S, n):
        return list(range(S))


@wrong("own-key-left-out", 16)
def without_its_own():
    def work(order, n):
        return np.asarray(order).reshape(n, -1).sum(1).tolist()


@wrong("every-key-counted", 16)
def all_keys():
    def work(order, n):
        return [len(order) ** 2 // n] * n


@wrong("place-for-position", 16)
def by_place():
    def work(order, n):
        return (np.arange(len(order)).reshape(n, -1) + 1).sum(1).tolist()


@wrong("own-keys-only", 16)
def on_its_own_device():
    def work(order, n):
        m = len(order) // n
        return [m * (m + 1) // 2] * n


@wrong("mirrored-order", 6)
def from_the_last_device():
    balanced = masks(lambda d, n, m: dealt(n - 1 - d, n, m))


@wrong("mirrored-order", 6)
def late_chunk_first():
    balanced = masks(lambda d, n, m: jnp.roll(dealt(d, n, m), m // 2))
