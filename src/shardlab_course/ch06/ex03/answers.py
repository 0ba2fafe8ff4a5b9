import jax
import jax.numpy as jnp

from shardlab_course.answers import right, wrong

P = jax.P


@right
def another_way():
    def late(mesh, A, B, C, D, E, F):
        total = terms(mesh, A, B) + terms(mesh, C, D) + terms(mesh, E, F)
        return jax.reshard(total, P())


@wrong("cut-the-other-way", 9.75)
def columns_as_rows():
    def columns(mesh, A, B):
        return jnp.dot(A, B, out_sharding=P("x", None))


@wrong("pays-three-times", 9)
def late_by_compiler():
    def late(mesh, *six):
        def body(A, B, C, D, E, F):
            return A @ B + C @ D + E @ F

        return jax.sharding.auto_axes(body)(*six, out_sharding=P())


@wrong("gathers-before-the-product", 9)
def late_gathers():
    def late(mesh, *six):
        A, B, C, D, E, F = (jax.reshard(m, P()) for m in six)
        return A @ B + C @ D + E @ F


@right
def late_in_shard_map():
    def rows(mesh, A, B):
        return jax.reshard(replicated(mesh, A, B), P("x", None))

    def columns(mesh, A, B):
        return jax.reshard(jnp.dot(A, B, out_sharding=P(unreduced={"x"})), P(None, "x"))

    def terms(mesh, A, B):
        def body(a, b):
            return jax.lax.pcast(a @ b, "x", to="unreduced")

        return jax.shard_map(body, out_specs=P(unreduced={"x"}))(A, B)

    def late(mesh, A, B, C, D, E, F):
        def body(a, b, c, d, e, f):
            return jax.lax.psum(a @ b + c @ d + e @ f, "x")

        return jax.shard_map(body, out_specs=P())(A, B, C, D, E, F)


@wrong("joins-sharded-dimensions", 9)
def late_joins():
    def late(mesh, A, B, C, D, E, F):
        return jnp.dot(jnp.hstack([A, C, E]), jnp.vstack([B, D, F]), out_sharding=P())


@wrong("never-pays", 7.5)
def late_never_pays():
    def late(mesh, A, B, C, D, E, F):
        return terms(mesh, A, B) + terms(mesh, C, D) + terms(mesh, E, F)


@wrong("pays-three-times", 9)
def late_pays_thrice():
    def late(mesh, A, B, C, D, E, F):
        return replicated(mesh, A, B) + replicated(mesh, C, D) + replicated(mesh, E, F)


@right
def late_stacked():
    def late(mesh, A, B, C, D, E, F):
        left, right = jnp.stack([A, C, E]), jnp.stack([B, D, F])
        return jnp.einsum("nij,njk->ik", left, right, out_sharding=P())


@wrong("pays-three-times", 9)
def late_two_paid():
    def late(mesh, A, B, C, D, E, F):
        return jax.reshard(terms(mesh, A, B) + terms(mesh, C, D), P()) + replicated(mesh, E, F)


@wrong("no-out-sharding", 8.25)
def plain_dot():
    def replicated(mesh, A, B):
        return A @ B


@wrong("sum-left-open", 8.25)
def replicated_open():
    def replicated(mesh, A, B):
        return jnp.dot(A, B, out_sharding=P(unreduced={"x"}))


@wrong("sum-not-cut", 9.75)
def rows_whole():
    def rows(mesh, A, B):
        return jnp.dot(A, B, out_sharding=P())


@wrong("sum-already-paid", 9)
def terms_paid():
    def terms(mesh, A, B):
        return jnp.dot(A, B, out_sharding=P())

    def late(mesh, A, B, C, D, E, F):
        open = P(unreduced={"x"})
        pairs = (A, B), (C, D), (E, F)
        one, two, three = (jnp.dot(p, q, out_sharding=open) for p, q in pairs)
        return jax.reshard(one + two + three, P())


@wrong("-", 9)
def rows_of_b_scaled():
    """In the right place, with wrong values: nothing is to be said of the place."""

    def rows(mesh, A, B):
        return jnp.dot(A, 2 * B, out_sharding=P("x", None))


@wrong("sum-left-open", 9)
def columns_open():
    """Left unreduced where it was to be cut."""

    def columns(mesh, A, B):
        return jnp.dot(A, B, out_sharding=P(None, None, unreduced={"x"}))


@wrong("-", 8.25)
def terms_cut():
    def terms(mesh, A, B):
        cut = "y" if "y" in mesh.shape else None
        return jnp.dot(A, B, out_sharding=P(None, cut, unreduced={"x"}))


@wrong("-", 7.5)
def late_from_zero():
    """Python's sum begins with 0, which is not owed to anybody."""

    def late(mesh, A, B, C, D, E, F):
        pairs = (A, B), (C, D), (E, F)
        owed = jax.P(None, None, unreduced={"x"})
        return jax.reshard(sum(jnp.dot(left, right, out_sharding=owed) for left, right in pairs), jax.P())
