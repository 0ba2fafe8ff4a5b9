import jax
import jax.numpy as jnp
from jax import P, lax
from jax.scipy.linalg import solve_triangular

from shardlab_course.answers import right, wrong


@right
def unrolled_and_unmasked():
    def substitute(mesh, L, b):
        # Above the diagonal stand zeros, so that devices above s need no mask on the way down.
        def body(L, b):
            me, k = lax.axis_index("x"), len(b)
            mine = lax.dynamic_slice_in_dim(L, me * k, k, axis=1)
            columns = jnp.split(L, mesh.shape["x"], axis=1)
            for s, column in enumerate(columns):
                y = lax.psum(jnp.where(me == s, solve_triangular(mine, b, lower=True), 0), "x")
                b = jnp.where(me == s, y, b - column @ y)
            x = jnp.zeros_like(b)
            for s, column in reversed([*enumerate(columns)]):
                known = lax.psum(column.T @ x, "x")
                x = jnp.where(me == s, solve_triangular(mine, b - known, lower=True, trans=1), x)
            return x

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(L, b)


@right
def inverses():
    def substitute(mesh, L, b):
        def body(L, b):
            me, k = lax.axis_index("x"), len(b)
            inverse = jnp.linalg.inv(lax.dynamic_slice_in_dim(L, me * k, k, axis=1))
            column = lambda s: lax.dynamic_slice_in_dim(L, s * k, k, axis=1)

            def down(b, s):
                y = lax.psum(jnp.where(me == s, inverse @ b, jnp.zeros(k)), "x")
                return jnp.where(me == s, y, b - column(s) @ y), None

            def up(x, s):
                below = lax.psum(jnp.where(me > s, column(s).T @ x, jnp.zeros(k)), "x")
                return jnp.where(me == s, inverse.T @ (x - below), x), None

            steps = jnp.arange(mesh.shape["x"])
            return lax.scan(up, lax.scan(down, b, steps)[0], steps, reverse=True)[0]

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(L, b)


@wrong("gathers-the-matrix")
def library():
    from jax.sharding import NamedSharding

    def substitute(mesh, L, b):
        x = jax.scipy.linalg.cho_solve((L, True), b)
        return lax.with_sharding_constraint(x, NamedSharding(mesh, P("x")))


@wrong("gathers-the-matrix", 7.5)
def gathers_by_hand():
    def substitute(mesh, L, b):
        def body(L, b):
            whole, k = lax.all_gather(L, "x", tiled=True), len(b)
            y = solve_triangular(whole, lax.all_gather(b, "x", tiled=True), lower=True)
            return lax.dynamic_slice_in_dim(solve_triangular(whole.T, y), lax.axis_index("x") * k, k)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(L, b)


@wrong("turns-the-factor")
def turned():
    def substitute(mesh, L, b):
        n, k = L.shape[0], L.shape[0] // mesh.shape["x"]

        def body(L, b):
            me = lax.axis_index("x")
            mine = lax.dynamic_slice_in_dim(L, me * k, k, axis=1)

            def solve(rows, b, order, lower):
                for s in order:
                    block = mine if lower else mine.T
                    y = lax.psum(jnp.where(me == s, solve_triangular(block, b, lower=lower), 0), "x")
                    b = jnp.where(me == s, y, b - rows[:, s * k : (s + 1) * k] @ y)
                return b

            y = solve(L, b, range(n // k), True)
            turned = lax.all_to_all(L, "x", 1, 0, tiled=True).T
            return solve(turned, jnp.where(me >= 0, y, 0), reversed(range(n // k)), False)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(L, b)


@wrong("whole-vector-each-round")
def whole_vectors():
    def substitute(mesh, L, b):
        n, k = L.shape[0], L.shape[0] // mesh.shape["x"]

        def body(L, b):
            me = lax.axis_index("x")
            mine = lax.dynamic_slice_in_dim(L, me * k, k, axis=1)
            y = jnp.zeros_like(b)
            for s in range(n // k):
                known = L @ lax.all_gather(y, "x", tiled=True)
                y = jnp.where(me == s, solve_triangular(mine, b - known, lower=True), y)
            x = jnp.zeros_like(b)
            for s in reversed(range(n // k)):
                known = lax.dynamic_slice_in_dim(lax.psum(L.T @ x, "x"), me * k, k)
                x = jnp.where(me == s, solve_triangular(mine.T, y - known), x)
            return x

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(L, b)


@wrong("left-to-the-compiler")
def blocks_under_jit():
    def substitute(mesh, L, b):
        n, k = L.shape[0], L.shape[0] // mesh.shape["x"]
        at = [slice(s * k, (s + 1) * k) for s in range(n // k)]
        for s in at:
            y = solve_triangular(L[s, s], b[s], lower=True)
            b = (b - L[:, s] @ y).at[s].set(y)
        for s in reversed(at):
            x = solve_triangular(L[s, s].T, b[s])
            b = (b - L[s].T @ x).at[s].set(x)
        return b


@wrong("half-way", 0)
def down_alone():
    def substitute(mesh, L, b):
        return solve_triangular(L, b, lower=True)


@wrong("half-way", 0)
def up_alone():
    def substitute(mesh, L, b):
        return solve_triangular(L.T, b)


@wrong("down-twice", 0)
def down_twice():
    def substitute(mesh, L, b):
        return solve_triangular(L, solve_triangular(L, b, lower=True), lower=True)


@wrong("diagonal-blocks-only", 0)
def own_blocks():
    def substitute(mesh, L, b):
        def body(L, b):
            mine = lax.dynamic_slice_in_dim(L, lax.axis_index("x") * len(b), len(b), axis=1)
            return solve_triangular(mine.T, solve_triangular(mine, b, lower=True))

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(L, b)


@wrong("own-term-summed", 0)
def own_term_summed():
    def substitute(mesh, L, b):
        n, k = L.shape[0], L.shape[0] // mesh.shape["x"]

        def body(L, b):
            me = lax.axis_index("x")
            mine = lax.dynamic_slice_in_dim(L, me * k, k, axis=1)
            for s in range(n // k):
                y = lax.psum(jnp.where(me == s, solve_triangular(mine, b, lower=True), 0), "x")
                b = jnp.where(me == s, y, b - L[:, s * k : (s + 1) * k] @ y)
            for s in reversed(range(n // k)):
                known = lax.psum(L[:, s * k : (s + 1) * k].T @ b, "x")
                b = jnp.where(me == s, solve_triangular(mine.T, b - known), b)
            return b

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(L, b)
