import jax
import jax.numpy as jnp

from shardlab_course.answers import right, wrong

P = jax.P


def ring(n, by=1):
    return [(d, (d + by) % n) for d in range(n)]


@right
def another_way():
    def gather_both_ways(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            d, m = jax.lax.axis_index("x"), block.shape[0]
            blocks = jnp.zeros((n, *block.shape), block.dtype).at[d].set(block)
            right = left = block
            for i in range(1, n // 2 + 1):
                right = jax.lax.ppermute(right, "x", ring(n))
                blocks = blocks.at[(d - i) % n].set(right)
                if i <= (n - 1) // 2:
                    left = jax.lax.ppermute(left, "x", ring(n, -1))
                    blocks = blocks.at[(d + i) % n].set(left)
            return blocks.reshape(n * m, *block.shape[1:])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)


@wrong("antipode-sent-twice", 6)
def antipode():
    def gather_both_ways(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            d, m = jax.lax.axis_index("x"), block.shape[0]
            blocks = jnp.zeros((n, *block.shape), block.dtype).at[d].set(block)
            right = left = block
            for i in range(1, n // 2 + 1):
                right = jax.lax.ppermute(right, "x", ring(n))
                blocks = blocks.at[(d - i) % n].set(right)
                if i <= n // 2:
                    left = jax.lax.ppermute(left, "x", ring(n, -1))
                    blocks = blocks.at[(d + i) % n].set(left)
            return blocks.reshape(n * m, *block.shape[1:])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)


@wrong("arrival-order", 0)
def arrival_order():
    def gather_both_ways(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            came = [block]
            for _ in range(n - 1):
                came.append(jax.lax.ppermute(came[-1], "x", ring(n)))
            return jnp.concatenate(came)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)


@wrong("promise-not-proved", 0)
def checked():
    def gather_both_ways(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            d, m = jax.lax.axis_index("x"), block.shape[0]
            blocks = jnp.zeros((n, *block.shape), block.dtype).at[d].set(block)
            right = left = block
            for i in range(1, n // 2 + 1):
                right = jax.lax.ppermute(right, "x", ring(n))
                blocks = blocks.at[(d - i) % n].set(right)
                if i <= (n - 1) // 2:
                    left = jax.lax.ppermute(left, "x", ring(n, -1))
                    blocks = blocks.at[(d + i) % n].set(left)
            return blocks.reshape(n * m, *block.shape[1:])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P())(x)


@wrong("left-to-the-compiler", 0)
def compiler():
    def gather_both_ways(mesh, x):
        return jax.lax.with_sharding_constraint(x, jax.NamedSharding(mesh, P()))


@wrong("one-hop-short", 0)
def even_rings_only():
    from jax import P, lax

    def gather_both_ways(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            d = lax.axis_index("x")
            out = jnp.zeros((n,) + block.shape).at[d].set(block)
            right = left = block
            for i in range(1, n // 2 + 1):
                right = lax.ppermute(right, "x", [(k, (k + 1) % n) for k in range(n)])
                out = out.at[(d - i) % n].set(right)
                if i < n // 2:
                    left = lax.ppermute(left, "x", [(k, (k - 1) % n) for k in range(n)])
                    out = out.at[(d + i) % n].set(left)
            return out.reshape(-1, block.shape[1])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)


@wrong("uses-a-finished-collective", 6)
def finished():
    def gather_both_ways(mesh, x):
        def body(block):
            return jax.lax.all_gather(block, "x", tiled=True)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)


@wrong("halves-both-ways", 6)
def halves():
    def gather_both_ways(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            d, m = jax.lax.axis_index("x"), block.shape[0]
            right, left = block[: m // 2], block[m // 2 :]
            blocks = jnp.zeros((n, *block.shape), block.dtype).at[d].set(block)
            for i in range(1, n):
                right = jax.lax.ppermute(right, "x", ring(n))
                left = jax.lax.ppermute(left, "x", ring(n, -1))
                blocks = blocks.at[(d - i) % n, : m // 2].set(right).at[(d + i) % n, m // 2 :].set(left)
            return blocks.reshape(n * m, *block.shape[1:])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)


@right
def in_a_loop():
    def gather_both_ways(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            d, m = jax.lax.axis_index("x"), block.shape[0]

            def hop(i, state):
                right, left, blocks = state
                right = jax.lax.ppermute(right, "x", ring(n))
                left = jax.lax.ppermute(left, "x", ring(n, -1))
                return right, left, blocks.at[(d - i) % n].set(right).at[(d + i) % n].set(left)

            blocks = jnp.zeros((n, *block.shape), block.dtype).at[d].set(block)
            right, left, blocks = jax.lax.fori_loop(1, (n + 1) // 2, hop, (block, block, blocks))
            if n % 2 == 0:
                blocks = blocks.at[(d - n // 2) % n].set(jax.lax.ppermute(right, "x", ring(n)))
            return blocks.reshape(n * m, *block.shape[1:])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)


@right
def last_one_in_halves():
    def gather_both_ways(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            d, m = jax.lax.axis_index("x"), block.shape[0]
            blocks = jnp.zeros((n, *block.shape), block.dtype).at[d].set(block)
            right = left = block
            for i in range(1, (n + 1) // 2):
                right = jax.lax.ppermute(right, "x", ring(n))
                left = jax.lax.ppermute(left, "x", ring(n, -1))
                blocks = blocks.at[(d - i) % n].set(right).at[(d + i) % n].set(left)
            if n % 2 == 0:
                upper = jax.lax.ppermute(right[: m // 2], "x", ring(n))
                lower = jax.lax.ppermute(left[m // 2 :], "x", ring(n, -1))
                blocks = blocks.at[(d + n // 2) % n].set(jnp.concatenate([upper, lower]))
            return blocks.reshape(n * m, *block.shape[1:])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)


@wrong("leaps-over-neighbours", 6)
def leaps():
    def gather_both_ways(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            d, m = jax.lax.axis_index("x"), block.shape[0]
            whole = jnp.zeros((n * m, *block.shape[1:]), block.dtype)
            for i in range(n):
                came = jax.lax.ppermute(block, "x", ring(n, i)) if i else block
                whole = jax.lax.dynamic_update_slice_in_dim(whole, came, (d - i) % n * m, 0)
            return whole

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)


@right
def one_side_then_the_other():
    def gather_both_ways(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            d, m = jax.lax.axis_index("x"), block.shape[0]

            def walk(by, hops):
                block_here, came = block, []
                for _ in range(hops):
                    block_here = jax.lax.ppermute(block_here, "x", ring(n, by))
                    came.append(block_here)
                return came

            came = [block, *walk(1, n // 2), *walk(-1, (n - 1) // 2)[::-1]]
            return jnp.stack(came)[(d - jnp.arange(n)) % n].reshape(n * m, *block.shape[1:])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)


@wrong("still-one-way", 6)
def one_way():
    def gather_both_ways(mesh, x):
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


@wrong("still-one-way", 6)
def one_way_in_a_loop():
    def gather_both_ways(mesh, x):
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


@wrong("ring-is-open", 0, of="another_way")
def open():
    def ring(n, by=1):
        return [(d, d + by) for d in range(n) if 0 <= d + by < n]


@right
def scan():
    from jax import P, lax

    def gather_both_ways(mesh, x):
        n = mesh.shape["x"]
        right = [(k, (k + 1) % n) for k in range(n)]
        left = [(k, (k - 1) % n) for k in range(n)]

        def body(block):
            d = lax.axis_index("x")

            def hop(state, _):
                state = lax.ppermute(state[0], "x", right), lax.ppermute(state[1], "x", left)
                return state, state

            last, (a, b) = lax.scan(hop, (block, block), None, length=(n - 1) // 2)
            came = [block[None], a]
            if n % 2 == 0:
                came.append(lax.ppermute(last[0], "x", right)[None])
            came.append(b[::-1])
            return jnp.take(jnp.concatenate(came), (d - jnp.arange(n)) % n, axis=0).reshape(-1, block.shape[1])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)


@wrong("one-hop-short", 0)
def short():
    def gather_both_ways(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            d, m = jax.lax.axis_index("x"), block.shape[0]
            blocks = jnp.zeros((n, *block.shape), block.dtype).at[d].set(block)
            right = left = block
            for i in range(1, n // 2):
                right = jax.lax.ppermute(right, "x", ring(n))
                blocks = blocks.at[(d - i) % n].set(right)
                if i <= (n - 1) // 2:
                    left = jax.lax.ppermute(left, "x", ring(n, -1))
                    blocks = blocks.at[(d + i) % n].set(left)
            return blocks.reshape(n * m, *block.shape[1:])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)


@wrong("counts-the-wrong-way", 0)
def sides_swapped():
    def gather_both_ways(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            d, m = jax.lax.axis_index("x"), block.shape[0]
            blocks = jnp.zeros((n, *block.shape), block.dtype).at[d].set(block)
            right = left = block
            for i in range(1, n // 2 + 1):
                right = jax.lax.ppermute(right, "x", ring(n))
                blocks = blocks.at[(d + i) % n].set(right)
                if i <= (n - 1) // 2:
                    left = jax.lax.ppermute(left, "x", ring(n, -1))
                    blocks = blocks.at[(d - i) % n].set(left)
            return blocks.reshape(n * m, *block.shape[1:])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)


@wrong("carry-changes-type", 0)
def zeros_in_the_loop():
    def gather_both_ways(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            d, m = jax.lax.axis_index("x"), block.shape[0]

            def hop(i, state):
                right, left, blocks = state
                blocks = blocks.at[(d - i) % n].set(right).at[(d + i) % n].set(left)
                return jax.lax.ppermute(right, "x", ring(n)), jax.lax.ppermute(left, "x", ring(n, -1)), blocks

            blocks = jnp.zeros((n, *block.shape), block.dtype)
            return jax.lax.fori_loop(0, n // 2 + 1, hop, (block, block, blocks))[2].reshape(n * m, *block.shape[1:])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P())(x)


@wrong("blocks-arrive-twice", 6)
def whole_blocks_all_round_both():
    def gather_both_ways(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            d, m = jax.lax.axis_index("x"), block.shape[0]
            blocks = jnp.zeros((n, *block.shape), block.dtype).at[d].set(block)
            right = left = block
            for i in range(1, n):
                right = jax.lax.ppermute(right, "x", ring(n))
                blocks = blocks.at[(d - i) % n].set(right)
                left = jax.lax.ppermute(left, "x", ring(n, -1))
                blocks = blocks.at[(d + i) % n].set(left)
            return blocks.reshape(n * m, *block.shape[1:])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)


@wrong("copies-as-parts", 0)
def set_below_one_another():
    def gather_both_ways(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            d, m = jax.lax.axis_index("x"), block.shape[0]
            blocks = jnp.zeros((n, *block.shape), block.dtype).at[d].set(block)
            right = left = block
            for i in range(1, n // 2 + 1):
                right = jax.lax.ppermute(right, "x", ring(n))
                blocks = blocks.at[(d - i) % n].set(right)
                if i <= (n - 1) // 2:
                    left = jax.lax.ppermute(left, "x", ring(n, -1))
                    blocks = blocks.at[(d + i) % n].set(left)
            return blocks.reshape(n * m, *block.shape[1:])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)


@wrong("one-hop-too-many", None)
def one_way_and_home_again():
    def gather_both_ways(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            d = jax.lax.axis_index("x")
            m = block.shape[0]
            whole = jnp.zeros((n * m, *block.shape[1:]), block.dtype)
            whole = jax.lax.pcast(whole, "x", to="varying")
            whole = jax.lax.dynamic_update_slice_in_dim(whole, block, d * m, 0)
            for i in range(1, n + 1):
                block = jax.lax.ppermute(block, "x", [(s, (s + 1) % n) for s in range(n)])
                whole = jax.lax.dynamic_update_slice_in_dim(whole, block, (d - i) % n * m, 0)
            return whole

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)


@wrong("one-way-after-the-other", None)
def second_way_goes_on():
    def gather_both_ways(mesh, x):
        n = mesh.shape["x"]

        def body(block):
            d = jax.lax.axis_index("x")
            m = block.shape[0]
            whole = jnp.zeros((n * m, *block.shape[1:]), block.dtype)
            whole = jax.lax.pcast(whole, "x", to="varying")
            whole = jax.lax.dynamic_update_slice_in_dim(whole, block, d * m, 0)
            for i in range(1, n // 2 + 1):
                block = jax.lax.ppermute(block, "x", [(s, (s + 1) % n) for s in range(n)])
                whole = jax.lax.dynamic_update_slice_in_dim(whole, block, (d - i) % n * m, 0)
            for i in range(1, (n - 1) // 2 + 1):
                block = jax.lax.ppermute(block, "x", [(s, (s - 1) % n) for s in range(n)])
                whole = jax.lax.dynamic_update_slice_in_dim(whole, block, (d + i) % n * m, 0)
            return whole

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)
