import jax
import jax.numpy as jnp
from jax import P

from shardlab_course.answers import right, wrong

SPECS = P(None, None, "x"), P()


def on_parts(body, **options):
    def accept(mesh, logits, draft):
        specs = {"in_specs": SPECS, "out_specs": (P(), P()), **options}
        return jax.shard_map(body, mesh=mesh, **specs)(logits, draft)

    return accept


def in_part(logits):
    return jnp.argmax(logits, -1).astype(jnp.int32) + jax.lax.axis_index("x") * logits.shape[-1]


def chosen_by(reduce, otherwise):
    """Of the tokens that have the largest logit, as this collective takes them together."""

    def choose(logits):
        largest = logits.max(-1)
        holds = largest == jax.lax.pmax(largest, "x")
        return reduce(jnp.where(holds, in_part(logits), otherwise), "x")

    return choose


lowest = chosen_by(jax.lax.pmin, 2**30)


def prefix(agree):
    return jnp.cumprod(agree.astype(jnp.int32), axis=1).sum(1)


def at(chosen, count):
    return jnp.take_along_axis(chosen, count[:, None], axis=1)[:, 0]


def acceptance(choose=lowest, count=prefix, shift=0, more=0, **options):
    """The solution with its parts to be exchanged."""

    def body(logits, draft):
        chosen = choose(logits)
        found = count(draft == chosen[:, :-1])
        return found + more, at(chosen, jnp.clip(found + shift, 0, draft.shape[1]))

    return on_parts(body, **options)


@wrong("left-to-the-compiler", 0)
def compiled():
    def accept(mesh, logits, draft):
        chosen = jnp.argmax(logits, -1).astype(jnp.int32)
        found = prefix(draft == chosen[:, :-1])
        return found, at(chosen, found)


@right
def gathers_candidates():
    def choose(logits):
        largest, number = (jax.lax.all_gather(one, "x", to="invarying") for one in (logits.max(-1), in_part(logits)))
        return jnp.take_along_axis(number, jnp.argmax(largest, axis=0)[None], axis=0)[0]

    accept = acceptance(choose)


@right
def first_difference():
    def count(agree):
        stop = jnp.zeros((len(agree), 1), bool)
        return jnp.argmin(jnp.concatenate([agree, stop], 1), axis=1).astype(jnp.int32)

    accept = jax.jit(acceptance(count=count), static_argnums=0)


@right
def one_proposal_after_another():
    def accept(mesh, logits, draft):
        def body(logits, draft):
            own = logits.max(-1)
            value = jax.lax.pmax(own, "x")
            numbers = jnp.arange(logits.shape[-1], dtype=jnp.int32) + jax.lax.axis_index("x") * logits.shape[-1]
            holds = logits == value[..., None]
            chosen = -jax.lax.pmax(jnp.where(holds, -numbers, -(2**30)).max(-1), "x")
            going, count = draft[:, 0] == draft[:, 0], 0 * draft[:, 0]
            for place in range(draft.shape[1]):
                going &= draft[:, place] == chosen[:, place]
                count += going
            return count, chosen[jnp.arange(len(count)), count]

        return jax.shard_map(body, mesh=mesh, in_specs=SPECS, out_specs=(P(), P()))(logits, draft)


@wrong("own-part-only", 0)
def alone():
    accept = acceptance(in_part, check_vma=False)


@wrong("anybodys-largest", 0)
def some_device_agrees():
    @on_parts
    def accept(logits, draft):
        agree = jax.lax.pmax((in_part(logits)[:, :-1] == draft).astype(jnp.int32), "x")
        count = prefix(agree)
        return count, at(lowest(logits), count)


@wrong("numbers-in-the-part", 0)
def no_offset():
    def choose(logits):
        largest, number = logits.max(-1), jnp.argmax(logits, -1).astype(jnp.int32)
        largest, number = (jax.lax.all_gather(one, "x", to="invarying") for one in (largest, number))
        return jnp.take_along_axis(number, jnp.argmax(largest, axis=0)[None], axis=0)[0]

    accept = acceptance(choose)


@wrong("agreements-counted", 0)
def counted():
    accept = acceptance(count=lambda agree: agree.sum(1, dtype=jnp.int32))


@wrong("last-of-equals", 0)
def highest():
    accept = acceptance(chosen_by(jax.lax.pmax, -1))


@wrong("numbers-added", 0)
def added():
    accept = acceptance(chosen_by(jax.lax.psum, 0))


@wrong("own-token-counted", 0)
def one_more():
    accept = acceptance(more=1)


@wrong("another-row", 0)
def row_before():
    accept = acceptance(shift=-1)


@wrong("another-row", 0)
def row_behind():
    accept = acceptance(shift=1)


@wrong("row-after", 0)
def compared_late():
    @on_parts
    def accept(logits, draft):
        chosen = lowest(logits)
        count = prefix(draft == chosen[:, 1:])
        return count, at(chosen, count)


@wrong("shortest-of-the-batch", 0)
def one_count():
    accept = acceptance(count=lambda agree: jnp.full(len(agree), prefix(agree).min()))


@wrong("logits-gathered", 6)
def gathers():
    def choose(logits):
        logits = jax.lax.all_gather(logits, "x", axis=2, tiled=True, to="invarying")
        return jnp.argmax(logits, -1).astype(jnp.int32)

    accept = acceptance(choose)


@wrong("promise-not-proved", 0)
def varying():
    accept = acceptance(in_part)


@wrong("none-when-all-agree", 0)
def first_difference_alone():
    accept = acceptance(count=lambda agree: jnp.argmin(agree, axis=1).astype(jnp.int32))
