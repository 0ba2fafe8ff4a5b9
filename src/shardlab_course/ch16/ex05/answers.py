import jax
import jax.numpy as jnp
from jax import P

from shardlab_course.answers import right, wrong


def on_parts(body, **options):
    def top_four(mesh, logits):
        specs = {"in_specs": P(None, "x"), "out_specs": (P(), P()), **options}
        return jax.shard_map(body, mesh=mesh, **specs)(logits)

    return top_four


def of_part(part, k=4):
    values, ids = jax.lax.top_k(part, k)
    return values, ids + jax.lax.axis_index("x") * part.shape[1]


def together(array):
    return jax.lax.all_gather(array, "x", axis=1, tiled=True, to="invarying")


def chosen(values, ids):
    values, best = jax.lax.top_k(values, 4)
    return values, jnp.take_along_axis(ids, best, 1)


@right
def sorted_parts():
    @on_parts
    def top_four(part):
        order = jnp.argsort(-part, axis=1)[:, :4]
        ids = order + jax.lax.axis_index("x") * part.shape[1]
        values, ids = together(jnp.take_along_axis(part, order, 1)), together(ids)
        best = jnp.argsort(-values, axis=1)[:, :4]
        return jnp.take_along_axis(values, best, 1), jnp.take_along_axis(ids, best, 1)


@right
def number_from_the_place():
    @on_parts
    def top_four(part):
        values, ids = jax.lax.top_k(part, 4)
        values, best = jax.lax.top_k(together(values), 4)
        return values, jnp.take_along_axis(together(ids), best, 1) + best // 4 * part.shape[1]


@right
def reshaped_under_jit():
    def top_four(mesh, logits):
        n = mesh.shape["x"]
        at = lambda *spec: jax.NamedSharding(mesh, P(*spec))
        parts = jax.lax.with_sharding_constraint(logits.reshape(len(logits), n, -1), at(None, "x"))

        def best(part):
            return jax.lax.top_k(part, 4)

        values, ids = jax.shard_map(best, mesh=mesh, in_specs=P(None, "x"), out_specs=P(None, "x"))(parts)
        ids = ids + jnp.arange(n)[:, None] * parts.shape[2]
        values, ids = (jax.lax.with_sharding_constraint(a, at()) for a in (values, ids))
        return chosen(values.reshape(len(logits), -1), ids.reshape(len(logits), -1))


@wrong("numbers-in-the-part", 0)
def no_offset():
    @on_parts
    def top_four(part):
        values, ids = jax.lax.top_k(part, 4)
        return chosen(together(values), together(ids))


@wrong("places-among-candidates", 0)
def places():
    @on_parts
    def top_four(part):
        return tuple(jax.lax.top_k(together(jax.lax.top_k(part, 4)[0]), 4))


@wrong("too-few-candidates", 0)
def one_from_each():
    @on_parts
    def top_four(part):
        values, ids = of_part(part, 1)
        return chosen(together(values), together(ids))


@wrong("too-few-candidates", 0)
def two_from_each():
    @on_parts
    def top_four(part):
        values, ids = of_part(part, 2)
        return chosen(together(values), together(ids))


@wrong("too-few-candidates", 0)
def three_from_each():
    @on_parts
    def top_four(part):
        values, ids = of_part(part, 3)
        return chosen(together(values), together(ids))


@wrong("-", 0)
def three_of_enough():
    """Enough candidates, of which three are taken."""

    @on_parts
    def top_four(part):
        values, ids = of_part(part, 4)
        return tuple(a[:, :3] for a in chosen(together(values), together(ids)))


@wrong("own-part-only", 0)
def alone():
    top_four = on_parts(of_part, check_vma=False)


@wrong("smallest", 0)
def negated():
    @on_parts
    def top_four(part):
        values, ids = of_part(-part)
        values, ids = chosen(together(values), together(ids))
        return -values, ids


@wrong("logits-gathered", 5)
def compilers():
    def top_four(mesh, logits):
        return tuple(jax.lax.top_k(logits, 4))


@wrong("logits-gathered", 5)
def gathers():
    top_four = on_parts(lambda part: tuple(jax.lax.top_k(together(part), 4)))


@wrong("promise-not-proved", 0)
def varying():
    @on_parts
    def top_four(part):
        values, ids = (jax.lax.all_gather(a, "x", axis=1, tiled=True) for a in of_part(part))
        return chosen(values, ids)


@wrong("another-part-size", 0)
def eight_tokens_each():
    @on_parts
    def top_four(part):
        values, ids = jax.lax.top_k(part, 4)
        return chosen(together(values), together(ids + jax.lax.axis_index("x") * 8))
