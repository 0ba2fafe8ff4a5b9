# failed: queries-over-kv-only
# points: 3
import jax

P = jax.P


def heads(q, kv, n):
    each = q // n
    found = []
    for device in range(n):
        own = list(range(device * each, (device + 1) * each))
        found.append([own, sorted({head * kv // q for head in own})])
    return found


layout = {
    "X": P(),
    "Wq": P(None, "kv"),
    "Wk": P(None, "kv"),
    "Wv": P(None, "kv"),
    "Wo": P("kv"),
}
