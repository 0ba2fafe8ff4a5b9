import jax
import jax.numpy as jnp

from shardlab_course.answers import right, wrong

P = jax.P


def ring(n, by=1):
    return [(d, (d + by) % n) for d in range(n)]


@right
def another_way():
    def ring_all_reduce(mesh, terms):
        n = mesh.shape["x"]

        def body(block):
            d = jax.lax.axis_index("x")
            chunks = block[0].reshape(n, -1, *block.shape[2:])
            total = chunks[(d - 1) % n]
            for i in range(2, n + 1):
                total = jax.lax.ppermute(total, "x", ring(n)) + chunks[(d - i) % n]
            whole = jnp.zeros_like(chunks).at[d].set(total)
            for i in range(1, n):
                total = jax.lax.ppermute(total, "x", ring(n))
                whole = whole.at[(d - i) % n].set(total)
            return whole.reshape(block.shape[1:])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(terms)


@right
def added_in_place():
    from jax import P, lax

    def ring_all_reduce(mesh, terms):
        n = mesh.shape["x"]
        ring = [(k, (k + 1) % n) for k in range(n)]

        def body(block):
            d = lax.axis_index("x")
            sums = block.reshape(n, -1)
            for i in range(n - 1):
                came = lax.ppermute(sums[(d - i) % n], "x", ring)
                sums = sums.at[(d - i - 1) % n].add(came)
            for i in range(n - 1):
                came = lax.ppermute(sums[(d + 1 - i) % n], "x", ring)
                sums = sums.at[(d - i) % n].set(came)
            return sums.reshape(block.shape[1:])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(terms)


@wrong("finished-sums-added", 0)
def adds_in_both_halves():
    from jax import P, lax

    def ring_all_reduce(mesh, terms):
        n = mesh.shape["x"]
        ring = [(k, (k + 1) % n) for k in range(n)]

        def body(block):
            d = lax.axis_index("x")
            buf = block.reshape(n, -1)
            for i in range(2 * (n - 1)):
                got = lax.ppermute(buf[(d - i) % n], "x", ring)
                buf = buf.at[(d - i - 1) % n].add(got)
            return buf.reshape(block.shape[1:])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(terms)


@wrong("arrival-order", 0)
def arrival_order():
    def ring_all_reduce(mesh, terms):
        n = mesh.shape["x"]

        def body(block):
            d = jax.lax.axis_index("x")
            chunks = block[0].reshape(n, -1, *block.shape[2:])
            total = chunks[(d - 1) % n]
            for i in range(2, n + 1):
                total = jax.lax.ppermute(total, "x", ring(n)) + chunks[(d - i) % n]
            came = [total]
            for _ in range(1, n):
                came.append(jax.lax.ppermute(came[-1], "x", ring(n)))
            return jnp.concatenate(came)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(terms)


@wrong("promise-not-proved", 0)
def checked():
    def ring_all_reduce(mesh, terms):
        n = mesh.shape["x"]

        def body(block):
            d = jax.lax.axis_index("x")
            chunks = block[0].reshape(n, -1, *block.shape[2:])
            total = chunks[(d - 1) % n]
            for i in range(2, n + 1):
                total = jax.lax.ppermute(total, "x", ring(n)) + chunks[(d - i) % n]
            whole = jnp.zeros_like(chunks).at[d].set(total)
            for i in range(1, n):
                total = jax.lax.ppermute(total, "x", ring(n))
                whole = whole.at[(d - i) % n].set(total)
            return whole.reshape(block.shape[1:])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P())(terms)


@wrong("left-to-the-compiler", 0)
def compiler():
    def ring_all_reduce(mesh, terms):
        return jax.lax.with_sharding_constraint(terms.sum(0), jax.NamedSharding(mesh, P()))


@wrong("copies-as-parts", 0)
def copies_as_parts():
    from jax import P, lax

    def ring_all_reduce(mesh, terms):
        n = mesh.shape["x"]
        ring = [(k, (k + 1) % n) for k in range(n)]

        def body(block):
            d = lax.axis_index("x")
            sums = block.reshape(n, -1)
            for i in range(n - 1):
                came = lax.ppermute(sums[(d - i) % n], "x", ring)
                sums = sums.at[(d - i - 1) % n].add(came)
            for i in range(n - 1):
                came = lax.ppermute(sums[(d + 1 - i) % n], "x", ring)
                sums = sums.at[(d - i) % n].set(came)
            return sums.reshape(block.shape[1:])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(terms)


@right
def ends_next_door_and_knows_it():
    def ring_all_reduce(mesh, terms):
        n = mesh.shape["x"]

        def body(block):
            d = jax.lax.axis_index("x")
            chunks = block[0].reshape(n, -1, *block.shape[2:])
            total = chunks[d]
            for i in range(1, n):
                total = jax.lax.ppermute(total, "x", ring(n)) + chunks[(d - i) % n]
            whole = jnp.zeros_like(chunks).at[(d + 1) % n].set(total)
            for i in range(1, n):
                total = jax.lax.ppermute(total, "x", ring(n))
                whole = whole.at[(d + 1 - i) % n].set(total)
            return whole.reshape(block.shape[1:])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(terms)


@wrong("uses-a-finished-collective", 3.75)
def finished():
    def ring_all_reduce(mesh, terms):
        def body(block):
            return jax.lax.psum(block[0], "x")

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(terms)


@wrong("carry-changes-type", 0)
def from_zeros():
    def ring_all_reduce(mesh, terms):
        n = mesh.shape["x"]

        def body(block):
            d = jax.lax.axis_index("x")
            chunks = block[0].reshape(n, -1, *block.shape[2:])

            def add(i, total):
                return jax.lax.ppermute(total, "x", ring(n)) + chunks[(d - 1 - i) % n]

            total = jax.lax.fori_loop(0, n, add, jnp.zeros(chunks.shape[1:]))
            return jax.lax.all_gather(total, "x", tiled=True)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P())(terms)


@wrong("full-rotation-ring", 3.75)
def full_rotation():
    def ring_all_reduce(mesh, terms):
        n = mesh.shape["x"]

        def body(block):
            term = total = block[0]
            for _ in range(1, n):
                term = jax.lax.ppermute(term, "x", ring(n))
                total = total + term
            return total

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(terms)


@wrong("full-rotation-ring", 3.75)
def full_rotation_in_a_loop():
    def ring_all_reduce(mesh, terms):
        n = mesh.shape["x"]

        def body(block):
            def hop(i, state):
                term, total = state
                term = jax.lax.ppermute(term, "x", ring(n))
                return term, total + term

            return jax.lax.fori_loop(1, n, hop, (block[0], block[0]))[1]

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(terms)


@wrong("leaps-over-neighbours", 3.75)
def leaps():
    def ring_all_reduce(mesh, terms):
        n = mesh.shape["x"]

        def body(block):
            d = jax.lax.axis_index("x")
            chunks = block[0].reshape(n, -1, *block.shape[2:])
            total = chunks[d]
            for i in range(1, n):
                total = total + jax.lax.ppermute(chunks[(d + i) % n], "x", ring(n, i))
            whole = jnp.zeros_like(chunks).at[d].set(total)
            for i in range(1, n):
                whole = whole.at[(d - i) % n].set(jax.lax.ppermute(total, "x", ring(n, i)))
            return whole.reshape(block.shape[1:])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(terms)


@right
def loops():
    def ring_all_reduce(mesh, terms):
        n = mesh.shape["x"]

        def body(block):
            d = jax.lax.axis_index("x")
            chunks = block[0].reshape(n, -1, *block.shape[2:])

            def add(i, total):
                return jax.lax.ppermute(total, "x", ring(n)) + chunks[(d - i) % n]

            def keep(i, state):
                total, whole = state
                total = jax.lax.ppermute(total, "x", ring(n))
                return total, whole.at[(d - i) % n].set(total)

            total = jax.lax.fori_loop(2, n + 1, add, chunks[(d - 1) % n])
            whole = jnp.zeros_like(chunks).at[d].set(total)
            return jax.lax.fori_loop(1, n, keep, (total, whole))[1].reshape(block.shape[1:])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(terms)


@wrong("sum-ends-next-door", 0)
def next_door():
    def ring_all_reduce(mesh, terms):
        n = mesh.shape["x"]

        def body(block):
            d = jax.lax.axis_index("x")
            chunks = block[0].reshape(n, -1, *block.shape[2:])
            total = chunks[d]
            for i in range(2, n + 1):
                total = jax.lax.ppermute(total, "x", ring(n)) + chunks[(d - i + 1) % n]
            whole = jnp.zeros_like(chunks).at[d].set(total)
            for i in range(1, n):
                total = jax.lax.ppermute(total, "x", ring(n))
                whole = whole.at[(d - i) % n].set(total)
            return whole.reshape(block.shape[1:])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(terms)


@wrong("dimension-of-devices-kept", 0)
def one_dimension_more():
    from jax import P, lax

    def ring_all_reduce(mesh, terms):
        n = mesh.shape["x"]
        ring = [(k, (k + 1) % n) for k in range(n)]

        def body(block):
            d = lax.axis_index("x")
            sums = block.reshape(n, -1)
            for i in range(n - 1):
                came = lax.ppermute(sums[(d - i) % n], "x", ring)
                sums = sums.at[(d - i - 1) % n].add(came)
            for i in range(n - 1):
                came = lax.ppermute(sums[(d + 1 - i) % n], "x", ring)
                sums = sums.at[(d - i) % n].set(came)
            return sums.reshape(block.shape)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(terms)


@right
def one_loop_in_place():
    def ring_all_reduce(mesh, terms):
        n = mesh.shape["x"]

        def body(block):
            d = jax.lax.axis_index("x")
            chunks = block[0].reshape(n, -1, *block.shape[2:])
            for i in range(2 * n - 2):
                arrived = jax.lax.ppermute(chunks[(d - i) % n], "x", ring(n))
                place = (d - i - 1) % n
                chunks = chunks.at[place].set(arrived + chunks[place] if i < n - 1 else arrived)
            return chunks.reshape(block.shape[1:])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(terms)


@wrong("ring-is-open", 0, of="another_way")
def open():
    def ring(n):
        return [(d, d + 1) for d in range(n - 1)]


@wrong("unfinished-sum-passed-on", 0)
def passes_on_unfinished():
    from jax import P, lax

    def ring_all_reduce(mesh, terms):
        n = mesh.shape["x"]
        ring = [(k, (k + 1) % n) for k in range(n)]

        def body(block):
            d = lax.axis_index("x")
            buf = block.reshape(n, -1)
            for i in range(n - 1):
                got = lax.ppermute(buf[(d - i) % n], "x", ring)
                buf = buf.at[(d - i - 1) % n].add(got)
            for i in range(n - 1):
                got = lax.ppermute(buf[(d - i) % n], "x", ring)
                buf = buf.at[(d - i - 1) % n].set(got)
            return buf.reshape(block.shape[1:])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(terms)


@wrong("half-an-all-reduce", 8.75)
def scattered():
    def ring_all_reduce(mesh, terms):
        n = mesh.shape["x"]

        def body(block):
            d = jax.lax.axis_index("x")
            chunks = block[0].reshape(n, -1, *block.shape[2:])
            total = chunks[(d - 1) % n]
            for i in range(2, n + 1):
                total = jax.lax.ppermute(total, "x", ring(n)) + chunks[(d - i) % n]
            return total

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(terms)


@wrong("half-an-all-reduce", 0)
def scattered_in_zeros():
    def ring_all_reduce(mesh, terms):
        n = mesh.shape["x"]

        def body(block):
            d = jax.lax.axis_index("x")
            chunks = block[0].reshape(n, -1, *block.shape[2:])
            total = chunks[(d - 1) % n]
            for i in range(2, n + 1):
                total = jax.lax.ppermute(total, "x", ring(n)) + chunks[(d - i) % n]
            return jnp.zeros_like(chunks).at[d].set(total).reshape(block.shape[1:])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(terms)


@wrong("uses-a-finished-collective", 3.75)
def two_finished():
    def ring_all_reduce(mesh, terms):
        def body(block):
            part = jax.lax.psum_scatter(block[0], "x", tiled=True)
            return jax.lax.all_gather(part, "x", tiled=True)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(terms)


@right
def two_maps():
    from jax import P, lax

    def ring_all_reduce(mesh, terms):
        n = mesh.shape["x"]
        ring = [(k, (k + 1) % n) for k in range(n)]

        def first(block):
            d = lax.axis_index("x")
            c = jnp.array(jnp.split(block[0], n))
            s = c[d - 1]
            for i in range(n - 1):
                s = lax.ppermute(s, "x", ring) + c[(d - 2 - i) % n]
            return s

        def second(s):
            d = lax.axis_index("x")
            got = [s]
            for _ in range(n - 1):
                got.append(lax.ppermute(got[-1], "x", ring))
            return jnp.concatenate([jnp.stack(got)[(d - k) % n] for k in range(n)])

        part = jax.shard_map(first, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(terms)

        return jax.shard_map(second, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(part)


@wrong("counts-the-wrong-way", 0)
def wrong_sign():
    def ring_all_reduce(mesh, terms):
        n = mesh.shape["x"]

        def body(block):
            d = jax.lax.axis_index("x")
            chunks = block[0].reshape(n, -1, *block.shape[2:])
            total = chunks[(d - 1) % n]
            for i in range(2, n + 1):
                total = jax.lax.ppermute(total, "x", ring(n)) + chunks[(d - i) % n]
            whole = jnp.zeros_like(chunks).at[d].set(total)
            for i in range(1, n):
                total = jax.lax.ppermute(total, "x", ring(n))
                whole = whole.at[(d + i) % n].set(total)
            return whole.reshape(block.shape[1:])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(terms)


@wrong("one-hop-short", 0)
def second_half_one_hop_short():
    def ring_all_reduce(mesh, terms):
        n = mesh.shape["x"]

        def body(block):
            d = jax.lax.axis_index("x")
            chunks = block[0].reshape(n, -1, *block.shape[2:])
            total = chunks[(d - 1) % n]
            for i in range(2, n + 1):
                total = jax.lax.ppermute(total, "x", ring(n)) + chunks[(d - i) % n]
            whole = jnp.zeros_like(chunks).at[d].set(total)
            for i in range(1, n - 1):
                total = jax.lax.ppermute(total, "x", ring(n))
                whole = whole.at[(d - i) % n].set(total)
            return whole.reshape(block.shape[1:])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(terms)


@wrong("term-left-out", 0)
def first_half_one_hop_short():
    def ring_all_reduce(mesh, terms):
        n = mesh.shape["x"]

        def body(block):
            d = jax.lax.axis_index("x")
            chunks = block[0].reshape(n, -1, *block.shape[2:])
            total = chunks[(d - 1) % n]
            for i in range(2, n):
                total = jax.lax.ppermute(total, "x", ring(n)) + chunks[(d - i) % n]
            whole = jnp.zeros_like(chunks).at[d].set(total)
            for i in range(1, n):
                total = jax.lax.ppermute(total, "x", ring(n))
                whole = whole.at[(d - i) % n].set(total)
            return whole.reshape(block.shape[1:])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(terms)


@wrong("sends-all-it-has", 3.75)
def buffer_in_second():
    def ring_all_reduce(mesh, terms):
        n = mesh.shape["x"]

        def body(block):
            d = jax.lax.axis_index("x")
            chunks = block[0].reshape(n, -1, *block.shape[2:])
            total = chunks[(d - 1) % n]
            for i in range(2, n + 1):
                total = jax.lax.ppermute(total, "x", ring(n)) + chunks[(d - i) % n]
            whole = jnp.zeros_like(chunks).at[d].set(total)
            moving = whole
            for i in range(1, n):
                moving = jax.lax.ppermute(moving, "x", ring(n))
                whole = whole + moving
            return whole.reshape(block.shape[1:])

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(terms)


@wrong("finished-sums-added", 0)
def accumulating():
    def ring_all_reduce(mesh, terms):
        n = mesh.shape["x"]

        def body(block):
            total = block[0]
            for i in range(1, n):
                total = total + jax.lax.ppermute(total, "x", ring(n))
            return total

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(terms)
