import jax

from shardlab_course.answers import right, wrong

P = jax.P


def ring(n, by=1):
    return [(d, (d + by) % n) for d in range(n)]


@right
def another_way():
    def ring_reduce_scatter(mesh, terms):
        n = mesh.shape["x"]

        def body(block):
            d = jax.lax.axis_index("x")
            chunks = block[0].reshape(n, -1, *block.shape[2:])
            total = chunks[(d - 1) % n]
            for i in range(2, n + 1):
                total = jax.lax.ppermute(total, "x", ring(n)) + chunks[(d - i) % n]
            return total

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(terms)


@right
def backwards():
    def ring_reduce_scatter(mesh, terms):
        n = mesh.shape["x"]

        def body(block):
            d = jax.lax.axis_index("x")
            chunks = block[0].reshape(n, -1, *block.shape[2:])
            total = chunks[(d + 1) % n]
            for i in range(2, n + 1):
                total = jax.lax.ppermute(total, "x", ring(n, -1)) + chunks[(d + i) % n]
            return total

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(terms)


@right
def both_ways():
    import jax.numpy as jnp
    from jax import P, lax

    def ring_reduce_scatter(mesh, terms):
        n = mesh.shape["x"]

        def body(block):
            d = lax.axis_index("x")
            chunks = block.reshape(n, -1, block.shape[-1])
            a, b = chunks[..., :2], chunks[..., 2:]
            right, left = a[(d - 1) % n], b[(d + 1) % n]
            for i in range(2, n + 1):
                right = lax.ppermute(right, "x", [(k, (k + 1) % n) for k in range(n)]) + a[(d - i) % n]
                left = lax.ppermute(left, "x", [(k, (k - 1) % n) for k in range(n)]) + b[(d + i) % n]
            return jnp.concatenate([right, left], -1)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=False)(terms)


@wrong("left-to-the-compiler", 0)
def compiler():
    def ring_reduce_scatter(mesh, terms):
        return jax.lax.with_sharding_constraint(terms.sum(0), jax.NamedSharding(mesh, P("x")))


@wrong("uses-a-finished-collective", 6)
def finished():
    def ring_reduce_scatter(mesh, terms):
        def body(block):
            return jax.lax.psum_scatter(block[0], "x", tiled=True)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(terms)


@wrong("carry-changes-type", 0)
def from_zeros():
    import jax.numpy as jnp

    def ring_reduce_scatter(mesh, terms):
        n = mesh.shape["x"]

        def body(block):
            d = jax.lax.axis_index("x")
            chunks = block[0].reshape(n, -1, *block.shape[2:])

            def hop(i, total):
                return jax.lax.ppermute(total, "x", ring(n)) + chunks[(d - 1 - i) % n]

            return jax.lax.fori_loop(0, n, hop, jnp.zeros(chunks.shape[1:]))

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(terms)


@wrong("full-rotation-ring", 6)
def full_rotation():
    def ring_reduce_scatter(mesh, terms):
        n = mesh.shape["x"]

        def body(block):
            d = jax.lax.axis_index("x")
            chunks = block[0].reshape(n, -1, *block.shape[2:])
            term = total = block[0]
            for _ in range(1, n):
                term = jax.lax.ppermute(term, "x", ring(n))
                total = total + term
            return total.reshape(chunks.shape)[d]

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(terms)


@right
def in_a_loop():
    def ring_reduce_scatter(mesh, terms):
        n = mesh.shape["x"]

        def body(block):
            d = jax.lax.axis_index("x")
            chunks = block[0].reshape(n, -1, *block.shape[2:])

            def hop(i, total):
                return jax.lax.ppermute(total, "x", ring(n)) + chunks[(d - i) % n]

            return jax.lax.fori_loop(2, n + 1, hop, chunks[(d - 1) % n])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(terms)


@wrong("leaps-over-neighbours", 6)
def leaps():
    def ring_reduce_scatter(mesh, terms):
        n = mesh.shape["x"]

        def body(block):
            d = jax.lax.axis_index("x")
            chunks = block[0].reshape(n, -1, *block.shape[2:])
            total = chunks[d]
            for i in range(1, n):
                total = total + jax.lax.ppermute(chunks[(d + i) % n], "x", ring(n, i))
            return total

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(terms)


@wrong("term-left-out", 0)
def left_out():
    def ring_reduce_scatter(mesh, terms):
        n = mesh.shape["x"]

        def body(block):
            d = jax.lax.axis_index("x")
            chunks = block[0].reshape(n, -1, *block.shape[2:])
            total = chunks[(d - 1) % n]
            for i in range(2, n):
                total = jax.lax.ppermute(total, "x", ring(n)) + chunks[(d - i) % n]
            return jax.lax.ppermute(total, "x", ring(n))

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(terms)


@wrong("same-chunk-everywhere", 0)
def local_chunk():
    def ring_reduce_scatter(mesh, terms):
        n = mesh.shape["x"]

        def body(block):
            chunks = block[0].reshape(n, -1, *block.shape[2:])
            total = chunks[0]
            for i in range(2, n + 1):
                total = jax.lax.ppermute(total, "x", ring(n)) + chunks[i - 1]
            return total

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(terms)


@wrong("same-chunk-everywhere", 0)
def local_chunk_falling():
    def ring_reduce_scatter(mesh, terms):
        n = mesh.shape["x"]

        def body(block):
            chunks = block[0].reshape(n, -1, *block.shape[2:])
            total = chunks[n - 1]
            for i in range(2, n + 1):
                total = jax.lax.ppermute(total, "x", ring(n)) + chunks[n - i]
            return total

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(terms)


@wrong("sum-ends-next-door", 0)
def next_door():
    def ring_reduce_scatter(mesh, terms):
        n = mesh.shape["x"]

        def body(block):
            d = jax.lax.axis_index("x")
            chunks = block[0].reshape(n, -1, *block.shape[2:])
            total = chunks[d]
            for i in range(2, n + 1):
                total = jax.lax.ppermute(total, "x", ring(n)) + chunks[(d - i + 1) % n]
            return total

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(terms)


@wrong("dimension-of-devices-kept", 0)
def one_dimension_more():
    import jax.numpy as jnp
    from jax import P, lax

    def ring_reduce_scatter(mesh, terms):
        n = mesh.shape["x"]

        def body(block):
            d = lax.axis_index("x")
            chunks = jnp.split(block, n, axis=1)
            chunks = jnp.stack(chunks)
            s = chunks[(d - 1) % n]
            for i in range(2, n + 1):
                s = lax.ppermute(s, "x", [(k, (k + 1) % n) for k in range(n)]) + chunks[(d - i) % n]
            return s

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(terms)


@wrong("ring-is-open", 0, of="another_way")
def open():
    def ring(n):
        return [(d, d + 1) for d in range(n - 1)]


@wrong("term-counted-twice", 0)
def own_again():
    def ring_reduce_scatter(mesh, terms):
        n = mesh.shape["x"]

        def body(block):
            d = jax.lax.axis_index("x")
            chunks = block[0].reshape(n, -1, *block.shape[2:])
            total = chunks[(d - 1) % n]
            for i in range(2, n + 1):
                total = jax.lax.ppermute(total, "x", ring(n)) + chunks[(d - i) % n]
            return total + chunks[d]

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(terms)


@wrong("promise-not-proved", 0)
def promised_whole():
    def ring_reduce_scatter(mesh, terms):
        n = mesh.shape["x"]

        def body(block):
            d = jax.lax.axis_index("x")
            chunks = block[0].reshape(n, -1, *block.shape[2:])
            total = chunks[(d - 1) % n]
            for i in range(2, n + 1):
                total = jax.lax.ppermute(total, "x", ring(n)) + chunks[(d - i) % n]
            return total

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P())(terms)


@right
def rolled():
    import jax.numpy as jnp

    def ring_reduce_scatter(mesh, terms):
        n = mesh.shape["x"]

        def body(block):
            d = jax.lax.axis_index("x")
            chunks = block[0].reshape(n, -1, *block.shape[2:])
            mine = jnp.roll(chunks[::-1], d, axis=0)
            total = mine[0]
            for chunk in mine[1:]:
                total = jax.lax.ppermute(total, "x", ring(n)) + chunk
            return total

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(terms)


@right
def scan():
    import jax.numpy as jnp
    from jax import P, lax

    def ring_reduce_scatter(mesh, terms):
        n = mesh.shape["x"]

        def body(block):
            d = lax.axis_index("x")
            chunks = block[0].reshape(n, -1, block.shape[-1])
            order = jnp.take(chunks, (d - 2 - jnp.arange(n - 1)) % n, axis=0)

            def hop(total, chunk):
                return chunk + lax.ppermute(total, "x", [(k, (k + 1) % n) for k in range(n)]), None

            return lax.scan(hop, chunks[d - 1], order)[0]

        return jax.jit(lambda t: jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(t))(terms)


@wrong("term-counted-twice", 0)
def twice():
    def ring_reduce_scatter(mesh, terms):
        n = mesh.shape["x"]

        def body(block):
            d = jax.lax.axis_index("x")
            chunks = block[0].reshape(n, -1, *block.shape[2:])
            total = chunks[(d - 1) % n]
            for i in range(2, n + 2):
                total = jax.lax.ppermute(total, "x", ring(n)) + chunks[(d - i) % n]
            return total

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(terms)


@wrong("promise-not-proved", 0)
def copies_promised():
    def ring_reduce_scatter(mesh, terms):
        n = mesh.shape["x"]

        def body(block):
            d = jax.lax.axis_index("x")
            chunks = block[0].reshape(n, -1, *block.shape[2:])
            total = chunks[(d - 1) % n]
            for i in range(2, n + 1):
                total = jax.lax.ppermute(total, "x", ring(n)) + chunks[(d - i) % n]
            return total

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P())(terms)
