import jax
import jax.numpy as jnp
from jax import lax

from shardlab_course.answers import right, wrong

P = jax.P
ROWS = P("x", None, None)


def of_heads(q, k, v, seen=None):
    """Causal attention of equally many heads, all tokens here."""
    s = jnp.einsum("qhd,khd->hqk", q, k) / q.shape[-1] ** 0.5
    s = jnp.where(jnp.tri(len(q)) > 0 if seen is None else seen, s, -jnp.inf)
    return jnp.einsum("hqk,khd->qhd", jax.nn.softmax(s), v)


def to_heads(a):
    return lax.all_to_all(a, "x", split_axis=1, concat_axis=0, tiled=True)


def to_tokens(a):
    return lax.all_to_all(a, "x", split_axis=0, concat_axis=1, tiled=True)


def repeated(a, times):
    return jnp.repeat(a, times, axis=1)


def on_rows(body):
    """The same on each device's tokens."""

    def ulysses(mesh, Q, K, V):
        return jax.shard_map(body, mesh=mesh, in_specs=(ROWS,) * 3, out_specs=ROWS)(Q, K, V)

    return ulysses


@right
def grouped_in_the_products():
    def body(q, k, v):
        q, k, v = map(to_heads, (q, k, v))
        q = q.reshape(len(q), k.shape[1], -1, q.shape[2])
        s = jnp.einsum("qghd,kgd->ghqk", q, k) / q.shape[-1] ** 0.5
        s = jnp.where(jnp.tri(len(q)) > 0, s, -jnp.inf)
        y = jnp.einsum("ghqk,kgd->qghd", jax.nn.softmax(s), v)
        return to_tokens(y.reshape(len(q), -1, v.shape[2]))

    ulysses = on_rows(body)


@right
def keys_and_values_together():
    def body(q, k, v):
        q, both = to_heads(q), lax.all_to_all(jnp.stack([k, v]), "x", split_axis=2, concat_axis=1, tiled=True)
        k, v = (repeated(a, q.shape[1] // both.shape[2]) for a in both)
        return to_tokens(of_heads(q, k, v))

    ulysses = on_rows(body)


@right
def by_a_table():
    def moved(way, S, H, G, D, n):
        block = 2 * S // n * D
        if way == "ulysses":
            return None if G % n else block * (2 * H + 2 * G)
        return 2 * G * block * {"gather": n, "ring": n - 1}[way]


@wrong("sees-the-future", 4)
def without_a_mask():
    def body(q, k, v):
        q, k, v = map(to_heads, (q, k, v))
        k, v = (repeated(a, q.shape[1] // k.shape[1]) for a in (k, v))
        return to_tokens(of_heads(q, k, v, True))

    ulysses = on_rows(body)


@wrong("heads-taken-in-turn", 4)
def tiles():
    def body(q, k, v):
        q, k, v = map(to_heads, (q, k, v))
        k, v = (jnp.tile(a, (1, q.shape[1] // a.shape[1], 1)) for a in (k, v))
        return to_tokens(of_heads(q, k, v))

    ulysses = on_rows(body)


@wrong("own-tokens-only", 4)
def stays_at_home():
    def body(q, k, v):
        k, v = (repeated(a, q.shape[1] // k.shape[1]) for a in (k, v))
        return of_heads(q, k, v)

    ulysses = on_rows(body)


@wrong("copies-travel", 9)
def repeats_first():
    def body(q, k, v):
        k, v = (repeated(a, q.shape[1] // k.shape[1]) for a in (k, v))
        return to_tokens(of_heads(*map(to_heads, (q, k, v))))

    ulysses = on_rows(body)


@wrong("all-gathered", 9)
def gathers():
    def body(q, k, v):
        m, times = len(q), q.shape[1] // k.shape[1]
        k, v = (repeated(lax.all_gather(a, "x", axis=0, tiled=True), times) for a in (k, v))
        mine = lax.axis_index("x") * m + jnp.arange(m)
        return of_heads(q, k, v, jnp.arange(len(k)) <= mine[:, None])

    ulysses = on_rows(body)


@wrong("left-to-the-compiler", 4)
def left_to_the_compiler():
    def ulysses(mesh, Q, K, V):
        return of_heads(Q, *(repeated(a, Q.shape[1] // K.shape[1]) for a in (K, V)))


@wrong("no-numbers", 4)
def without_a_maximum():
    def body(q, k, v):
        q, k, v = map(to_heads, (q, k, v))
        k, v = (repeated(a, q.shape[1] // k.shape[1]) for a in (k, v))
        e = jnp.exp(jnp.einsum("qhd,khd->hqk", q, k) / q.shape[-1] ** 0.5) * jnp.tri(len(q))
        return to_tokens(jnp.einsum("hqk,khd->qhd", e / e.sum(-1, keepdims=True), v))

    ulysses = on_rows(body)


@wrong("ring-comes-home", 8)
def n_hops():
    def moved(way, S, H, G, D, n):
        block = 2 * S // n * D
        if way == "ulysses":
            return None if G % n else block * (2 * H + 2 * G)
        return 2 * G * block * n


@wrong("keys-alone", 8)
def keys_alone():
    def moved(way, S, H, G, D, n):
        block = 2 * S // n * D
        if way == "ulysses":
            return None if G % n else block * (2 * H + 2 * G)
        return G * block * {"gather": n, "ring": n - 1}[way]


@wrong("query-heads-counted", 8)
def query_heads():
    def moved(way, S, H, G, D, n):
        block = 2 * S // n * D
        if way == "ulysses":
            return None if G % n else block * (2 * H + 2 * G)
        return 2 * H * block * {"gather": n, "ring": n - 1}[way]


def with_ulysses(of, divides=lambda H, G, n: G % n == 0):
    """The right formula, with another one for Ulysses."""

    def moved(way, S, H, G, D, n):
        block = 2 * S // n * D
        if way == "ulysses":
            return of(block, H, G, n) if divides(H, G, n) else None
        return 2 * G * block * {"gather": n, "ring": n - 1}[way]

    return moved


@wrong("keys-and-values-alone", 8)
def two_arrays():
    moved = with_ulysses(lambda block, H, G, n: 2 * G * block)


@wrong("output-forgotten", 8)
def three_arrays():
    moved = with_ulysses(lambda block, H, G, n: (H + 2 * G) * block)


@wrong("whole-arrays", 8)
def whole_arrays():
    moved = with_ulysses(lambda block, H, G, n: 2 * (H + G) * block * n)


@wrong("heads-without-limit", 8)
def without_limit():
    moved = with_ulysses(lambda block, H, G, n: 2 * (H + G) * block, lambda H, G, n: True)


@wrong("query-heads-decide", 8)
def query_heads_decide():
    moved = with_ulysses(lambda block, H, G, n: 2 * (H + G) * block, lambda H, G, n: H % n == 0)


@wrong("four-bytes", 8)
def floats():
    def moved(way, S, H, G, D, n):
        block = 4 * S // n * D
        if way == "ulysses":
            return None if G % n else block * (2 * H + 2 * G)
        return 2 * G * block * {"gather": n, "ring": n - 1}[way]


@wrong("scores-not-scaled", 4)
def features_not_counted():
    def body(q, k, v):
        q, k, v = map(to_heads, (q, k, v))
        k, v = (repeated(a, q.shape[1] // k.shape[1]) for a in (k, v))
        return to_tokens(of_heads(q * q.shape[2] ** 0.5, k, v))

    ulysses = on_rows(body)
