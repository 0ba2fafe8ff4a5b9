import jax
import jax.numpy as jnp
from jax import P

from shardlab_course.answers import right, wrong

COLUMNS, ROWS = P(None, None, "x"), P(None, "x")
SPECS = (P(), P(), COLUMNS, COLUMNS, COLUMNS, ROWS, COLUMNS, COLUMNS, ROWS, ROWS)


def together(array, axis=0, **options):
    return jax.lax.all_gather(array, "x", axis=axis, to="invarying", **options)


def best(logits, offset=True):
    number = jnp.argmax(logits, -1).astype(jnp.int32)
    if offset:
        number += jax.lax.axis_index("x") * logits.shape[-1]
    where = jnp.argmax(together(logits.max(-1)), axis=0)
    return jnp.take_along_axis(together(number), where[None], axis=0)[0]


def of_all(logits):
    return jnp.argmax(together(logits, 1, tiled=True), -1).astype(jnp.int32)


def summed(x):
    return jax.lax.psum(x, "x")


def server(choose=best, turn=rotate, filled=1, late=False, add=summed, varying=True, begin=0, gather=False, start=None):
    """The solution with its parts to be exchanged."""

    def serve(mesh, *arrays):
        def body(first, E, Wq, Wk, Wv, Wo, Wg, Wu, Wd, U):
            first = start(first) if start else first
            if gather:
                Wg, Wu = (together(W, 2, tiled=True) for W in (Wg, Wu))
                Wd = together(Wd, 1, tiled=True)
            layers, _, kv_heads, width = Wk.shape
            empty = jnp.zeros((2, layers, len(first), STEPS, kv_heads, width))
            empty = jax.lax.pcast(empty, "x", to="varying") if varying else empty

            def step(state, t):
                token, cache = state
                x = E[token]
                for layer in range(layers):
                    h = norm(x)
                    q, k, v = (jnp.einsum("bD,Dhd->bhd", h, W[layer]) for W in (Wq, Wk, Wv))
                    after = cache.at[:, layer, :, t].set(jnp.stack([turn(k, t), v]))
                    seen = cache if late else after
                    cache = after
                    a = attend_filled(turn(q, t), *seen[:, layer], t + 1 if filled == 1 else filled)
                    x = x + add(jnp.einsum("bhd,hdD->bD", a, Wo[layer]))
                    h = norm(x)
                    out = (jax.nn.silu(h @ Wg[layer]) * (h @ Wu[layer])) @ Wd[layer]
                    x = x + (out if gather else add(out))
                made = choose(norm(x) @ U)
                return (made, cache), (token if begin else made)

            _, made = jax.lax.scan(step, (first, empty), jnp.arange(STEPS))
            return made.T

        return jax.shard_map(body, mesh=mesh, in_specs=SPECS, out_specs=P())(*arrays)

    return serve


@right
def a_loop_over_layers():
    def serve(mesh, *arrays):
        def body(first, E, Wq, Wk, Wv, Wo, Wg, Wu, Wd, U):
            layers, _, kv_heads, width = Wk.shape
            made, token = jnp.zeros((STEPS, len(first)), jnp.int32), first
            keys = jnp.zeros((layers, len(first), STEPS, kv_heads, width)) + 0 * Wk[0, 0, 0, 0]

            def layer(t, x, given):
                wq, wk, wv, wo, wg, wu, wd, K, V = given
                q, k, v = (jnp.einsum("bD,Dhd->bhd", norm(x), w) for w in (wq, wk, wv))
                K, V = K.at[:, t].set(rotate(k, t)), V.at[:, t].set(v)
                a = attend_filled(rotate(q, t), K, V, t + 1)
                x += summed(jnp.einsum("bhd,hdD->bD", a, wo))
                h = norm(x)
                return x + summed((jax.nn.silu(h @ wg) * (h @ wu)) @ wd), (K, V)

            def step(t, state):
                made, token, K, V = state
                given = (Wq, Wk, Wv, Wo, Wg, Wu, Wd, K, V)
                x, (K, V) = jax.lax.scan(lambda x, given: layer(t, x, given), E[token], given)
                token = best(norm(x) @ U)
                return made.at[t].set(token), token, K, V

            return jax.lax.fori_loop(0, STEPS, step, (made, token, keys, keys))[0].T

        return jax.shard_map(body, mesh=mesh, in_specs=SPECS, out_specs=P())(*arrays)


@right
def under_jit():
    serve = jax.jit(server(), static_argnums=0)


@wrong("numbers-in-the-part", 0)
def no_offset():
    serve = server(choose=lambda logits: best(logits, offset=False))


@wrong("own-position-missing", 0)
def written_too_late():
    serve = server(late=True)


@wrong("empty-positions", 0)
def all_filled():
    serve = server(filled=STEPS)


@wrong("not-rotated", 0)
def not_turned():
    serve = server(turn=lambda x, t: x)


@wrong("begins-with-the-prompt", 0)
def the_prompt_too():
    serve = server(begin=1)


@wrong("weights-moved", 11)
def gathers_weights():
    serve = server(gather=True)


@wrong("logits-gathered", 11)
def gathers_logits():
    serve = server(choose=of_all)


@wrong("cache-does-not-vary", 0)
def zeros_alike():
    serve = server(varying=False)


@wrong("promise-not-proved", 0)
def not_gathered():
    def own(logits):
        return jnp.argmax(logits, -1).astype(jnp.int32) + jax.lax.axis_index("x") * logits.shape[-1]

    serve = server(choose=own, start=lambda first: jax.lax.pcast(first, "x", to="varying"))


@wrong("everything-anew", 11)
def no_cache():
    def serve(mesh, *arrays):
        def body(first, E, Wq, Wk, Wv, Wo, Wg, Wu, Wd, U):
            places = jnp.arange(STEPS)

            def step(tokens, t):
                x = E[tokens]
                for layer in range(len(Wq)):
                    h = norm(x)
                    q, k, v = (jnp.einsum("btD,Dhd->tbhd", h, W[layer]) for W in (Wq, Wk, Wv))
                    q, k = (jax.vmap(rotate)(each, places) for each in (q, k))
                    K, V = (jnp.swapaxes(each, 0, 1) for each in (k, v))
                    a = jax.vmap(lambda q, filled: attend_filled(q, K, V, filled))(q, places + 1)
                    x = x + summed(jnp.einsum("tbhd,hdD->btD", a, Wo[layer]))
                    h = norm(x)
                    x = x + summed((jax.nn.silu(h @ Wg[layer]) * (h @ Wu[layer])) @ Wd[layer])
                token = best(norm(x[:, t]) @ U)
                return tokens.at[:, t + 1].set(token, mode="drop"), token

            tokens = jnp.zeros((len(first), STEPS), jnp.int32).at[:, 0].set(first)
            return jax.lax.scan(step, tokens, places)[1].T

        return jax.shard_map(body, mesh=mesh, in_specs=SPECS, out_specs=P())(*arrays)
