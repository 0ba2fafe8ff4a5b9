import jax
import jax.numpy as jnp
from jax import P

import shardlab as sl
from shardlab_course.answers import right, told, wrong


def on_blocks(mesh, body):
    specs = (P(None, "x"), P(), P())
    return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P(None, "x"))


def jitted(write, **options):
    def append(mesh, K, new, at):
        return on_blocks(mesh, write)(K, new, at)

    return jax.jit(append, static_argnums=0, **{"donate_argnums": 1, **options})


def place(k, at):
    return at - jax.lax.axis_index("x") * k.shape[1]


def update(k, new, i):
    return jax.lax.dynamic_update_slice_in_dim(k, new[:, None], i, 1)


def guarded(k, new, at):
    own = place(k, at)
    here = (own >= 0) & (own < k.shape[1])
    old = jax.lax.dynamic_slice_in_dim(k, own, 1, 1)[:, 0]
    return update(k, jnp.where(here, new, old), own)


@wrong("left-to-the-compiler", 0.5)
def compiled():
    def append(mesh, K, new, at):
        return update(K, new, at)


@told("beyond-is-dropped")
def dropped():
    sl.predict("16.3", beyond="drops")


@told("beyond-raises")
def raised():
    sl.predict("16.3", beyond="raises")


@told("beyond-wraps")
def wrapped():
    sl.predict("16.3", beyond="wraps")


@right
def with_slices():
    append = jitted(guarded)


@right
def every_position_compared():
    def write(k, new, at):
        own = place(k, at)
        return jnp.where(jnp.arange(k.shape[1])[:, None] == own, new[:, None], k)

    append = jitted(write)


@right
def far_outside_is_dropped():
    def write(k, new, at):
        own = place(k, at)
        return k.at[:, jnp.where(own < 0, k.shape[1], own)].set(new, mode="drop")

    append = jitted(write)


@right
def with_cond():
    def write(k, new, at):
        own = place(k, at)
        here = (own >= 0) & (own < k.shape[1])
        return jax.lax.cond(here, lambda k: update(k, new, own), lambda k: k, k)

    append = jitted(write)


@wrong("-", 0.5)
def four_places():
    def write(k, new, at):
        own = place(k, at)
        return jax.lax.cond((own >= 0) & (own < 4), lambda k: update(k, new, own), lambda k: k, k)

    append = jitted(write)


@wrong("every-device-writes", 0.5)
def unguarded():
    append = jitted(lambda k, new, at: update(k, new, place(k, at)))


@wrong("every-device-writes", 0.5)
def clipped():
    append = jitted(lambda k, new, at: update(k, new, jnp.clip(place(k, at), 0, k.shape[1] - 1)))


@wrong("counted-from-the-end", 0.5)
def from_the_end():
    append = jitted(lambda k, new, at: k.at[:, place(k, at)].set(new, mode="drop"))


@wrong("same-place-in-every-block", 0.5)
def modulo():
    append = jitted(lambda k, new, at: update(k, new, at % k.shape[1]))


@wrong("global-position-in-a-block", 0.5)
def as_it_is():
    append = jitted(lambda k, new, at: update(k, new, at))


@wrong("added-to-the-old", 0.5)
def added():
    def write(k, new, at):
        return k + jnp.where(jnp.arange(k.shape[1])[:, None] == place(k, at), new[:, None], 0)

    append = jitted(write)


@wrong("communicates-for-nothing", 7)
def moved():
    def write(k, new, at):
        whole = update(jax.lax.all_gather(k, "x", axis=1, tiled=True), new, at)
        return jax.lax.dynamic_slice_in_dim(whole, jax.lax.axis_index("x") * k.shape[1], k.shape[1], 1)

    append = jitted(write)


@wrong("second-cache", 6.5)
def kept():
    append = jitted(guarded, donate_argnums=())


@wrong("second-cache", 6.5)
def without_jit():
    def append(mesh, K, new, at):
        return on_blocks(mesh, guarded)(K, new, at)


@wrong("edge-of-a-block", 0.5)
def first_place_forgotten():
    def write(k, new, at):
        own = place(k, at)
        return jax.lax.cond((own > 0) & (own < k.shape[1]), lambda k: update(k, new, own), lambda k: k, k)

    append = jitted(write)
