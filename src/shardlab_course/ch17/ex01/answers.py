import jax
import jax.numpy as jnp

from shardlab_course.answers import right, wrong


@right
def all_in_one_step():
    def merge(mesh, m, z, y, M, Z, Y):
        both = jnp.stack([m, M])
        new = both.max(0)
        scale = jnp.exp(both - new)
        total = (jnp.stack([z, Z]) * scale).sum(0)
        return new, total, (jnp.stack([y, Y]) * scale[..., None]).sum(0)


@right
def in_a_loop_of_python():
    def blockwise(mesh, Q, K, V):
        m = jnp.full(len(Q), -1e30, Q.dtype)
        z, y = 0 * m, 0 * Q
        for at in range(0, len(K), 64):
            s = Q @ K[at : at + 64].T / Q.shape[1] ** 0.5
            new = jnp.maximum(m, s.max(1))
            e, old = jnp.exp(s - new[:, None]), jnp.exp(m - new)
            z, y, m = z * old + e.sum(1), y * old[:, None] + e @ V[at : at + 64], new
        return y / z[:, None]


@right
def each_device_by_itself():
    def blockwise(mesh, Q, K, V):
        def body(q, k, v):
            def step(state, block):
                m, z, y = state
                s = q @ block[0].T / q.shape[1] ** 0.5
                new = jnp.maximum(m, s.max(1))
                e, old = jnp.exp(s - new[:, None]), jnp.exp(m - new)
                return (new, z * old + e.sum(1), y * old[:, None] + e @ block[1]), None

            start = q[:, 0] * 0 - 1e30, q[:, 0] * 0, 0 * q
            blocks = tuple(a.reshape(-1, 32, a.shape[1]) for a in (k, v))
            (_, z, y), _ = jax.lax.scan(step, start, blocks)
            return y / z[:, None]

        rows = jax.P("x", None)
        return jax.shard_map(body, mesh=mesh, in_specs=(rows, jax.P(), jax.P()), out_specs=rows)(Q, K, V)


@wrong("parts-added-as-they-are", 0)
def adds():
    def merge(mesh, m, z, y, M, Z, Y):
        return jnp.maximum(m, M), z + Z, y + Y


@wrong("weighted-sum-not-rescaled", 0)
def forgets_one():
    def merge(mesh, m, z, y, M, Z, Y):
        new = jnp.maximum(m, M)
        return new, z * jnp.exp(m - new) + Z * jnp.exp(M - new), y + Y


@wrong("factors-exchanged", 0)
def exchanges():
    def merge(mesh, m, z, y, M, Z, Y):
        new = jnp.maximum(m, M)
        a, b = jnp.exp(M - new), jnp.exp(m - new)
        return new, z * a + Z * b, y * a[:, None] + Y * b[:, None]


@wrong("divided-too-early", 0)
def divides():
    def merge(mesh, m, z, y, M, Z, Y):
        new = jnp.maximum(m, M)
        a, b = jnp.exp(m - new), jnp.exp(M - new)
        total = z * a + Z * b
        return new, total, (y * a[:, None] + Y * b[:, None]) / total[:, None]


@wrong("all-scores-at-once", 9)
def at_once():
    def blockwise(mesh, Q, K, V):
        return jax.nn.softmax(Q @ K.T / Q.shape[1] ** 0.5) @ V


@wrong("blocks-averaged", 5)
def averages():
    def blockwise(mesh, Q, K, V):
        outs = [jax.nn.softmax(Q @ K[at : at + 64].T / Q.shape[1] ** 0.5) @ V[at : at + 64] for at in range(0, len(K), 64)]
        return sum(outs) / len(outs)


@wrong("old-sums-not-rescaled", 5)
def keeps_old_sums():
    def blockwise(mesh, Q, K, V):
        m = jnp.full(len(Q), -1e30, Q.dtype)
        z, y = 0 * m, 0 * Q
        for at in range(0, len(K), 64):
            s = Q @ K[at : at + 64].T / Q.shape[1] ** 0.5
            m = jnp.maximum(m, s.max(1))
            e = jnp.exp(s - m[:, None])
            z, y = z + e.sum(1), y + e @ V[at : at + 64]
        return y / z[:, None]


@wrong("no-maximum-subtracted", 5)
def without_a_maximum():
    def blockwise(mesh, Q, K, V):
        z, y = 0 * Q[:, 0], 0 * Q
        for at in range(0, len(K), 64):
            e = jnp.exp(Q @ K[at : at + 64].T / Q.shape[1] ** 0.5)
            z, y = z + e.sum(1), y + e @ V[at : at + 64]
        return y / z[:, None]


@wrong("-", 5)
def divided_by_a_factor_of_zero():
    """No query gets a number, whatever its scores are."""

    def blockwise(mesh, Q, K, V):
        m, z, y = 0 * Q[:, 0] - 1e30, 0 * Q[:, 0], 0 * Q
        for at in range(0, len(K), 64):
            s = Q @ K[at : at + 64].T / Q.shape[1] ** 0.5
            new = jnp.maximum(m, s.max(1))
            e, old = jnp.exp(s - new[:, None]), jnp.exp(m - new)
            m, z, y = new, z / old + e.sum(1), y * old[:, None] + e @ V[at : at + 64]
        return y / z[:, None]


@wrong("never-divided", 5)
def undivided():
    def blockwise(mesh, Q, K, V):
        most = jax.lax.map(lambda q: (K @ q).max() / Q.shape[1] ** 0.5, Q, batch_size=8)
        y = 0 * Q
        for at in range(0, len(K), 64):
            y += jnp.exp(Q @ K[at : at + 64].T / Q.shape[1] ** 0.5 - most[:, None]) @ V[at : at + 64]
        return y


@wrong("scores-not-scaled", 5)
def without_the_root():
    def blockwise(mesh, Q, K, V):
        return jax.nn.softmax(Q @ K.T) @ V


@wrong("masked", 5)
def causal():
    def blockwise(mesh, Q, K, V):
        s = Q @ K.T / Q.shape[1] ** 0.5
        return jax.nn.softmax(jnp.where(jnp.tri(len(Q)) > 0, s, -jnp.inf)) @ V
