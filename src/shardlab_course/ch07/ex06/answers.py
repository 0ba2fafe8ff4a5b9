import jax
import jax.numpy as jnp

from shardlab_course.answers import right, wrong

P = jax.P


@wrong("everything-adds-up", 5.5)
def all_rows_together():
    from jax import P, lax

    def logsumexp(mesh, x):
        def body(b):
            m = lax.pmax(b.max(1), "x")
            return m + jnp.log(lax.psum(jnp.exp(b - m[:, None]).sum(1), "x"))

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P())(x)

    def softmax(mesh, x):
        def body(b):
            m = lax.pmax(b.max(), "x")
            e = jnp.exp(b - m)
            return e / lax.psum(e.sum(), "x")

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P(None, "x"))(x)


@wrong("whole-blocks-summed", 9.5)
def block_first():
    def softmax(mesh, x):
        def body(block):
            most = jax.lax.pmax(block, "x").max(1, keepdims=True)
            e = jnp.exp(block - most)
            return e / jax.lax.psum(e, "x").sum(1, keepdims=True)

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P(None, "x"))(x)


@right
def by_logsumexp():
    def softmax(mesh, x):
        def body(block):
            own = jax.nn.logsumexp(block, axis=1, keepdims=True)
            most = jax.lax.pmax(own, "x")
            return jnp.exp(block - most) / jax.lax.psum(jnp.exp(own - most), "x")

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P(None, "x"))(x)


@wrong("rows-summed", 5.5)
def summed_over_rows():
    def softmax(mesh, x):
        def body(block):
            most = jax.lax.pmax(block.max(1, keepdims=True), "x")
            e = jnp.exp(block - most)
            return e / jax.lax.psum(e.sum(0, keepdims=True), "x")

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P(None, "x"))(x)


@wrong("columns-add-up", 5.5)
def columns():
    def softmax(mesh, x):
        def body(block):
            return jax.nn.softmax(block, axis=0)

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P(None, "x"))(x)


@wrong("left-to-the-compiler", 0)
def compiler():
    def softmax(mesh, x):
        y = jax.nn.softmax(x, axis=1)
        return jax.lax.with_sharding_constraint(y, jax.NamedSharding(mesh, P(None, "x")))

    def logsumexp(mesh, x):
        return jax.nn.logsumexp(x, axis=1)


@wrong("no-maximum-subtracted", 0)
def constant_subtracted():
    from jax import P, lax

    def logsumexp(mesh, x):
        def body(b):
            m = jnp.full(b.shape[0], 100.0)
            return m + jnp.log(lax.psum(jnp.exp(b - m[:, None]).sum(1), "x"))

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P())(x)

    def softmax(mesh, x):
        def body(b):
            e = jnp.exp(b - 100)
            return e / lax.psum(e.sum(1, keepdims=True), "x")

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P(None, "x"))(x)


@wrong("gathers-everything", 9.5)
def gathered():
    def softmax(mesh, x):
        def body(block):
            row = jax.lax.all_gather(block, "x", axis=1, tiled=True)
            e = jnp.exp(block - row.max(1, keepdims=True))
            return e / jnp.exp(row - row.max(1, keepdims=True)).sum(1, keepdims=True)

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P(None, "x"))(x)


@wrong("local-softmax", 5.5)
def local():
    def softmax(mesh, x):
        def body(block):
            return jax.nn.softmax(block, axis=1)

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P(None, "x"))(x)


@wrong("logarithms-added", 6.5)
def log_added():
    def logsumexp(mesh, x):
        def body(block):
            return jax.lax.psum(jax.nn.logsumexp(block, axis=1), "x")

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P())(x)


@wrong("logarithms-added", 6.5)
def log_averaged():
    def logsumexp(mesh, x):
        def body(block):
            return jax.lax.pmean(jax.nn.logsumexp(block, axis=1), "x")

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P())(x)


@wrong("gathers-everything", 10.5)
def log_gathered():
    def logsumexp(mesh, x):
        def body(block):
            row = jax.lax.all_gather(block, "x", axis=1, tiled=True, to="invarying")
            return jax.nn.logsumexp(row, axis=1)

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P())(x)


@wrong("maximum-forgotten", 6.5)
def log_maximum_forgotten():
    def logsumexp(mesh, x):
        def body(block):
            most = jax.lax.pmax(block.max(1), "x")
            return jnp.log(jax.lax.psum(jnp.exp(block - most[:, None]).sum(1), "x"))

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P())(x)


@wrong("no-maximum-subtracted", 6.5)
def log_no_maximum():
    def logsumexp(mesh, x):
        def body(block):
            return jnp.log(jax.lax.psum(jnp.exp(block).sum(1), "x"))

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P())(x)


@wrong("each-device-its-own", 6.5)
def log_own():
    def logsumexp(mesh, x):
        def body(block):
            return jax.nn.logsumexp(block, axis=1)

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P(), check_vma=False)(x)


@wrong("promise-not-proved", 6.5)
def log_own_checked():
    def logsumexp(mesh, x):
        def body(block):
            return jax.nn.logsumexp(block, axis=1)

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P())(x)


@wrong("no-maximum-subtracted", 5.5)
def no_maximum():
    def softmax(mesh, x):
        def body(block):
            e = jnp.exp(block)
            return e / jax.lax.psum(e.sum(1, keepdims=True), "x")

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P(None, "x"))(x)


@wrong("devices-compared", 5.5)
def over_devices():
    from jax import P, lax

    def logsumexp(mesh, x):
        def body(b):
            m = lax.pmax(b.max(1), "x")
            return m + jnp.log(lax.psum(jnp.exp(b - m[:, None]).sum(1), "x"))

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P())(x)

    def softmax(mesh, x):
        def body(b):
            m = lax.pmax(b, "x")
            e = jnp.exp(b - m)
            return e / lax.psum(e, "x")

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P(None, "x"))(x)


@wrong("own-maximum", 5.5)
def own_maximum():
    def softmax(mesh, x):
        def body(block):
            e = jnp.exp(block - block.max(1, keepdims=True))
            return e / jax.lax.psum(e.sum(1, keepdims=True), "x")

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P(None, "x"))(x)


@right
def rescaled():
    def softmax(mesh, x):
        def body(block):
            own = block.max(1, keepdims=True)
            e = jnp.exp(block - own)
            most = jax.lax.pmax(own, "x")
            scale = jnp.exp(own - most)
            return e * scale / jax.lax.psum(e.sum(1, keepdims=True) * scale, "x")

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P(None, "x"))(x)

    def logsumexp(mesh, x):
        def body(block):
            own = jax.nn.logsumexp(block, axis=1)
            most = jax.lax.pmax(own, "x")
            return jnp.log(jax.lax.psum(jnp.exp(own - most), "x")) + most

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P())(x)


@wrong("results-gathered", 8)
def results_gathered():
    from jax import P, lax

    def everywhere(b):
        z = jax.scipy.special.logsumexp(b, axis=1)
        both = lax.all_gather(z, "x", to="invarying")
        return jax.scipy.special.logsumexp(both, axis=0)

    def logsumexp(mesh, x):
        return jax.shard_map(everywhere, mesh=mesh, in_specs=P(None, "x"), out_specs=P())(x)

    def softmax(mesh, x):
        return jax.shard_map(
            lambda b: jnp.exp(b - everywhere(b)[:, None]), mesh=mesh, in_specs=P(None, "x"), out_specs=P(None, "x")
        )(x)


@right
def without_keepdims():
    from jax import P, lax

    def logsumexp(mesh, x):
        def body(b):
            m = lax.pmax(b.max(1), "x")
            return m + jnp.log(lax.psum(jnp.exp(b - m[:, None]).sum(1), "x"))

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P())(x)

    def softmax(mesh, x):
        def body(b):
            m = lax.stop_gradient(lax.pmax(jnp.max(b, axis=-1), "x"))
            e = jnp.exp(b - m[:, None])
            return e * (1 / lax.psum(jnp.sum(e, -1), "x"))[:, None]

        return jax.jit(jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"),), out_specs=P(None, "x")))(x)


@wrong("one-maximum-for-all-rows", 0)
def one_maximum():
    def softmax(mesh, x):
        def body(block):
            m = jax.lax.pmax(block.max(), "x")
            e = jnp.exp(block - m)
            return e / jax.lax.psum(e.sum(1, keepdims=True), "x")

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P(None, "x"))(x)

    def logsumexp(mesh, x):
        def body(block):
            m = jax.lax.pmax(block.max(), "x")
            return (jnp.log(jax.lax.psum(jnp.exp(block - m).sum(1, keepdims=True), "x")) + m)[:, 0]

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P())(x)


@wrong("mean-for-maximum", 0)
def row_mean():
    def softmax(mesh, x):
        def body(block):
            m = jax.lax.pmean(block.mean(1, keepdims=True), "x")
            e = jnp.exp(block - m)
            return e / jax.lax.psum(e.sum(1, keepdims=True), "x")

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P(None, "x"))(x)

    def logsumexp(mesh, x):
        def body(block):
            m = jax.lax.pmean(block.mean(1, keepdims=True), "x")
            return (jnp.log(jax.lax.psum(jnp.exp(block - m).sum(1, keepdims=True), "x")) + m)[:, 0]

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P())(x)


@wrong("pmean-for-psum", 0)
def averaged():
    def softmax(mesh, x):
        def body(block):
            e = jnp.exp(block - jax.lax.pmax(block.max(1, keepdims=True), "x"))
            return e / jax.lax.pmean(e.sum(1, keepdims=True), "x")

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P(None, "x"))(x)

    def logsumexp(mesh, x):
        def body(block):
            m = jax.lax.pmax(block.max(1, keepdims=True), "x")
            return (jnp.log(jax.lax.pmean(jnp.exp(block - m).sum(1, keepdims=True), "x")) + m)[:, 0]

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P())(x)


@wrong("mean-for-maximum", 5.5)
def first_logit_subtracted():
    def softmax(mesh, x):
        def body(block):
            e = jnp.exp(block - jax.lax.pmax(block[:, :1], "x"))
            return e / jax.lax.psum(e.sum(1, keepdims=True), "x")

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P(None, "x"))(x)


@wrong("each-device-its-own", 6.5)
def lse_stacked():
    def logsumexp(mesh, x):
        def body(block):
            most = block.max(1)
            return jnp.log(jnp.exp(block - most[:, None]).sum(1)) + most

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P("x"))(x)


@wrong("-", 5.5)
def sm_too_small():
    def softmax(mesh, x):
        def body(block):
            most = jax.lax.pmax(block.max(1, keepdims=True), "x")
            e = jnp.exp(block - most)
            return e / jax.lax.psum(jax.lax.psum(e.sum(1, keepdims=True), "x"), "x")

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P(None, "x"), check_vma=False)(x)


@wrong("part-of-the-row-summed", 5.5)
def own_columns_summed():
    def softmax(mesh, x):
        def body(block):
            e = jnp.exp(block - jax.lax.pmax(block.max(1, keepdims=True), "x"))
            return e / e.sum(1, keepdims=True)

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P(None, "x"))(x)


@wrong("part-of-the-row-summed", 5.5)
def only_devices_summed():
    def softmax(mesh, x):
        def body(block):
            e = jnp.exp(block - jax.lax.pmax(block.max(1, keepdims=True), "x"))
            return e / jax.lax.psum(e, "x")

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P(None, "x"))(x)


@wrong("part-of-the-row-summed", 6.5)
def log_of_own_columns():
    def logsumexp(mesh, x):
        def body(block):
            most = jax.lax.pmax(block.max(1), "x")
            return jnp.log(jnp.exp(block - most[:, None]).sum(1)) + most

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P(), check_vma=False)(x)


@wrong("part-of-the-row-summed", 6.5)
def log_of_parts_added():
    def logsumexp(mesh, x):
        def body(block):
            most = jax.lax.pmax(block.max(1), "x")
            return jax.lax.psum(jnp.log(jnp.exp(block - most[:, None]).sum(1)), "x") + most

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P())(x)


@wrong("-", 5.5)
def divided_by_what_is_left():
    def softmax(mesh, x):
        def body(block):
            e = jnp.exp(block - jax.lax.pmax(block.max(1, keepdims=True), "x"))
            return e / (jax.lax.psum(e.sum(1, keepdims=True), "x") - jax.lax.psum(e.sum(1, keepdims=True), "x"))

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P(None, "x"))(x)
