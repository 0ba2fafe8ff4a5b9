# failed: chunk-counted-twice
# points: 3
import jax

P = jax.P


def ring(n, by):
    return [(d, (d + by) % n) for d in range(n)]


def ag_matmul(mesh, X, W):
    n = mesh.shape["x"]

    def body(x, w):
        d, k = jax.lax.axis_index("x"), x.shape[1]
        total = x @ jax.lax.dynamic_slice_in_dim(w, d * k, k)
        for i in range(1, n):
            x = jax.lax.ppermute(x, "x", ring(n, -1))
            total += x @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)
        return total

    columns = P(None, "x")
    return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


def ag_matmul_both(mesh, X, W):
    n = mesh.shape["x"]

    def body(x, w):
        d, k = jax.lax.axis_index("x"), x.shape[1]

        def part(chunk, i):
            return chunk @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)

        r = l = x
        t = 0
        for i in range(n // 2):
            t += part(r, -i) + part(l, i)
            r, l = jax.lax.ppermute(r, "x", ring(n, 1)), jax.lax.ppermute(l, "x", ring(n, -1))
        return t + part(r, -(n // 2))

    columns = P(None, "x")
    return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)
