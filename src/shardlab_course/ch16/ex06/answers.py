import jax
import jax.numpy as jnp
from jax import P

from shardlab_course.answers import right, wrong

COLUMNS, ROWS = P(None, None, "x"), P(None, "x")
SPECS = (P(), P(), COLUMNS, COLUMNS, COLUMNS, ROWS, COLUMNS, COLUMNS, ROWS, ROWS)


def together(array, axis=0, **options):
    return jax.lax.all_gather(array, "x", axis=axis, to="invarying", **options)


def best(logits, part=None):
    number = jnp.argmax(logits, -1).astype(jnp.int32)
    number += jax.lax.axis_index("x") * (logits.shape[-1] if part is None else part)
    where = jnp.argmax(together(logits.max(-1)), axis=0)
    return jnp.take_along_axis(together(number), where[None], axis=0)[0]


def numbered(logits):
    """The best token of a device's own part."""
    return jnp.argmax(logits, -1).astype(jnp.int32) + jax.lax.axis_index("x") * logits.shape[-1]


def of_all(logits):
    return jnp.argmax(together(logits, 1, tiled=True), -1).astype(jnp.int32)


def summed(x):
    return jax.lax.psum(x, "x")


def server(
    choose=best, turn=rotate, turn_key=None, filled=1, written=0, late=False, add=summed, add_heads=None, varying=True,
    begin=0, gather=False, start=None, check=True, specs=SPECS,
):  # fmt: skip
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
                    new = jnp.stack([(turn_key or turn)(k, t), v])
                    after = cache.at[:, layer, :, t + written].set(new)
                    seen = cache if late else after
                    cache = after
                    a = attend_filled(turn(q, t), *seen[:, layer], filled if filled == STEPS else t + filled)
                    x = x + (add_heads or add)(jnp.einsum("bhd,hdD->bD", a, Wo[layer]))
                    h = norm(x)
                    out = (jax.nn.silu(h @ Wg[layer]) * (h @ Wu[layer])) @ Wd[layer]
                    x = x + (out if gather else add(out))
                made = choose(norm(x) @ U)
                return (made, cache), (token if begin else made)

            _, made = jax.lax.scan(step, (first, empty), jnp.arange(STEPS))
            return made.T

        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P(), check_vma=check)(*arrays)

    return serve


@wrong("left-to-the-compiler", 0)
def whole_by_specs():
    serve = server(lambda logits: jnp.argmax(logits, -1).astype(jnp.int32), add=lambda x: x, varying=False, specs=P())


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
    serve = server(choose=lambda logits: best(logits, part=0))


@wrong("another-part-size", 0)
def offset_of_rows():
    serve = server(choose=lambda logits: best(logits, part=len(logits)))


@wrong("own-position-missing", 0)
def written_too_late():
    serve = server(late=True)


@wrong("empty-positions", 0)
def all_filled():
    serve = server(filled=STEPS)


@wrong("not-rotated", 0)
def not_turned():
    serve = server(turn=lambda x, t: x)


@wrong("not-rotated", 0)
def new_key_not_turned():
    serve = server(turn_key=lambda k, t: k)


@wrong("one-position-off", 0)
def key_turned_too_far():
    serve = server(turn_key=lambda k, t: rotate(k, t + 1))


@wrong("one-position-off", 0)
def key_turned_too_little():
    serve = server(turn_key=lambda k, t: rotate(k, t - 1))


@wrong("one-position-off", 0)
def one_empty_place_filled():
    serve = server(filled=2)


@wrong("one-position-off", 0)
def written_one_place_on():
    serve = server(written=1, filled=2)


@wrong("own-position-missing", 0)
def written_beyond_what_is_filled():
    serve = server(written=1)


@wrong("sum-missing", 0)
def heads_not_summed():
    serve = server(add_heads=lambda x: x)


@wrong("sum-missing", 0)
def hidden_units_not_summed():
    serve = server(add=lambda x: x, add_heads=summed)


@wrong("sum-missing", 0)
def nothing_summed():
    serve = server(add=lambda x: x)


@wrong("not-a-sum", 0)
def hidden_units_averaged():
    serve = server(add=lambda x: jax.lax.pmean(x, "x"), add_heads=summed)


@wrong("not-a-sum", 0)
def largest_of_the_heads():
    serve = server(add_heads=lambda x: jax.lax.pmax(x, "x"))


@wrong("logits-not-compared", 0)
def own_choice():
    serve = server(choose=numbered, check=False)


@wrong("logits-not-compared", 0)
def largest_number():
    serve = server(choose=lambda logits: jax.lax.pmax(numbered(logits), "x"))


@wrong("begins-with-the-prompt", 0)
def the_prompt_too():
    serve = server(begin=1)


@wrong("weights-moved", 11)
def gathers_weights():
    serve = server(gather=True)


@wrong("logits-gathered", 14)
def gathers_logits():
    serve = server(choose=of_all)


@wrong("heads-of-others-held", 17)
def whole_cache():
    def serve(mesh, *arrays):
        def body(first, E, Wq, Wk, Wv, Wo, Wg, Wu, Wd, U):
            layers, _, kv_heads, width = Wk.shape
            mine = jax.lax.axis_index("x") * kv_heads
            empty = jnp.zeros((2, layers, len(first), STEPS, kv_heads * jax.lax.axis_size("x"), width))

            def step(state, t):
                token, cache = state
                x = E[token]
                for layer in range(layers):
                    h = norm(x)
                    q, k, v = (jnp.einsum("bD,Dhd->bhd", h, W[layer]) for W in (Wq, Wk, Wv))
                    new = jnp.stack([rotate(k, t), v])[:, None, :, None]
                    cache = jax.lax.dynamic_update_slice(cache, new, (0, layer, 0, t, mine, 0))
                    own = jax.lax.dynamic_slice_in_dim(cache[:, layer], mine, kv_heads, 3)
                    a = attend_filled(rotate(q, t), *own, t + 1)
                    x = x + summed(jnp.einsum("bhd,hdD->bD", a, Wo[layer]))
                    h = norm(x)
                    x = x + summed((jax.nn.silu(h @ Wg[layer]) * (h @ Wu[layer])) @ Wd[layer])
                token = best(norm(x) @ U)
                return (token, cache), token

            state = first, jax.lax.pcast(empty, "x", to="varying")
            return jax.lax.scan(step, state, jnp.arange(STEPS))[1].T

        return jax.shard_map(body, mesh=mesh, in_specs=SPECS, out_specs=P())(*arrays)


@wrong("cache-does-not-vary", 0)
def zeros_alike():
    serve = server(varying=False)


@wrong("token-varies", 0)
def own_choice_checked():
    serve = server(choose=numbered)


@wrong("promise-not-proved", 0)
def not_gathered():
    serve = server(choose=numbered, start=lambda first: jax.lax.pcast(first, "x", to="varying"))


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
