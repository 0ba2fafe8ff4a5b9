# passed
import jax
import jax.numpy as jnp
from jax import P, lax


def ring_all_reduce(mesh, terms):
    n = mesh.shape["x"]
    ring = [(k, (k + 1) % n) for k in range(n)]

    def first(block):
        d = lax.axis_index("x")
        c = jnp.array(jnp.split(block[0], n))
        s = c[d - 1]
        for i in range(n - 1):
            s = lax.ppermute(s, "x", ring) + c[(d - 2 - i) % n]
        return s

    def second(s):
        d = lax.axis_index("x")
        got = [s]
        for _ in range(n - 1):
            got.append(lax.ppermute(got[-1], "x", ring))
        return jnp.concatenate([jnp.stack(got)[(d - k) % n] for k in range(n)])

    part = jax.shard_map(first, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(terms)

    return jax.shard_map(second, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(part)
