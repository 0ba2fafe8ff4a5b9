import jax
import jax.numpy as jnp

import shardlab as sl
from shardlab_course.answers import right, told, wrong

P = jax.P


@wrong("copies-differ", 5)
def all_axes_folded():
    def drop_output(mesh, seed, H):
        def body(seed, h):
            key = jax.random.fold_in(jax.random.key(seed), jax.lax.axis_index(mesh.axis_names))
            return jnp.where(jax.random.bernoulli(key, KEEP, h.shape), h / KEEP, 0)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P("data", None)), out_specs=P("data", None), check_vma=False)(
            seed, H
        )


@wrong("not-scaled")
def divided_by_one_minus():
    sl.predict("9.5", patterns=1, why="c")

    def drop_hidden(mesh, seed, H):
        def body(seed, h):
            key = jax.random.fold_in(jax.random.key(seed), jax.lax.axis_index("model"))
            return jnp.where(jax.random.bernoulli(key, KEEP, h.shape), h / (1 - KEEP), 0)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P(None, "model")), out_specs=P(None, "model"))(seed, H)


@wrong("kept-what-was-to-drop", 5)
def drops_three_quarters():
    def drop_hidden(mesh, seed, H):
        def body(seed, h):
            key = jax.random.fold_in(jax.random.key(seed), jax.lax.axis_index("model"))
            return jnp.where(jax.random.bernoulli(key, 1 - KEEP, h.shape), h / KEEP, 0)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P(None, "model")), out_specs=P(None, "model"))(seed, H)


@told("devices-draw-for-themselves")
def eight_patterns():
    predictions = sl.predict("9.5", patterns=8, why="c")


@wrong("seed-not-used", 5)
def index_for_key():
    def drop_hidden(mesh, seed, H):
        def body(h):
            key = jax.random.key(jax.lax.axis_index("model"))
            return jnp.where(jax.random.bernoulli(key, KEEP, h.shape), h / KEEP, 0)

        return jax.shard_map(body, mesh=mesh, in_specs=P(None, "model"), out_specs=P(None, "model"))(H)

    def drop_output(mesh, seed, H):
        def body(seed, h):
            key = jax.random.fold_in(jax.random.key(seed), jax.lax.axis_index("data"))
            kept = jax.random.uniform(key, h.shape) < KEEP
            return h * kept / KEEP

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P("data", None)), out_specs=P("data", None))(seed, H)


@right
def key_from_outside():
    def dropped(mesh, seed, x, axis, spec):
        def body(key, x):
            own = jax.random.fold_in(key, jax.lax.axis_index(axis))
            kept = jax.random.uniform(own, x.shape) < KEEP
            return x * kept / KEEP

        return jax.jit(jax.shard_map(body, mesh=mesh, in_specs=(P(), spec), out_specs=spec))(jax.random.key(seed), x)

    def drop_hidden(mesh, seed, H):
        return dropped(mesh, seed, H, "model", P(None, "model"))

    def drop_output(mesh, seed, Y):
        return dropped(mesh, seed, Y, "data", P("data", None))


@right
def keys_as_input():
    sl.predict("9.5", patterns=1, why="c")

    def drop_hidden(mesh, seed, H):
        keys = jax.random.split(jax.random.key(seed), mesh.shape["model"])

        def body(keys, h):
            return jnp.where(jax.random.bernoulli(keys[0], KEEP, h.shape), h / KEEP, 0)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("model"), P(None, "model")), out_specs=P(None, "model"))(keys, H)


@wrong("not-scaled", 5)
def not_scaled():
    def drop_output(mesh, seed, H):
        def body(seed, h):
            key = jax.random.fold_in(jax.random.key(seed), jax.lax.axis_index("data"))
            return jnp.where(jax.random.bernoulli(key, KEEP, h.shape), h, 0)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P("data", None)), out_specs=P("data", None))(seed, H)


@right
def one_mask_for_the_whole_array():
    def dropped(mesh, seed, H, spec):
        kept = jax.random.bernoulli(jax.random.key(seed), KEEP, H.shape)
        return jax.lax.with_sharding_constraint(jnp.where(kept, H / KEEP, 0), jax.NamedSharding(mesh, spec))

    def drop_hidden(mesh, seed, H):
        return dropped(mesh, seed, H, P(None, "model"))

    def drop_output(mesh, seed, H):
        return dropped(mesh, seed, H, P("data", None))


@wrong("promise-not-proved", 5)
def output_by_model():
    def drop_output(mesh, seed, H):
        def body(seed, h):
            key = jax.random.fold_in(jax.random.key(seed), jax.lax.axis_index("model"))
            return jnp.where(jax.random.bernoulli(key, KEEP, h.shape), h / KEEP, 0)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P("data", None)), out_specs=P("data", None))(seed, H)


@wrong("copies-differ", 5)
def output_by_model_unchecked():
    def drop_output(mesh, seed, H):
        def body(seed, h):
            key = jax.random.fold_in(jax.random.key(seed), jax.lax.axis_index("model"))
            return jnp.where(jax.random.bernoulli(key, KEEP, h.shape), h / KEEP, 0)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P("data", None)), out_specs=P("data", None), check_vma=False)(
            seed, H
        )


@right
def own_slice_of_one_mask():
    def drop_hidden(mesh, seed, H):
        def body(seed, h):
            kept = jax.random.bernoulli(jax.random.key(seed), KEEP, H.shape)
            start = jax.lax.axis_index("model") * h.shape[1]
            return jnp.where(jax.lax.dynamic_slice_in_dim(kept, start, h.shape[1], axis=1), h / KEEP, 0)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P(None, "model")), out_specs=P(None, "model"))(seed, H)


@wrong("same-mask-everywhere", 5)
def same_key_everywhere():
    def drop_hidden(mesh, seed, H):
        def body(seed, h):
            key = jax.random.key(seed)
            return jnp.where(jax.random.bernoulli(key, KEEP, h.shape), h / KEEP, 0)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P(None, "model")), out_specs=P(None, "model"))(seed, H)


@wrong("seed-not-used", 5)
def seed_not_used():
    def drop_output(mesh, seed, H):
        def body(h):
            key = jax.random.fold_in(jax.random.key(0), jax.lax.axis_index("data"))
            return jnp.where(jax.random.bernoulli(key, KEEP, h.shape), h / KEEP, 0)

        return jax.shard_map(body, mesh=mesh, in_specs=P("data", None), out_specs=P("data", None))(H)


@right
def split_keys():
    def drop_hidden(mesh, seed, H):
        def body(seed, h):
            key = jax.random.split(jax.random.key(seed), mesh.shape["model"])[jax.lax.axis_index("model")]
            return jnp.where(jax.random.bernoulli(key, KEEP, h.shape), h / KEEP, 0)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P(None, "model")), out_specs=P(None, "model"))(seed, H)

    def drop_output(mesh, seed, H):
        def body(seed, h):
            key = jax.random.fold_in(jax.random.key(seed), 7 * jax.lax.axis_index("data") + 3)
            return jnp.where(jax.random.bernoulli(key, KEEP, h.shape), h / KEEP, 0)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P("data", None)), out_specs=P("data", None))(seed, H)


@wrong("one-mask-for-each-line", 5)
def a_mask_for_the_columns():
    def drop_hidden(mesh, seed, H):
        def body(seed, h):
            key = jax.random.fold_in(jax.random.key(seed), jax.lax.axis_index("model"))
            return jnp.where(jax.random.bernoulli(key, KEEP, (1, h.shape[1])), h / KEEP, 0)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P(None, "model")), out_specs=P(None, "model"))(seed, H)


@wrong("one-mask-for-each-line", 5)
def a_mask_for_the_tokens():
    def drop_output(mesh, seed, H):
        def body(seed, h):
            key = jax.random.fold_in(jax.random.key(seed), jax.lax.axis_index("data"))
            return jnp.where(jax.random.bernoulli(key, KEEP, (len(h), 1)), h / KEEP, 0)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P("data", None)), out_specs=P("data", None))(seed, H)


@wrong("mask-is-a-pattern", 5)
def one_mask_rolled():
    def drop_hidden(mesh, seed, H):
        def body(seed, h):
            mask = jax.random.bernoulli(jax.random.key(seed), KEEP, h.shape)
            return jnp.where(jnp.roll(mask, jax.lax.axis_index("model"), axis=1), h / KEEP, 0)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P(None, "model")), out_specs=P(None, "model"))(seed, H)


@wrong("mask-is-a-pattern", 5)
def counted_out():
    def drop_hidden(mesh, seed, H):
        def body(seed, h):
            i, j = jnp.indices(h.shape)
            return jnp.where((i * 3 + j * 5 + seed + jax.lax.axis_index("model")) % 4 > 0, h / KEEP, 0)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P(None, "model")), out_specs=P(None, "model"))(seed, H)


@wrong("mask-is-a-pattern", 5)
def one_row_rolled():
    def drop_output(mesh, seed, H):
        def body(seed, h):
            key = jax.random.fold_in(jax.random.key(seed), jax.lax.axis_index("data"))
            row = jax.random.bernoulli(key, KEEP, h.shape[1:])
            return jnp.where(jax.vmap(lambda i: jnp.roll(row, i))(jnp.arange(len(h))), h / KEEP, 0)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P("data", None)), out_specs=P("data", None))(seed, H)


@right
def a_key_for_each_row():
    def drop_output(mesh, seed, H):
        def body(seed, h):
            first = jax.lax.axis_index("data") * len(h)
            keys = jax.vmap(lambda i: jax.random.fold_in(jax.random.key(seed), first + i))(jnp.arange(len(h)))
            kept = jax.vmap(lambda key: jax.random.uniform(key, h.shape[1:]) < KEEP)(keys)
            return h * kept / KEEP

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P("data", None)), out_specs=P("data", None))(seed, H)


@told("own-state")
def own_state():
    sl.predict("9.5", patterns=1, why="a")


@told("key-is-cut")
def key_is_cut():
    sl.predict("9.5", patterns=1, why="b")


@wrong("mask-is-a-pattern", 5)
def neighbours_share_a_number():
    def drop_hidden(mesh, seed, H):
        def body(seed, h):
            key = jax.random.fold_in(jax.random.key(seed), jax.lax.axis_index("model"))
            half = jax.random.bernoulli(key, KEEP, (h.shape[0], h.shape[1] // 2))
            return jnp.where(jnp.repeat(half, 2, axis=1), h / KEEP, 0)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P(None, "model")), out_specs=P(None, "model"))(seed, H)


@wrong("nothing-drawn", 5)
def untouched():
    def drop_output(mesh, seed, H):
        return H


@wrong("other-share-kept", 5)
def seven_of_ten():
    def drop_hidden(mesh, seed, H):
        def body(seed, h):
            key = jax.random.fold_in(jax.random.key(seed), jax.lax.axis_index("model"))
            return jnp.where(jax.random.bernoulli(key, 0.7, h.shape), h / KEEP, 0)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P(None, "model")), out_specs=P(None, "model"))(seed, H)


@wrong("other-share-kept", 5)
def eight_of_ten():
    def drop_output(mesh, seed, H):
        def body(seed, h):
            key = jax.random.fold_in(jax.random.key(seed), jax.lax.axis_index("data"))
            return jnp.where(jax.random.bernoulli(key, 0.8, h.shape), h / KEEP, 0)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P("data", None)), out_specs=P("data", None))(seed, H)


@wrong("other-share-kept", 5)
def normal_numbers():
    def drop_hidden(mesh, seed, H):
        def body(seed, h):
            key = jax.random.fold_in(jax.random.key(seed), jax.lax.axis_index("model"))
            return jnp.where(jax.random.normal(key, h.shape) < KEEP, h / KEEP, 0)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P(None, "model")), out_specs=P(None, "model"))(seed, H)


@wrong("-")
def empty():
    def drop_hidden(mesh, seed, H):
        return jnp.zeros((0, H.shape[1]))


@wrong("seed-plus-place", 5)
def seed_plus_place():
    """Device d has for the next seed the mask that device d + 1 has for this one."""

    def drop_hidden(mesh, seed, H):
        def body(seed, h):
            key = jax.random.key(seed + jax.lax.axis_index("model"))
            return jnp.where(jax.random.bernoulli(key, KEEP, h.shape), h / KEEP, 0)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P(None, "model")), out_specs=P(None, "model"))(seed, H)


@wrong("seed-plus-place", 5)
def seed_plus_place_of_tokens():
    def drop_output(mesh, seed, H):
        def body(seed, h):
            key = jax.random.key(seed + jax.lax.axis_index("data"))
            return jnp.where(jax.random.bernoulli(key, KEEP, h.shape), h / KEEP, 0)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P("data", None)), out_specs=P("data", None))(seed, H)


@wrong("seed-plus-place", 5)
def seed_plus_thousands():
    """The same for seeds that are a thousand apart."""

    def drop_output(mesh, seed, H):
        def body(seed, h):
            key = jax.random.key(seed + 1000 * jax.lax.axis_index("data"))
            return jnp.where(jax.random.bernoulli(key, KEEP, h.shape), h / KEEP, 0)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P("data", None)), out_specs=P("data", None))(seed, H)


@wrong("seed-not-used", 5)
def two_seeds():
    """All even seeds are one, and all odd ones."""

    def drop_output(mesh, seed, H):
        def body(seed, h):
            key = jax.random.fold_in(jax.random.key(seed % 2), jax.lax.axis_index("data"))
            return jnp.where(jax.random.bernoulli(key, KEEP, h.shape), h / KEEP, 0)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P("data", None)), out_specs=P("data", None))(seed, H)
