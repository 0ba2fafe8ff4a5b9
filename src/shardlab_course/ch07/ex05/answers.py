import jax
import jax.numpy as jnp

from shardlab_course.answers import right, wrong

P = jax.P


@wrong("left-to-the-compiler", 0)
def compiler():
    def masked_mean(mesh, losses, lengths):
        keep = jnp.arange(losses.shape[1])[None] < lengths[:, None]
        return jnp.where(keep, losses, 0.0).sum() / keep.sum().astype(jnp.float32)


@right
def divided_outside():
    from jax import P, lax

    def masked_mean(mesh, losses, lengths):
        def body(losses, n):
            keep = jnp.arange(losses.shape[1]) < n[:, None]
            return lax.psum(jnp.where(keep, losses, 0).sum(), "x"), lax.psum(keep.sum(), "x")

        s, c = jax.shard_map(body, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=(P(), P()))(losses, lengths)
        return s / c


@wrong("not-divided", 0)
def added_up():
    def masked_mean(mesh, losses, lengths):
        def body(losses, lengths):
            keep = jnp.arange(losses.shape[1])[None] < lengths[:, None]
            return jax.lax.psum(jnp.where(keep, losses, 0.0).sum(), "x")

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P("x")), out_specs=P())(losses, lengths)


@wrong("gathers-everything", 5.25)
def gathers():
    def masked_mean(mesh, losses, lengths):
        def body(losses, lengths):
            losses, lengths = (jax.lax.all_gather(a, "x", tiled=True, to="invarying") for a in (losses, lengths))
            keep = jnp.arange(losses.shape[1])[None] < lengths[:, None]
            return jnp.where(keep, losses, 0.0).sum() / keep.sum().astype(jnp.float32)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P("x")), out_specs=P())(losses, lengths)


@wrong("mean-of-means", 0)
def mean_of_means():
    def masked_mean(mesh, losses, lengths):
        def body(losses, lengths):
            keep = jnp.arange(losses.shape[1])[None] < lengths[:, None]
            kept = jnp.where(keep, losses, 0.0)
            count = keep.sum().astype(jnp.float32)
            return jax.lax.pmean(kept.sum() / count, "x")

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P("x")), out_specs=P())(losses, lengths)


@wrong("mean-of-means", 0)
def mean_of_rows():
    def masked_mean(mesh, losses, lengths):
        def body(losses, lengths):
            keep = jnp.arange(losses.shape[1])[None] < lengths[:, None]
            kept = jnp.where(keep, losses, 0.0)
            rows = kept.sum(1) / jnp.maximum(lengths, 1).astype(jnp.float32)
            return jax.lax.pmean(rows.mean(), "x")

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P("x")), out_specs=P())(losses, lengths)


@right
def means_of_both():
    from jax import P, lax

    def masked_mean(mesh, losses, lengths):
        def body(losses, n):
            keep = jnp.arange(losses.shape[1]) < n[:, None]
            return lax.pmean(jnp.where(keep, losses, 0).sum(), "x") / lax.pmean(keep.sum(), "x")

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=P())(losses, lengths)


@right
def one_sum():
    def masked_mean(mesh, losses, lengths):
        def body(losses, lengths):
            keep = jnp.arange(losses.shape[1])[None] < lengths[:, None]
            kept = jnp.where(keep, losses, 0.0)
            count = keep.sum().astype(jnp.float32)
            total, count = jax.lax.psum(jnp.stack([kept.sum(), count]), "x")
            return total / count

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P("x")), out_specs=P())(losses, lengths)


@wrong("last-word-too", 0)
def one_word_more():
    def masked_mean(mesh, losses, lengths):
        def body(losses, lengths):
            keep = jnp.arange(losses.shape[1])[None] <= lengths[:, None]
            kept = jnp.where(keep, losses, 0.0)
            count = keep.sum().astype(jnp.float32)
            return jax.lax.psum(kept.sum(), "x") / jax.lax.psum(count, "x")

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P("x")), out_specs=P())(losses, lengths)


@wrong("promise-not-proved", 0)
def only_the_sum():
    def masked_mean(mesh, losses, lengths):
        def body(losses, lengths):
            keep = jnp.arange(losses.shape[1])[None] < lengths[:, None]
            kept = jnp.where(keep, losses, 0.0)
            count = keep.sum().astype(jnp.float32)
            return jax.lax.psum(kept.sum(), "x") / count

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P("x")), out_specs=P())(losses, lengths)


@wrong("each-device-its-own", 0)
def own():
    def masked_mean(mesh, losses, lengths):
        def body(losses, lengths):
            keep = jnp.arange(losses.shape[1])[None] < lengths[:, None]
            kept = jnp.where(keep, losses, 0.0)
            count = keep.sum().astype(jnp.float32)
            return kept.sum() / count

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P("x")), out_specs=P(), check_vma=False)(
            losses, lengths
        )


@wrong("promise-not-proved", 0)
def own_checked():
    def masked_mean(mesh, losses, lengths):
        def body(losses, lengths):
            keep = jnp.arange(losses.shape[1])[None] < lengths[:, None]
            kept = jnp.where(keep, losses, 0.0)
            count = keep.sum().astype(jnp.float32)
            return kept.sum() / count

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P("x")), out_specs=P())(losses, lengths)


@wrong("padding-counted", 0)
def padding():
    def masked_mean(mesh, losses, lengths):
        def body(losses, lengths):
            return jax.lax.pmean(losses.mean(), "x")

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P("x")), out_specs=P())(losses, lengths)


@right
def pair_of_means():
    def masked_mean(mesh, losses, lengths):
        def body(losses, lengths):
            keep = jnp.arange(losses.shape[1])[None] < lengths[:, None]
            kept = jnp.where(keep, losses, 0.0)
            count = keep.sum().astype(jnp.float32)
            total, count = jax.lax.pmean((kept.sum(), count), "x")
            return total / count

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P("x")), out_specs=P())(losses, lengths)


@wrong("results-gathered", 5.25)
def results_gathered():
    from jax import P, lax

    def masked_mean(mesh, losses, lengths):
        def body(losses, lengths):
            keep = jnp.arange(losses.shape[1]) < lengths[:, None]
            mine = jnp.stack([jnp.where(keep, losses, 0).sum(), keep.sum().astype(losses.dtype)])
            total, words = lax.all_gather(mine, "x", to="invarying").sum(0)
            return total / words

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=P())(losses, lengths)


@wrong("mean-of-means", 0)
def sum_of_means():
    from jax import P, lax

    def masked_mean(mesh, losses, lengths):
        def body(losses, n):
            keep = jnp.arange(losses.shape[1]) < n[:, None]
            return lax.psum(jnp.where(keep, losses, 0).sum() / keep.sum(), "x")

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=P())(losses, lengths)


@right
def weighted():
    def masked_mean(mesh, losses, lengths):
        def body(losses, lengths):
            keep = jnp.arange(losses.shape[1])[None] < lengths[:, None]
            kept = jnp.where(keep, losses, 0.0)
            count = keep.sum().astype(jnp.float32)
            everybody = jax.lax.psum(count, "x")
            return jax.lax.psum(kept.sum() / everybody, "x")

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P("x")), out_specs=P())(losses, lengths)


@wrong("padding-as-zeros", 0)
def zeros():
    def masked_mean(mesh, losses, lengths):
        def body(losses, lengths):
            keep = jnp.arange(losses.shape[1])[None] < lengths[:, None]
            kept = jnp.where(keep, losses, 0.0)
            return jax.lax.pmean(kept.mean(), "x")

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P("x")), out_specs=P())(losses, lengths)


@wrong("psum-and-pmean", 0)
def words_averaged():
    def masked_mean(mesh, losses, lengths):
        def body(losses, lengths):
            keep = jnp.arange(losses.shape[1])[None] < lengths[:, None]
            count = jax.lax.pmean(keep.sum().astype(jnp.float32), "x")
            return jax.lax.psum(jnp.where(keep, losses, 0.0).sum(), "x") / count

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P("x")), out_specs=P())(losses, lengths)


@wrong("own-words-counted", 0)
def own_words():
    def masked_mean(mesh, losses, lengths):
        def body(losses, lengths):
            keep = jnp.arange(losses.shape[1])[None] < lengths[:, None]
            return jax.lax.psum(jnp.where(keep, losses, 0.0).sum(), "x") / keep.sum()

        specs = P("x", None), P("x")
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P(), check_vma=False)(losses, lengths)


@wrong("mean-of-means", 0)
def guarded_means():
    """Means of the devices' means; a device without words has the mean 0."""

    def masked_mean(mesh, losses, lengths):
        def body(losses, lengths):
            keep = jnp.arange(losses.shape[1])[None] < lengths[:, None]
            count = jnp.maximum(keep.sum(), 1)
            return jax.lax.pmean(jnp.where(keep, losses, 0.0).sum() / count, "x")

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P("x")), out_specs=P())(losses, lengths)


@right
def guarded_weights():
    """Weighted means, where nobody divides by zero."""

    def masked_mean(mesh, losses, lengths):
        def body(losses, lengths):
            keep = jnp.arange(losses.shape[1])[None] < lengths[:, None]
            count = keep.sum().astype(jnp.float32)
            mean = jnp.where(keep, losses, 0.0).sum() / jnp.maximum(count, 1)
            return jax.lax.psum(mean * count, "x") / jax.lax.psum(count, "x")

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P("x")), out_specs=P())(losses, lengths)


@wrong("nothing-by-nothing", 0)
def unguarded_weights():
    """Weighted means; a device without words divides zero by zero."""

    def masked_mean(mesh, losses, lengths):
        def body(losses, lengths):
            keep = jnp.arange(losses.shape[1])[None] < lengths[:, None]
            count = keep.sum().astype(jnp.float32)
            mean = jnp.where(keep, losses, 0.0).sum() / count
            return jax.lax.psum(mean * count, "x") / jax.lax.psum(count, "x")

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P("x")), out_specs=P())(losses, lengths)


@wrong("-", 0)
def counts_in_bfloat16():
    """bfloat16 holds whole numbers up to 256."""

    def masked_mean(mesh, losses, lengths):
        def body(losses, lengths):
            keep = jnp.arange(losses.shape[1])[None] < lengths[:, None]
            kept = jnp.where(keep, losses, 0.0)
            count = keep.sum().astype(jnp.bfloat16).astype(jnp.float32)
            return jax.lax.psum(kept.sum(), "x") / jax.lax.psum(count, "x")

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P("x")), out_specs=P())(losses, lengths)


@wrong("nothing-counts-as-one", 0)
def nothing_as_one():
    """A guard against dividing by zero that stands before the sum."""

    def masked_mean(mesh, losses, lengths):
        def body(losses, lengths):
            keep = jnp.arange(losses.shape[1])[None] < lengths[:, None]
            count = jnp.maximum(keep.sum(), 1).astype(jnp.float32)
            return jax.lax.psum(jnp.where(keep, losses, 0.0).sum(), "x") / jax.lax.psum(count, "x")

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P("x")), out_specs=P())(losses, lengths)


@wrong("-", 0)
def a_word_in_every_sentence():
    def masked_mean(mesh, losses, lengths):
        def body(losses, lengths):
            keep = jnp.arange(losses.shape[1])[None] < jnp.maximum(lengths, 1)[:, None]
            return jax.lax.psum(jnp.where(keep, losses, 0.0).sum(), "x") / jax.lax.psum(keep.sum(), "x")

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P("x")), out_specs=P())(losses, lengths)


@wrong("padding-times-zero", 0)
def weights_of_one_and_zero():
    """XLA for CPU makes a selection of `losses * keep`, but not of this product."""

    def masked_mean(mesh, losses, lengths):
        def body(losses, lengths):
            keep = jnp.where(jnp.arange(losses.shape[1])[None] < lengths[:, None], 1.0, 0.0)
            return jax.lax.psum((losses * keep).sum(), "x") / jax.lax.psum(keep.sum(), "x")

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P("x")), out_specs=P())(losses, lengths)


@wrong("padding-times-zero", 0)
def clipped_weights():
    def masked_mean(mesh, losses, lengths):
        def body(losses, lengths):
            keep = jnp.clip(lengths[:, None] - jnp.arange(losses.shape[1]), 0, 1).astype(losses.dtype)
            total, count = jax.lax.psum(((losses * keep).sum(), keep.sum()), "x")
            return total / count

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P("x")), out_specs=P())(losses, lengths)


@right
def sum_where():
    """The rows' sums where there are words."""

    def masked_mean(mesh, losses, lengths):
        def body(losses, lengths):
            row = jax.vmap(lambda row, n: jnp.sum(row, where=jnp.arange(row.size) < n))
            total, count = jax.lax.psum((row(losses, lengths).sum(), lengths.sum()), "x")
            return total / count

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x", None), P("x")), out_specs=P())(losses, lengths)
