import jax
import jax.numpy as jnp
from jax import lax

from shardlab_course.answers import right, wrong

P = jax.P
ROWS = P("x", None)


def normed(x):
    return x / jnp.sqrt((x**2).mean(1, keepdims=True) + 1e-6)


def turned(x, at):
    half = x.shape[1] // 2
    angles = at[:, None] * 10000.0 ** (-jnp.arange(half) / half)
    a, b, cos, sin = x[:, :half], x[:, half:], jnp.cos(angles), jnp.sin(angles)
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], 1)


def zigzag(d, n, m):
    """Positions of device d's rows."""
    at = jnp.arange(m // 2)
    return jnp.concatenate([d * (m // 2) + at, (2 * n - 1 - d) * (m // 2) + at])


def onward(n):
    return [(d, (d + 1) % n) for d in range(n)]


def of_block(q, k, v, seen=True, least=-1e30):
    s = jnp.where(seen, q @ k.T / q.shape[1] ** 0.5, -jnp.inf)
    m = lax.stop_gradient(jnp.maximum(s.max(1), least))
    e = jnp.exp(s - m[:, None])
    return m, e.sum(1), e @ v


def both(one, other):
    m = jnp.maximum(one[0], other[0])
    a, b = jnp.exp(one[0] - m), jnp.exp(other[0] - m)
    return m, one[1] * a + other[1] * b, one[2] * a[:, None] + other[2] * b[:, None]


def own(q, k, v):
    """The triples of both chunks of queries and the keys beside them."""
    c = len(q) // 2
    causal = jnp.tri(c) > 0
    late = both(of_block(q[c:], k[c:], v[c:], causal), of_block(q[c:], k[:c], v[:c]))
    return of_block(q[:c], k[:c], v[:c], causal), late


def later(i, state, q, k, v):
    """Both triples with the block that came after i hops: two chunks of scores."""
    c, before = len(q) // 2, i <= lax.axis_index("x")
    early, late = state
    late = both(late, of_block(q[c:], k[:c], v[:c]))
    m, z, y = of_block(*(lax.dynamic_slice_in_dim(a, jnp.where(before, 0, c), c) for a in (q, k, v)))
    return both(early, (jnp.where(before, m, -1e30), z, y)), both(late, (jnp.where(before, -1e30, m), z, y))


def divided(state):
    return jnp.concatenate([y / z[:, None] for _, z, y in state])


def ring(keep=jax.checkpoint, own=own, later=later, pairs=onward):
    """Attention as a scan over the rounds, each hop outside of what is kept."""

    def attention(q, k, v):
        n = lax.axis_size("x")

        def one(carry, i):
            state, k, v = carry
            k, v = (lax.ppermute(a, "x", pairs(n)) for a in (k, v))
            return (keep(later)(i, state, q, k, v), k, v), None

        (state, _, _), _ = lax.scan(one, (keep(own)(q, k, v), k, v), jnp.arange(1, n))
        return divided(state)

    return attention


def masked(seen, keep=jax.checkpoint, least=-1e30):
    """A ring that makes all scores; `seen(d, e, n, m)` is the mask of device d's queries and device e's keys."""

    def own(q, k, v):
        d = lax.axis_index("x")
        return (of_block(q, k, v, seen(d, d, lax.axis_size("x"), len(q)), least),)

    def later(i, state, q, k, v):
        d, n = lax.axis_index("x"), lax.axis_size("x")
        return (both(state[0], of_block(q, k, v, seen(d, (d - i) % n, n, len(q)), least)),)

    return ring(keep, own, later)


def dealt(d, e, n, m):
    return zigzag(e, n, m) <= zigzag(d, n, m)[:, None]


def trained(attention, at=zigzag, loss=None, after=lambda n, value, slopes: (value, slopes), check=True, whole=lambda f: f):
    """A step of the layer with some attention, positions, loss, and what is done to what JAX returns."""

    def layer(x, wq, wk, wv, wo, w1, w2):
        h, where = normed(x), at(lax.axis_index("x"), lax.axis_size("x"), len(x))
        x = x + attention(turned(h @ wq, where), turned(h @ wk, where), h @ wv) @ wo
        return x + jax.nn.silu(normed(x) @ w1) @ w2

    def mean(error):
        return lax.psum((error**2).sum(), "x") / (lax.axis_size("x") * error.size)

    def layer_step(mesh, X, T, *weights):
        def body(x, t, *w):
            value, slopes = jax.value_and_grad(lambda w: (loss or mean)(whole(layer)(x, *w) - t))(w)
            return after(lax.axis_size("x"), value, slopes)

        specs = (ROWS, ROWS, *(P() for _ in weights))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P(), check_vma=check)(X, T, *weights)

    return layer_step


def summed(n, value, slopes):
    return value, lax.psum(slopes, "x")


@right
def as_a_loop_of_python():
    def attention(q, k, v):
        n, state = lax.axis_size("x"), jax.checkpoint(own)(q, k, v)
        for i in range(1, n):
            k, v = (lax.ppermute(a, "x", onward(n)) for a in (k, v))
            state = jax.checkpoint(later)(i, state, q, k, v)
        return divided(state)

    layer_step = trained(attention)


@right
def each_part_in_a_checkpoint():
    def own(q, k, v):
        c, part = len(q) // 2, jax.checkpoint(of_block)
        causal = jnp.tri(c) > 0
        late = both(part(q[c:], k[c:], v[c:], causal), part(q[c:], k[:c], v[:c]))
        return part(q[:c], k[:c], v[:c], causal), late

    def later(i, state, q, k, v):
        c, before, part = len(q) // 2, i <= lax.axis_index("x"), jax.checkpoint(of_block)
        early, late = state
        late = both(late, part(q[c:], k[:c], v[:c]))
        m, z, y = part(*(jnp.where(before, a[:c], a[c:]) for a in (q, k, v)))
        return both(early, (jnp.where(before, m, -1e30), z, y)), both(late, (jnp.where(before, -1e30, m), z, y))

    def attention(q, k, v):
        n, state = lax.axis_size("x"), own(q, k, v)

        def one(carry, i):
            state, kv = carry
            kv = lax.ppermute(kv, "x", onward(n))
            return (later(i, state, q, *kv), kv), None

        (state, _), _ = lax.scan(one, (state, jnp.stack([k, v])), jnp.arange(1, n))
        return divided(state)

    layer_step = trained(attention)


@right
def differentiated_from_outside():
    attention = ring()

    def layer_step(mesh, X, T, *weights):
        def body(x, t, wq, wk, wv, wo, w1, w2):
            n, h = lax.axis_size("x"), normed(x)
            at = zigzag(lax.axis_index("x"), n, len(x))
            x = x + attention(turned(h @ wq, at), turned(h @ wk, at), h @ wv) @ wo
            x = x + jax.nn.silu(normed(x) @ w1) @ w2
            return lax.pmean(((x - t) ** 2).mean(), "x")

        specs = (ROWS, ROWS, *(P() for _ in weights))
        loss = jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P())
        return jax.value_and_grad(lambda w: loss(X, T, *w))(weights)


@right
def unchecked_with_sums():
    def own_share(error):
        return (error**2).sum() / (lax.axis_size("x") * error.size)

    def after(n, value, slopes):
        return lax.psum(value, "x"), lax.psum(slopes, "x")

    layer_step = trained(ring(), loss=own_share, after=after, check=False)


@wrong("left-to-the-compiler", 0)
def left_to_the_compiler():
    def layer_step(mesh, X, T, *weights):
        n, m = mesh.shape["x"], len(X) // mesh.shape["x"]
        at = jnp.concatenate([zigzag(d, n, m) for d in range(n)])

        def loss(w):
            wq, wk, wv, wo, w1, w2 = w
            h = normed(X)
            _, z, y = of_block(turned(h @ wq, at), turned(h @ wk, at), h @ wv, at <= at[:, None])
            x = X + y / z[:, None] @ wo
            return ((x + jax.nn.silu(normed(x) @ w1) @ w2 - T) ** 2).mean()

        return jax.value_and_grad(loss)(weights)


@wrong("counts-from-zero", 0)
def from_zero():
    layer_step = trained(ring(), at=lambda d, n, m: jnp.arange(m))


@wrong("rows-taken-for-positions", 0)
def natural_order():
    layer_step = trained(ring(), at=lambda d, n, m: d * m + jnp.arange(m))


@wrong("mask-of-rows", 0)
def masks_rows():
    layer_step = trained(masked(lambda d, e, n, m: e * m + jnp.arange(m) <= (d * m + jnp.arange(m))[:, None]))


@wrong("mask-of-local-positions", 0)
def masks_locally():
    layer_step = trained(masked(lambda d, e, n, m: jnp.tri(m) > 0))


@wrong("own-block-only", 0)
def stays_at_home():
    layer_step = trained(lambda q, k, v: divided(own(q, k, v)))


@wrong("gradients-not-summed", 0)
def without_a_sum():
    def own_share(error):
        return (error**2).sum() / (lax.axis_size("x") * error.size)

    layer_step = trained(ring(), loss=own_share, after=lambda n, value, slopes: (lax.psum(value, "x"), slopes), check=False)


@wrong("gradients-not-summed", 0)
def the_check_switched_off():
    layer_step = trained(ring(), check=False)


@wrong("gradients-averaged", 0)
def averaged():
    def own_share(error):
        return (error**2).sum() / (lax.axis_size("x") * error.size)

    def after(n, value, slopes):
        return lax.psum(value, "x"), lax.pmean(slopes, "x")

    layer_step = trained(ring(), loss=own_share, after=after, check=False)


@wrong("summed-twice", 0)
def sums_twice():
    layer_step = trained(ring(), after=summed)


@wrong("means-added", 0)
def adds_means():
    layer_step = trained(ring(), loss=lambda error: lax.psum((error**2).mean(), "x"))


@wrong("promise-not-proved", 0)
def own_loss():
    layer_step = trained(ring(), loss=lambda error: (error**2).mean())


@wrong("no-numbers", 0)
def begins_with_a_block_unseen():
    layer_step = trained(masked(dealt, least=-jnp.inf))


@wrong("ring-is-open", 0)
def open_ring():
    layer_step = trained(ring(pairs=lambda n: [(d, d + 1) for d in range(n - 1)]))


@wrong("exponentials-kept", 16)
def without_a_checkpoint():
    layer_step = trained(ring(keep=lambda f: f))


@wrong("exponentials-kept", 9)
def the_layer_in_a_checkpoint():
    """All of it is made again at once, and all of it is then kept."""
    layer_step = trained(ring(keep=lambda f: f), whole=jax.checkpoint)


@wrong("travels-again", 16)
def hops_inside():
    def attention(q, k, v):
        n = lax.axis_size("x")

        @jax.checkpoint
        def one(carry, i):
            state, k, v = carry
            k, v = (lax.ppermute(a, "x", onward(n)) for a in (k, v))
            return (later(i, state, q, k, v), k, v), None

        (state, _, _), _ = lax.scan(one, (jax.checkpoint(own)(q, k, v), k, v), jnp.arange(1, n))
        return divided(state)

    layer_step = trained(attention)


@wrong("travels-again", 16)
def hops_inside_a_loop_of_python():
    """XLA for CPU of JAX 0.10 removes the checkpoints' barriers, and merges the second hops with the first."""

    @jax.checkpoint
    def one(i, state, q, k, v):
        k, v = (lax.ppermute(a, "x", onward(lax.axis_size("x"))) for a in (k, v))
        return later(i, state, q, k, v), k, v

    def attention(q, k, v):
        state = jax.checkpoint(own)(q, k, v)
        for i in range(1, lax.axis_size("x")):
            state, k, v = one(i, state, q, k, v)
        return divided(state)

    layer_step = trained(attention)


@wrong("one-hop-too-many", 16)
def comes_home():
    def attention(q, k, v):
        n = lax.axis_size("x")

        def hop(a):
            return lax.ppermute(a, "x", onward(n))

        def one(carry, i):
            state, k, v = carry
            return (jax.checkpoint(later)(i, state, q, k, v), hop(k), hop(v)), None

        (state, _, _), _ = lax.scan(one, (jax.checkpoint(own)(q, k, v), hop(k), hop(v)), jnp.arange(1, n))
        return divided(state)

    layer_step = trained(attention)


@wrong("all-scores-multiplied", 17)
def masks_half():
    layer_step = trained(masked(dealt))


@wrong("keys-gathered", 16)
def gathers():
    def attention(q, k, v):
        n = lax.axis_size("x")
        k, v = (lax.all_gather(a, "x") for a in (k, v))
        d = lax.axis_index("x")
        state = jax.checkpoint(own)(q, k[d], v[d])

        def one(state, i):
            return jax.checkpoint(later)(i, state, q, k[(d - i) % n], v[(d - i) % n]), None

        return divided(lax.scan(one, state, jnp.arange(1, n))[0])

    layer_step = trained(attention)
