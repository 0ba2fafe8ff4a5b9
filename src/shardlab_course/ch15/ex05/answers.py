import jax
import jax.numpy as jnp

from shardlab_course.answers import right, wrong

P = jax.P


def loss(scale, x, y):
    normed = x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6)
    return jnp.sum((normed * scale - y) ** 2)


@right
def another_way():
    def mended_4(mesh, x, y, scale):
        def body(x, y, scale):
            return jax.lax.psum(jax.grad(loss)(scale, x, y), ("data", "model"))

        tokens = P("data", "model", None)
        return jax.shard_map(body, mesh=mesh, in_specs=(tokens, tokens, P()), out_specs=P(), check_vma=False)(x, y, scale)

    def mended_5(mesh, table, ids):
        found = jnp.take(table, ids, axis=0)
        return jax.lax.with_sharding_constraint(found, jax.NamedSharding(mesh, P("data", None)))


@wrong("summed-again", 0)
def again():
    def mended_4(mesh, x, y, scale):
        def body(x, y, scale):
            return jax.lax.psum(jax.grad(loss)(scale, x, y), ("data", "model"))

        tokens = P("data", "model", None)
        return jax.shard_map(body, mesh=mesh, in_specs=(tokens, tokens, P()), out_specs=P(), check_vma=True)(x, y, scale)

    del case_1, case_2, case_3, case_4, case_5, case_6, mended_1, mended_2, mended_3, mended_5, mended_6


@wrong("all-of-it-counted", 2)
def all_counted():
    case_1 = {"cause": "unplaced-state", "number": 196608}
    del case_2, case_3, case_4, case_5, case_6, mended_1, mended_2, mended_3, mended_4, mended_5, mended_6


@wrong("slices-of-the-cut", 2)
def as_it_was():
    def mended_2(mesh, x, w):
        slices = x.reshape(4, -1, x.shape[1])
        out = jax.lax.map(lambda part: jnp.tanh(part @ w), slices).reshape(len(x), -1)
        return jax.lax.with_sharding_constraint(out, jax.NamedSharding(mesh, P("data", None)))

    del case_1, case_2, case_3, case_4, case_5, case_6, mended_1, mended_3, mended_4, mended_5, mended_6


@wrong("same-place-for-both", 1)
def both_by_rows():
    def mended_1(mesh, w1, w2):
        def placed(zeros):
            return jax.lax.with_sharding_constraint(zeros, jax.NamedSharding(mesh, P("data", None)))

        return placed(jnp.zeros_like(w1)), placed(jnp.zeros_like(w2))

    del case_1, case_2, case_3, case_4, case_5, case_6, mended_2, mended_3, mended_4, mended_5, mended_6


@wrong("same-place-for-both", 1)
def second_left_whole():
    def mended_1(mesh, w1, w2):
        rows = jax.NamedSharding(mesh, P("data", None))
        return jax.lax.with_sharding_constraint(jnp.zeros_like(w1), rows), jnp.zeros_like(w2)

    del case_1, case_2, case_3, case_4, case_5, case_6, mended_2, mended_3, mended_4, mended_5, mended_6


@wrong("rows-left-by-columns", 3)
def by_columns():
    def mended_5(mesh, table, ids):
        return jnp.take(table, ids, axis=0)

    del case_1, case_2, case_3, case_4, case_5, case_6, mended_1, mended_2, mended_3, mended_4, mended_6


@right
def by_hand():
    def mended_1(mesh, w1, w2):
        specs = (P("data", None), P(None, "data"))
        return jax.shard_map(
            lambda a, b: (jnp.zeros_like(a), jnp.zeros_like(b)), mesh=mesh, in_specs=specs, out_specs=specs
        )(w1, w2)

    def mended_2(mesh, x, w):
        def body(x, w):
            return jax.lax.map(lambda part: jnp.tanh(part @ w), x.reshape(4, -1, x.shape[1])).reshape(len(x), -1)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P()), out_specs=P("data"))(x, w)

    def mended_3(mesh, labels):
        def body(labels):
            return jax.lax.psum(jnp.zeros(100, jnp.int32).at[labels.ravel()].add(1), "data")

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "data"), out_specs=P())(labels)

    def mended_4(mesh, x, y, scale):
        tokens = P("data", "model", None)
        return jax.shard_map(
            lambda x, y, scale: jax.grad(loss)(scale, x, y), mesh=mesh, in_specs=(tokens, tokens, P()), out_specs=P()
        )(x, y, scale)

    def mended_5(mesh, table, ids):
        def body(table, ids):
            ids = jax.lax.all_gather(ids, "data", tiled=True)
            return jax.lax.all_to_all(table[ids], "data", 0, 1, tiled=True)

        return jax.shard_map(
            body, mesh=mesh, in_specs=(P(None, "data"), P("data")), out_specs=P("data", None), check_vma=False
        )(table, ids)

    def mended_6(mesh, x, q, s):
        def body(x, q, s):
            return x @ (jax.lax.all_gather(q, "data", tiled=True).astype(jnp.float32) * s)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P("data"), P()), out_specs=P("data"))(x, q, s)


@wrong("constraint-blamed", 2)
def constraint():
    case_2 = {"cause": "wrong-axis", "number": 15360}
    del case_1, case_3, case_4, case_5, case_6, mended_1, mended_2, mended_3, mended_4, mended_5, mended_6


@wrong("floats-counted", 2)
def floats():
    case_6 = {"cause": "widened-first", "number": 61440}
    del case_1, case_2, case_3, case_4, case_5, mended_1, mended_2, mended_3, mended_4, mended_5, mended_6


@wrong("gather-blamed", 2)
def gather():
    case_6 = {"cause": "table-gathered", "number": 15360}
    del case_1, case_2, case_3, case_4, case_5, mended_1, mended_2, mended_3, mended_4, mended_5, mended_6


@wrong("mean-of-the-terms", 0)
def half_of_it():
    def mended_4(mesh, x, y, scale):
        def body(x, y, scale):
            normed = x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6)
            return jax.lax.pmean(jax.lax.psum(jnp.sum(2 * (normed * scale - y) * normed, axis=(0, 1)), "model"), "data")

        tokens = P("data", "model")
        return jax.shard_map(body, mesh=mesh, in_specs=(tokens, tokens, P()), out_specs=P())(x, y, scale)

    del case_1, case_2, case_3, case_4, case_5, case_6, mended_1, mended_2, mended_3, mended_5, mended_6


@wrong("sum-still-in-the-loop", 2)
def jit_scan():
    def mended_3(mesh, labels):
        def step(total, now):
            return total + jnp.sum(now[:, None] == jnp.arange(100), axis=0), None

        return jax.lax.scan(step, jnp.zeros(100, jnp.int32), labels)[0]

    del case_1, case_2, case_3, case_4, case_5, case_6, mended_1, mended_2, mended_4, mended_5, mended_6


@wrong("labels-travel", 2)
def labels_by_round():
    def mended_3(mesh, labels):
        def body(labels):
            def step(total, now):
                now = jax.lax.all_gather(now, "data", tiled=True)
                return total + jnp.sum(now[:, None] == jnp.arange(100), axis=0), None

            return jax.lax.scan(step, jnp.zeros(100, jnp.int32), labels)[0]

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "data"), out_specs=P(), check_vma=False)(labels)

    del case_1, case_2, case_3, case_4, case_5, case_6, mended_1, mended_2, mended_4, mended_5, mended_6


@wrong("labels-travel", 2)
def labels_together():
    def mended_3(mesh, labels):
        return jnp.bincount(labels.ravel(), length=100)

    del case_1, case_2, case_3, case_4, case_5, case_6, mended_1, mended_2, mended_4, mended_5, mended_6


@wrong("loop-overlooked", 2)
def loop_overlooked():
    case_3 = {"cause": "summed-twice", "number": 9200}
    del case_1, case_2, case_4, case_5, case_6, mended_1, mended_2, mended_3, mended_4, mended_5, mended_6


@wrong("mean-of-the-terms", 0)
def mean():
    def mended_4(mesh, x, y, scale):
        def body(x, y, scale):
            return jax.lax.pmean(jax.grad(loss)(scale, x, y), ("data", "model"))

        tokens = P("data", "model", None)
        return jax.shard_map(body, mesh=mesh, in_specs=(tokens, tokens, P()), out_specs=P(), check_vma=False)(x, y, scale)

    del case_1, case_2, case_3, case_4, case_5, case_6, mended_1, mended_2, mended_3, mended_5, mended_6


@wrong("needed-sum-counted", 2)
def needed():
    case_3 = {"cause": "sum-in-loop", "number": 9600}
    del case_1, case_2, case_4, case_5, case_6, mended_1, mended_2, mended_3, mended_4, mended_5, mended_6


@wrong("one-of-two-gathers", 2)
def one_gather():
    case_2 = {"cause": "cut-goes-to-loop", "number": 9216}
    del case_1, case_3, case_4, case_5, case_6, mended_1, mended_2, mended_3, mended_4, mended_5, mended_6


@wrong("still-gathered", 2)
def one_hot():
    def mended_5(mesh, table, ids):
        found = jax.nn.one_hot(ids, len(table)) @ table
        return jax.lax.with_sharding_constraint(found, jax.NamedSharding(mesh, P("data", None)))

    del case_1, case_2, case_3, case_4, case_5, case_6, mended_1, mended_2, mended_3, mended_4, mended_6


@wrong("one-moment-counted", 2)
def one_moment():
    case_1 = {"cause": "Unplaced state", "number": 86016}
    del case_2, case_3, case_4, case_5, case_6, mended_1, mended_2, mended_3, mended_4, mended_5, mended_6


@wrong("bytes-of-one-round", 2)
def one_round():
    case_3 = {"cause": "sum-in-loop", "number": 400}
    del case_1, case_2, case_4, case_5, case_6, mended_1, mended_2, mended_3, mended_4, mended_5, mended_6


@wrong("group-the-other-way", 2)
def other_group():
    case_4 = {"cause": "too-few-summed", "number": 4}
    del case_1, case_2, case_3, case_5, case_6, mended_1, mended_2, mended_3, mended_4, mended_5, mended_6


@right
def other_ways():
    def mended_1(mesh, w1, w2):
        return w1 - w1, w2 - w2

    def mended_2(mesh, x, w):
        return jnp.stack([jnp.tanh(x[k::4] @ w) for k in range(4)], axis=1).reshape(len(x), -1)

    def mended_3(mesh, labels):
        own = jnp.zeros((labels.shape[1], 100), jnp.int32)
        own = jax.lax.with_sharding_constraint(own, jax.NamedSharding(mesh, P("data", None)))
        return jax.lax.scan(lambda total, now: (total + (now[:, None] == jnp.arange(100)), None), own, labels)[0].sum(axis=0)

    def mended_4(mesh, x, y, scale):
        def body(x, y, scale):
            def loss(scale):
                normed = x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6)
                return jax.lax.psum(jnp.sum((normed * scale - y) ** 2), ("data", "model"))

            return jax.grad(loss)(scale)

        tokens = P("data", "model")
        return jax.shard_map(body, mesh=mesh, in_specs=(tokens, tokens, P()), out_specs=P())(x, y, scale)

    def mended_5(mesh, table, ids):
        def body(table, ids):
            ids = jax.lax.all_gather(ids, "data", tiled=True)
            return jax.lax.all_to_all(jax.nn.one_hot(ids, len(table)) @ table, "data", 0, 1, tiled=True)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "data"), P("data")), out_specs=P("data"))(table, ids)

    def mended_6(mesh, x, q, s):
        q = jax.lax.with_sharding_constraint(q, jax.NamedSharding(mesh, P(None, None)))
        return jnp.einsum("bd,df,f->bf", x, q.astype(jnp.float32), s)


@wrong("rows-out-of-order", 0)
def out_of_order():
    def mended_2(mesh, x, w):
        slices = x.reshape(-1, 4, x.shape[1]).swapaxes(0, 1)
        out = jax.lax.map(lambda part: jnp.tanh(part @ w), slices)
        return jax.lax.with_sharding_constraint(out.reshape(len(x), -1), jax.NamedSharding(mesh, P("data", None)))

    del case_1, case_2, case_3, case_4, case_5, case_6, mended_1, mended_3, mended_4, mended_5, mended_6


@wrong("constraint-on-the-output-blamed", 2)
def output():
    case_5 = {"cause": "wrong-axis", "number": 1024}
    del case_1, case_2, case_3, case_4, case_6, mended_1, mended_2, mended_3, mended_4, mended_5, mended_6


@wrong("still-over-data-only", 0)
def over_data():
    def mended_4(mesh, x, y, scale):
        def body(x, y, scale):
            return jax.lax.psum(jax.grad(loss)(scale, x, y), "data")

        tokens = P("data", "model", None)
        return jax.shard_map(body, mesh=mesh, in_specs=(tokens, tokens, P()), out_specs=P(), check_vma=False)(x, y, scale)

    del case_1, case_2, case_3, case_4, case_5, case_6, mended_1, mended_2, mended_3, mended_5, mended_6


@wrong("over-model-only", 0)
def over_model():
    def mended_4(mesh, x, y, scale):
        def body(x, y, scale):
            return jax.lax.psum(jax.grad(loss)(scale, x, y), "model")

        tokens = P("data", "model", None)
        return jax.shard_map(body, mesh=mesh, in_specs=(tokens, tokens, P()), out_specs=P(), check_vma=False)(x, y, scale)

    del case_1, case_2, case_3, case_4, case_5, case_6, mended_1, mended_2, mended_3, mended_5, mended_6


@wrong("never-summed", 0)
def own_counts():
    def mended_3(mesh, labels):
        def body(labels):
            return jnp.zeros(100, jnp.int32).at[labels.ravel()].add(1)

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "data"), out_specs=P(), check_vma=False)(labels)

    del case_1, case_2, case_3, case_4, case_5, case_6, mended_1, mended_2, mended_4, mended_5, mended_6


@wrong("own-part-left-out", 2)
def own_part():
    case_2 = {"cause": "cut-goes-to-loop", "number": 9984}
    del case_1, case_3, case_4, case_5, case_6, mended_1, mended_2, mended_3, mended_4, mended_5, mended_6


@wrong("never-summed-at-all", 0)
def own_slope():
    def mended_4(mesh, x, y, scale):
        def body(x, y, scale):
            return jax.grad(loss)(scale, x, y)

        tokens = P("data", "model", None)
        return jax.shard_map(body, mesh=mesh, in_specs=(tokens, tokens, P()), out_specs=P(), check_vma=False)(x, y, scale)

    del case_1, case_2, case_3, case_4, case_5, case_6, mended_1, mended_2, mended_3, mended_5, mended_6


@wrong("zeros-have-no-place", 1)
def put():
    def mended_1(mesh, w1, w2):
        rows, columns = (jax.NamedSharding(mesh, spec) for spec in (P("data", None), P(None, "data")))
        return jax.device_put(jnp.zeros_like(w1), rows), jax.device_put(jnp.zeros_like(w2), columns)

    del case_1, case_2, case_3, case_4, case_5, case_6, mended_2, mended_3, mended_4, mended_5, mended_6


@wrong("rounds-summed-apart", 2)
def rounds_apart():
    def mended_3(mesh, labels):
        def body(labels):
            rounds = jax.lax.map(lambda now: jnp.sum(now[:, None] == jnp.arange(100), axis=0), labels)
            return jax.lax.psum(rounds, "data").sum(axis=0)

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "data"), out_specs=P())(labels)

    del case_1, case_2, case_3, case_4, case_5, case_6, mended_1, mended_2, mended_4, mended_5, mended_6


@wrong("rows-travel", 2)
def rows_gathered():
    def mended_2(mesh, x, w):
        def body(x, w):
            out = jnp.tanh(jax.lax.all_gather(x, "data", tiled=True) @ w)
            return jax.lax.dynamic_slice_in_dim(out, jax.lax.axis_index("data") * len(x), len(x))

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P()), out_specs=P("data"))(x, w)

    del case_1, case_2, case_3, case_4, case_5, case_6, mended_1, mended_3, mended_4, mended_5, mended_6


@wrong("savings-counted", 2)
def savings():
    case_6 = {"cause": "widened-first", "number": 46080}
    del case_1, case_2, case_3, case_4, case_5, mended_1, mended_2, mended_3, mended_4, mended_5, mended_6


@right
def shorter():
    def mended_1(mesh, w1, w2):
        return w1 * 0, w2 * 0

    def mended_2(mesh, x, w):
        return jnp.tanh(x @ w)

    def mended_3(mesh, labels):
        return jnp.sum(labels[..., None] == jnp.arange(100), axis=(0, 1))

    def mended_4(mesh, x, y, scale):
        return jax.grad(loss)(scale, x, y)

    def mended_5(mesh, table, ids):
        found = jax.vmap(lambda i: jax.lax.dynamic_index_in_dim(table, i, keepdims=False))(ids)
        return jax.lax.with_sharding_constraint(found, jax.NamedSharding(mesh, P("data", None)))

    def mended_6(mesh, x, q, s):
        q = jax.lax.with_sharding_constraint(q, jax.NamedSharding(mesh, P()))
        return (x @ q.astype(jnp.float32)) * s


@wrong("table-counted", 2)
def table():
    case_5 = {"cause": "table_gathered", "number": 65536}
    del case_1, case_2, case_3, case_4, case_6, mended_1, mended_2, mended_3, mended_4, mended_5, mended_6


@wrong("traffic-blamed", 2)
def traffic():
    case_1 = {"cause": "widened-first", "number": 172032}
    del case_2, case_3, case_4, case_5, case_6, mended_1, mended_2, mended_3, mended_4, mended_5, mended_6


@wrong("gradient-blamed-for-twice", 2)
def twice():
    case_4 = {"cause": "summed-twice", "number": 2}
    del case_1, case_2, case_3, case_5, case_6, mended_1, mended_2, mended_3, mended_4, mended_5, mended_6


@wrong("-", 8)
def two_cases_only():
    del case_2, case_3, case_5, case_6, mended_1, mended_2, mended_3, mended_4, mended_5, mended_6


@wrong("scale-forgotten", 0)
def unscaled():
    def mended_6(mesh, x, q, s):
        q = jax.lax.with_sharding_constraint(q, jax.NamedSharding(mesh, P()))
        return x @ q.astype(jnp.float32)

    del case_1, case_2, case_3, case_4, case_5, case_6, mended_1, mended_2, mended_3, mended_4, mended_5


@wrong("floats-still-travel", 2)
def widened():
    def mended_6(mesh, x, q, s):
        w = jax.lax.with_sharding_constraint(q.astype(jnp.float32) * s, jax.NamedSharding(mesh, P()))
        return x @ w

    del case_1, case_2, case_3, case_4, case_5, case_6, mended_1, mended_2, mended_3, mended_4, mended_5


@wrong("zeros-have-no-place", 1)
def zeros():
    def mended_1(mesh, w1, w2):
        return jnp.zeros_like(w1), jnp.zeros_like(w2)

    del case_1, case_2, case_3, case_4, case_5, case_6, mended_2, mended_3, mended_4, mended_5, mended_6
