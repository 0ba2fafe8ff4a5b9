import jax
import jax.numpy as jnp
from jax import P, lax
from jax.scipy.linalg import solve_triangular

from shardlab_course.answers import right, wrong


@wrong("left-to-the-compiler", 22)
def stack_under_jit():
    def solve_stack(mesh, A, b):
        return jnp.linalg.solve(A + 16 * jnp.eye(A.shape[-1]), b[..., None])[..., 0]


@wrong("left-to-the-compiler")
def blocks_under_jit():
    def cholesky(mesh, A):
        n, k = A.shape[0], A.shape[0] // mesh.shape["x"]
        for s in range(n // k):
            columns = slice(s * k, (s + 1) * k)
            L = jnp.linalg.cholesky(A[columns, columns])
            panel = solve_triangular(L, A[:, columns].T, lower=True).T.at[: s * k].set(0)
            A = (A - panel @ panel.T).at[:, columns].set(panel)
        return A


@wrong("damped-everywhere", 22)
def damped_everywhere():
    def cholesky(mesh, A):
        n, k = A.shape[0], A.shape[0] // mesh.shape["x"]

        def body(A):
            me = lax.axis_index("x")
            for s in range(n // k):
                columns = slice(s * k, (s + 1) * k)
                L = jnp.linalg.cholesky(lax.psum(jnp.where(me == s, A[:, columns], 0), "x"))
                mine = jnp.where(me >= s, solve_triangular(L, A[:, columns].T, lower=True).T, 0)
                panel = lax.all_gather(mine, "x", tiled=True)
                A = (A - mine @ panel.T).at[:, columns].set(mine)
            return A

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(A)

    def solve_stack(mesh, A, b):
        def body(A, b):
            return jnp.linalg.solve(A + 16, b[..., None])[..., 0]

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(A, b)


@wrong("diagonal-blocks-only", 5)
def diagonal_only():
    def cholesky(mesh, A):
        def body(A):
            k = len(A)
            start = lax.axis_index("x") * k
            L = jnp.linalg.cholesky(lax.dynamic_slice_in_dim(A, start, k, axis=1))
            return lax.dynamic_update_slice_in_dim(jnp.zeros_like(A), L, start, axis=1)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(A)


@wrong("gathers-the-matrix")
def gathers_by_hand():
    def cholesky(mesh, A):
        def body(A):
            L = jnp.linalg.cholesky(lax.all_gather(A, "x", tiled=True))
            return lax.dynamic_slice_in_dim(L, lax.axis_index("x") * len(A), len(A))

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(A)


@wrong("gathers-the-matrix")
def library():
    from jax.sharding import NamedSharding

    def cholesky(mesh, A):
        return jax.lax.with_sharding_constraint(jnp.linalg.cholesky(A), NamedSharding(mesh, jax.P("x")))


@right
def no_mask():
    def cholesky(mesh, A):
        n, k = A.shape[0], A.shape[0] // mesh.shape["x"]

        def body(A):
            me = lax.axis_index("x")

            def round(s, A):
                block = lax.dynamic_slice_in_dim(A, s * k, k, axis=1)
                L = jnp.linalg.cholesky(lax.psum(jnp.where(me == s, block, 0), "x"))
                mine = solve_triangular(L, block.T, lower=True).T
                panel = lax.all_gather(mine, "x", tiled=True)
                A = A - mine @ panel.T
                return lax.dynamic_update_slice_in_dim(A, mine, s * k, axis=1)

            return lax.fori_loop(0, n // k, round, A)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(A)


@wrong("trailing-matrix-not-updated", 5)
def no_update():
    def cholesky(mesh, A):
        n, k = A.shape[0], A.shape[0] // mesh.shape["x"]

        def body(A):
            me = lax.axis_index("x")

            def round(s, A):
                block = lax.dynamic_slice_in_dim(A, s * k, k, axis=1)
                L = jnp.linalg.cholesky(lax.psum(jnp.where(me == s, block, 0), "x"))
                mine = solve_triangular(L, block.T, lower=True).T
                mine = jnp.where(me >= s, mine, 0)
                return lax.dynamic_update_slice_in_dim(A, mine, s * k, axis=1)

            return lax.fori_loop(0, n // k, round, A)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(A)


@right
def panel_factored_by_all():
    def cholesky(mesh, A):
        n, k = A.shape[0], A.shape[0] // mesh.shape["x"]

        def body(A):
            me = lax.axis_index("x")
            for s in range(n // k):
                columns = slice(s * k, (s + 1) * k)
                panel = lax.all_gather(A[:, columns], "x", tiled=True)
                L = jnp.linalg.cholesky(panel[columns])
                panel = solve_triangular(L, panel.T, lower=True).T.at[: s * k].set(0)
                mine = lax.dynamic_slice_in_dim(panel, me * k, k)
                A = (A - mine @ panel.T).at[:, columns].set(mine)
            return A

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(A)

    def solve_stack(mesh, A, b):
        def body(A, b):
            return jax.vmap(jnp.linalg.solve)(A + 16 * jnp.eye(A.shape[-1]), b)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(A, b)


@wrong("panels-by-sum", 21.5)
def panels_by_sum():
    def cholesky(mesh, A):
        n, k = A.shape[0], A.shape[0] // mesh.shape["x"]

        def body(A):
            me = lax.axis_index("x")

            def round(s, A):
                block = lax.dynamic_slice_in_dim(A, s * k, k, axis=1)
                L = jnp.linalg.cholesky(lax.psum(jnp.where(me == s, block, 0), "x"))
                mine = solve_triangular(L, block.T, lower=True).T
                mine = jnp.where(me >= s, mine, 0)
                panel = lax.dynamic_update_slice_in_dim(jnp.zeros((n, k)), mine, me * k, axis=0)
                panel = lax.psum(panel, "x")
                A = A - mine @ panel.T
                return lax.dynamic_update_slice_in_dim(A, mine, s * k, axis=1)

            return lax.fori_loop(0, n // k, round, A)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(A)


@wrong("gathers-panels-twice", 21.5)
def panels_twice():
    def cholesky(mesh, A):
        n, k = A.shape[0], A.shape[0] // mesh.shape["x"]

        def body(A):
            me = lax.axis_index("x")

            def round(s, A):
                block = lax.dynamic_slice_in_dim(A, s * k, k, axis=1)
                L = jnp.linalg.cholesky(lax.all_gather(block, "x")[s])
                mine = solve_triangular(L, block.T, lower=True).T
                mine = jnp.where(me >= s, mine, 0)
                panel = lax.all_gather(mine, "x", tiled=True)
                A = A - mine @ panel.T
                return lax.dynamic_update_slice_in_dim(A, mine, s * k, axis=1)

            return lax.fori_loop(0, n // k, round, A)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(A)


@right
def shrinking_panels():
    def cholesky(mesh, A):
        n, k = A.shape[0], A.shape[0] // mesh.shape["x"]

        def body(A):
            me = lax.axis_index("x")
            for s in range(n // k):
                rest = A[:, s * k :]
                block = lax.psum(jnp.where(me == s, rest[:, :k], 0.0), "x")
                L = jnp.linalg.cholesky(block)
                mine = jnp.where(me < s, 0.0, solve_triangular(L, rest[:, :k].T, lower=True).T)
                panel = lax.all_gather(mine, "x", tiled=True)[(s + 1) * k :]
                A = jnp.concatenate([A[:, : s * k], mine, rest[:, k:] - mine @ panel.T], axis=1)
            columns, rows = jnp.arange(n), me * k + jnp.arange(k)
            return jnp.where(columns[None, :] <= rows[:, None], A, 0.0)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(A)

    def solve_stack(mesh, A, b):
        each = jax.vmap(lambda m, v: jnp.linalg.inv(m + 16 * jnp.eye(len(v))) @ v)
        return jax.shard_map(each, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(A, b)


@wrong("brought-together", 22)
def stack_by_map():
    def solve_stack(mesh, A, b):
        return lax.map(lambda one: jnp.linalg.solve(one[0] + 16 * jnp.eye(A.shape[-1]), one[1]), (A, b))


@wrong("one-by-one", 22)
def stack_in_a_loop():
    def cholesky(mesh, A):
        n, k = A.shape[0], A.shape[0] // mesh.shape["x"]

        def body(A):
            me = lax.axis_index("x")
            for s in range(n // k):
                columns = slice(s * k, (s + 1) * k)
                L = jnp.linalg.cholesky(lax.psum(jnp.where(me == s, A[:, columns], 0), "x"))
                mine = jnp.where(me >= s, solve_triangular(L, A[:, columns].T, lower=True).T, 0)
                panel = lax.all_gather(mine, "x", tiled=True)
                A = (A - mine @ panel.T).at[:, columns].set(mine)
            return A

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(A)

    def solve_stack(mesh, A, b):
        return jnp.stack([jnp.linalg.solve(A[i] + 16 * jnp.eye(A.shape[-1]), b[i]) for i in range(len(b))])


@wrong("undamped", 22)
def undamped():
    def solve_stack(mesh, A, b):
        def body(A, b):
            return jnp.linalg.solve(A, b[..., None])[..., 0]

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(A, b)


@wrong("upper-factor", 5)
def upper():
    def cholesky(mesh, A):
        return jnp.linalg.cholesky(A, upper=True)


@wrong("upper-triangle-kept", 5)
def upper_kept():
    def cholesky(mesh, A):
        n, k = A.shape[0], A.shape[0] // mesh.shape["x"]

        def body(A):
            me = lax.axis_index("x")

            def round(s, A):
                block = lax.dynamic_slice_in_dim(A, s * k, k, axis=1)
                L = jnp.linalg.cholesky(lax.psum(jnp.where(me == s, block, 0), "x"))
                mine = solve_triangular(L, block.T, lower=True).T
                mine = jnp.where(me >= s, mine, 0)
                panel = lax.all_gather(mine, "x", tiled=True)
                A = jnp.where(me > s, A - mine @ panel.T, A)
                return jnp.where(me >= s, lax.dynamic_update_slice_in_dim(A, mine, s * k, axis=1), A)

            return lax.fori_loop(0, n // k, round, A)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(A)


@wrong("as-large-as-the-matrix", 18.5)
def whole_update():
    def cholesky(mesh, A):
        n, k = A.shape[0], A.shape[0] // mesh.shape["x"]

        def body(A):
            me = lax.axis_index("x")
            for s in range(n // k):
                columns = slice(s * k, (s + 1) * k)
                L = jnp.linalg.cholesky(lax.psum(jnp.where(me == s, A[:, columns], 0), "x"))
                mine = jnp.where(me >= s, solve_triangular(L, A[:, columns].T, lower=True).T, 0)
                panel = lax.all_gather(mine, "x", tiled=True)
                A = (A - lax.dynamic_slice_in_dim(panel @ panel.T, me * k, k)).at[:, columns].set(mine)
            return A

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(A)


@wrong("-", 24.5)
def stack_gathered():
    def solve_stack(mesh, A, b):
        def body(A, b):
            x = jnp.linalg.solve(A + 16 * jnp.eye(A.shape[-1]), b[..., None])[..., 0]
            return lax.all_gather(x, "x", tiled=True, to="invarying")

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P())(A, b)
