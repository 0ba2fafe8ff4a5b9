import jax
import jax.numpy as jnp

from shardlab_course.answers import right, wrong

P = jax.P


def ring(n, by=1):
    return [(d, (d + by) % n) for d in range(n)]


@right
def another_way():
    def ring_all_gather(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            d, m = jax.lax.axis_index("x"), block.shape[0]
            whole = jnp.zeros((n * m, *block.shape[1:]), block.dtype)
            whole = jax.lax.dynamic_update_slice_in_dim(whole, block, d * m, 0)
            for i in range(1, n):
                block = jax.lax.ppermute(block, "x", ring(n))
                whole = jax.lax.dynamic_update_slice_in_dim(whole, block, (d - i) % n * m, 0)
            return whole

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)


@wrong("arrival-order", 0)
def arrival_order():
    def ring_all_gather(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            came = [block]
            for _ in range(n - 1):
                came.append(jax.lax.ppermute(came[-1], "x", ring(n)))
            return jnp.concatenate(came)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)


@wrong("arrival-order", 0)
def arrival_order_reversed():
    def ring_all_gather(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            came = [block]
            for _ in range(n - 1):
                came.append(jax.lax.ppermute(came[-1], "x", ring(n)))
            return jnp.concatenate(came[::-1])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)


@right
def backwards():
    def ring_all_gather(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            d, m = jax.lax.axis_index("x"), block.shape[0]
            blocks = jnp.zeros((n, *block.shape), block.dtype).at[d].set(block)
            for i in range(1, n):
                block = jax.lax.ppermute(block, "x", ring(n, -1))
                blocks = blocks.at[(d + i) % n].set(block)
            return blocks.reshape(n * m, *block.shape[1:])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)


@wrong("arrival-order", 0)
def by_round_number():
    def ring_all_gather(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            m = block.shape[0]
            whole = jnp.zeros((n * m, *block.shape[1:]), block.dtype)
            whole = jax.lax.dynamic_update_slice_in_dim(whole, block, 0, 0)
            for i in range(1, n):
                block = jax.lax.ppermute(block, "x", ring(n))
                whole = jax.lax.dynamic_update_slice_in_dim(whole, block, i * m, 0)
            return whole

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)


@wrong("promise-not-proved", 0)
def checked():
    def ring_all_gather(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            d, m = jax.lax.axis_index("x"), block.shape[0]
            whole = jnp.zeros((n * m, *block.shape[1:]), block.dtype)
            whole = jax.lax.dynamic_update_slice_in_dim(whole, block, d * m, 0)
            for i in range(1, n):
                block = jax.lax.ppermute(block, "x", ring(n))
                whole = jax.lax.dynamic_update_slice_in_dim(whole, block, (d - i) % n * m, 0)
            return whole

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P())(x)


@wrong("left-to-the-compiler", 0)
def compiler():
    def ring_all_gather(mesh, x):
        return jax.lax.with_sharding_constraint(x, jax.NamedSharding(mesh, P()))


@wrong("copies-as-parts", 0)
def copies_as_parts():
    from jax import P, lax

    def ring_all_gather(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            d = lax.axis_index("x")
            whole = jnp.zeros((n, *block.shape)).at[d].set(block)
            for i in range(1, n):
                block = lax.ppermute(block, "x", [(i, (i + 1) % n) for i in range(n)])
                whole = whole.at[(d - i) % n].set(block)
            return whole.reshape(-1, block.shape[1])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)


@wrong("uses-a-finished-collective", 4.5)
def finished():
    def ring_all_gather(mesh, x):
        def body(block):
            return jax.lax.all_gather(block, "x", tiled=True)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)


@right
def in_a_loop():
    def ring_all_gather(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            d, m = jax.lax.axis_index("x"), block.shape[0]
            whole = jnp.zeros((n * m, *block.shape[1:]), block.dtype)
            whole = jax.lax.dynamic_update_slice_in_dim(whole, block, d * m, 0)

            def hop(i, state):
                block, whole = state
                block = jax.lax.ppermute(block, "x", ring(n))
                return block, jax.lax.dynamic_update_slice_in_dim(whole, block, (d - i) % n * m, 0)

            return jax.lax.fori_loop(1, n, hop, (block, whole))[1]

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)


@wrong("leaps-over-neighbours", 4.5)
def leaps():
    def ring_all_gather(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            d, m = jax.lax.axis_index("x"), block.shape[0]
            whole = jnp.zeros((n * m, *block.shape[1:]), block.dtype)
            for i in range(n):
                came = jax.lax.ppermute(block, "x", ring(n, i)) if i else block
                whole = jax.lax.dynamic_update_slice_in_dim(whole, came, (d - i) % n * m, 0)
            return whole

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)


@wrong("one-hop-too-many", 4.5)
def long():
    def ring_all_gather(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            d, m = jax.lax.axis_index("x"), block.shape[0]
            whole = jnp.zeros((n * m, *block.shape[1:]), block.dtype)
            whole = jax.lax.dynamic_update_slice_in_dim(whole, block, d * m, 0)
            for i in range(1, n + 1):
                block = jax.lax.ppermute(block, "x", ring(n))
                whole = jax.lax.dynamic_update_slice_in_dim(whole, block, (d - i) % n * m, 0)
            return whole

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)


@wrong("ring-is-open", 0, of="another_way")
def open():
    def ring(n):
        return [(d, d + 1) for d in range(n - 1)]


@right
def ordered_at_the_end():
    def ring_all_gather(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            d, m = jax.lax.axis_index("x"), block.shape[0]
            came = [block]
            for _ in range(n - 1):
                came.append(jax.lax.ppermute(came[-1], "x", ring(n)))
            blocks = jnp.stack(came)[(d - jnp.arange(n)) % n]
            return blocks.reshape(n * m, *block.shape[1:])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)


@right
def rolled():
    import functools

    from jax import P, lax

    def ring_all_gather(mesh, x):
        n = mesh.shape["x"]

        @functools.partial(jax.shard_map, mesh=mesh, in_specs=P("x", None), out_specs=P(None, None), check_vma=False)
        def body(block):
            came = [block]
            for _ in range(n - 1):
                came.append(lax.ppermute(came[-1], "x", [(i, (i + 1) % n) for i in range(n)]))
            return jnp.roll(jnp.stack(came[::-1]), lax.axis_index("x") + 1, axis=0).reshape(-1, block.shape[-1])

        return jax.jit(body)(x)


@right
def scan():
    def ring_all_gather(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            d, m = jax.lax.axis_index("x"), block.shape[0]

            def hop(block, _):
                block = jax.lax.ppermute(block, "x", ring(n))
                return block, block

            came = jnp.concatenate([block[None], jax.lax.scan(hop, block, None, length=n - 1)[1]])
            return came[(d - jnp.arange(n)) % n].reshape(n * m, *block.shape[1:])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)


@wrong("its-number-travels-too", 4.5)
def sends_its_number():
    from jax import P, lax

    def ring_all_gather(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            d = lax.axis_index("x")
            whole = jnp.zeros((n, *block.shape)).at[d].set(block)
            for i in range(1, n):
                block, d = lax.ppermute((block, d), "x", [(i, (i + 1) % n) for i in range(n)])
                whole = whole.at[d].set(block)
            return whole.reshape(-1, block.shape[1])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)


@wrong("one-hop-short", 0)
def short():
    def ring_all_gather(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            d, m = jax.lax.axis_index("x"), block.shape[0]
            whole = jnp.zeros((n * m, *block.shape[1:]), block.dtype)
            whole = jax.lax.dynamic_update_slice_in_dim(whole, block, d * m, 0)
            for i in range(1, n - 1):
                block = jax.lax.ppermute(block, "x", ring(n))
                whole = jax.lax.dynamic_update_slice_in_dim(whole, block, (d - i) % n * m, 0)
            return whole

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)


@wrong("sends-all-it-has", 4.5)
def whole_buffer():
    def ring_all_gather(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            d, m = jax.lax.axis_index("x"), block.shape[0]
            whole = jnp.zeros((n * m, *block.shape[1:]), block.dtype)
            whole = jax.lax.dynamic_update_slice_in_dim(whole, block, d * m, 0)
            mine = whole
            for _ in range(1, n):
                whole = mine + jax.lax.ppermute(whole, "x", ring(n))
            return whole

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)


@wrong("counts-the-wrong-way", 0)
def wrong_sign():
    def ring_all_gather(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            d, m = jax.lax.axis_index("x"), block.shape[0]
            whole = jnp.zeros((n * m, *block.shape[1:]), block.dtype)
            whole = jax.lax.dynamic_update_slice_in_dim(whole, block, d * m, 0)
            for i in range(1, n):
                block = jax.lax.ppermute(block, "x", ring(n))
                whole = jax.lax.dynamic_update_slice_in_dim(whole, block, (d + i) % n * m, 0)
            return whole

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)


@wrong("carry-changes-type", 0)
def zeros_in_the_loop():
    def ring_all_gather(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            d, m = jax.lax.axis_index("x"), block.shape[0]
            whole = jnp.zeros((n * m, *block.shape[1:]), block.dtype)

            def hop(i, state):
                block, whole = state
                whole = jax.lax.dynamic_update_slice_in_dim(whole, block, (d - i) % n * m, 0)
                return jax.lax.ppermute(block, "x", ring(n)), whole

            return jax.lax.fori_loop(0, n, hop, (block, whole))[1]

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P())(x)


@wrong("one-hop-short", 0)
def two_hops_short():
    def ring_all_gather(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            d, m = jax.lax.axis_index("x"), block.shape[0]
            whole = jnp.zeros((n * m, *block.shape[1:]), block.dtype)
            whole = jax.lax.dynamic_update_slice_in_dim(whole, block, d * m, 0)
            for i in range(1, n - 2):
                block = jax.lax.ppermute(block, "x", ring(n))
                whole = jax.lax.dynamic_update_slice_in_dim(whole, block, (d - i) % n * m, 0)
            return whole

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)


@wrong("one-hop-too-many", 4.5)
def both_ways_antipode_twice():
    def ring_all_gather(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            d, m = jax.lax.axis_index("x"), block.shape[0]
            blocks = jnp.zeros((n, *block.shape), block.dtype).at[d].set(block)
            right = left = block
            for i in range(1, n // 2 + 1):
                right = jax.lax.ppermute(right, "x", ring(n))
                blocks = blocks.at[(d - i) % n].set(right)
                left = jax.lax.ppermute(left, "x", ring(n, -1))
                blocks = blocks.at[(d + i) % n].set(left)
            return blocks.reshape(n * m, *block.shape[1:])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)


@wrong("ring-is-open", 0)
def open_backwards():
    def ring_all_gather(mesh, x):
        n = mesh.shape["x"]
        back = [(d + 1, d) for d in range(n - 1)]

        def body(block):
            d, m = jax.lax.axis_index("x"), block.shape[0]
            whole = jnp.zeros((n * m, *block.shape[1:]), block.dtype)
            whole = jax.lax.dynamic_update_slice_in_dim(whole, block, d * m, 0)
            for i in range(1, n):
                block = jax.lax.ppermute(block, "x", back)
                whole = jax.lax.dynamic_update_slice_in_dim(whole, block, (d + i) % n * m, 0)
            return whole

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)


@wrong("one-hop-short", 0)
def own_missing():
    def ring_all_gather(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            d, m = jax.lax.axis_index("x"), block.shape[0]
            blocks = jnp.zeros((n, *block.shape), block.dtype)
            for i in range(1, n):
                block = jax.lax.ppermute(block, "x", ring(n))
                blocks = blocks.at[(d - i) % n].set(block)
            return blocks.reshape(n * m, *block.shape[1:])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)
