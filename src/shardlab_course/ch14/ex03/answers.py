import jax

from shardlab_course.answers import right, wrong

P = jax.P

WHOLE = P()


def over(body, mesh, out=WHOLE, **options):
    return jax.shard_map(body, mesh=mesh, in_specs=P(("dcn", "ici"), None), out_specs=out, **options)


@wrong("left-to-the-compiler", 0)
def compiler():
    def all_reduce(mesh, X):
        return X.sum(0)


@right
def exchanged_by_all_to_all():
    def all_reduce(mesh, X):
        def body(row):
            n = jax.lax.axis_size("ici")
            parts = jax.lax.all_to_all(row[0].reshape(n, -1), "ici", 0, 0)
            part = jax.lax.psum(parts.sum(0), "dcn")
            return jax.lax.all_gather(part, "ici", tiled=True, to="invarying")

        return over(body, mesh)(X)


@wrong("one-flat-group", 4)
def flat():
    def all_reduce(mesh, X):
        return over(lambda row: jax.lax.psum(row[0], ("dcn", "ici")), mesh)(X)


@wrong("one-flat-group", 4)
def flat_and_two_gathers():
    from jax import P

    def all_reduce(mesh, X):
        def body(row):
            part = jax.lax.psum_scatter(row[0], ("dcn", "ici"), tiled=True)
            part = jax.lax.all_gather(part, "ici", tiled=True, to="invarying")
            return jax.lax.all_gather(part, "dcn", tiled=True, to="invarying")

        return jax.shard_map(body, mesh=mesh, in_specs=P(("dcn", "ici"), None), out_specs=P())(X)


@wrong("one-flat-group", 4)
def flat_in_two_halves():
    def all_reduce(mesh, X):
        def body(row):
            part = jax.lax.psum_scatter(row[0], ("dcn", "ici"), tiled=True)
            return jax.lax.all_gather(part, ("dcn", "ici"), tiled=True, to="invarying")

        return over(body, mesh)(X)


@right
def four_steps():
    def all_reduce(mesh, X):
        def body(row):
            part = jax.lax.psum_scatter(row[0], "ici", tiled=True)
            small = jax.lax.psum_scatter(part, "dcn", tiled=True)
            part = jax.lax.all_gather(small, "dcn", tiled=True, to="invarying")
            return jax.lax.all_gather(part, "ici", tiled=True, to="invarying")

        return over(body, mesh)(X)


@right
def gathered_outside():
    def all_reduce(mesh, X):
        def body(row):
            part = jax.lax.psum_scatter(row[0], "ici", tiled=True)
            return jax.lax.psum(part, "dcn")

        cut = over(body, mesh, P("ici"))(X)
        return jax.lax.with_sharding_constraint(cut, jax.sharding.NamedSharding(mesh, P()))


@wrong("gathers-over-the-slow-axis", 4)
def gathers_over_dcn():
    def all_reduce(mesh, X):
        def body(row):
            rows = jax.lax.all_gather(row[0], "dcn", to="invarying")
            return jax.lax.psum(rows.sum(0), "ici")

        return over(body, mesh)(X)


@wrong("gathers-over-the-slow-axis", 4)
def gathers_parts_over_dcn():
    def all_reduce(mesh, X):
        def body(row):
            part = jax.lax.psum_scatter(row[0], "ici", tiled=True)
            whole = jax.lax.all_gather(part, "ici", tiled=True, to="invarying")
            return jax.lax.all_gather(whole, "dcn", to="invarying").sum(0)

        return over(body, mesh)(X)


@wrong("mean-instead-of-sum", 0)
def mean():
    def all_reduce(mesh, X):
        def body(row):
            part = jax.lax.psum_scatter(row[0], "ici", tiled=True)
            part = jax.lax.pmean(part, "dcn") / jax.lax.axis_size("ici")
            return jax.lax.all_gather(part, "ici", tiled=True, to="invarying")

        return over(body, mesh)(X)


@wrong("one-axis-only", 0)
def one_host():
    def all_reduce(mesh, X):
        return over(lambda row: jax.lax.psum(row[0], "ici"), mesh, check_vma=False)(X)


@wrong("never-reduced", 0)
def own():
    def all_reduce(mesh, X):
        return over(lambda row: row[0], mesh, check_vma=False)(X)


@wrong("promise-not-proved", 0)
def own_host_only():
    from jax import P

    def all_reduce(mesh, X):
        def body(row):
            part = jax.lax.psum_scatter(row[0], "ici", tiled=True)
            return jax.lax.all_gather(part, "ici", tiled=True, to="invarying")

        return jax.shard_map(body, mesh=mesh, in_specs=P(("dcn", "ici"), None), out_specs=P())(X)


@wrong("whole-rows-in-a-ring", 4)
def parts_ring():
    from jax import P

    def all_reduce(mesh, X):
        n = mesh.shape["dcn"]

        def body(row):
            part = jax.lax.psum_scatter(row[0], "ici", tiled=True)
            total, moving = part, part
            for _ in range(n - 1):
                moving = jax.lax.ppermute(moving, "dcn", [(i, (i + 1) % n) for i in range(n)])
                total = total + moving
            return jax.lax.all_gather(total, "ici", tiled=True)

        return jax.shard_map(body, mesh=mesh, in_specs=P(("dcn", "ici"), None), out_specs=P(), check_vma=False)(X)


@wrong("promise-not-proved", 0)
def promise():
    def all_reduce(mesh, X):
        def body(row):
            part = jax.lax.psum(jax.lax.psum_scatter(row[0], "ici", tiled=True), "dcn")
            return jax.lax.all_gather(part, "ici", tiled=True)

        return over(body, mesh)(X)


@wrong("whole-rows-in-a-ring", 4)
def ring():
    import jax.numpy as jnp

    def all_reduce(mesh, X):
        n, both = 8, ("dcn", "ici")
        step = [(i, (i + 1) % n) for i in range(n)]

        def body(row):
            me = jax.lax.axis_index(both)
            parts = row[0].reshape(n, -1)
            held = jnp.take(parts, me, axis=0)
            for hop in range(1, n):
                held = jax.lax.ppermute(held, both, step) + jnp.take(parts, (me - hop) % n, axis=0)
            out = jnp.zeros_like(parts).at[(me + 1) % n].set(held)
            for hop in range(1, n):
                held = jax.lax.ppermute(held, both, step)
                out = out.at[(me + 1 - hop) % n].set(held)
            return out.ravel()

        return over(body, mesh, check_vma=False)(X)


@wrong("sums-whole-rows-then-cuts", 4)
def sums_then_cuts():
    def all_reduce(mesh, X):
        def body(row):
            whole = jax.lax.psum(row[0], "ici")
            size = whole.size // jax.lax.axis_size("ici")
            start = jax.lax.axis_index("ici") * size
            part = jax.lax.psum(jax.lax.dynamic_slice_in_dim(whole, start, size), "dcn")
            return jax.lax.all_gather(part, "ici", tiled=True, to="invarying")

        return over(body, mesh)(X)


@wrong("full-bytes-on-slow-axis", 4)
def two_psums():
    def all_reduce(mesh, X):
        return over(lambda row: jax.lax.psum(jax.lax.psum(row[0], "ici"), "dcn"), mesh)(X)


@wrong("full-bytes-on-slow-axis", 4)
def two_psums_slow_first():
    def all_reduce(mesh, X):
        return over(lambda row: jax.lax.psum(jax.lax.psum(row[0], "dcn"), "ici"), mesh)(X)


@right
def unchecked():
    def all_reduce(mesh, X):
        def body(row):
            part = jax.lax.psum_scatter(row[0], "ici", tiled=True)
            part = jax.lax.psum(part, "dcn")
            return jax.lax.all_gather(part, "ici", tiled=True)

        return over(body, mesh, check_vma=False)(X)


@right
def untiled():
    def all_reduce(mesh, X):
        def body(row):
            n = jax.lax.axis_size("ici")
            part = jax.lax.psum_scatter(row[0].reshape(n, -1), "ici")
            part = jax.lax.psum(part, "dcn")
            return jax.lax.all_gather(part, "ici", to="invarying").ravel()

        return over(body, mesh)(X)


@wrong("scattered-over-the-slow-axis", 4)
def wrong_way_round():
    def all_reduce(mesh, X):
        def body(row):
            part = jax.lax.psum_scatter(row[0], "dcn", tiled=True)
            part = jax.lax.psum(part, "ici")
            return jax.lax.all_gather(part, "dcn", tiled=True, to="invarying")

        return over(body, mesh)(X)
