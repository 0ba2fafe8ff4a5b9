import jax
import jax.numpy as jnp
from jax import P, lax

import shardlab as sl
from shardlab_course.answers import right, told, wrong


@told("bytes-of-the-block")
def bytes_of_the_block():
    sl.predict("13.5", loop={"gathered": 32, "runs": 19, "bytes": 244})


@told("bytes-of-the-matrix")
def bytes_of_the_matrix():
    sl.predict("13.5", loop={"gathered": 16384, "runs": 19, "bytes": 98356})


@told("first-dot-forgotten")
def first_dot_forgotten():
    sl.predict("13.5", loop={"gathered": 256, "runs": 18, "bytes": 1584})


@wrong("gathers-the-matrix", 10)
def gathers_the_matrix():
    def cg(mesh, A, b):
        def body(A, b):
            def dot(u, v):
                return lax.psum(jnp.vdot(u, v), "x")

            def step(_, state):
                x, r, p, rr = state
                whole = lax.all_gather(A, "x", tiled=True)
                mine = lax.axis_index("x") * b.size
                q = lax.dynamic_slice_in_dim(whole @ lax.all_gather(p, "x", tiled=True), mine, b.size)
                alpha = rr / dot(p, q)
                x, r = x + alpha * p, r - alpha * q
                new = dot(r, r)
                return x, r, r + new / rr * p, new

            return lax.fori_loop(0, 6, step, (jnp.zeros_like(b), b, b, dot(b, b)))[0]

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(A, b)


@wrong("rounds-unknown")
def library_cg():
    def cg(mesh, A, b):
        x, _ = jax.scipy.sparse.linalg.cg(lambda v: A @ v, b, maxiter=6, tol=0.0)
        return x


@wrong("local-dot-products", 5)
def local_dots():
    def cg(mesh, A, b):
        def body(A, b):
            def dot(u, v):
                return jnp.vdot(u, v)

            def step(_, state):
                x, r, p, rr = state
                q = A @ lax.all_gather(p, "x", tiled=True)
                alpha = rr / dot(p, q)
                x, r = x + alpha * p, r - alpha * q
                new = dot(r, r)
                return x, r, r + new / rr * p, new

            return lax.fori_loop(0, 6, step, (jnp.zeros_like(b), b, b, dot(b, b)))[0]

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(A, b)


@told("loop-counted-once")
def loop_counted_once():
    sl.predict("13.5", loop={"gathered": 256, "runs": 4, "bytes": 268})


@wrong("converged", 5)
def many_rounds():
    def cg(mesh, A, b):
        def body(A, b):
            def dot(u, v):
                return lax.psum(jnp.vdot(u, v), "x")

            def step(_, state):
                x, r, p, rr = state
                q = A @ lax.all_gather(p, "x", tiled=True)
                alpha = rr / dot(p, q)
                x, r = x + alpha * p, r - alpha * q
                new = dot(r, r)
                return x, r, r + new / rr * p, new

            return lax.fori_loop(0, 30, step, (jnp.zeros_like(b), b, b, dot(b, b)))[0]

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(A, b)


@wrong("other-rounds", 5)
def one_round_more():
    def cg(mesh, A, b):
        def body(A, b):
            def dot(u, v):
                return lax.psum(jnp.vdot(u, v), "x")

            def step(_, state):
                x, r, p, rr = state
                q = A @ lax.all_gather(p, "x", tiled=True)
                alpha = rr / dot(p, q)
                x, r = x + alpha * p, r - alpha * q
                new = dot(r, r)
                return x, r, r + new / rr * p, new

            return lax.fori_loop(0, 7, step, (jnp.zeros_like(b), b, b, dot(b, b)))[0]

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(A, b)


@right
def one_sum_a_round():
    def cg(mesh, A, b):
        # Chronopoulos and Gear: both numbers of a round are summed at once.
        def body(A, b):
            def times(v):
                return A @ lax.all_gather(v, "x", tiled=True)

            def dots(r, w):
                return lax.psum(jnp.stack([jnp.vdot(r, r), jnp.vdot(r, w)]), "x")

            def step(_, state):
                x, r, p, s, rr, alpha = state
                x, r = x + alpha * p, r - alpha * s
                w = times(r)
                new, rw = dots(r, w)
                beta = new / rr
                return x, r, r + beta * p, w + beta * s, new, new / (rw - beta * new / alpha)

            w = times(b)
            rr, rw = dots(b, w)
            return lax.fori_loop(0, 6, step, (jnp.zeros_like(b), b, b, w, rr, rr / rw))[0]

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(A, b)


@wrong("own-columns-only", 5)
def own_columns():
    def cg(mesh, A, b):
        def body(A, b):
            def dot(u, v):
                return lax.psum(jnp.vdot(u, v), "x")

            def step(_, state):
                x, r, p, rr = state
                q = lax.dynamic_slice_in_dim(A, lax.axis_index("x") * b.size, b.size, axis=1) @ p
                alpha = rr / dot(p, q)
                x, r = x + alpha * p, r - alpha * q
                new = dot(r, r)
                return x, r, r + new / rr * p, new

            return lax.fori_loop(0, 6, step, (jnp.zeros_like(b), b, b, dot(b, b)))[0]

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(A, b)


@wrong("third-dot-product", 10)
def products_summed_later():
    def cg(mesh, A, b):
        def body(A, b):
            def dot(u, v):
                return jnp.sum(lax.psum(u * v, "x"))

            def step(_, state):
                x, r, p, rr = state
                q = A @ lax.all_gather(p, "x", tiled=True)
                alpha = rr / dot(p, q)
                x, r = x + alpha * p, r - alpha * q
                new = dot(r, r)
                return x, r, r + new / rr * p, new

            return lax.fori_loop(0, 6, step, (jnp.zeros_like(b), b, b, dot(b, b)))[0]

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(A, b)


@wrong("residual-made-anew", 10)
def residual_anew():
    def cg(mesh, A, b):
        def body(A, b):
            def dot(u, v):
                return lax.psum(jnp.vdot(u, v), "x")

            def step(_, state):
                x, r, p, rr = state
                q = A @ lax.all_gather(p, "x", tiled=True)
                alpha = rr / dot(p, q)
                x = x + alpha * p
                r = b - A @ lax.all_gather(x, "x", tiled=True)
                new = dot(r, r)
                return x, r, r + new / rr * p, new

            return lax.fori_loop(0, 6, step, (jnp.zeros_like(b), b, b, dot(b, b)))[0]

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(A, b)


@right
def scatters_the_product():
    def cg(mesh, A, b):
        def body(A, b):
            def dot(u, v):
                return lax.psum(jnp.vdot(u, v), "x")

            def step(_, state):
                x, r, p, rr = state
                q = lax.psum_scatter(p @ A, "x", tiled=True)
                alpha = rr / dot(p, q)
                x, r = x + alpha * p, r - alpha * q
                new = dot(r, r)
                return x, r, r + new / rr * p, new

            return lax.fori_loop(0, 6, step, (jnp.zeros_like(b), b, b, dot(b, b)))[0]

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(A, b)


@wrong("steepest-descent", 5)
def steepest():
    def cg(mesh, A, b):
        def body(A, b):
            def dot(u, v):
                return lax.psum(jnp.vdot(u, v), "x")

            def step(_, state):
                x, r, p, rr = state
                q = A @ lax.all_gather(p, "x", tiled=True)
                alpha = rr / dot(p, q)
                x, r = x + alpha * p, r - alpha * q
                new = dot(r, r)
                return x, r, r, new

            return lax.fori_loop(0, 6, step, (jnp.zeros_like(b), b, b, dot(b, b)))[0]

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(A, b)


@told("sums-counted-twice")
def sums_twice():
    sl.predict("13.5", loop={"gathered": 256, "runs": 19, "bytes": 1640})


@wrong("sums-whole-vectors", 10)
def sums_whole_vectors():
    def cg(mesh, A, b):
        def body(A, b):
            def dot(u, v):
                return lax.psum(jnp.vdot(u, v), "x")

            def step(_, state):
                x, r, p, rr = state
                # A is symmetric: its rows here are its columns.
                q = lax.dynamic_slice_in_dim(lax.psum(p @ A, "x"), lax.axis_index("x") * b.size, b.size)
                alpha = rr / dot(p, q)
                x, r = x + alpha * p, r - alpha * q
                new = dot(r, r)
                return x, r, r + new / rr * p, new

            return lax.fori_loop(0, 6, step, (jnp.zeros_like(b), b, b, dot(b, b)))[0]

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(A, b)


@wrong("third-dot-product", 10)
def third_dot():
    def cg(mesh, A, b):
        def body(A, b):
            def dot(u, v):
                return lax.psum(jnp.vdot(u, v), "x")

            def step(_, state):
                x, r, p, rr = state
                q = A @ lax.all_gather(p, "x", tiled=True)
                alpha = dot(p, r) / dot(p, q)
                old = r
                x, r = x + alpha * p, r - alpha * q
                new = dot(r, r)
                return x, r, r + new / rr * p, new

            return lax.fori_loop(0, 6, step, (jnp.zeros_like(b), b, b, dot(b, b)))[0]

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(A, b)


@wrong("left-to-the-compiler", 10)
def under_jit():
    def cg(mesh, A, b):
        def step(_, state):
            x, r, p, rr = state
            q = A @ p
            alpha = rr / jnp.vdot(p, q)
            x, r = x + alpha * p, r - alpha * q
            new = jnp.vdot(r, r)
            return x, r, r + new / rr * p, new

        return lax.fori_loop(0, 6, step, (jnp.zeros_like(b), b, b, jnp.vdot(b, b)))[0]


@right
def unrolled():
    def cg(mesh, A, b):
        @jax.shard_map(mesh=mesh, in_specs=P("x"), out_specs=P("x"))
        def solve(A, b):
            x, r, p = jnp.zeros_like(b), b, b
            rr = lax.psum(r @ r, "x")
            for _ in range(6):
                q = A @ lax.all_gather(p, "x", tiled=True)
                alpha = rr / lax.psum(p @ q, "x")
                x, r, before = x + alpha * p, r - alpha * q, rr
                rr = lax.psum(r @ r, "x")
                p = r + rr / before * p
            return x

        return solve(A, b)


@wrong("rounds-unknown", 10)
def until_converged():
    def cg(mesh, A, b):
        def body(A, b):
            def dot(u, v):
                return lax.psum(jnp.vdot(u, v), "x")

            def step(_, state):
                x, r, p, rr = state
                q = A @ lax.all_gather(p, "x", tiled=True)
                alpha = rr / dot(p, q)
                x, r = x + alpha * p, r - alpha * q
                new = dot(r, r)
                return x, r, r + new / rr * p, new

            return lax.while_loop(
                lambda s: (s[4] < 6) & (s[3] > 1e-30),
                lambda s: (*step(0, s[:4]), s[4] + 1),
                (jnp.zeros_like(b), b, b, dot(b, b), 0),
            )[0]

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(A, b)


@right
def vectors_everywhere():
    def cg(mesh, A, b):
        def body(A, b):
            rows = b.size

            def step(_, state):
                x, r, p = state
                q = lax.all_gather(A @ p, "x", tiled=True)
                alpha = (r @ r) / (p @ q)
                new = r - alpha * q
                return x + alpha * p, new, new + (new @ new) / (r @ r) * p

            b = lax.all_gather(b, "x", tiled=True)
            x, _, _ = lax.fori_loop(0, 6, step, (b - b, b, b))
            return lax.dynamic_slice_in_dim(x, lax.axis_index("x") * rows, rows)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(A, b)


@right
def two_rounds_at_once():
    def cg(mesh, A, b):
        def body(A, b):
            def dot(u, v):
                return lax.psum(jnp.vdot(u, v), "x")

            def step(_, state):
                x, r, p, rr = state
                q = A @ lax.all_gather(p, "x", tiled=True)
                alpha = rr / dot(p, q)
                x, r = x + alpha * p, r - alpha * q
                new = dot(r, r)
                return x, r, r + new / rr * p, new

            return lax.fori_loop(0, 6, step, (jnp.zeros_like(b), b, b, dot(b, b)), unroll=2)[0]

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(A, b)


@wrong("-", 10)
def b_gathered_for_nothing():
    def cg(mesh, A, b):
        def body(A, b):
            def dot(u, v):
                return lax.psum(jnp.vdot(u, v), "x")

            def step(_, state):
                x, r, p, rr = state
                q = A @ lax.all_gather(p, "x", tiled=True)
                alpha = rr / dot(p, q)
                x, r = x + alpha * p, r - alpha * q
                new = dot(r, r)
                return x, r, r + new / rr * p, new

            mine = lax.axis_index("x") * b.size
            b = lax.dynamic_slice_in_dim(lax.all_gather(b, "x", tiled=True), mine, b.size)
            return lax.fori_loop(0, 6, step, (jnp.zeros_like(b), b, b, dot(b, b)))[0]

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(A, b)
