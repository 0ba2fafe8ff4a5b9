import jax

from shardlab_course.answers import right, wrong

P = jax.P


def ring(n, by):
    return [(d, (d + by) % n) for d in range(n)]


@right
def another_way():
    def matmul_rs(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, m = jax.lax.axis_index("x"), x.shape[0] // n

            def part(chunk):
                return jax.lax.dynamic_slice_in_dim(x, chunk % n * m, m) @ w

            total = part(d - 1)
            for i in range(1, n):
                total = jax.lax.ppermute(total, "x", ring(n, 1)) + part(d - 1 - i)
            return total

        specs = (P(None, "x"), P("x", None))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)


@wrong("left-to-the-compiler", 0)
def compiler():
    def matmul_rs(mesh, X, W):
        return jax.lax.with_sharding_constraint(X @ W, jax.NamedSharding(mesh, P("x", None)))


@right
def halves_both_ways():
    import jax.numpy as jnp

    def matmul_rs(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, m = jax.lax.axis_index("x"), x.shape[0] // n

            def part(chunk):
                return jax.lax.dynamic_slice_in_dim(x, chunk % n * m, m) @ w

            h = w.shape[1] // 2

            def half(chunk, w):
                return jax.lax.dynamic_slice_in_dim(x, chunk % n * m, m) @ w

            r, l = half(d - 1, w[:, :h]), half(d + 1, w[:, h:])
            for i in range(1, n):
                r = jax.lax.ppermute(r, "x", ring(n, 1)) + half(d - 1 - i, w[:, :h])
                l = jax.lax.ppermute(l, "x", ring(n, -1)) + half(d + 1 + i, w[:, h:])
            return jnp.concatenate([r, l], 1)

        specs = (P(None, "x"), P("x", None))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)


@wrong("one-hop-too-many", 9)
def home_again():
    def matmul_rs(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, m = jax.lax.axis_index("x"), x.shape[0] // n

            def part(chunk):
                return jax.lax.dynamic_slice_in_dim(x, chunk % n * m, m) @ w

            total = part(d)
            for i in range(1, n):
                total = jax.lax.ppermute(total, "x", ring(n, 1)) + part(d - i)
            return jax.lax.ppermute(total, "x", ring(n, 1))

        specs = (P(None, "x"), P("x", None))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)


@wrong("permutes-inputs", 9)
def inputs_travel():
    def matmul_rs(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, m = jax.lax.axis_index("x"), x.shape[0] // n

            def part(chunk):
                return jax.lax.dynamic_slice_in_dim(x, chunk % n * m, m) @ w

            total = part(d)
            for _ in range(1, n):
                x, w = jax.lax.ppermute(x, "x", ring(n, -1)), jax.lax.ppermute(w, "x", ring(n, -1))
                total += jax.lax.dynamic_slice_in_dim(x, d * m, m) @ w
            return total

        specs = (P(None, "x"), P("x", None))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)


@wrong("term-left-out", 0)
def last_left_out():
    def matmul_rs(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, m = jax.lax.axis_index("x"), x.shape[0] // n

            def part(chunk):
                return jax.lax.dynamic_slice_in_dim(x, chunk % n * m, m) @ w

            total = part(d - 1)
            for i in range(1, n - 1):
                total = jax.lax.ppermute(total, "x", ring(n, 1)) + part(d - 1 - i)
            return jax.lax.ppermute(total, "x", ring(n, 1))

        specs = (P(None, "x"), P("x", None))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)


@wrong("leaps-over-neighbours", 9)
def leaps():
    def matmul_rs(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, m = jax.lax.axis_index("x"), x.shape[0] // n

            def part(chunk):
                return jax.lax.dynamic_slice_in_dim(x, chunk % n * m, m) @ w

            total = part(d)
            for i in range(1, n):
                total += jax.lax.ppermute(part(d + i), "x", ring(n, i))
            return total

        specs = (P(None, "x"), P("x", None))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)


@right
def loop():
    def matmul_rs(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, m = jax.lax.axis_index("x"), x.shape[0] // n

            def part(chunk):
                return jax.lax.dynamic_slice_in_dim(x, chunk % n * m, m) @ w

            def hop(i, total):
                return jax.lax.ppermute(total, "x", ring(n, 1)) + part(d - 1 - i)

            return jax.lax.fori_loop(1, n, hop, part(d - 1))

        specs = (P(None, "x"), P("x", None))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)


@wrong("most-before-the-first-hop", 9)
def most_at_once():
    import jax.numpy as jnp

    def matmul_rs(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, m = jax.lax.axis_index("x"), x.shape[0] // n

            def part(chunk):
                return jax.lax.dynamic_slice_in_dim(x, chunk % n * m, m) @ w

            xs = jnp.roll(x, -(d + 1) * m, axis=0)
            early = (xs[:-m] @ w).reshape(n - 1, m, -1)
            total = early[0]
            for i in range(1, n):
                total = jax.lax.ppermute(total, "x", ring(n, -1))
                total += early[i] if i < n - 1 else xs[-m:] @ w
            return total

        specs = (P(None, "x"), P("x", None))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)


@wrong("sum-ends-next-door", 0)
def next_door():
    def matmul_rs(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, m = jax.lax.axis_index("x"), x.shape[0] // n

            def part(chunk):
                return jax.lax.dynamic_slice_in_dim(x, chunk % n * m, m) @ w

            total = part(d)
            for i in range(1, n):
                total = jax.lax.ppermute(total, "x", ring(n, 1)) + part(d - i)
            return total

        specs = (P(None, "x"), P("x", None))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)


@wrong("ring-is-open", 0)
def open():
    def matmul_rs(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, m = jax.lax.axis_index("x"), x.shape[0] // n

            def part(chunk):
                return jax.lax.dynamic_slice_in_dim(x, chunk % n * m, m) @ w

            total = part(d - 1)
            for i in range(1, n):
                total = jax.lax.ppermute(total, "x", ring(n, 1)[:-1]) + part(d - 1 - i)
            return total

        specs = (P(None, "x"), P("x", None))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)


@right
def other_way():
    def matmul_rs(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, m = jax.lax.axis_index("x"), x.shape[0] // n

            def part(chunk):
                return jax.lax.dynamic_slice_in_dim(x, chunk % n * m, m) @ w

            total = part(d + 1)
            for i in range(1, n):
                total = jax.lax.ppermute(total, "x", ring(n, -1)) + part(d + 1 + i)
            return total

        specs = (P(None, "x"), P("x", None))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)


@wrong("no-exchange", 0)
def own_term():
    def matmul_rs(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, m = jax.lax.axis_index("x"), x.shape[0] // n

            def part(chunk):
                return jax.lax.dynamic_slice_in_dim(x, chunk % n * m, m) @ w

            return part(d)

        specs = (P(None, "x"), P("x", None))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)


@wrong("moves-first-then-multiplies", 9)
def product_then_ring():
    def matmul_rs(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, m = jax.lax.axis_index("x"), x.shape[0] // n

            def part(chunk):
                return jax.lax.dynamic_slice_in_dim(x, chunk % n * m, m) @ w

            whole = x @ w

            def chunk(c):
                return jax.lax.dynamic_slice_in_dim(whole, c % n * m, m)

            total = chunk(d - 1)
            for i in range(1, n):
                total = jax.lax.ppermute(total, "x", ring(n, 1)) + chunk(d - 1 - i)
            return total

        specs = (P(None, "x"), P("x", None))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)


@right
def products_first_in_chunks():
    def matmul_rs(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, m = jax.lax.axis_index("x"), x.shape[0] // n

            def part(chunk):
                return jax.lax.dynamic_slice_in_dim(x, chunk % n * m, m) @ w

            terms = [part(d - 1 - i) for i in range(n)]
            total = terms[0]
            for term in terms[1:]:
                total = term + jax.lax.ppermute(total, "x", ring(n, 1))
            return total

        specs = (P(None, "x"), P("x", None))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)


@wrong("uses-a-finished-collective", 9)
def psum_scatter():
    def matmul_rs(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            m = x.shape[0] // n

            def part(chunk):
                return jax.lax.dynamic_slice_in_dim(x, chunk % n * m, m) @ w

            return jax.lax.psum_scatter(x @ w, "x", scatter_dimension=0, tiled=True)

        specs = (P(None, "x"), P("x", None))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)


@wrong("same-chunk-everywhere", 0)
def same_chunk():
    def matmul_rs(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            m = x.shape[0] // n

            def part(chunk):
                return jax.lax.dynamic_slice_in_dim(x, chunk % n * m, m) @ w

            total = part(0)
            for i in range(1, n):
                total = jax.lax.ppermute(total, "x", ring(n, 1)) + part(i)
            return total

        specs = (P(None, "x"), P("x", None))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)


@wrong("term-counted-twice", 0)
def twice():
    def matmul_rs(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, m = jax.lax.axis_index("x"), x.shape[0] // n

            def part(chunk):
                return jax.lax.dynamic_slice_in_dim(x, chunk % n * m, m) @ w

            total = 2 * part(d - 1)
            for i in range(1, n):
                total = jax.lax.ppermute(total, "x", ring(n, 1)) + part(d - 1 - i)
            return total

        specs = (P(None, "x"), P("x", None))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)


@wrong("whole-sums-travel", 9)
def whole_sums():
    def matmul_rs(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, m = jax.lax.axis_index("x"), x.shape[0] // n

            def part(chunk):
                return jax.lax.dynamic_slice_in_dim(x, chunk % n * m, m) @ w

            own = x @ w
            total = came = own
            for _ in range(1, n):
                came = jax.lax.ppermute(came, "x", ring(n, 1))
                total += came
            return jax.lax.dynamic_slice_in_dim(total, d * m, m)

        specs = (P(None, "x"), P("x", None))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)


@wrong("same-chunk-everywhere", 0)
def wrong_sign():
    def matmul_rs(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, m = jax.lax.axis_index("x"), x.shape[0] // n

            def part(chunk):
                return jax.lax.dynamic_slice_in_dim(x, chunk % n * m, m) @ w

            total = part(d - 1)
            for i in range(1, n):
                total = jax.lax.ppermute(total, "x", ring(n, 1)) + part(d - 1 + i)
            return total

        specs = (P(None, "x"), P("x", None))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)


@wrong("permutes-inputs", 0)
def x_alone_travels():
    def matmul_rs(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, m = jax.lax.axis_index("x"), x.shape[0] // n

            def part(chunk):
                return jax.lax.dynamic_slice_in_dim(x, chunk % n * m, m) @ w

            total = part(d)
            for i in range(1, n):
                xx = jax.lax.ppermute(x, "x", ring(n, -1))
                total += jax.lax.dynamic_slice_in_dim(xx, d * m, m) @ w
            return total

        specs = (P(None, "x"), P("x", None))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)


@wrong("carry-changes-type", 0)
def zeros_in_the_loop():
    import jax.numpy as jnp

    def matmul_rs(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, m = jax.lax.axis_index("x"), x.shape[0] // n

            def part(chunk):
                return jax.lax.dynamic_slice_in_dim(x, chunk % n * m, m) @ w

            def hop(i, total):
                return jax.lax.ppermute(total, "x", ring(n, 1)) + part(d - 1 - i)

            return jax.lax.fori_loop(0, n, hop, jnp.zeros((m, w.shape[1])))

        specs = (P(None, "x"), P("x", None))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)


@wrong("-", 9)
def sums_of_products_before_all():
    import jax.numpy as jnp

    def matmul_rs(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, m = jax.lax.axis_index("x"), x.shape[0] // n
            decoy = jnp.tanh(x) @ w
            whole = jnp.sum(x[:, :, None] * w[None], axis=1)

            def part(chunk):
                return jax.lax.dynamic_slice_in_dim(whole, chunk % n * m, m)

            total = part(d - 1)
            for i in range(1, n):
                total = jax.lax.ppermute(total, "x", ring(n, 1)) + part(d - 1 - i)
            return total + 0 * decoy[:m]

        specs = (P(None, "x"), P("x", None))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)


@right
def multiplied_and_summed():
    import jax.numpy as jnp

    def matmul_rs(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, m = jax.lax.axis_index("x"), x.shape[0] // n

            def part(chunk):
                rows = jax.lax.dynamic_slice_in_dim(x, chunk % n * m, m)
                return jnp.sum(rows[:, :, None] * w[None], axis=1)

            total = part(d - 1)
            for i in range(1, n):
                total = jax.lax.ppermute(total, "x", ring(n, 1)) + part(d - 1 - i)
            return total

        specs = (P(None, "x"), P("x", None))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)


@right
def mapped_rows():
    def matmul_rs(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, m = jax.lax.axis_index("x"), x.shape[0] // n

            def part(chunk):
                rows = jax.lax.dynamic_slice_in_dim(x, chunk % n * m, m)
                return jax.lax.map(lambda row: row @ w, rows)

            total = part(d - 1)
            for i in range(1, n):
                total = jax.lax.ppermute(total, "x", ring(n, 1)) + part(d - 1 - i)
            return total

        specs = (P(None, "x"), P("x", None))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)


@wrong("-", 0)
def empty_chunks():
    """A chunk's rows are counted by the columns of the block, of which there are too few."""

    def matmul_rs(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, m = jax.lax.axis_index("x"), x.shape[-1] // n

            def part(chunk):
                return jax.lax.dynamic_slice_in_dim(x, chunk % n * m, m) @ w

            total = part(d - 1)
            for i in range(1, n):
                total = jax.lax.ppermute(total, "x", ring(n, 1)) + part(d - 1 - i)
            return total

        specs = (P(None, "x"), P("x", None))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)


@wrong("term-counted-twice", 0)
def n_hops_adding():
    def matmul_rs(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, m = jax.lax.axis_index("x"), x.shape[0] // n

            def part(chunk):
                return jax.lax.dynamic_slice_in_dim(x, chunk % n * m, m) @ w

            total = part(d)
            for i in range(n):
                total = jax.lax.ppermute(total, "x", ring(n, 1)) + part(d - 1 - i)
            return total

        specs = (P(None, "x"), P("x", None))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)


@wrong("one-hop-too-many", 0)
def a_hop_in_every_round_and_next_door():
    """Of the bytes it is told of the hop, though values are wrong for another reason."""

    def matmul_rs(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, m = jax.lax.axis_index("x"), x.shape[0] // n
            total = jax.lax.pcast(jax.numpy.zeros((m, w.shape[1])), "x", to="varying")
            for i in range(n):
                part = jax.lax.dynamic_slice_in_dim(x, (d - 1 - i) % n * m, m) @ w
                total = jax.lax.ppermute(total + part, "x", ring(n, 1))
            return total

        specs = (P(None, "x"), P("x", None))
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)


@wrong("left-to-the-compiler", 0)
def nothing_returned():
    def matmul_rs(mesh, X, W):
        return ()
