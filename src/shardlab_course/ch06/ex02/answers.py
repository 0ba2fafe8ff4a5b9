import jax
import jax.numpy as jnp

from shardlab_course.answers import changed, right, wrong

P = jax.P


@wrong("gathers-to-add", 17.5)
def added_gathers():
    def added(mesh, A, B):
        return A + jax.reshard(B, P())


@wrong("other-operand-moved", 17.5)
def added_moves_a():
    def added(mesh, A, B):
        return jax.reshard(A, P(None, "x")) + B


@wrong("other-operand-moved", 17.5)
def added_moves_a_and_back():
    def added(mesh, A, B):
        return jax.reshard(jax.reshard(A, P(None, "x")) + B, P("x", None))


@wrong("clash-unresolved", 15)
def added_unchanged():
    def added(mesh, A, B):
        return A + B


@right
def added_with_device_put():
    def added(mesh, A, B):
        return A + jax.device_put(B, jax.typeof(A).sharding)


@wrong("left-to-out-sharding", 17.5)
def clash_by_out_sharding():
    def clash(mesh, A, B):
        return jnp.dot(A, B, out_sharding=P("x", None))


@wrong("wrong-operand-gathered", 16.25)
def clash_gathers_a():
    def clash(mesh, A, B):
        return jax.reshard(A, P()) @ B


@right
def clash_in_shard_map():
    def clash(mesh, A, B):
        def body(a, b):
            return a @ jax.lax.all_gather(b, "x", axis=1, tiled=True)

        return jax.shard_map(body, out_specs=P("x", None))(A, B)


@wrong("clash-unresolved", 15)
def clash_unchanged():
    def clash(mesh, A, B):
        return A @ B


@wrong("gathers-before-the-product", 17.5)
def contraction_gathers():
    def contraction(mesh, A, B):
        return jax.reshard(A, P("x", None)) @ jax.reshard(B, P())


@right
def contraction_scattered():
    def contraction(mesh, A, B):
        terms = jnp.dot(A, B, out_sharding=P("x", None, unreduced={"y"}))
        return jax.reshard(terms, P("x", None))


@wrong("no-out-sharding", 15)
def contraction_unchanged():
    def contraction(mesh, A, B):
        return A @ B


@wrong("sum-made-whole", 16.25)
def contraction_whole():
    def contraction(mesh, A, B):
        return jnp.dot(A, B, out_sharding=P())


@wrong("sum-made-whole", 17.5)
def contraction_whole_then_cut():
    def contraction(mesh, A, B):
        return jax.reshard(jnp.dot(A, B, out_sharding=P()), P("x", None))


@wrong("gathers-to-merge", 17.5)
def merged_gathers():
    def merged(mesh, H):
        return jax.reshard(jax.reshard(H, P()).reshape(-1, H.shape[2]), P("y", None))


@changed("0.12", right, wrong("gathers-to-merge", 17.5))
def merged_by_out_sharding():
    def merged(mesh, H):
        return jnp.reshape(H, (-1, H.shape[2]), out_sharding=P("y", None))


@wrong("order-changed", 15)
def merged_transposed():
    def merged(mesh, H):
        return H.swapaxes(0, 1).reshape(-1, H.shape[2])


@wrong("reshape-unresolved", 15)
def merged_unchanged():
    def merged(mesh, H):
        return H.reshape(-1, H.shape[2])


@right
def picked_by_product():
    def picked(mesh, T, ids):
        chosen = jax.reshard(jax.nn.one_hot(ids, T.shape[0]), P(None, "x"))
        return jnp.dot(chosen, T, out_sharding=P())


@wrong("gathers-the-table", 17.5)
def picked_gathers():
    def picked(mesh, T, ids):
        return jax.reshard(T, P())[ids]


@wrong("lookup-unresolved", 15)
def picked_unchanged():
    def picked(mesh, T, ids):
        return T[ids]


@right
def written_by_hand():
    def contraction(mesh, A, B):
        return jax.shard_map(lambda a, b: jax.lax.psum(a @ b, "y"), out_specs=P("x", None))(A, B)

    def added(mesh, A, B):
        def body(a, b):
            return a + jax.lax.all_to_all(b, "x", 0, 1, tiled=True)

        return jax.shard_map(body, out_specs=P("x", None))(A, B)

    def merged(mesh, H):
        def body(h):
            h = jax.lax.all_to_all(h, "y", 0, 1, tiled=True)
            return h.reshape(-1, h.shape[2])

        return jax.shard_map(body, out_specs=P("y", None))(H)

    def picked(mesh, T, ids):
        def body(t, ids):
            at = ids - jax.lax.axis_index("x") * len(t)
            mine = (at >= 0) & (at < len(t))
            rows = jnp.where(mine[:, None], t[jnp.where(mine, at, 0)], 0)
            return jax.lax.psum(rows, "x")

        return jax.shard_map(body, out_specs=P())(T, ids)


@wrong("gathers-to-add", 16.25)
def added_both_whole():
    def added(mesh, A, B):
        return jax.reshard(A, P()) + jax.reshard(B, P())


@wrong("-", 16.25)
def contraction_cols():
    def contraction(mesh, A, B):
        return jnp.dot(A, B, out_sharding=P(None, "y"))


@wrong("-", 15)
def contraction_cut_and_owed():
    def contraction(mesh, A, B):
        return jnp.dot(A, B, out_sharding=P("x", None, unreduced={"y"}))
