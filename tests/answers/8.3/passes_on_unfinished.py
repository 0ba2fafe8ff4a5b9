# failed: unfinished-sum-passed-on
# points: 0
import jax
from jax import P, lax


def ring_all_reduce(mesh, terms):
    n = mesh.shape["x"]
    ring = [(k, (k + 1) % n) for k in range(n)]

    def body(block):
        d = lax.axis_index("x")
        buf = block.reshape(n, -1)
        for i in range(n - 1):
            got = lax.ppermute(buf[(d - i) % n], "x", ring)
            buf = buf.at[(d - i - 1) % n].add(got)
        for i in range(n - 1):
            got = lax.ppermute(buf[(d - i) % n], "x", ring)
            buf = buf.at[(d - i - 1) % n].set(got)
        return buf.reshape(block.shape[1:])

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(terms)
