import jax
import jax.numpy as jnp

from shardlab_course.answers import right, wrong

P = jax.P


@wrong("left-to-the-compiler", 0)
def compiler():
    def two_halves(mesh, terms):
        return jax.lax.with_sharding_constraint(terms.sum(0), jax.NamedSharding(mesh, P()))


@wrong("copies-as-parts", 0)
def copies_as_parts():
    from jax import P, lax

    def two_halves(mesh, terms):
        def body(block):
            part = lax.psum_scatter(block[0], "x", tiled=True)
            return lax.all_gather(part, "x", tiled=True)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(terms)


@right
def flat():
    from jax import P, lax

    def two_halves(mesh, terms):
        def body(block):
            part = lax.psum_scatter(block.reshape(-1), "x", tiled=True)
            return lax.all_gather(part, "x", tiled=True, to="invarying").reshape(block.shape[1:])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P())(terms)


@wrong("gather-not-tiled", 0)
def gather_untiled():
    from jax import P, lax

    def two_halves(mesh, terms):
        def body(block):
            part = lax.psum_scatter(block[0], "x", tiled=True)
            return lax.all_gather(part, "x", to="invarying")

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P())(terms)


@wrong("gathers-all-terms", 2.25)
def gathered_terms():
    def two_halves(mesh, terms):
        def body(block):
            return jax.lax.all_gather(block[0], "x", to="invarying").sum(0)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P())(terms)


@wrong("half-an-all-reduce", 3.75)
def half():
    def two_halves(mesh, terms):
        def body(block):
            return jax.lax.psum_scatter(block[0], "x", scatter_dimension=0, tiled=True)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(terms)


@right
def in_rows_of_devices():
    def two_halves(mesh, terms):
        def body(block):
            n, (rows, columns) = mesh.shape["x"], block.shape[1:]
            part = jax.lax.psum_scatter(block.reshape(n, -1), "x")
            return jax.lax.all_gather(part, "x", to="invarying").reshape(rows, columns)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P())(terms)


@right
def in_two_functions():
    def two_halves(mesh, terms):
        def body(block):
            return jax.lax.psum_scatter(block[0], "x", scatter_dimension=0, tiled=True)

        def whole(part):
            return jax.lax.all_gather(part, "x", axis=0, tiled=True, to="invarying")

        parts = jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(terms)
        return jax.shard_map(whole, mesh=mesh, in_specs=P("x"), out_specs=P())(parts)


@wrong("gathers-another-dimension", 0)
def other_dimension():
    def two_halves(mesh, terms):
        def body(block):
            part = jax.lax.psum_scatter(block[0], "x", scatter_dimension=0, tiled=True)
            return jax.lax.all_gather(part, "x", axis=1, tiled=True, to="invarying")

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P())(terms)


@wrong("sums-in-one-go", 2.25)
def psum():
    def two_halves(mesh, terms):
        def body(block):
            return jax.lax.psum(block[0], "x")

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P())(terms)


@right
def unchecked():
    def two_halves(mesh, terms):
        def body(block):
            part = jax.lax.psum_scatter(block[0], "x", scatter_dimension=0, tiled=True)
            return jax.lax.all_gather(part, "x", axis=0, tiled=True)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(terms)


@wrong("scatter-not-tiled", 0)
def untiled():
    def two_halves(mesh, terms):
        def body(block):
            part = jax.lax.psum_scatter(block[0], "x", scatter_dimension=0)
            return jax.lax.all_gather(part, "x", axis=0, tiled=True, to="invarying")

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P())(terms)


@wrong("promise-not-proved", 0)
def varying():
    def two_halves(mesh, terms):
        def body(block):
            part = jax.lax.psum_scatter(block[0], "x", scatter_dimension=0, tiled=True)
            return jax.lax.all_gather(part, "x", axis=0, tiled=True)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P())(terms)


@wrong("-", 0)
def block_of_one_kept():
    """Scattered flat and gathered, and given the shape of a block, which has a first dimension of one."""
    from jax import P, lax

    def two_halves(mesh, terms):
        def body(block):
            part = lax.psum_scatter(block.reshape(-1), "x", tiled=True)
            return lax.all_gather(part, "x", tiled=True, to="invarying").reshape(block.shape)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P())(terms)


@wrong("-", 0)
def half_unchecked():
    def two_halves(mesh, terms):
        def body(block):
            return jax.lax.psum_scatter(block[0], "x", tiled=True)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(terms)


@wrong("moves-by-other-collectives", 2.25)
def ring():
    """The ring of 8.3, for the sum and for the gather."""
    from jax import P, lax

    def two_halves(mesh, terms):
        n = mesh.shape["x"]
        following = [(d, (d + 1) % n) for d in range(n)]

        def body(block):
            own = lax.axis_index("x")
            chunks = block.reshape(n, block.shape[1] // n, *block.shape[2:])
            total = chunks[(own - 1) % n]
            for i in range(2, n + 1):
                total = lax.ppermute(total, "x", following) + chunks[(own - i) % n]
            arrived = [total]
            for _ in range(n - 1):
                arrived.append(lax.ppermute(arrived[-1], "x", following))
            return jnp.stack(arrived)[(own - jnp.arange(n)) % n].reshape(block.shape[1:])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(terms)


@wrong("moves-by-other-collectives", 2.25)
def exchanged_and_added():
    """A reduce-scatter made of an all-to-all and a sum."""
    from jax import P, lax

    def two_halves(mesh, terms):
        def body(block):
            chunks = block[0].reshape(mesh.shape["x"], -1, block.shape[2])
            part = lax.all_to_all(chunks, "x", 0, 0).sum(0)
            return lax.all_gather(part, "x", axis=0, tiled=True, to="invarying")

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P())(terms)


@right
def turned():
    """The columns of the turned sum are scattered and gathered."""
    from jax import P, lax

    def two_halves(mesh, terms):
        def body(block):
            part = lax.psum_scatter(block[0].T, "x", scatter_dimension=1, tiled=True)
            return lax.all_gather(part, "x", axis=1, tiled=True, to="invarying").T

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P())(terms)
