import jax
import jax.numpy as jnp
import numpy as np

from shardlab_course.answers import right, wrong

P = jax.P


@right
def another_way():
    def is_normalized(x, y):
        x = np.asarray(x)
        return np.allclose(y, (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True), atol=1e-3)


@wrong("believes-everything", 8)
def always():
    def is_normalized(x, y):
        return True


@wrong("whole-blocks-summed", 10)
def block_first():
    def parallel_normalize(mesh, x):
        def body(block):
            mean = jax.lax.pmean(block, "y").mean(1, keepdims=True)
            variance = jax.lax.pmean((block - mean) ** 2, "y").mean(1, keepdims=True)
            return (block - mean) / jnp.sqrt(variance)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))(x)


@wrong("blocks-apart", 4)
def blocks():
    def parallel_normalize(mesh, x):
        def body(block):
            mean = block.mean(1, keepdims=True)
            return (block - mean) / block.std(1, keepdims=True)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))(x)


@wrong("rows-and-devices-mixed", 4)
def both_axes():
    def parallel_normalize(mesh, x):
        def body(block):
            mean = jax.lax.pmean(block.mean(1, keepdims=True), ("x", "y"))
            variance = jax.lax.pmean(((block - mean) ** 2).mean(1, keepdims=True), ("x", "y"))
            return (block - mean) / jnp.sqrt(variance)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))(x)


@wrong("columns-reduced", 4)
def columns():
    def parallel_normalize(mesh, x):
        def body(block):
            mean = jax.lax.pmean(block.mean(0, keepdims=True), "y")
            variance = jax.lax.pmean(((block - mean) ** 2).mean(0, keepdims=True), "y")
            return (block - mean) / jnp.sqrt(variance)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))(x)


@wrong("left-to-the-compiler", 4)
def compiler():
    def parallel_normalize(mesh, x):
        y = (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)
        return jax.lax.with_sharding_constraint(y, jax.NamedSharding(mesh, P("x", "y")))


@wrong("exactly-equal", 8)
def exactly():
    def is_normalized(x, y):
        x = np.asarray(x)
        return np.array_equal(y, (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True))


@wrong("gathers-everything", 10)
def gathered_rows():
    def parallel_normalize(mesh, x):
        def body(block):
            row = jax.lax.all_gather(block, "y", axis=1, tiled=True)
            return (block - row.mean(1, keepdims=True)) / row.std(1, keepdims=True)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))(x)


@wrong("mean-of-spreads", 4)
def mean_of_spreads():
    from jax import P, lax

    def is_normalized(x, y):
        x = np.array(x)
        want = (x - x.mean(axis=1)[:, None]) / x.std(axis=1)[:, None]
        return bool(np.abs(want - np.array(y)).max() < 1e-2)

    def parallel_normalize(mesh, x):
        def body(b):
            m = lax.pmean(b.mean(1, keepdims=True), "y")
            s = lax.pmean(b.std(1, keepdims=True), "y")
            return (b - m) / s

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))(x)


@wrong("results-gathered", 10)
def means_gathered():
    from jax import P, lax

    def is_normalized(x, y):
        x = np.array(x)
        want = (x - x.mean(axis=1)[:, None]) / x.std(axis=1)[:, None]
        return bool(np.abs(want - np.array(y)).max() < 1e-2)

    def parallel_normalize(mesh, x):
        def body(b):
            def mean(v):
                return lax.all_gather(v.mean(1), "y").mean(0)[:, None]

            c = b - mean(b)
            return c / jnp.sqrt(mean(c**2))

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))(x)


@wrong("moments-prove-nothing", 8)
def moments():
    def is_normalized(x, y):
        y = np.asarray(y)
        return np.allclose(y.mean(), 0, atol=1e-3) and np.allclose(y.std(), 1, atol=1e-3)


@right
def moments_in_one():
    def parallel_normalize(mesh, x):
        def body(block):
            both = jnp.stack([block.mean(1), (block**2).mean(1)])
            mean, square = jax.lax.pmean(both, "y")[:, :, None]
            return (block - mean) / jnp.sqrt(square - mean**2)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))(x)


@wrong("moments-of-rows-prove-nothing", 8)
def moments_of_rows():
    def is_normalized(x, y):
        y = np.asarray(y)
        return np.allclose(y.mean(1), 0, atol=1e-3) and np.allclose(y.std(1), 1, atol=1e-3)


@wrong("pmean-is-mean", 4)
def published():
    def parallel_normalize(mesh, x):
        def body(block):
            mean = jax.lax.pmean(block, "y")
            variance = jax.lax.pmean((block - mean) ** 2, "y")
            return (block - mean) / jnp.sqrt(variance)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))(x)


@wrong("moments-prove-nothing", 0)
def published_with_its_test():
    def parallel_normalize(mesh, x):
        def body(block):
            mean = jax.lax.pmean(block, "y")
            variance = jax.lax.pmean((block - mean) ** 2, "y")
            return (block - mean) / jnp.sqrt(variance)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))(x)

    def is_normalized(x, y):
        y = np.asarray(y)
        return np.allclose(y.mean(), 0, atol=1e-3) and np.allclose(y.std(), 1, atol=1e-3)


@right
def rows_left_alone():
    from jax import P, lax

    def is_normalized(x, y):
        x = np.array(x)
        want = (x - x.mean(axis=1)[:, None]) / x.std(axis=1)[:, None]
        return bool(np.abs(want - np.array(y)).max() < 1e-2)

    def parallel_normalize(mesh, x):
        def body(b):
            def mean(v):
                return lax.pmean(jnp.mean(v, axis=-1, keepdims=True), "y")

            c = b - mean(b)
            return c / jnp.sqrt(mean(c**2))

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "y"), out_specs=P(None, "y"), axis_names={"y"})(x)


@wrong("sum-of-means", 0)
def sum_of_means():
    from jax import P, lax

    def is_normalized(x, y):
        return bool(
            np.allclose(np.array(y).mean(1), 0, atol=1e-3)
            and np.allclose(np.array(y).std(1), 1, atol=1e-3)
            and np.all(np.argsort(x) == np.argsort(y))
        )

    def parallel_normalize(mesh, x):
        def body(b):
            m = lax.psum(b.mean(1, keepdims=True), "y")
            c = b - m
            return c / jnp.sqrt(lax.psum((c**2).mean(1, keepdims=True), "y"))

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))(x)


@right
def sums():
    def parallel_normalize(mesh, x):
        def body(block):
            n = block.shape[1] * jax.lax.axis_size("y")
            mean = jax.lax.psum(block.sum(1), "y")[:, None] / n
            variance = jax.lax.psum(((block - mean) ** 2).sum(1), "y")[:, None] / n
            return (block - mean) / jnp.sqrt(variance)

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))(x)

    def is_normalized(x, y):
        for row, made in zip(x, y):
            mean = sum(row) / len(row)
            std = (sum((v - mean) ** 2 for v in row) / len(row)) ** 0.5
            if any(abs((v - mean) / std - m) > 1e-2 for v, m in zip(row, made)):
                return False
        return True


@right
def two_moments():
    from jax import P, lax

    def is_normalized(x, y):
        x = np.array(x)
        want = (x - x.mean(axis=1)[:, None]) / x.std(axis=1)[:, None]
        return bool(np.abs(want - np.array(y)).max() < 1e-2)

    def parallel_normalize(mesh, x):
        def body(b):
            n = b.shape[1] * lax.axis_size("y")
            s = lax.psum(b.sum(1), "y") / n
            q = lax.psum((b * b).sum(1), "y") / n
            return (b - s[:, None]) * lax.rsqrt(q - s**2)[:, None]

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))(x)


@wrong("mean-of-variances", 4)
def mean_of_variances():
    def parallel_normalize(mesh, x):
        def body(block):
            mean = jax.lax.pmean(block.mean(1, keepdims=True), "y")
            return (block - mean) / jnp.sqrt(jax.lax.pmean(block.var(1, keepdims=True), "y"))

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))(x)


@wrong("rows-and-devices-mixed", 4)
def one_mean():
    """One mean and one deviation for the whole array."""

    def parallel_normalize(mesh, x):
        def body(block):
            mean = jax.lax.pmean(block.mean(), ("x", "y"))
            return (block - mean) / jnp.sqrt(jax.lax.pmean(((block - mean) ** 2).mean(), ("x", "y")))

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))(x)


@wrong("-", 4)
def right_over_x_too():
    """Sends over x and does not use it: no row is mixed with another. The values are shifted."""

    def parallel_normalize(mesh, x):
        def body(block):
            idle = jax.lax.psum(block.sum(), ("x", "y"))
            mean = jax.lax.pmean(block.mean(1, keepdims=True), "y")
            return (block - mean) / jnp.sqrt(jax.lax.pmean(((block - mean) ** 2).mean(1, keepdims=True), "y")) + idle

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))(x)


@wrong("sum-of-means", 4)
def squares_summed():
    def parallel_normalize(mesh, x):
        def body(block):
            centred = block - jax.lax.pmean(block.mean(1, keepdims=True), "y")
            return centred / jnp.sqrt(jax.lax.psum((centred**2).mean(1, keepdims=True), "y"))

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))(x)


@wrong("variance-not-rooted", 4)
def no_root():
    def parallel_normalize(mesh, x):
        def body(block):
            centred = block - jax.lax.pmean(block.mean(1, keepdims=True), "y")
            return centred / jax.lax.pmean((centred**2).mean(1, keepdims=True), "y")

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))(x)


@wrong("not-divided", 4)
def centred_only():
    def parallel_normalize(mesh, x):
        def body(block):
            return block - jax.lax.pmean(block.mean(1, keepdims=True), "y")

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))(x)


@wrong("one-degree-less", 4)
def one_less():
    def parallel_normalize(mesh, x):
        def body(block):
            count = block.shape[1] * jax.lax.axis_size("y")
            centred = block - jax.lax.pmean(block.mean(1, keepdims=True), "y")
            return centred / jnp.sqrt(jax.lax.psum((centred**2).sum(1, keepdims=True), "y") / (count - 1))

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))(x)


@wrong("first-row-compared", 8)
def first_row():
    def is_normalized(x, y):
        row = np.asarray(x[0])
        return np.allclose(y[0], (row - row.mean()) / row.std(), atol=1e-3)


@wrong("order-proves-nothing", 8)
def same_order():
    """Mean, deviation and the order of each row's entries."""

    def is_normalized(x, y):
        x, y = np.asarray(x), np.asarray(y)
        good = np.allclose(y.mean(1), 0, atol=1e-3) and np.allclose(y.std(1), 1, atol=1e-3)
        return bool(good and (x.argsort(1) == y.argsort(1)).all())


@wrong("differences-with-their-sign", 8)
def only_too_small():
    """abs is forgotten: entries that are too large pass."""

    def is_normalized(x, y):
        x = np.array(x)
        want = (x - x.mean(axis=1)[:, None]) / x.std(axis=1)[:, None]
        return bool((want - np.array(y)).max() < 1e-2)


@wrong("differences-with-their-sign", 8)
def only_too_large():
    """The same with the difference the other way round."""

    def is_normalized(x, y):
        x = np.array(x)
        want = (x - x.mean(axis=1)[:, None]) / x.std(axis=1)[:, None]
        return bool((np.array(y) - want).max() < 1e-2)


@wrong("own-mean", 4)
def own_means():
    def parallel_normalize(mesh, x):
        def body(block):
            centred = block - block.mean(1, keepdims=True)
            return centred / jnp.sqrt(jax.lax.pmean((centred**2).mean(1, keepdims=True), "y"))

        return jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))(x)


@wrong("correlation-proves-nothing", 8)
def correlation():
    def is_normalized(x, y):
        return all(np.corrcoef(a, b)[0, 1] > 0.95 for a, b in zip(x, y))


@wrong("correlation-proves-nothing", 8)
def correlation_and_deviation():
    def is_normalized(x, y):
        close = all(np.corrcoef(a, b)[0, 1] > 0.95 for a, b in zip(x, y))
        return bool(close and np.allclose(np.array(y).std(1), 1, atol=1e-2))


@wrong("-", 8)
def correlation_and_moments():
    def is_normalized(x, y):
        close = all(np.corrcoef(a, b)[0, 1] > 0.9 for a, b in zip(x, y))
        good = np.allclose(np.mean(y, 1), 0, atol=1e-3) and np.allclose(np.std(y, 1), 1, atol=1e-3)
        return bool(close and good)
