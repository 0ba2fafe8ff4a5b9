import jax
import jax.numpy as jnp

from shardlab_course.answers import right, wrong

P = jax.P


@wrong("no-exchange", 0)
def alone():
    def stencil(mesh, x):
        def body(block):
            rows = jnp.pad(block, ((1, 1), (0, 0)))
            return rows[:-2] - 3 * rows[1:-1] + 2 * rows[2:]

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)


@wrong("left-to-the-compiler", 0)
def compiler():
    def stencil(mesh, x):
        rows = jnp.pad(x, ((1, 1), (0, 0)))
        return jax.lax.with_sharding_constraint(rows[:-2] - 3 * rows[1:-1] + 2 * rows[2:], jax.NamedSharding(mesh, P("x")))


@wrong("edges-for-everybody", 7)
def edges_gathered():
    from jax import P, lax

    def stencil(mesh, x):
        n = mesh.shape["x"]

        def body(b):
            d = lax.axis_index("x")
            edges = lax.all_gather(jnp.stack([b[0], b[-1]]), "x")
            up = jnp.where(d > 0, edges[d - 1, 1], 0)[None]
            dn = jnp.where(d < n - 1, edges[(d + 1) % n, 0], 0)[None]
            rows = jnp.concatenate([up, b, dn])
            return rows[:-2] - 3 * rows[1:-1] + 2 * rows[2:]

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)


@right
def edges_mended_afterwards():
    def stencil(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            down = [(d, d + 1) for d in range(n - 1)]
            up = [(d + 1, d) for d in range(n - 1)]
            rows = jnp.pad(block, ((1, 1), (0, 0)))
            inner = rows[:-2] - 3 * rows[1:-1] + 2 * rows[2:]
            inner = inner.at[0].add(jax.lax.ppermute(block[-1], "x", down))
            return inner.at[-1].add(2 * jax.lax.ppermute(block[0], "x", up))

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)


@wrong("edges-for-everybody", 7)
def edges_summed():
    from jax import P, lax

    def stencil(mesh, x):
        n = mesh.shape["x"]

        def body(b):
            d = lax.axis_index("x")
            edges = lax.psum(jnp.zeros((n, 2, b.shape[1])).at[d].set(jnp.stack([b[0], b[-1]])), "x")
            up = jnp.where(d > 0, edges[d - 1, 1], 0)[None]
            dn = jnp.where(d < n - 1, edges[(d + 1) % n, 0], 0)[None]
            rows = jnp.concatenate([up, b, dn])
            return rows[:-2] - 3 * rows[1:-1] + 2 * rows[2:]

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)


@wrong("gathers-everything", 7)
def gathered():
    def stencil(mesh, x):
        def body(block):
            rows = jnp.pad(jax.lax.all_gather(block, "x", tiled=True), ((1, 1), (0, 0)))
            rows = rows[:-2] - 3 * rows[1:-1] + 2 * rows[2:]
            m = block.shape[0]
            return jax.lax.dynamic_slice_in_dim(rows, jax.lax.axis_index("x") * m, m)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)


@right
def masked_ring():
    def stencil(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            down = [(d, (d + 1) % n) for d in range(n)]
            up = [((d + 1) % n, d) for d in range(n)]
            d = jax.lax.axis_index("x")
            above = jnp.where(d > 0, jax.lax.ppermute(block[-1:], "x", down), 0)
            below = jnp.where(d < n - 1, jax.lax.ppermute(block[:1], "x", up), 0)
            rows = jnp.concatenate([above, block, below])
            return rows[:-2] - 3 * rows[1:-1] + 2 * rows[2:]

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)


@wrong("neighbours-mixed-up", 0)
def put_on_the_other_side():
    def stencil(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            down = [(d, d + 1) for d in range(n - 1)]
            up = [(d + 1, d) for d in range(n - 1)]
            above = jax.lax.ppermute(block[-1:], "x", down)
            below = jax.lax.ppermute(block[:1], "x", up)
            rows = jnp.concatenate([below, block, above])
            return rows[:-2] - 3 * rows[1:-1] + 2 * rows[2:]

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)


@wrong("edge-rows-repeated", 0)
def repeated():
    def stencil(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            down = [(d, (d + 1) % n) for d in range(n)]
            up = [((d + 1) % n, d) for d in range(n)]
            d = jax.lax.axis_index("x")
            above = jnp.where(d > 0, jax.lax.ppermute(block[-1:], "x", down), block[:1])
            below = jnp.where(d < n - 1, jax.lax.ppermute(block[:1], "x", up), block[-1:])
            rows = jnp.concatenate([above, block, below])
            return rows[:-2] - 3 * rows[1:-1] + 2 * rows[2:]

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)


@right
def sums_of_neighbours():
    from jax import P, lax

    def stencil(mesh, x):
        n = mesh.shape["x"]

        def body(b):
            y = -3 * b
            y = y.at[1:].add(b[:-1])
            y = y.at[:-1].add(2 * b[1:])
            y = y.at[0].add(lax.ppermute(b[-1], "x", [(i, i + 1) for i in range(n - 1)]))
            return y.at[-1].add(lax.ppermute(2 * b[0], "x", [(i + 1, i) for i in range(n - 1)]))

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", None), out_specs=P("x", None))(x)


@wrong("sends-whole-blocks", 7)
def whole_blocks():
    def stencil(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            down = [(d, d + 1) for d in range(n - 1)]
            up = [(d + 1, d) for d in range(n - 1)]
            above = jax.lax.ppermute(block, "x", down)
            below = jax.lax.ppermute(block, "x", up)
            rows = jnp.concatenate([above[-1:], block, below[:1]])
            return rows[:-2] - 3 * rows[1:-1] + 2 * rows[2:]

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)


@wrong("wraps-around", 0)
def wraps():
    def stencil(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            down = [(d, (d + 1) % n) for d in range(n)]
            up = [((d + 1) % n, d) for d in range(n)]
            above = jax.lax.ppermute(block[-1:], "x", down)
            below = jax.lax.ppermute(block[:1], "x", up)
            rows = jnp.concatenate([above, block, below])
            return rows[:-2] - 3 * rows[1:-1] + 2 * rows[2:]

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)


@wrong("neighbours-mixed-up", 0)
def wrong_directions():
    def stencil(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            down = [(d, d + 1) for d in range(n - 1)]
            up = [(d + 1, d) for d in range(n - 1)]
            above = jax.lax.ppermute(block[-1:], "x", up)
            below = jax.lax.ppermute(block[:1], "x", down)
            rows = jnp.concatenate([above, block, below])
            return rows[:-2] - 3 * rows[1:-1] + 2 * rows[2:]

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)


@wrong("neighbours-mixed-up", 0)
def wrong_edges():
    def stencil(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            down = [(d, d + 1) for d in range(n - 1)]
            up = [(d + 1, d) for d in range(n - 1)]
            above = jax.lax.ppermute(block[:1], "x", down)
            below = jax.lax.ppermute(block[-1:], "x", up)
            rows = jnp.concatenate([above, block, below])
            return rows[:-2] - 3 * rows[1:-1] + 2 * rows[2:]

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)


@wrong("neighbours-mixed-up", 0)
def wrong_edges_closed():
    def stencil(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            down = [(d, (d + 1) % n) for d in range(n)]
            up = [((d + 1) % n, d) for d in range(n)]
            above = jax.lax.ppermute(block[:1], "x", down)
            below = jax.lax.ppermute(block[-1:], "x", up)
            rows = jnp.concatenate([above, block, below])
            return rows[:-2] - 3 * rows[1:-1] + 2 * rows[2:]

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)


@wrong("one-side-only", 0)
def above_only():
    def stencil(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            above = jax.lax.ppermute(block[-1:], "x", [(i, i + 1) for i in range(n - 1)])
            rows = jnp.concatenate([above, block, jnp.zeros_like(block[:1])])
            return rows[:-2] - 3 * rows[1:-1] + 2 * rows[2:]

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)


@wrong("one-side-only", 0)
def below_only():
    def stencil(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            below = jax.lax.ppermute(block[:1], "x", [(i + 1, i) for i in range(n - 1)])
            rows = jnp.concatenate([jnp.zeros_like(block[:1]), block, below])
            return rows[:-2] - 3 * rows[1:-1] + 2 * rows[2:]

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)


@wrong("neighbours-mixed-up", 0)
def same_row_twice():
    def stencil(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            above = jax.lax.ppermute(block[-1:], "x", [(i, i + 1) for i in range(n - 1)])
            rows = jnp.concatenate([above, block, above])
            return rows[:-2] - 3 * rows[1:-1] + 2 * rows[2:]

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)


@wrong("wraps-around", 0)
def one_wrap():
    def stencil(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            down = [(d, (d + 1) % n) for d in range(n)]
            up = [(d + 1, d) for d in range(n - 1)]
            above = jax.lax.ppermute(block[-1:], "x", down)
            below = jax.lax.ppermute(block[:1], "x", up)
            rows = jnp.concatenate([above, block, below])
            return rows[:-2] - 3 * rows[1:-1] + 2 * rows[2:]

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)
