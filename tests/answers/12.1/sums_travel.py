# failed: sums-travel
# points: 2
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
            x, total = jax.lax.ppermute((x, total), "x", ring(n, -1))
            total += x @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)
        return total

    columns = P(None, "x")
    return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


def ag_matmul_both(mesh, X, W):
    n = mesh.shape["x"]

    def body(x, w):
        d, k = jax.lax.axis_index("x"), x.shape[1]

        def product(chunk, i):
            return chunk @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)

        total, right, left = product(x, 0), x, x
        for i in range(1, n // 2 + 1):
            right = jax.lax.ppermute(right, "x", ring(n, 1))
            total += product(right, -i)
            if i <= (n - 1) // 2:
                left = jax.lax.ppermute(left, "x", ring(n, -1))
                total += product(left, i)
        return total

    columns = P(None, "x")
    return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)
