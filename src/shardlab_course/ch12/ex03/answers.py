import jax
import jax.numpy as jnp

import shardlab as sl
from shardlab_course.answers import right, told, wrong

P = jax.P


def ring(n, by):
    return [(d, (d + by) % n) for d in range(n)]


@right
def another_way():
    def looped(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]

            def rows(i):
                return jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)

            def step(i, state):
                total, x = state
                return total + x @ rows(i), jax.lax.ppermute(x, "x", ring(n, -1))

            zeros = jax.lax.pcast(jnp.zeros((x.shape[0], w.shape[1])), "x", to="varying")
            total, x = jax.lax.fori_loop(0, n - 1, step, (zeros, x))
            return total + x @ rows(n - 1)

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@told("loops-are-unrolled")
def always_seven():
    predictions = sl.predict("12.3", lines={"unrolled": 7, "loop": 7, "bytes": 1}, why="b")


@wrong("no-loop-left", 5.75)
def both_ways():
    def looped(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]

            def part(x, i):
                return x @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)

            def step(i, s):
                t, r, l = s
                r, l = jax.lax.ppermute(r, "x", ring(n, 1)), jax.lax.ppermute(l, "x", ring(n, -1))
                return t + part(r, -i) + part(l, i), r, l

            h = (n - 1) // 2
            t, r, l = jax.lax.fori_loop(1, h + 1, step, (part(x, 0), x, x))
            return t + part(jax.lax.ppermute(r, "x", ring(n, 1)), -h - 1) if n % 2 == 0 else t

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("moves-first-then-multiplies", 5.75)
def buffer_then_product():
    def looped(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]

            def step(i, state):
                whole, x = state
                x = jax.lax.ppermute(x, "x", ring(n, -1))
                return jax.lax.dynamic_update_slice_in_dim(whole, x, (d + i) % n * k, 1), x

            whole = jax.lax.pcast(jnp.zeros((x.shape[0], n * k)), "x", to="varying")
            whole = jax.lax.dynamic_update_slice_in_dim(whole, x, d * k, 1)
            return jax.lax.fori_loop(1, n, step, (whole, x))[0] @ w

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("sends-all-it-has", 5.75)
def buffer_travels():
    def looped(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]

            def part(x, i):
                return x @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)

            whole = jax.lax.pcast(jnp.zeros((x.shape[0], n * k)), "x", to="varying")

            def step(i, s):
                t, whole = s
                whole = jax.lax.dynamic_update_slice_in_dim(whole, x, d * k, 1)
                whole = jax.lax.ppermute(whole, "x", ring(n, -1))
                chunk = jax.lax.dynamic_slice_in_dim(whole, (d + i) % n * k, k, 1)
                return t + part(chunk, i), whole

            whole = jax.lax.dynamic_update_slice_in_dim(whole, x, d * k, 1)
            return jax.lax.fori_loop(1, n, step, (part(x, 0), whole))[0]

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("left-to-the-compiler", 2)
def compiler():
    def looped(mesh, X, W):
        return jax.lax.with_sharding_constraint(X @ W, jax.NamedSharding(mesh, P(None, "x")))


@wrong("hop-under-a-condition", 5.75)
def condition():
    def looped(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]

            def part(x, i):
                return x @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)

            def step(i, s):
                t, x = s
                return t + part(x, i), jax.lax.cond(
                    i < n - 1, lambda x: jax.lax.ppermute(x, "x", ring(n, -1)), lambda x: x, x
                )

            z = jax.lax.pcast(jnp.zeros((x.shape[0], w.shape[1])), "x", to="varying")
            return jax.lax.fori_loop(0, n, step, (z, x))[0]

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@told("eight-hops")
def eight():
    predictions = sl.predict("12.3", lines={"unrolled": 8, "loop": 1, "bytes": 1}, why="b")


@right
def first_product_before():
    def looped(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]

            def rows(i):
                return jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)

            def step(i, state):
                total, x = state
                x = jax.lax.ppermute(x, "x", ring(n, -1))
                return total + x @ rows(i), x

            return jax.lax.fori_loop(1, n, step, (x @ rows(0), x))[0]

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("uses-a-finished-collective", 5.75)
def gathered_before():
    def looped(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]

            def part(x, i):
                return x @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)

            xs = jax.lax.all_gather(x, "x")

            def step(i, t):
                return t + xs[i] @ jax.lax.dynamic_slice_in_dim(w, i * k, k)

            z = jax.lax.pcast(jnp.zeros((x.shape[0], w.shape[1])), "x", to="varying")
            return jax.lax.fori_loop(0, n, step, z)

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("leaps-over-neighbours", 5.75)
def leaps():
    def looped(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]

            def part(x, i):
                return x @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)

            def step(i, s):
                t, x = s
                x = jax.lax.ppermute(x, "x", ring(n, 3))
                return t + part(x, -3 * i), x

            return jax.lax.fori_loop(1, n, step, (part(x, 0), x))[0]

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("chunk-index-local", 2)
def local_index():
    def looped(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            k = x.shape[1]

            def rows(i):
                return jax.lax.dynamic_slice_in_dim(w, i * k, k)

            def step(i, state):
                total, x = state
                return total + x @ rows(i), jax.lax.ppermute(x, "x", ring(n, -1))

            zeros = jax.lax.pcast(jnp.zeros((x.shape[0], w.shape[1])), "x", to="varying")
            total, x = jax.lax.fori_loop(0, n - 1, step, (zeros, x))
            return total + x @ rows(n - 1)

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("one-hop-too-many", 5.75)
def n_hops():
    def looped(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]

            def rows(i):
                return jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)

            def step(i, state):
                total, x = state
                return total + x @ rows(i), jax.lax.ppermute(x, "x", ring(n, -1))

            zeros = jax.lax.pcast(jnp.zeros((x.shape[0], w.shape[1])), "x", to="varying")
            total, x = jax.lax.fori_loop(0, n, step, (zeros, x))
            return total

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("no-modulo", 2)
def no_modulo():
    def looped(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]

            def part(x, i):
                return x @ jax.lax.dynamic_slice_in_dim(w, (d + i) * k, k)

            def step(i, s):
                t, x = s
                x = jax.lax.ppermute(x, "x", ring(n, -1))
                return t + part(x, i), x

            return jax.lax.fori_loop(1, n, step, (part(x, 0), x))[0]

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@told("loop-count-1")
def once():
    predictions = sl.predict("12.3", lines={"unrolled": 7, "loop": 1, "bytes": 1 / 7}, why="b")


@told("python-loops-stay")
def one_line():
    predictions = sl.predict("12.3", lines={"unrolled": 1, "loop": 1, "bytes": 1}, why="b")

    def looped(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]

            def part(x, i):
                return x @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)

            def step(i, s):
                t, x = s
                x = jax.lax.ppermute(x, "x", ring(n, -1))
                return t + part(x, i), x

            return jax.lax.fori_loop(1, n, step, (part(x, 0), x))[0]

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("rows-one-off", 2)
def one_off():
    def looped(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]

            def part(x, i):
                return x @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)

            def step(i, s):
                t, x = s
                x = jax.lax.ppermute(x, "x", ring(n, -1))
                return t + part(x, i + 1), x

            return jax.lax.fori_loop(1, n, step, (part(x, 1), x))[0]

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("ring-is-open", 2)
def open():
    def looped(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]

            def part(x, i):
                return x @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)

            def step(i, s):
                t, x = s
                x = jax.lax.ppermute(x, "x", ring(n, -1)[1:])
                return t + part(x, i), x

            return jax.lax.fori_loop(1, n, step, (part(x, 0), x))[0]

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("chunk-left-out", 2)
def own_left_out():
    def looped(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]

            def part(x, i):
                return x @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)

            def step(i, s):
                t, x = s
                x = jax.lax.ppermute(x, "x", ring(n, -1))
                return t + part(x, i), x

            return jax.lax.fori_loop(1, n, step, (0 * part(x, 0), x))[0]

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("own-chunk-only", 2)
def own_only():
    def looped(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]

            def part(x, i):
                return x @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)

            def step(i, s):
                t, x = s
                x = jax.lax.ppermute(x, "x", ring(n, -1))
                return t + 0 * x.sum(), x

            return jax.lax.fori_loop(1, n, step, (part(x, 0), x))[0]

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("chunk-counted-twice", 2)
def own_twice():
    def looped(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]

            def part(x, i):
                return x @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)

            def step(i, s):
                t, x = s
                x = jax.lax.ppermute(x, "x", ring(n, -1))
                return t + part(x, i), x

            return jax.lax.fori_loop(1, n, step, (2 * part(x, 0), x))[0]

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("one-chunk-only", 2)
def replaced():
    def looped(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]

            def part(x, i):
                return x @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)

            def step(i, s):
                t, x = s
                x = jax.lax.ppermute(x, "x", ring(n, -1))
                return part(x, i), x

            return jax.lax.fori_loop(1, n, step, (part(x, 0), x))[0]

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("same-rows-each-round", 2)
def first_rows():
    def looped(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            k = x.shape[1]
            total = x @ w[:k]

            def step(i, s):
                x = jax.lax.ppermute(s[1], "x", ring(n, -1))
                return s[0] + x @ w[:k], x

            return jax.lax.fori_loop(1, n, step, (total, x))[0]

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("no-exchange", 2)
def chunks_stay():
    def looped(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            return sum(x @ rows for rows in w.reshape(n, x.shape[1], -1))

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("same-rows-each-round", 2)
def same_rows():
    def looped(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]

            def part(x, i):
                return x @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)

            def step(i, s):
                t, x = s
                x = jax.lax.ppermute(x, "x", ring(n, -1))
                return t + part(x, 0), x

            return jax.lax.fori_loop(1, n, step, (part(x, 0), x))[0]

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@right
def scan():
    def looped(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]

            def step(state, i):
                total, x = state
                part = jax.lax.dynamic_slice_in_dim(w, (d - i) % n * k, k)
                return (total + x @ part, jax.lax.ppermute(x, "x", ring(n, 1))), None

            (total, x), _ = jax.lax.scan(step, (x @ w[:k] * 0, x), jnp.arange(n - 1))
            return total + x @ jax.lax.dynamic_slice_in_dim(w, (d + 1) % n * k, k)

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@told("other-bytes")
def seven_times():
    predictions = sl.predict("12.3", lines={"unrolled": 7, "loop": 1, "bytes": 7}, why="b")

    def looped(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]

            def part(x, i):
                return x @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)

            def step(i, s):
                t, x = s
                x = jax.lax.ppermute(x, "x", ring(n, -1))
                return t + part(x, i), x

            return jax.lax.fori_loop(1, n, step, (part(x, 0), x))[0]

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("sums-travel", 2)
def sums_travel():
    def looped(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]

            def part(x, i):
                return x @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)

            def step(i, s):
                t, x = jax.lax.ppermute(s, "x", ring(n, -1))
                return t + part(x, i), x

            return jax.lax.fori_loop(1, n, step, (part(x, 0), x))[0]

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("most-waits-for-the-last-hop", 5.75)
def two_loops():
    def looped(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]

            def part(x, i):
                return x @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)

            def step(x, _):
                x = jax.lax.ppermute(x, "x", ring(n, -1))
                return x, x

            _, came = jax.lax.scan(step, x, None, length=n - 1)

            def add(t, ix):
                return t + part(ix[1], ix[0]), None

            return jax.lax.scan(add, part(x, 0), (jnp.arange(1, n), came))[0]

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("no-loop-left", 5.75)
def unroll_asked():
    def looped(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]

            def rows(i):
                return jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)

            def step(i, state):
                total, x = state
                return total + x @ rows(i), jax.lax.ppermute(x, "x", ring(n, -1))

            zeros = jax.lax.pcast(jnp.zeros((x.shape[0], w.shape[1])), "x", to="varying")
            total, x = jax.lax.fori_loop(0, n - 1, step, (zeros, x), unroll=True)
            return total + x @ rows(n - 1)

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("no-loop-left", 5.75)
def unrolled():
    def looped(mesh, X, W):
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


@wrong("weights-travel", 2)
def weights_travel():
    def looped(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]

            def part(x, i):
                return x @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)

            def step(i, s):
                t, w = s
                w = jax.lax.ppermute(w, "x", ring(n, -1))
                return t + x @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k), w

            return jax.lax.fori_loop(1, n, step, (part(x, 0), w))[0]

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@right
def while_loop():
    def looped(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]

            def part(x, i):
                return x @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)

            def more(s):
                return s[0] < n

            def step(s):
                i, t, x = s
                x = jax.lax.ppermute(x, "x", ring(n, -1))
                return i + 1, t + part(x, i), x

            return jax.lax.while_loop(more, step, (1, part(x, 0), x))[1]

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("counts-the-wrong-way", 2)
def wrong_way():
    def looped(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]

            def part(x, i):
                return x @ jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)

            def step(i, s):
                t, x = s
                x = jax.lax.ppermute(x, "x", ring(n, -1))
                return t + part(x, -i), x

            return jax.lax.fori_loop(1, n, step, (part(x, 0), x))[0]

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("carry-changes-type", 2)
def zeros_equal_everywhere():
    def looped(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]

            def rows(i):
                return jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)

            def step(i, state):
                total, x = state
                return total + x @ rows(i), jax.lax.ppermute(x, "x", ring(n, -1))

            zeros = jnp.zeros((x.shape[0], w.shape[1]))
            total, x = jax.lax.fori_loop(0, n - 1, step, (zeros, x))
            return total + x @ rows(n - 1)

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@wrong("-", 5.75)
def decoy_in_each_round():
    import jax.numpy as jnp

    def looped(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]

            def step(state, i):
                x, decoy = state
                decoy += jnp.tanh(x) @ w[:k]
                return (jax.lax.ppermute(x, "x", ring(n, -1)), decoy), x

            zeros = jax.lax.pcast(jnp.zeros((x.shape[0], w.shape[1])), "x", to="varying")
            (x, decoy), came = jax.lax.scan(step, (x, zeros), jnp.arange(n - 1))
            rows = jnp.roll(w.reshape(n, k, -1), -d, axis=0)
            return jnp.einsum("ntk,nkf->tf", jnp.concatenate([came, x[None]]), rows) + 0 * decoy

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@right
def sums_in_the_loop():
    import jax.numpy as jnp

    def looped(mesh, X, W):
        n = mesh.shape["x"]

        def body(x, w):
            d, k = jax.lax.axis_index("x"), x.shape[1]

            def part(x, i):
                rows = jax.lax.dynamic_slice_in_dim(w, (d + i) % n * k, k)
                return jnp.sum(x.T[:, :, None] * rows[:, None, :], axis=0)

            def step(i, state):
                total, x = state
                return total + part(x, i), jax.lax.ppermute(x, "x", ring(n, -1))

            zeros = jax.lax.pcast(jnp.zeros((x.shape[0], w.shape[1])), "x", to="varying")
            total, x = jax.lax.fori_loop(0, n - 1, step, (zeros, x))
            return total + part(x, n - 1)

        columns = P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(columns, columns), out_specs=columns)(X, W)


@told("a-line-a-hop")
def a_line_a_hop():
    sl.predict("12.3", lines={"unrolled": 7, "loop": 1, "bytes": 1}, why="a")


@told("xla-writes-out")
def xla_writes_out():
    sl.predict("12.3", lines={"unrolled": 7, "loop": 1, "bytes": 1}, why="c")
