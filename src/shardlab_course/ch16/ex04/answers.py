import jax
import jax.numpy as jnp
from jax import P

from shardlab_course.answers import right, wrong


def on_blocks(body):
    def attend(mesh, q, K, V, length):
        cut = P(None, None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=(P(), cut, cut, P()), out_specs=P())(q, K, V, length)

    return attend


def scored(q, k, length, scale=None, masked=-jnp.inf):
    m = k.shape[2]
    scores = jnp.einsum("bhd,bhsd->bhs", q, k) / (scale or q.shape[-1] ** 0.5)
    valid = jax.lax.axis_index("x") * m + jnp.arange(m) < length
    return jnp.where(valid, scores, masked)


def added(scores, v, largest):
    e = jnp.exp(scores - largest)
    top = jax.lax.psum(jnp.einsum("bhs,bhsd->bhd", e, v), "x")
    return top / jax.lax.psum(e.sum(-1), "x")[..., None]


def of_all(scores):
    return jax.lax.pmax(scores.max(-1, keepdims=True), "x")


@wrong("left-to-the-compiler", 0)
def compiled():
    def attend(mesh, q, K, V, length):
        scores = jnp.einsum("bhd,bhsd->bhs", q, K) / q.shape[-1] ** 0.5
        scores = jnp.where(jnp.arange(K.shape[2]) < length, scores, -jnp.inf)
        return jnp.einsum("bhs,bhsd->bhd", jax.nn.softmax(scores), V)


@right
def rescaled():
    @on_blocks
    def attend(q, k, v, length):
        scores = scored(q, k, length, masked=-1e30)
        own = scores.max(-1)
        e = jnp.exp(scores - own[..., None])
        factor = jnp.exp(own - jax.lax.pmax(own, "x"))
        top = jnp.einsum("bhs,bhsd->bhd", e, v) * factor[..., None]
        top, bottom = jax.lax.psum((top, e.sum(-1) * factor), "x")
        return top / bottom[..., None]


@right
def one_sum_of_both():
    @on_blocks
    def attend(q, k, v, length):
        scores = scored(q, k, length)
        e = jnp.exp(scores - of_all(scores))
        ones = jnp.ones((*v.shape[:3], 1), v.dtype)
        both = jax.lax.psum(jnp.einsum("bhs,bhsd->bhd", e, jnp.concatenate([v, ones], -1)), "x")
        return both[..., :-1] / both[..., -1:]


@right
def weights_first():
    @on_blocks
    def attend(q, k, v, length):
        scores = scored(q, k, length)
        e = jnp.exp(scores - of_all(scores))
        weights = e / jax.lax.psum(e.sum(-1, keepdims=True), "x")
        return jax.lax.psum(jnp.einsum("bhs,bhsd->bhd", weights, v), "x")


def own_attention(q, k, v, length):
    return jnp.einsum("bhs,bhsd->bhd", jax.nn.softmax(scored(q, k, length), -1), v)


@wrong("one-maximum-for-all", 0)
def one_maximum():
    @on_blocks
    def attend(q, k, v, length):
        scores = scored(q, k, length)
        return added(scores, v, jax.lax.pmax(scores.max(), "x"))


@wrong("unfilled-maximum", 0)
def maximum_before_the_mask():
    @on_blocks
    def attend(q, k, v, length):
        return added(scored(q, k, length), v, of_all(scored(q, k, 8 * k.shape[2])))


@wrong("softmaxes-averaged", 0)
def averaged():
    attend = on_blocks(lambda *blocks: jax.lax.pmean(own_attention(*blocks), "x"))


@wrong("softmaxes-added", 0)
def summed():
    attend = on_blocks(lambda *blocks: jax.lax.psum(own_attention(*blocks), "x"))


@wrong("own-maximum", 0)
def own():
    @on_blocks
    def attend(q, k, v, length):
        scores = scored(q, k, length)
        return added(scores, v, scores.max(-1, keepdims=True))


@wrong("padding-takes-part", 0)
def unmasked():
    @on_blocks
    def attend(q, k, v, length):
        scores = scored(q, k, 10**6)
        return added(scores, v, of_all(scores))


@wrong("padding-takes-part", 0)
def place_in_the_block():
    @on_blocks
    def attend(q, k, v, length):
        scores = scored(q, k, 10**6)
        scores = jnp.where(jnp.arange(k.shape[2]) < length, scores, -jnp.inf)
        return added(scores, v, of_all(scores))


@wrong("masked-to-zero", 0)
def zeros():
    @on_blocks
    def attend(q, k, v, length):
        scores = scored(q, k, length, masked=0.0)
        return added(scores, v, of_all(scores))


@wrong("scale-forgotten", 0)
def unscaled():
    @on_blocks
    def attend(q, k, v, length):
        scores = scored(q, k, length, scale=1)
        return added(scores, v, of_all(scores))


@wrong("exp-overflows", 0)
def no_maximum():
    @on_blocks
    def attend(q, k, v, length):
        return added(scored(q, k, length), v, 0.0)


@wrong("empty-block", 0)
def empty():
    @on_blocks
    def attend(q, k, v, length):
        scores = scored(q, k, length)
        own = scores.max(-1)
        e = jnp.exp(scores - own[..., None])
        factor = jnp.exp(own - jax.lax.pmax(own, "x"))
        top = jnp.einsum("bhs,bhsd->bhd", e, v) * factor[..., None]
        top, bottom = jax.lax.psum((top, e.sum(-1) * factor), "x")
        return top / bottom[..., None]


@wrong("cache-moved", 7.5)
def gathers_the_cache():
    def attend(mesh, q, K, V, length):
        def body(q, k, v, length):
            k, v = (jax.lax.all_gather(block, "x", axis=2, tiled=True, to="invarying") for block in (k, v))
            scores = jnp.einsum("bhd,bhsd->bhs", q, k) / q.shape[-1] ** 0.5
            scores = jnp.where(jnp.arange(k.shape[2]) < length, scores, -jnp.inf)
            return jnp.einsum("bhs,bhsd->bhd", jax.nn.softmax(scores, -1), v)

        return on_blocks(body)(mesh, q, K, V, length)


@wrong("scores-moved", 7.5)
def gathers_the_scores():
    @on_blocks
    def attend(q, k, v, length):
        m = k.shape[2]
        scores = jax.lax.all_gather(scored(q, k, length), "x", axis=2, tiled=True)
        weights = jax.nn.softmax(scores, -1)
        mine = jax.lax.dynamic_slice_in_dim(weights, jax.lax.axis_index("x") * m, m, 2)
        return jax.lax.psum(jnp.einsum("bhs,bhsd->bhd", mine, v), "x")


@wrong("parts-gathered", 7.5)
def gathers_the_parts():
    @on_blocks
    def attend(q, k, v, length):
        scores = scored(q, k, length)
        e = jnp.exp(scores - of_all(scores))
        top = jax.lax.all_gather(jnp.einsum("bhs,bhsd->bhd", e, v), "x", to="invarying")
        return top.sum(0) / jax.lax.psum(e.sum(-1), "x")[..., None]


@wrong("promise-not-proved", 0)
def not_summed():
    @on_blocks
    def attend(q, k, v, length):
        scores = scored(q, k, length)
        e = jnp.exp(scores - of_all(scores))
        return jnp.einsum("bhs,bhsd->bhd", e, v) / e.sum(-1)[..., None]
