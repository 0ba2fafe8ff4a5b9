import jax

from shardlab_course.answers import right, wrong

P = jax.P


@wrong("left-to-the-compiler", 0)
def at_the_border():
    from jax import P

    def to_heads(mesh, x):

        return jax.shard_map(lambda b: b, mesh=mesh, in_specs=P(None, "x"), out_specs=P(None, "x"))(x)

    def to_tokens(mesh, x):

        return jax.shard_map(lambda b: b, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)


@wrong("left-to-the-compiler", 0)
def compiler():
    def to_heads(mesh, x):
        return jax.lax.with_sharding_constraint(x, jax.NamedSharding(mesh, P(None, "x")))

    def to_tokens(mesh, x):
        return jax.lax.with_sharding_constraint(x, jax.NamedSharding(mesh, P("x")))


@wrong("gathers-then-slices", 5.75)
def gathers():
    def to_heads(mesh, x):
        def body(block):
            h = block.shape[1] // mesh.shape["x"]
            whole = jax.lax.all_gather(block, "x", tiled=True)
            return jax.lax.dynamic_slice_in_dim(whole, jax.lax.axis_index("x") * h, h, 1)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(None, "x"))(x)


@wrong("-", 0)
def global_transpose():
    import jax.numpy as jnp
    from jax import P, lax

    def to_heads(mesh, x):
        def f(b):
            return jnp.swapaxes(lax.all_to_all(b, "x", 1, 0, tiled=True), 0, 1)

        return jax.shard_map(f, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)

    def to_tokens(mesh, x):
        def f(b):
            return jnp.swapaxes(lax.all_to_all(b, "x", 0, 1, tiled=True), 0, 1)

        return jax.shard_map(f, mesh=mesh, in_specs=P(None, "x"), out_specs=P(None, "x"))(x)


@right
def permutes():
    import jax.numpy as jnp

    def to_heads(mesh, x):
        def body(block):
            n, d, (t, h, k) = mesh.shape["x"], jax.lax.axis_index("x"), block.shape
            mine = block.reshape(t, n, h // n, k)
            whole = jnp.zeros((n, t, h // n, k), block.dtype).at[d].set(mine[:, d])
            for i in range(1, n):
                came = jax.lax.ppermute(mine[:, (d + i) % n], "x", [(j, (j + i) % n) for j in range(n)])
                whole = whole.at[(d - i) % n].set(came)
            return whole.reshape(n * t, h // n, k)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(None, "x"))(x)


@right
def pieces():
    import jax.numpy as jnp
    from jax import P, lax

    def turn(mesh, x, cut, join, i, o):
        n = mesh.shape["x"]

        def body(b):
            pieces = jnp.stack(jnp.split(b, n, axis=cut))
            return jnp.concatenate(list(lax.all_to_all(pieces, "x", 0, 0)), axis=join)

        return jax.shard_map(body, mesh=mesh, in_specs=i, out_specs=o)(x)

    def to_heads(mesh, x):
        return turn(mesh, x, 1, 0, P("x"), P(None, "x"))

    def to_tokens(mesh, x):
        return turn(mesh, x, 0, 1, P(None, "x"), P("x"))


@wrong("only-renamed", 3.5)
def renamed():
    def to_heads(mesh, x):
        def body(block):
            return block

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(None, "x"))(x)


@wrong("-", 3.5)
def zeros():
    """Nothing moves either, but no device has its block."""

    def to_heads(mesh, x):
        def body(block):
            n = mesh.shape["x"]
            t, h, k = block.shape
            return jax.numpy.zeros((n * t, h // n, k), block.dtype) + 0 * block.sum()

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(None, "x"))(x)


@wrong("split-and-concat-swapped", 3.5)
def swapped():
    def to_heads(mesh, x):
        def body(block):
            return jax.lax.all_to_all(block, "x", split_axis=0, concat_axis=1, tiled=True)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(None, "x"))(x)


@wrong("split-and-concat-swapped", 3.5)
def swapped_back():
    def to_tokens(mesh, x):
        def body(block):
            return jax.lax.all_to_all(block, "x", split_axis=1, concat_axis=0, tiled=True)

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P("x"))(x)


@wrong("not-tiled", 3.5)
def untiled():
    def to_heads(mesh, x):
        def body(block):
            return jax.lax.all_to_all(block, "x", 1, 0)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(None, "x"))(x)


@right
def untiled_by_hand():
    def to_heads(mesh, x):
        def body(block):
            n, (t, h, k) = mesh.shape["x"], block.shape
            parts = block.reshape(t, n, h // n, k)
            return jax.lax.all_to_all(parts, "x", 1, 0).reshape(n * t, h // n, k)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(None, "x"))(x)

    def to_tokens(mesh, x):
        def body(block):
            n, (t, h, k) = mesh.shape["x"], block.shape
            parts = jax.lax.all_to_all(block.reshape(n, t // n, h, k), "x", 0, 0)
            return parts.transpose(1, 0, 2, 3).reshape(t // n, n * h, k)

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P("x"))(x)


@wrong("out-specs-as-before", 0)
def out_left():
    def to_heads(mesh, x):
        def body(block):
            return jax.lax.all_to_all(block, "x", split_axis=1, concat_axis=0, tiled=True)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)

    def to_tokens(mesh, x):
        def body(block):
            return jax.lax.all_to_all(block, "x", split_axis=0, concat_axis=1, tiled=True)

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P(None, "x"))(x)


@wrong("-", 5.75)
def permutes_and_a_sum():
    """What permutes save is no room for a sum that nobody needs."""
    import jax.numpy as jnp

    def to_heads(mesh, x):
        def body(block):
            n, d, (t, h, k) = mesh.shape["x"], jax.lax.axis_index("x"), block.shape
            mine = block.reshape(t, n, h // n, k)
            whole = jnp.zeros((n, t, h // n, k), block.dtype).at[d].set(mine[:, d])
            for i in range(1, n):
                came = jax.lax.ppermute(mine[:, (d + i) % n], "x", [(j, (j + i) % n) for j in range(n)])
                whole = whole.at[(d - i) % n].set(came)
            return whole.reshape(n * t, h // n, k) + 0 * jax.lax.psum(block[0, 0], "x")

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(None, "x"))(x)
