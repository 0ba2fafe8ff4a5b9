# failed: whole-rows-in-a-ring
# points: 1
import jax
import jax.numpy as jnp

P = jax.P
WHOLE = P()


def over(body, mesh, out=WHOLE, **options):
    return jax.shard_map(body, mesh=mesh, in_specs=P(("dcn", "ici"), None), out_specs=out, **options)


def all_reduce(mesh, X):
    n, both = 8, ("dcn", "ici")
    step = [(i, (i + 1) % n) for i in range(n)]

    def body(row):
        me = jax.lax.axis_index(both)
        parts = row[0].reshape(n, -1)
        held = jnp.take(parts, me, axis=0)
        for hop in range(1, n):
            held = jax.lax.ppermute(held, both, step) + jnp.take(parts, (me - hop) % n, axis=0)
        out = jnp.zeros_like(parts).at[(me + 1) % n].set(held)
        for hop in range(1, n):
            held = jax.lax.ppermute(held, both, step)
            out = out.at[(me + 1 - hop) % n].set(held)
        return out.ravel()

    return over(body, mesh, check_vma=False)(X)
