import jax

from shardlab_course.answers import right, wrong

P = jax.P


def ring(n, by):
    return [(d, (d + by) % n) for d in range(n)]


@right
def another_way():
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


@wrong("uses-a-finished-collective", 12.25)
def all_gather():
    def ag_matmul(mesh, X, W):

        def body(x, w):
            return jax.lax.all_gather(x, "x", axis=1, tiled=True) @ w

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("all-round-both-ways", 14)
def all_round_both_ways():
    def ag_matmul_both(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]

            def part(chunk, i):
                return chunk @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)

            r = l = x
            t = part(x, 0)
            for i in range(1, n):
                r, l = jax.lax.ppermute(r, "x", ring(n, 1)), jax.lax.ppermute(l, "x", ring(n, -1))
                t += (part(r, -i) + part(l, i)) / 2
            return t

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@right
def antipode_in_halves():
    import jax.numpy as jnp

    def ag_matmul_both(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]

            def part(chunk, i):
                return chunk @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)

            r = l = x
            t = part(x, 0)
            for i in range(1, (n - 1) // 2 + 1):
                r, l = jax.lax.ppermute(r, "x", ring(n, 1)), jax.lax.ppermute(l, "x", ring(n, -1))
                t += part(r, -i) + part(l, i)
            if n % 2 == 0:
                h = k // 2
                r, l = jax.lax.ppermute(r[:, :h], "x", ring(n, 1)), jax.lax.ppermute(l[:, h:], "x", ring(n, -1))
                t += part(jnp.concatenate([r, l], 1), n // 2)
            return t

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("antipode-sent-twice", 14)
def antipode_twice():
    def ag_matmul_both(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]

            def product(chunk, i):
                return chunk @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)

            total, right, left = product(x, 0), x, x
            for i in range(1, n // 2 + 1):
                right, left = jax.lax.ppermute(right, "x", ring(n, 1)), jax.lax.ppermute(left, "x", ring(n, -1))
                total += product(right, -i)
                total += product(left, i) if i <= (n - 1) // 2 else 0 * left[:1, :1]
            return total

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("still-one-way", 14)
def both_is_one_way():
    def ag_matmul_both(mesh, X, W):
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


@wrong("sends-all-it-has", 12.25)
def buffer_travels():
    import jax.numpy as jnp

    def ag_matmul(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]
            buffer = jax.lax.dynamic_update_slice_in_dim(jnp.zeros((x.shape[0], n * k)), x, d * k, 1)
            total = x @ jax.lax.dynamic_slice_in_dim(w, d * k, k)
            for i in range(1, n):
                came = jax.lax.ppermute(buffer, "x", ring(n, -1))
                chunk = jax.lax.dynamic_slice_in_dim(came, (d + i) % n * k, k, 1)
                total += chunk @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)
                buffer = jax.lax.dynamic_update_slice_in_dim(came, x, d * k, 1)
            return total

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@right
def chunks_stacked():
    import jax.numpy as jnp

    def ag_matmul(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]
            rows = w.reshape(n, k, -1)
            terms = [jnp.einsum("tk,kf->tf", x, rows[d])]
            for i in range(1, n):
                x = jax.lax.ppermute(x, "x", ring(n, -1))
                terms.append(jnp.einsum("tk,kf->tf", x, rows[(d + i) % n]))
            return sum(terms)

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("left-to-the-compiler", 0)
def compiler():
    def ag_matmul(mesh, X, W):
        return X @ W

    def ag_matmul_both(mesh, X, W):
        return jax.lax.with_sharding_constraint(X @ W, jax.NamedSharding(mesh, P(None, "x")))


@wrong("most-waits-for-the-last-hop", 12.25)
def dummy_beside():
    import jax.numpy as jnp

    def ag_matmul(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]
            w = jnp.roll(w, -d * k, axis=0)
            dummy = x @ w[:k]
            came = [x]
            for i in range(1, n):
                came.append(jax.lax.ppermute(came[-1], "x", ring(n, -1)))
            return jnp.concatenate(came, axis=1) @ w + 0 * dummy

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("halves-all-the-way", 14)
def halves():
    def ag_matmul_both(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]

            def product(chunk, i, first):
                h = chunk.shape[1]
                return chunk @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k + first, h)

            h = k // 2
            right, left = x[:, :h], x[:, h:]
            total = product(right, 0, 0) + product(left, 0, h)
            for i in range(1, n):
                right, left = jax.lax.ppermute(right, "x", ring(n, 1)), jax.lax.ppermute(left, "x", ring(n, -1))
                total += product(right, -i, 0) + product(left, i, h)
            return total

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@right
def hops_written_first():
    def ag_matmul(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]
            came = [x]
            for _ in range(1, n):
                came.append(jax.lax.ppermute(came[-1], "x", ring(n, -1)))
            return sum(c @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k) for i, c in enumerate(came))

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("carry-changes-type", 7)
def invariant_start():
    import jax.numpy as jnp

    def ag_matmul(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]

            def step(i, state):
                total, x = state
                total += x @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)
                return total, jax.lax.ppermute(x, "x", ring(n, -1))

            zeros = jnp.zeros((x.shape[0], w.shape[1]))
            total, x = jax.lax.fori_loop(0, n - 1, step, (zeros, x))
            return total + x @ jax.lax.dynamic_slice_in_dim(w, (d + n - 1) % n * k, k)

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("chunk-left-out", 7)
def last_left_out():
    def ag_matmul(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]
            total = x @ jax.lax.dynamic_slice_in_dim(w, d * k, k)
            for i in range(1, n - 1):
                x = jax.lax.ppermute(x, "x", ring(n, -1))
                total += x @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)
            return total

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("leaps-over-neighbours", 12.25)
def leaps():
    def ag_matmul(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]
            total = x @ jax.lax.dynamic_slice_in_dim(w, d * k, k)
            for i in range(1, n):
                came = jax.lax.ppermute(x, "x", ring(n, -i))
                total += came @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)
            return total

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@right
def loop():
    import jax.numpy as jnp

    def ag_matmul(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]

            def step(i, state):
                total, x = state
                total += x @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)
                return total, jax.lax.ppermute(x, "x", ring(n, -1))

            zeros = jax.lax.pcast(jnp.zeros((x.shape[0], w.shape[1])), "x", to="varying")
            total, x = jax.lax.fori_loop(0, n - 1, step, (zeros, x))
            return total + x @ jax.lax.dynamic_slice_in_dim(w, (d + n - 1) % n * k, k)

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("one-hop-too-many", 12.25)
def n_hops():
    import jax.numpy as jnp

    def ag_matmul(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]

            def step(i, state):
                total, x = state
                total += x @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)
                return total, jax.lax.ppermute(x, "x", ring(n, -1))

            zeros = jax.lax.pcast(jnp.zeros((x.shape[0], w.shape[1])), "x", to="varying")
            return jax.lax.fori_loop(0, n, step, (zeros, x))[0]

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("no-modulo", 7)
def no_modulo():
    def ag_matmul(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]
            total = 0
            for i in range(n):
                total += x @ jax.lax.dynamic_slice_in_dim(w, (d + i) * k, k)
                x = jax.lax.ppermute(x, "x", ring(n, -1))
            return total

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("rows-one-off", 7)
def one_off():
    def ag_matmul(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]
            total = 0
            for i in range(n):
                total += x @ jax.lax.dynamic_slice_in_dim(w, (d + i + 1) % n * k, k)
                if i < n - 1:
                    x = jax.lax.ppermute(x, "x", ring(n, -1))
            return total

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("ring-is-open", 7)
def open():
    def ag_matmul(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]
            total = x @ jax.lax.dynamic_slice_in_dim(w, d * k, k)
            for i in range(1, n):
                x = jax.lax.ppermute(x, "x", ring(n, -1)[1:])
                total += x @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)
            return total

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@right
def other_way():
    def ag_matmul(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]
            total = x @ jax.lax.dynamic_slice_in_dim(w, d * k, k)
            for i in range(1, n):
                x = jax.lax.ppermute(x, "x", ring(n, 1))
                total += x @ jax.lax.dynamic_slice_in_dim(w, (d - i) % n * k, k)
            return total

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("one-chunk-only", 7)
def overwrites():
    def ag_matmul(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]
            for i in range(n):
                total = x @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)
                x = jax.lax.ppermute(x, "x", ring(n, -1))
            return total

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("chunk-left-out", 7)
def own_left_out():
    def ag_matmul(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]
            total = 0
            for i in range(1, n):
                x = jax.lax.ppermute(x, "x", ring(n, -1))
                total += x @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)
            return total

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("own-chunk-only", 7)
def own_only():
    def ag_matmul(mesh, X, W):

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]
            return x @ jax.lax.dynamic_slice_in_dim(w, d * k, k)

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("own-chunk-only", 7)
def own_only_after_all():
    def ag_matmul(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]
            total = x @ jax.lax.dynamic_slice_in_dim(w, d * k, k)
            for _ in range(1, n):
                x = jax.lax.ppermute(x, "x", ring(n, -1))
            return total + 0 * x.sum()

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("chunk-counted-twice", 10.5)
def own_twice():
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


@wrong("chunk-index-local", 7)
def published():
    def ag_matmul(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            k = x.shape[1]
            total = 0
            for i in range(n):
                total += x @ jax.lax.dynamic_slice_in_dim(w, i * k, k)
                if i < n - 1:
                    x = jax.lax.ppermute(x, "x", ring(n, -1))
            return total

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("chunk-index-local", 7)
def published_the_other_way():
    def ag_matmul(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            k = x.shape[1]
            total = 0
            for i in range(n):
                total += x @ jax.lax.dynamic_slice_in_dim(w, i * k, k)
                if i < n - 1:
                    x = jax.lax.ppermute(x, "x", ring(n, 1))
            return total

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("most-waits-for-the-last-hop", 12.25)
def rest_at_the_end():
    import jax.numpy as jnp

    def ag_matmul(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]
            total = x @ jax.lax.dynamic_slice_in_dim(w, d * k, k)
            w = jnp.roll(w, -d * k, axis=0)
            came = []
            for i in range(1, n):
                x = jax.lax.ppermute(x, "x", ring(n, -1))
                came.append(x)
            return total + jnp.concatenate(came, axis=1) @ w[k:]

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("moves-first-then-multiplies", 12.25)
def ring_then_product():
    import jax.numpy as jnp

    def ag_matmul(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]
            whole = jnp.zeros((x.shape[0], n * k))
            for i in range(n):
                whole = jax.lax.dynamic_update_slice_in_dim(whole, x, (d + i) % n * k, 1)
                if i < n - 1:
                    x = jax.lax.ppermute(x, "x", ring(n, -1))
            return whole @ w

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("same-rows-each-round", 7)
def first_rows():
    def ag_matmul(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            k = x.shape[1]
            total = x @ w[:k]
            for _ in range(1, n):
                x = jax.lax.ppermute(x, "x", ring(n, -1))
                total += x @ w[:k]
            return total

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("no-exchange", 7)
def chunks_stay():
    def ag_matmul(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            return sum(x @ rows for rows in w.reshape(n, x.shape[1], -1))

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("same-rows-each-round", 7)
def same_rows():
    def ag_matmul(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]
            total = x @ jax.lax.dynamic_slice_in_dim(w, d * k, k)
            for _ in range(1, n):
                x = jax.lax.ppermute(x, "x", ring(n, -1))
                total += x @ jax.lax.dynamic_slice_in_dim(w, d * k, k)
            return total

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@right
def scan_of_rows():
    import jax.numpy as jnp

    def ag_matmul(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]
            rows = jnp.roll(w.reshape(n, k, -1), -d, axis=0)

            def step(state, part):
                total, x = state
                x = jax.lax.ppermute(x, "x", ring(n, -1))
                return (total + x @ part, x), None

            return jax.lax.scan(step, (x @ rows[0], x), rows[1:])[0][0]

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("sums-travel", 7)
def sums_travel():
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


@right
def transposed_chunks():
    def ag_matmul(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]
            xt = x.T
            total = 0
            for i in range(n):
                part = jax.lax.dynamic_slice(w, ((d + i) % n * k, 0), (k, w.shape[1]))
                total += jax.lax.dot_general(xt, part, (((0,), (0,)), ((), ())))
                if i < n - 1:
                    xt = jax.lax.ppermute(xt, "x", ring(n, -1))
            return total

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@right
def two_chunks_a_product():
    import jax.numpy as jnp

    def ag_matmul_both(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]
            w = jnp.roll(w, -d * k, axis=0).reshape(n, k, -1)
            r = l = x
            t = x @ w[0]
            for i in range(1, (n - 1) // 2 + 1):
                r, l = jax.lax.ppermute(r, "x", ring(n, 1)), jax.lax.ppermute(l, "x", ring(n, -1))
                t += jnp.concatenate([r, l], 1) @ jnp.concatenate([w[-i], w[i]], 0)
            if n % 2 == 0:
                t += jax.lax.ppermute(r, "x", ring(n, 1)) @ w[n // 2]
            return t

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@right
def two_ways_in_both():
    def ag_matmul(mesh, X, W):
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


@wrong("weights-travel", 7)
def weights_travel():
    def ag_matmul(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]
            total = x @ jax.lax.dynamic_slice_in_dim(w, d * k, k)
            for i in range(1, n):
                w = jax.lax.ppermute(w, "x", ring(n, -1))
                total += x @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)
            return total

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("counts-the-wrong-way", 7)
def wrong_way():
    def ag_matmul(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]
            total = x @ jax.lax.dynamic_slice_in_dim(w, d * k, k)
            for i in range(1, n):
                x = jax.lax.ppermute(x, "x", ring(n, -1))
                total += x @ jax.lax.dynamic_slice_in_dim(w, (d - i) % n * k, k)
            return total

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("moves-first-then-multiplies", 12.25)
def dead_dot_beside():
    import jax.numpy as jnp

    def ag_matmul(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]
            w = jnp.roll(w, -d * k, axis=0)
            dead = x[:4, :4] @ x[:4, :4].T
            came = [x]
            for _ in range(1, n):
                came.append(jax.lax.ppermute(came[-1], "x", ring(n, -1)))
            whole = jnp.concatenate(came, axis=1)
            return jnp.sum(whole[:, :, None] * w[None], axis=1) + 0 * dead[0, 0]

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("most-waits-for-the-last-hop", 12.25)
def wrong_operands_beside():
    import jax.numpy as jnp

    def ag_matmul(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]
            w = jnp.roll(w, -d * k, axis=0)
            decoy = jnp.tanh(x) @ w[:k]
            came = [x]
            for _ in range(1, n):
                came.append(jax.lax.ppermute(came[-1], "x", ring(n, -1)))
            return jnp.einsum("tk,kf->tf", jnp.concatenate(came, axis=1), w) + 0 * decoy

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("-", 12.25)
def decoys_beside_each_hop():
    import jax.numpy as jnp

    def ag_matmul(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]
            w = jnp.roll(w, -d * k, axis=0)
            came, decoy = [x], 0.0
            for i in range(1, n):
                decoy += jnp.sin(came[-1]) @ w[i * k - k : i * k]
                came.append(jax.lax.ppermute(came[-1], "x", ring(n, -1)))
            return jnp.concatenate(came, axis=1) @ w + 0 * decoy

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("moves-first-then-multiplies", 12.25)
def sums_after_all():
    import jax.numpy as jnp

    def ag_matmul(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]
            came = [x]
            for _ in range(1, n):
                came.append(jax.lax.ppermute(came[-1], "x", ring(n, -1)))
            chunks = jax.lax.optimization_barrier(came)

            def step(i, total):
                rows = jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)
                return total + jnp.sum(jnp.stack(chunks)[i][:, :, None] * rows[None], axis=1)

            zeros = jax.lax.pcast(jnp.zeros((x.shape[0], w.shape[1])), "x", to="varying")
            return jax.lax.fori_loop(0, n, step, zeros)

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("most-waits-for-the-last-hop", 12.25)
def logarithms_after_all():
    import jax.numpy as jnp

    def ag_matmul(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]
            w = jnp.roll(w, -d * k, axis=0)
            came = [x]
            for _ in range(1, n):
                came.append(jax.lax.ppermute(came[-1], "x", ring(n, -1)))
            a, b = jnp.concatenate(came, axis=1)[:, :, None], w[None]
            size = jnp.exp(jnp.log(jnp.abs(a)) + jnp.log(jnp.abs(b)))
            return jnp.sum(jnp.where((a < 0) == (b < 0), size, -size), axis=1)

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("moves-first-then-multiplies", 12.25)
def each_waits_for_the_other():
    def ag_matmul(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]
            total = x @ jax.lax.dynamic_slice_in_dim(w, d * k, k)
            for i in range(1, n):
                x, total = jax.lax.optimization_barrier((x, total))
                x = jax.lax.ppermute(x + 0 * total[:, :1], "x", ring(n, -1))
                total += x @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)
            return total

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@right
def multiply_and_sum():
    import jax.numpy as jnp

    def ag_matmul(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]
            total = 0.0
            for i in range(n):
                rows = jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)
                total += jnp.sum(x[:, :, None] * rows[None], axis=1)
                if i < n - 1:
                    x = jax.lax.ppermute(x, "x", ring(n, -1))
            return total

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@right
def rank_one_updates():
    import jax.numpy as jnp

    def ag_matmul(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]

            def part(x, i):
                rows = jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)
                zeros = jax.lax.pcast(jnp.zeros((x.shape[0], w.shape[1])), "x", to="varying")
                return jax.lax.fori_loop(0, k, lambda j, t: t + jnp.outer(x[:, j], rows[j]), zeros)

            def step(x, i):
                return jax.lax.ppermute(x, "x", ring(n, -1)), part(x, i)

            x, parts = jax.lax.scan(step, x, jnp.arange(n - 1))
            return parts.sum(0) + part(x, n - 1)

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@right
def convolution():
    def ag_matmul(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]
            total = 0.0
            for i in range(n):
                rows = jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)
                total += jax.lax.conv_general_dilated(
                    x[None], rows[None], (1,), "VALID", dimension_numbers=("NWC", "WIO", "NWC")
                )[0]
                if i < n - 1:
                    x = jax.lax.ppermute(x, "x", ring(n, -1))
            return total

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@right
def einsum_of_blocks():
    import jax.numpy as jnp

    def ag_matmul(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            blocks = jnp.roll(w.reshape(n, x.shape[1], -1), -jax.lax.axis_index("x"), axis=0)
            total = 0.0
            for i in range(n):
                total = total + jnp.einsum("kf,tk->tf", blocks[i], x)
                x = jax.lax.ppermute(x, "x", ring(n, -1)) if i < n - 1 else x
            return total

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("one-hop-too-many", 12.25)
def antipode_in_first():
    def ag_matmul(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]

            def product(chunk, i):
                return chunk @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)

            total, right, left = product(x, 0), x, x
            for i in range(1, n // 2 + 1):
                right = jax.lax.ppermute(right, "x", ring(n, 1))
                total += product(right, -i)
                left = jax.lax.ppermute(left, "x", ring(n, -1))
                if i <= (n - 1) // 2:
                    total += product(left, i)
                else:
                    total += 0 * product(left, i)
            return total

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("sums-travel", 7)
def total_travels():
    def ag_matmul(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]
            total = x @ jax.lax.dynamic_slice_in_dim(w, d * k, k)
            for i in range(1, n):
                total = jax.lax.ppermute(total, "x", ring(n, -1))
                total += x @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)
            return total

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)
